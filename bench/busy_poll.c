/* What a client that never sleeps measures of a server: nothing but the system's calls, in a loop.
 *
 *     busy_poll PORT RATE SECONDS
 *
 * RATE 0: one client without a pause; otherwise requests a second at a constant rate, on as many of 64 connections as
 * are free. The first second does not count. Prints microseconds from the intended start to the last byte, and how
 * late requests were sent: {"n":…, "p50":…, "p99":…, "late_p50":…, "late_p99":…}
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

enum { LANES = 64, ANSWER_BYTES = 1024, MOST = 20000000 };

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int connected(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int file = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (file < 0 || connect(file, (void *)&address, sizeof address)) err(1, "port %d", port);
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return file;
}

static int ascending(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static double quantile(const uint32_t *sorted, int n, double part) { return sorted[(int)(part * (n - 1))] / 1e3; }

int main(int count, char **words) {
    static char buffer[65536];
    static int files[LANES];
    static uint64_t intended[LANES]; /* 0: free */
    if (count != 4) errx(2, "PORT RATE SECONDS");
    double rate = atof(words[2]);
    int lanes = rate > 0 ? LANES : 1, n = 0, m = 0;
    uint32_t *took = malloc(MOST * sizeof *took), *late = malloc(MOST * sizeof *late);
    for (int i = 0; i < lanes; i++) files[i] = connected(atoi(words[1]));
    uint64_t begin = now() + SECOND / 10, end = begin + (uint64_t)(atof(words[3]) * SECOND), sent = 0;
    for (uint64_t time = now(); time < end && m < MOST; time = now()) {
        uint64_t due = rate > 0 ? begin + (uint64_t)(sent / rate * SECOND) : time;
        for (int i = 0; i < lanes; i++) {
            if (!intended[i] && due <= time) {
                time = now();
                if (send(files[i], request, sizeof request - 1, MSG_NOSIGNAL) < 0) err(1, "send");
                if (due >= begin + SECOND) late[m++] = time - due;
                intended[i] = due;
                sent++;
                due = rate > 0 ? begin + (uint64_t)(sent / rate * SECOND) : UINT64_MAX;
            } else if (intended[i]) {
                ssize_t got = recv(files[i], buffer, sizeof buffer, MSG_DONTWAIT);
                if (got < 0) continue;
                /* The server writes an answer at once, and loopback does not cut it. */
                if (got < ANSWER_BYTES) errx(1, "not an answer");
                uint64_t whole = now() - intended[i];
                if (intended[i] >= begin + SECOND) took[n++] = whole > UINT32_MAX ? UINT32_MAX : whole;
                intended[i] = 0;
            }
        }
    }
    if (n < 10) errx(1, "only %d answers", n);
    qsort(took, n, sizeof *took, ascending);
    qsort(late, m, sizeof *late, ascending);
    printf("{\"n\": %d, \"p50\": %.1f, \"p99\": %.1f, \"late_p50\": %.2f, \"late_p99\": %.2f}\n", n,
           quantile(took, n, .5), quantile(took, n, .99), quantile(late, m, .5), quantile(late, m, .99));
}
