/* One monotonic clock for all that is measured, and the one way to take the difference of two measurements. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* How much a counter has grown. gVisor's are sums over tasks that come and go while they are read, and may be a little less
 * than before: then it has not grown, and is not 2^64 short of it, which the worker would refuse to believe. */
static inline uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}
