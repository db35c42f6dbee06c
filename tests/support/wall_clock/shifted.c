/* LD_PRELOAD: the wall clock of this process and its children is the machine's plus the seconds that
 * stand in the file named by WALL_CLOCK_SHIFT. No other clock is touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(void) {
    const char *path = getenv("WALL_CLOCK_SHIFT");
    FILE *file = path ? fopen(path, "r") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += shift();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec fine;
    int failed = clock_gettime(CLOCK_REALTIME, &fine);
    (void)zone;
    now->tv_sec = fine.tv_sec;
    now->tv_usec = fine.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *to) {
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    if (to) *to = fine.tv_sec;
    return fine.tv_sec;
}
