// Mounts, unmounts and moves roots in the old and the new way. That it has no capabilities must stop it.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
int main() {
  mkdir("/work/new", 0700);
  bool done = mount("none", "/work", "tmpfs", 0, "") == 0;
  done |= mount("/", "/work/new", nullptr, MS_BIND | MS_REC, nullptr) == 0;
  done |= mount(nullptr, "/", nullptr, MS_REMOUNT, nullptr) == 0;
  done |= mount("proc", "/work/new", "proc", 0, nullptr) == 0;
  done |= mount("cgroup", "/work/new", "cgroup", 0, nullptr) == 0;
  done |= umount2("/proc", MNT_DETACH) == 0 || umount2("/work", MNT_DETACH) == 0 || umount2("/tmp", 0) == 0;
  done |= syscall(SYS_pivot_root, "/work", "/work/new") == 0;
  done |= chroot("/work") == 0;
  done |= syscall(430 /* fsopen */, "tmpfs", 0) >= 0;
  done |= syscall(428 /* open_tree */, AT_FDCWD, "/", 1) >= 0;
  done |= syscall(442 /* mount_setattr */, AT_FDCWD, "/", 0, nullptr, 0) >= 0;
  puts(done ? "done" : "refused");
}
