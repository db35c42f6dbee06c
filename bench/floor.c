/* The devices of sections/devices.py with nothing but the system's calls: what any generator that keeps its
 * times exactly pays the kernel for this load. No answer is parsed, no time recorded, nobody takes another's place.
 *
 *     floor DEVICES RAMP_S HOLD_S PORT...
 *
 * Prints what one second cost, from 1.5 s after the ramp to 0.5 s before the end: {"rate":…, "user":…, "system":…}
 */
#include "system_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct due { uint64_t at; int device; };

static struct due *queue; /* a binary heap, its first entry at 1 */
static int queued;

static double random_part(void) { return rand() / (RAND_MAX + 1.0); }

static void push(uint64_t at, int device) {
    int i = ++queued;
    for (; i > 1 && queue[i / 2].at > at; i /= 2) queue[i] = queue[i / 2];
    queue[i] = (struct due){at, device};
}

static int pop(void) {
    int device = queue[1].device, i = 1;
    struct due last = queue[queued--];
    for (int next; (next = 2 * i) <= queued; i = next) {
        if (next < queued && queue[next + 1].at < queue[next].at) next++;
        if (queue[next].at >= last.at) break;
        queue[i] = queue[next];
    }
    queue[i] = last;
    return device;
}

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

int main(int count, char **words) {
    static const char request[] = "GET /sleep?ms=100&jitter=0.1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static char buffer[65536];
    static struct epoll_event events[EVENTS];
    if (count < 5) errx(2, "DEVICES RAMP_S HOLD_S PORT...");
    int devices = atoi(words[1]), ports = count - 4;
    uint64_t ramp = atof(words[2]) * SECOND, hold = atof(words[3]) * SECOND;
    struct rlimit open_files;
    getrlimit(RLIMIT_NOFILE, &open_files);
    open_files.rlim_cur = open_files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &open_files);
    int poll = epoll_create1(0), alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int *files = calloc(devices, sizeof *files);
    queue = calloc(devices + 1, sizeof *queue);
    watch(poll, alarm, devices);
    for (int i = 0; i < devices; i++) watch(poll, files[i] = connected(atoi(words[4 + i % ports])), i);
    uint64_t begin = now(), from = begin + ramp + 3 * SECOND / 2, until = begin + ramp + hold - SECOND / 2;
    for (int i = 0; i < devices; i++) push(begin + ramp * random_part(), i);
    set_alarm(alarm, queue[1].at);

    uint64_t answers = 0, time = 0, set = queue[1].at;
    struct rusage before = {0}, after;
    while (time < until) {
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int device = events[i].data.u32;
            if (device == devices) continue;
            /* The server writes an answer at once, and loopback does not cut it. */
            if (recv(files[device], buffer, sizeof buffer, 0) < ANSWER_BYTES) errx(1, "not an answer");
            answers++;
            push(now() + (uint64_t)((0.9 + 0.2 * random_part()) * 0.9 * SECOND), device);
        }
        time = now();
        while (queued && queue[1].at <= time)
            if (send(files[pop()], request, sizeof request - 1, MSG_NOSIGNAL) < 0) err(1, "send");
        if (queued && queue[1].at != set) set_alarm(alarm, set = queue[1].at);
        if (!before.ru_stime.tv_sec && !before.ru_stime.tv_usec && time >= from) {
            getrusage(RUSAGE_SELF, &before);
            answers = 0;
            from = time;
        }
    }
    getrusage(RUSAGE_SELF, &after);
    double took = (time - from) / (double)SECOND;
    printf("{\"rate\": %.1f, \"user\": %.4f, \"system\": %.4f}\n", answers / took,
           (seconds(after.ru_utime) - seconds(before.ru_utime)) / took,
           (seconds(after.ru_stime) - seconds(before.ru_stime)) / took);
}
