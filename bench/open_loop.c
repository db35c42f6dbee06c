/* An open loop with nothing but the system's calls: what any generator that sleeps on epoll pays the kernel for it.
 * No answer is parsed, no time recorded.
 *
 *     open_loop PORT RATE CONNECTIONS
 *
 * Requests at a constant rate, each on the connection that was free last; when all are busy they wait. Until it is ended.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int count, char **words) {
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static char buffer[65536];
    static struct epoll_event events[EVENTS];
    if (count != 4) errx(2, "PORT RATE CONNECTIONS");
    double rate = atof(words[2]);
    int connections = atoi(words[3]);
    int poll = epoll_create1(0), alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int *files = calloc(connections, sizeof *files), *idle = calloc(connections, sizeof *idle), free_ones = 0;
    watch(poll, alarm, connections);
    for (int i = 0; i < connections; i++) {
        watch(poll, files[i] = connected(atoi(words[1])), i);
        idle[free_ones++] = i;
    }
    uint64_t begin = now(), sent = 0, set = 0;
    for (;;) {
        uint64_t time = now(), due = begin + (uint64_t)(sent / rate * SECOND);
        while (due <= time && free_ones) {
            if (send(files[idle[--free_ones]], request, sizeof request - 1, MSG_NOSIGNAL) < 0) err(1, "send");
            due = begin + (uint64_t)(++sent / rate * SECOND);
        }
        if (free_ones && due != set) set_alarm(alarm, set = due);
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int one = events[i].data.u32;
            if (one == connections) continue;
            /* The server writes an answer at once, and loopback does not cut it. */
            if (recv(files[one], buffer, sizeof buffer, 0) < ANSWER_BYTES) errx(1, "not an answer");
            idle[free_ones++] = one;
        }
    }
}
