// Makes folders in folders for ever, and each level has files and locks. Time or the wall must stop it, and the end of the
// cell must be as quick as any.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
int main() {
  for (;;) {
    mkdir("d", 0700);
    int file = open("f", O_CREAT | O_RDWR, 0600);
    flock(file, LOCK_EX);
    close(file);
    chdir("d");
  }
}
