/* The decisions about traces that sampling has made: spans that come late follow them.
 *
 * They are on disk before anything is dropped, in files "sampled.00002a" beside the segments, named
 * after the first segment that they were made for; so a crash repeats a decision, and does not make
 * another one. After 15 to 30 minutes they are forgotten: spans that come later than that are decided by
 * what is left of their trace.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SAMPLING_DECISIONS_H
#define CN_STORE_SAMPLING_DECISIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

enum { CN_DECISION_NONE = 0xff };

struct cn_decision {
    uint64_t trace_high, trace_low;
    uint32_t rate;   /* 0: it is dropped */
    uint32_t number; /* of the segment that it was made for */
    uint8_t rule;    /* while it is made: the first that matches; CN_DECISION_NONE */
    bool is_new;     /* it is not on disk */
    bool is_counted; /* among what was kept or dropped */
};

struct cn_decisions {
    struct cn_decision *list;
    size_t count, capacity;
    struct cn_map by_trace;
    uint64_t oldest_ns; /* file; 0: none */
};

/* Read those of a store. A damaged file is an error: nothing may be dropped then. */
CN_CHECK bool cn_decisions_open(struct cn_decisions *decisions, const char *base,
                                struct cn_error *err);
void cn_decisions_done(struct cn_decisions *decisions); /* safe when zeroed */

/* Remove what is too old, if it is time to. */
CN_CHECK bool cn_decisions_forget(struct cn_decisions *decisions, const char *base,
                                  struct cn_error *err);

/* The decision about a trace, new if there was none. Valid until the next call. */
struct cn_decision *cn_decisions_at(struct cn_decisions *decisions, uint64_t trace_high,
                                    uint64_t trace_low);
const struct cn_decision *cn_decisions_find(const struct cn_decisions *decisions,
                                            uint64_t trace_high, uint64_t trace_low);

/* Write those that were made for a segment; returns when they are on disk. */
CN_CHECK bool cn_decisions_save(struct cn_decisions *decisions, const char *base,
                                uint32_t number, struct cn_error *err);

#endif
