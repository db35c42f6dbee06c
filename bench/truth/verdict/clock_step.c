/* The wall clock of one program is set while it runs: LD_PRELOAD=clock_step.so CLOCK_STEP="AFTER_S BY_S".
 *
 * No other program's clock is touched. Seconds count from the program's start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);
static long after_s, by_s;
static struct timespec begun;

__attribute__((constructor)) static void start(void) {
    const char *step = getenv("CLOCK_STEP");
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (step) sscanf(step, "%ld %ld", &after_s, &by_s);
    real(CLOCK_MONOTONIC, &begun);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!real) start();
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME && by_s) {
        struct timespec running;
        real(CLOCK_MONOTONIC, &running);
        if (running.tv_sec - begun.tv_sec >= after_s) now->tv_sec += by_s;
    }
    return failed;
}
