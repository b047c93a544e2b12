/* From the kernel's records to those of the file: stacks become addresses, and identifiers
 * the numbers of events.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_COLLECT_H
#define CN_SAMPLER_COLLECT_H

#include "base/error.h"
#include "formats/exchange/perf/writer.h"
#include "sampler/rings.h"
#include "sampler/sampler.h"
#include "sampler/setup.h"
#include "sampler/unwound.h"

struct cn_inside_slot;

enum { CN_COLLECT_CHAIN_MAX = 2048 };

struct cn_sample_collector {
    const struct cn_sample_options *options;
    const struct cn_sample_setup *setup;
    const struct cn_rings *rings;
    struct cn_perf_writer *writer;
    struct cn_unwound stacks;
    uint64_t words[CN_COLLECT_CHAIN_MAX + 16]; /* the sample that is written */
    uint64_t lost_count;
    uint64_t looked_ns; /* when mappings were last looked up */
    bool has_round;     /* records since the last end of a round */
};

/* A record of a ring, or one that was synthesised. */
CN_CHECK bool cn_collector_take(void *collector, const uint8_t *record, size_t len,
                                uint64_t time_ns, struct cn_error *err);

/* What a program left that samples itself. */
CN_CHECK bool cn_collector_take_inside(void *collector, const struct cn_inside_slot *slot,
                                       struct cn_error *err);

/* All records that were taken are older than those that follow. */
CN_CHECK bool cn_collector_end_round(struct cn_sample_collector *collector,
                                     struct cn_error *err);

#endif
