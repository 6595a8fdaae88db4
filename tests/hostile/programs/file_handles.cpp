// Opens files by their handles and not by paths, as the first known way out of a Docker container did. It must not be there.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
int main() {
  struct {
    unsigned bytes;
    int type;
    unsigned char content[128];
  } handle{8, 1, {2}};
  int mount, here = open("/", O_RDONLY);
  bool reached = syscall(SYS_open_by_handle_at, here, &handle, O_RDONLY) >= 0;
  handle.bytes = 128;
  if (syscall(SYS_name_to_handle_at, here, ".", &handle, &mount, 0) == 0)
    reached |= syscall(SYS_open_by_handle_at, here, &handle, O_RDONLY) >= 0;
  puts(reached ? "reached" : "refused");
}
