// Climbs out of its root by a working directory that lies outside of the new one: with a chroot, a rename while it is inside,
// and paths of hundreds of dots. There must be nothing above.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
int main() {
  mkdir("/work/a", 0700);
  mkdir("/work/a/b", 0700);
  chdir("/work/a/b");
  rename("/work/a/b", "/tmp/b");
  chroot("/work/a");
  for (int n = 0; n < 300; n++) chdir("..");
  bool out = access("box/stage", F_OK) == 0 || access("var/lib/docker", F_OK) == 0 || access("host", F_OK) == 0;
  out |= openat(AT_FDCWD, "../../../../../../box/stage", O_RDONLY) >= 0;
  struct stat here, root;
  stat(".", &here);
  stat("/", &root);
  puts(out || here.st_ino != root.st_ino ? "out" : "nothing");
}
