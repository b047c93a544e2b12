/* What a thread did over time: its samples as spans, each lasting until the next.
 *
 * Time before the first and after the last sample is not part of any.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_TIMELINE_SPANS_H
#define CN_ANALYZE_TIMELINE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/contexts/database.h"

/* The thread was in `context` from begin to end, cut to the range asked for. */
typedef void (*cn_span_fn)(void *arg, uint32_t context, uint64_t begin_ns,
                           uint64_t end_ns);

/* Visit the spans between two times in order. Fails with CN_ERR_FORMAT where samples go
 * back in time. */
CN_CHECK bool cn_spans_visit(struct cn_database *db, uint32_t profile, uint64_t begin_ns,
                             uint64_t end_ns, cn_span_fn visit, void *arg,
                             struct cn_error *err);

/* Samples of a timeline that were read. A zeroed one has none. */
enum { CN_SPAN_WINDOW = 64 };
struct cn_span_window {
    struct cn_timeline timeline;
    uint64_t first;
    size_t count;
    bool is_open;
    struct cn_sample samples[CN_SPAN_WINDOW];
};

/* The same for ranges of one timeline that follow each other, best back in time: most need no reading. */
CN_CHECK bool cn_spans_visit_near(struct cn_span_window *window, struct cn_database *db,
                                  uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                                  cn_span_fn visit, void *arg, struct cn_error *err);

/* The last sample at or before a time; the first one when there is none, 0 of a timeline
 * without samples. */
CN_CHECK bool cn_timeline_find(struct cn_database *db, const struct cn_timeline *timeline,
                               uint64_t time_ns, uint64_t *out, struct cn_error *err);

#endif
