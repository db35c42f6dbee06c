/* An open loop with nothing but the system's calls: what any generator that sleeps on epoll pays the kernel for it.
 * No answer is parsed, no time recorded.
 *
 *     open_loop PORT RATE CONNECTIONS
 *
 * Requests at a constant rate, each on the connection that was free last; when all are busy they wait. Until it is ended.
 */
#include "system_calls.h"

#include <stdio.h>
#include <stdlib.h>

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
