#include "base/run/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t cn_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t cn_clock_date_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
