// Makes files that would run as somebody else, and starts those that the image has. Neither may change who it is.
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
int main(int count, char **arguments) {
  if (count > 1) return geteuid() == getuid() && getegid() == getgid() && getuid() >= 1000 ? 0 : 1;
  bool other = chown("/work/main", 0, 0) == 0 || setuid(0) == 0 || setresuid(0, 0, 0) == 0 || setgid(0) == 0 || (setfsuid(0), setfsuid(0) == 0);
  chmod("/work/main", 06755);
  for (auto command : {"/work/main again", "su -c true < /dev/null", "mount -t tmpfs none /tmp", "newgrp root -c true"}) {
    int pid = fork(), status;
    if (pid == 0) {
      freopen("/dev/null", "w", stderr);
      freopen("/dev/null", "w", stdout);
      execl("/bin/sh", "sh", "-c", command, nullptr);
    }
    waitpid(pid, &status, 0);
    other |= strncmp(command, "/work", 5) == 0 ? status != 0 : status == 0;
  }
  puts(other ? "other" : "the same");
}
