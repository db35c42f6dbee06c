/* What the loops in C share: the clock, an alarm, epoll, connections. */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

enum { EVENTS = 1024, ANSWER_BYTES = 1024 };

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void set_alarm(int alarm, uint64_t at) {
    struct itimerspec value = {.it_value = {at / SECOND, at % SECOND}};
    if (timerfd_settime(alarm, TFD_TIMER_ABSTIME, &value, NULL)) err(1, "timerfd_settime");
}

static void watch(int poll, int file, int number) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = number};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, file, &event)) err(1, "epoll_ctl");
}

static int connected(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int file = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (file < 0 || connect(file, (void *)&address, sizeof address)) err(1, "port %d", port);
    fcntl(file, F_SETFL, O_NONBLOCK);
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return file;
}
