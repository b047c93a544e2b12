/* What a request trace is, whatever format holds it: a tree of method calls in call order,
 * with attributes, exceptions and the spans that begin in it.
 *
 * Methods, keys, strings and exceptions are words (model/traces/words.h) of trace->words.
 *
 * Building: cn_trace_clear(), then cn_trace_enter() / cn_trace_leave() in call order, with
 * cn_trace_add_span(), cn_trace_add_attribute() and cn_trace_throw() for the innermost open
 * call. A call that is never left stays open: the trace is in flight.
 *
 * A zeroed trace is ready for use; it owns its arrays, not its words.
 * Threads: one thread at a time; reading from any thread while nobody changes it.
 */
#ifndef CN_MODEL_TRACES_TRACE_H
#define CN_MODEL_TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/contexts/context.h"
#include "model/traces/words.h"

/* Bits of cn_trace_node.flags; stored in files. */
enum {
    CN_TRACE_ERROR = 1 << 0,   /* it threw, or was marked as failed */
    CN_TRACE_OPEN = 1 << 1,    /* not left yet: its duration is what is known so far */
    CN_TRACE_CARRIED = 1 << 2, /* entered in an earlier part of the trace */
    CN_TRACE_LOSSY = 1 << 3,   /* the agent dropped calls below it */
    CN_TRACE_SENT = 1 << 4,    /* a span that was also sent on its own */
    CN_TRACE_FAILED = 1 << 5,  /* the agent calls the whole span failed */
};

/* How deeply calls and values may nest: what is deeper is refused. */
enum { CN_TRACE_DEPTH_MAX = 4096, CN_TRACE_VALUE_DEPTH_MAX = 16 };

enum cn_trace_value_kind {
    CN_VALUE_NULL,
    CN_VALUE_BOOL,
    CN_VALUE_INT,
    CN_VALUE_FLOAT,
    CN_VALUE_WORD,
    CN_VALUE_LIST, /* `list` elements in trace->values */
    CN_VALUE_MAP,  /* the same, keys and values in turn */
};

struct cn_trace_value {
    enum cn_trace_value_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double real;
        uint32_t word;
        struct {
            uint32_t first, count; /* in trace->values; a map has 2 x count of them */
        } list;
    };
};

struct cn_trace_attribute {
    uint32_t key;  /* word */
    uint32_t next; /* of the same node; CN_NONE at the end */
    struct cn_trace_value value;
};

/* A call that begins a span: what has an id of its own. */
struct cn_trace_span {
    uint32_t node;
    uint32_t type, service; /* words; 0 when unknown */
    uint64_t id, parent_id; /* 0: none */
    uint64_t time_ns;       /* since the epoch */
};

struct cn_trace_node {
    uint64_t start_ns; /* since the start of the first node */
    uint64_t duration_ns;
    uint64_t calls;  /* that the agent saw in it, itself included; more than were kept */
    uint32_t method; /* word */
    uint32_t parent; /* CN_NONE for the first */
    uint32_t end;    /* one past its last descendant */
    uint32_t errors; /* nodes with CN_TRACE_ERROR in the subtree, itself included */
    uint32_t exception;                       /* word; 0: none */
    uint32_t first_attribute, last_attribute; /* CN_NONE: none */
    uint32_t span;                            /* in trace->spans; CN_NONE */
    uint32_t data_off; /* where its record begins in the data it was read from */
    uint32_t flags;
};

struct cn_trace {
    const struct cn_words *words; /* borrowed */
    uint64_t id_high, id_low;     /* of the trace, shared by all its spans */
    uint64_t clock_ns;  /* the agent's clock at the start of the first node; 0: unknown */
    uint32_t part;      /* number of this part, from 0 (CH_NUM) */
    uint64_t resume_ns; /* of a later part: when the last event before it was */
    struct cn_trace_node *nodes;
    struct cn_trace_attribute *attributes;
    struct cn_trace_value *values; /* elements of lists and maps */
    struct cn_trace_span *spans;   /* the first is the whole trace's; by node */
    uint32_t node_count, attribute_count, value_count, span_count;
    uint32_t current; /* innermost open node; CN_NONE */
    uint32_t depth;   /* of `current`, from 1; 0 when none is open */
    size_t node_capacity, attribute_capacity, value_capacity, span_capacity;
};

/* Empty, with the memory kept for the next one. */
void cn_trace_clear(struct cn_trace *trace);
void cn_trace_done(struct cn_trace *trace);

/* Begin a call inside the innermost open one. Fails when nested too deeply, or when the
 * trace was complete already. */
CN_CHECK bool cn_trace_enter(struct cn_trace *trace, uint32_t method, uint64_t start_ns,
                             struct cn_error *err);

/* End the innermost open call; there must be one. An end before its start counts as the
 * start. */
void cn_trace_leave(struct cn_trace *trace, uint64_t end_ns, uint64_t calls);

/* To the innermost open call. Lists and maps are made with cn_trace_add_values() first. */
void cn_trace_add_attribute(struct cn_trace *trace, uint32_t key,
                            struct cn_trace_value value);
void cn_trace_add_attribute_to(struct cn_trace *trace, uint32_t node, uint32_t key,
                               struct cn_trace_value value);
uint32_t cn_trace_add_values(struct cn_trace *trace, const struct cn_trace_value *values,
                             uint32_t count);
void cn_trace_throw(struct cn_trace *trace, uint32_t exception);
void cn_trace_mark(struct cn_trace *trace, uint32_t flags);

/* The innermost open call begins a span; one that already does is completed by what is not
 * 0 here. */
struct cn_trace_span *cn_trace_add_span(struct cn_trace *trace, uint64_t time_ns);

/* Close open calls at the latest time seen, keeping their CN_TRACE_OPEN. To be called when
 * all that is known was added; a trace that is complete stays as it is. */
void cn_trace_settle(struct cn_trace *trace);

static inline bool cn_trace_is_complete(const struct cn_trace *trace)
{
    return trace->node_count > 0 && trace->current == CN_NONE &&
           !(trace->nodes[0].flags & CN_TRACE_OPEN);
}

/* The value of an attribute of a node; NULL when it has none. */
const struct cn_trace_value *cn_trace_find_attribute(const struct cn_trace *trace,
                                                     uint32_t node, uint32_t key);

/* Append a value: "200", "true", "3.5", the text of a word, [a, b] or {key: value}. */
void cn_trace_value_print(const struct cn_trace *trace,
                          const struct cn_trace_value *value, struct cn_text *out);

/* Duration of a call without those of the calls it made. */
uint64_t cn_trace_self_ns(const struct cn_trace *trace, uint32_t node);

#endif
