/* Calls told when they are over, with when they began and what they were given: what
 * tracing systems want. A writer keeps one for each lane and passes its spans through.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_SPANS_FINISHED_H
#define CN_FORMATS_EXCHANGE_SPANS_FINISHED_H

#include "formats/exchange/spans/lanes.h"

/* Ids in a trace: of a task's root, which holds all its calls, and of a call. */
static inline uint64_t cn_trace_root_id(uint32_t slot)
{
    return ((uint64_t)slot + 1) << 40 | 1;
}

static inline uint64_t cn_trace_span_id(uint32_t slot, uint64_t number)
{
    return ((uint64_t)slot + 1) << 40 | ((number + 2) & (((uint64_t)1 << 40) - 1));
}

struct cn_finished_call {
    const char *name;
    const char *arguments, *result; /* "" when unknown */
    uint64_t id, parent_id;
    uint64_t begin_ns, end_ns; /* as recorded */
    bool is_root;              /* the task itself */
};

struct cn_finished {
    uint32_t task;
    struct cn_finished_level {
        struct cn_text arguments;
        uint64_t id;
    } * levels; /* by depth */
    size_t count, capacity;
    uint64_t first_ns, last_ns;
};

struct cn_finished *cn_finished_new(const struct cn_lane *lane);
void cn_finished_free(struct cn_finished *finished);

/* Take a span; true when a call is over, which then is in `out`, borrowed until the
 * next one. Counts what is not kept in the lane. */
bool cn_finished_visit(struct cn_finished *finished, struct cn_lane *lane,
                       const struct cn_span *span, struct cn_finished_call *out);

/* The task itself, after its last span. */
void cn_finished_root(const struct cn_finished *finished, const struct cn_lane *lane,
                      struct cn_finished_call *out);

/* Append `,"key":"0123456789abcdef"` and `,"key":12`. */
void cn_trace_add_id(struct cn_text *text, const char *key, uint64_t id);
void cn_trace_add_number(struct cn_text *text, const char *key, uint64_t value);

/* 16 bytes that name the trace: the same for the same recording. `hex` receives them
 * as digits and may be NULL. */
enum { CN_TRACE_ID_LEN = 16 };
void cn_trace_id(const struct cn_call_query *query, uint8_t out[CN_TRACE_ID_LEN],
                 char hex[2 * CN_TRACE_ID_LEN + 1]);

#endif
