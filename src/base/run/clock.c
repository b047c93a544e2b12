#include "base/run/clock.h"

uint64_t cn_clock_read_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t cn_clock_ns(void)
{
    return cn_clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t cn_clock_date_ns(void)
{
    return cn_clock_read_ns(CLOCK_REALTIME);
}

struct timespec cn_clock_date_in(uint64_t ns)
{
    uint64_t date_ns = cn_clock_date_ns() + ns;

    return (struct timespec){.tv_sec = (time_t)(date_ns / 1000000000),
                             .tv_nsec = (long)(date_ns % 1000000000)};
}
