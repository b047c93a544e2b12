/* The functions with the longest self time.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_FUNCTION_TIMES_H
#define CN_SERVER_SERVED_FUNCTION_TIMES_H

#include <stddef.h>
#include <stdint.h>

enum { CN_FUNCTION_TIMES_MAX = 60 };

struct cn_function_times {
    struct {
        uint32_t place; /* the name of its frames */
        uint64_t ns;
    } list[CN_FUNCTION_TIMES_MAX]; /* longest first */
    size_t count;
    uint64_t other_count, other_ns; /* of those that are not listed */
};

/* `place_ns` is the time of each place of frames. */
void cn_function_times_find(struct cn_function_times *out, const uint64_t *place_ns,
                            size_t place_count);

#endif
