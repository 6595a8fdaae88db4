// Fills the buffers of sockets that nobody reads, and sends sockets through sockets, so that they live without a descriptor.
// Time or memory must stop it.
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
static void stuff(int through, int with) {
  char byte[60000] = {1}, control[CMSG_SPACE(sizeof(int))] = {};
  iovec content{byte, sizeof byte};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &with, sizeof with);
  sendmsg(through, &message, MSG_DONTWAIT);
}
int main() {
  int before[2], now[2];
  socketpair(AF_UNIX, SOCK_DGRAM, 0, before);
  for (;;) {
    socketpair(AF_UNIX, SOCK_DGRAM, 0, now);
    stuff(now[0], before[0]);
    stuff(now[0], before[1]);
    close(before[0]);
    close(before[1]);
    before[0] = now[0];
    before[1] = now[1];
  }
}
