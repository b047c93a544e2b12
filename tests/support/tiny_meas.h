/* A small measurement of one thread, made byte by byte from the field tables, for tests of
 * readers and of damage.
 *
 *     main thread
 *       main                        0x110, its loop
 *         work                      0x204 in two loops, 0x208 in an inlined function
 *         <gpu kernel>
 *     unknown entry
 *       unknown function
 *         instruction 0x40 of an unknown module
 *
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_TINY_MEAS_H
#define CN_TEST_TINY_MEAS_H

#include <stdint.h>

#include "base/text.h"

enum {
    CN_TINY_MEAS_NODES = 10,
    CN_TINY_MEAS_VALUES = 7,
    CN_TINY_MEAS_METRICS = 4,
    CN_TINY_MEAS_SAMPLES = 6,
};

struct cn_tiny_meas {
    struct cn_text run, trace, structure;
};

struct cn_tiny_meas_options {
    uint32_t rank, thread;
    uint64_t host;        /* physical id of the node */
    const char *program;  /* NULL: "tiny" */
    bool is_idle_in_work; /* nothing was measured in the inner loop */
    bool is_empty;        /* no node has values */
};

void cn_tiny_meas_init(struct cn_tiny_meas *tiny,
                       const struct cn_tiny_meas_options *options);
void cn_tiny_meas_done(struct cn_tiny_meas *tiny);

/* Write the files of a thread into `dir`, which is created if it is missing. */
void cn_tiny_meas_write(const struct cn_tiny_meas_options *options, const char *dir);

#endif
