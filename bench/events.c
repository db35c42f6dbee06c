/* A server of event streams that keeps its schedule and accounts for it: ground truth for a client's gaps.
 *
 *     events PORT STREAMS GAP_US
 *
 * Each stream has its turn once in every gap, one after another, evenly spread; it spins until the next turn. A turn for
 * which it comes more than LATE_US late, as when the machine has stopped it, is left out: the next event of that stream
 * comes a whole gap later. So whatever the machine does, true gaps are multiples of GAP_US, and a client's error is seen
 * in each of them. A request that is not read before its connection's turn waits for the next one. When it is ended it
 * prints how many gaps it made, how many turns it left out, and how far the gaps between its own sends were from such
 * multiples.
 */
#define _GNU_SOURCE
#include "system_calls.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HIGHEST_US = 100000, LATE_US = 20 };

struct stream {
    int file;        /* -1: nobody */
    uint64_t sent;   /* when its last event was sent; 0: none yet */
};

static volatile sig_atomic_t over;

static void end(int number) { (void)number, over = 1; }

static int listening(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(file, (void *)&address, sizeof address) || listen(file, 4096)) err(1, "port %d", port);
    return file;
}

static int put(int file, const char *text) { return send(file, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) > 0; }

/* The head after a request, afterwards an event. Whether the client is still there. */
static int turn(struct stream *stream, uint64_t gap, uint64_t *off) {
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char event[] = "d\r\ndata: token\n\n\r\n";
    static char request[4096];
    ssize_t read = recv(stream->file, request, sizeof request, MSG_DONTWAIT);
    if (read == 0 || (read < 0 && errno != EAGAIN)) return 0;
    if (read > 0) return stream->sent = 0, put(stream->file, head);
    uint64_t sent = now();
    if (!put(stream->file, event)) return 0;
    if (stream->sent) {
        uint64_t over = (sent - stream->sent) % gap, error = (over < gap - over ? over : gap - over) / 1000;
        off[error < HIGHEST_US ? error : HIGHEST_US]++;
    }
    stream->sent = sent;
    return 1;
}

static int quantile_us(const uint64_t *off, double part) {
    uint64_t all = 0, seen = 0;
    for (int us = 0; us <= HIGHEST_US; us++) all += off[us];
    for (int us = 0; us <= HIGHEST_US; us++)
        if ((seen += off[us]) >= part * all) return us;
    return HIGHEST_US;
}

int main(int count, char **words) {
    static uint64_t off[HIGHEST_US + 1];
    if (count != 4) errx(2, "PORT STREAMS GAP_US");
    int listener = listening(atoi(words[1])), streams = atoi(words[2]);
    uint64_t gap = strtoull(words[3], NULL, 10) * 1000;
    struct stream *all = calloc(streams, sizeof *all);
    for (int i = 0; i < streams; i++) all[i].file = -1;
    signal(SIGTERM, end);
    uint64_t begin = now(), left_out = 0;
    for (uint64_t number = 0; !over; number++) {
        struct stream *stream = &all[number % streams];
        uint64_t due = begin + number * gap / streams, when;
        while ((when = now()) < due) continue;
        if (stream->file >= 0 && when > due + LATE_US * 1000) {
            left_out++;
        } else if (stream->file < 0) {
            stream->file = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            int yes = 1;
            if (stream->file >= 0) setsockopt(stream->file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        } else if (!turn(stream, gap, off)) {
            close(stream->file);
            stream->file = -1;
        }
    }
    uint64_t gaps = 0;
    for (int us = 0; us <= HIGHEST_US; us++) gaps += off[us];
    printf("{\"gaps\": %lu, \"left_out\": %lu, \"p50_us\": %d, \"p99_us\": %d}\n", gaps, left_out,
           quantile_us(off, 0.5), quantile_us(off, 0.99));
}
