// Opens sockets that see every packet, and those that make their own. That it has no rights, and no network, must stop it.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
int main() {
  bool made = socket(AF_PACKET, SOCK_RAW, htons(3)) >= 0 || socket(AF_PACKET, SOCK_DGRAM, htons(3)) >= 0;
  made |= socket(AF_INET, SOCK_RAW, IPPROTO_RAW) >= 0 || socket(AF_INET, SOCK_RAW, IPPROTO_TCP) >= 0;
  sockaddr_in to{AF_INET, htons(53), {inet_addr("8.8.8.8")}, {}};
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  made |= sendto(udp, "x", 1, 0, (sockaddr *)&to, sizeof to) == 1;
  int tcp = socket(AF_INET, SOCK_STREAM, 0);
  made |= connect(tcp, (sockaddr *)&to, sizeof to) == 0;
  made |= sendto(tcp, "x", 1, MSG_FASTOPEN, (sockaddr *)&to, sizeof to) == 1;
  puts(made ? "made" : "refused");
}
