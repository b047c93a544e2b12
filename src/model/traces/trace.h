/* A request trace, of any format: a tree of method calls in call order, with attributes,
 * exceptions and spans. model/traces/span.h has what is needed to read a span whole.
 *
 * Methods, keys, strings and exceptions are words (model/traces/words.h) of trace->words.
 *
 * To build one, call cn_trace_clear(), then cn_trace_enter() and cn_trace_leave() in call
 * order, with cn_trace_add_span(), cn_trace_add_attribute() and cn_trace_throw() for the
 * innermost open call. A trace with a call that is not left is in flight.
 *
 * A zeroed trace is ready for use; it owns its arrays, not its words.
 * Threads: one thread changes it; any thread may read while no thread changes it.
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
    CN_TRACE_OPEN = 1 << 1,    /* not left: its duration is that so far */
    CN_TRACE_CARRIED = 1 << 2, /* entered in an earlier part of the trace */
    CN_TRACE_LOSSY = 1 << 3,   /* the agent dropped calls below it */
    CN_TRACE_SENT = 1 << 4,    /* a span that was also sent as a trace */
    CN_TRACE_FAILED = 1 << 5,  /* the agent marked the whole span as failed */
};

/* Limits of nesting. */
enum { CN_TRACE_DEPTH_MAX = 4096, CN_TRACE_VALUE_DEPTH_MAX = 16 };

enum cn_trace_value_kind {
    CN_VALUE_NULL,
    CN_VALUE_BOOL,
    CN_VALUE_INT,
    CN_VALUE_FLOAT,
    CN_VALUE_WORD, /* a text; bytes if the word is a CN_WORD_BYTES */
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

/* Attributes in trace->attributes: the first, and from each to its `next`. */
struct cn_trace_list {
    uint32_t first, last; /* CN_NONE: none */
};
#define CN_TRACE_EMPTY_LIST \
    {                       \
        CN_NONE, CN_NONE    \
    }

/* With the numbers of OpenTelemetry. */
enum cn_trace_status { CN_STATUS_UNSET, CN_STATUS_OK, CN_STATUS_ERROR };

/* A call with the id of a span. Its attributes are those of the call. */
struct cn_trace_span {
    uint32_t node;
    uint32_t type, service; /* words; 0 if unknown. The type is the kind, as "server" */
    uint64_t id, parent_id; /* 0: none */
    uint64_t time_ns;       /* since the epoch */

    /* False: only what is above is known, as of agents and of stores of version 0.9;
     * cn_trace_complete() fills in the rest. */
    bool is_whole;
    bool has_no_kind;                     /* and says so: not even internal */
    bool has_end;                         /* end_ns is not time_ns plus the duration */
    uint8_t status;                       /* enum cn_trace_status */
    uint32_t status_message, trace_state; /* words; 0: none */
    uint32_t flags;                       /* of the trace context, as sent */
    uint32_t resource, scope;             /* words (model/traces/shared.h); 0: none */
    uint32_t first_event, event_count;    /* in trace->events */
    uint32_t first_link, link_count;      /* in trace->links */
    uint32_t dropped_attributes, dropped_events, dropped_links; /* by the sender */
    uint64_t end_ns; /* cn_trace_span_end_ns() is that of all spans */
};

struct cn_trace_event {
    uint64_t time_ns; /* since the epoch */
    uint32_t name;    /* word */
    uint32_t dropped_attributes;
    bool is_annotation; /* of Zipkin */
    struct cn_trace_list attributes;
};

/* To another span, of the same trace or another one. */
struct cn_trace_link {
    uint64_t trace_high, trace_low, span_id;
    uint32_t trace_state; /* word; 0: none */
    uint32_t flags, dropped_attributes;
    struct cn_trace_list attributes;
};

/* What made spans, such as a process; and the library in it that did. */
struct cn_trace_resource {
    uint32_t word; /* cn_trace_span.resource */
    uint32_t schema_url;
    uint32_t dropped_attributes;
    struct cn_trace_list attributes;
};
struct cn_trace_scope {
    uint32_t word; /* cn_trace_span.scope */
    uint32_t name, version, schema_url;
    uint32_t dropped_attributes;
    struct cn_trace_list attributes;
};

struct cn_trace_node {
    uint64_t start_ns; /* since the start of the first node */
    uint64_t duration_ns;
    uint64_t calls;  /* that the agent counted, with this one; not all are in the trace */
    uint32_t method; /* word */
    uint32_t parent; /* CN_NONE for the first */
    uint32_t end;    /* one past its last descendant */
    uint32_t errors; /* nodes with CN_TRACE_ERROR in the subtree, with this one */
    uint32_t exception;                       /* word; 0: none */
    uint32_t first_attribute, last_attribute; /* CN_NONE: none */
    uint32_t span;                            /* in trace->spans; CN_NONE */
    uint32_t data_off;                        /* of its record in the input */
    uint32_t flags;
};

struct cn_trace {
    const struct cn_words *words; /* borrowed */
    uint64_t id_high, id_low;     /* of the trace and all its spans */
    uint64_t clock_ns; /* clock of the agent at the start of the first node; 0: unknown */
    uint32_t part;     /* number of this part, from 0 (CH_NUM) */
    uint64_t resume_ns; /* of a later part: time of the last event before it */
    struct cn_trace_node *nodes;
    struct cn_trace_attribute *attributes;
    struct cn_trace_value *values; /* elements of lists and maps */
    struct cn_trace_span *spans;   /* by node; the first is that of the trace */
    struct cn_trace_event *events;
    struct cn_trace_link *links;
    struct cn_trace_resource *resources; /* these two: after cn_trace_complete() */
    struct cn_trace_scope *scopes;
    uint32_t node_count, attribute_count, value_count, span_count;
    uint32_t event_count, link_count, resource_count, scope_count;
    uint32_t current; /* innermost open node; CN_NONE */
    uint32_t depth;   /* of `current`, from 1; 0 when none is open */
    size_t node_capacity, attribute_capacity, value_capacity, span_capacity;
    size_t event_capacity, link_capacity, resource_capacity, scope_capacity;
};

/* Remove everything; the memory is used for the next trace. */
void cn_trace_clear(struct cn_trace *trace);
void cn_trace_done(struct cn_trace *trace);

/* Begin a call inside the innermost open one. Fails if it is nested too deeply or the trace
 * is complete. */
CN_CHECK bool cn_trace_enter(struct cn_trace *trace, uint32_t method, uint64_t start_ns,
                             struct cn_error *err);

/* End the innermost open call; there must be one. An end before the start counts as the
 * start. */
void cn_trace_leave(struct cn_trace *trace, uint64_t end_ns, uint64_t calls);

/* Add to the innermost open call. cn_trace_add_values() returns the index of the first
 * element of a list or map. */
void cn_trace_add_attribute(struct cn_trace *trace, uint32_t key,
                            struct cn_trace_value value);
void cn_trace_add_attribute_to(struct cn_trace *trace, uint32_t node, uint32_t key,
                               struct cn_trace_value value);
uint32_t cn_trace_add_values(struct cn_trace *trace, const struct cn_trace_value *values,
                             uint32_t count);
void cn_trace_list_add(struct cn_trace *trace, struct cn_trace_list *list, uint32_t key,
                       struct cn_trace_value value);
void cn_trace_throw(struct cn_trace *trace, uint32_t exception);
void cn_trace_mark(struct cn_trace *trace, uint32_t flags);

/* The span of the innermost open call, added if it is new. Sets its time unless 0. */
struct cn_trace_span *cn_trace_add_span(struct cn_trace *trace, uint64_t time_ns);

/* Add an event or link without attributes to the span of the innermost open call, which has one.
 * Valid until the next one is added; others of the same span must not have been added since. */
struct cn_trace_event *cn_trace_add_event(struct cn_trace *trace);
struct cn_trace_link *cn_trace_add_link(struct cn_trace *trace);

/* End open calls at the latest time of the trace; they stay marked as CN_TRACE_OPEN. Call it
 * after everything was added. */
void cn_trace_settle(struct cn_trace *trace);

/* The value of an attribute of a node, or NULL. */
const struct cn_trace_value *cn_trace_find_attribute(const struct cn_trace *trace,
                                                     uint32_t node, uint32_t key);

/* Append a value: "200", "true", "3.5", the text of a word, bytes in base64, [a, b] or
 * {key: value}. */
void cn_trace_value_print(const struct cn_trace *trace,
                          const struct cn_trace_value *value, struct cn_text *out);

/* The time of a call that callees do not cover: take them in the order of their begins. Callees
 * at the same time cover it once, and what is outside of the call does not count. */
struct cn_self_time {
    uint64_t at_ns, end_ns; /* not covered yet; at first all of the call */
    uint64_t ns;            /* at first its duration; then what is left */
};
void cn_self_time_take(struct cn_self_time *self, uint64_t begin_ns, uint64_t end_ns);

/* When a call ends, since the start of the first node. */
static inline uint64_t cn_trace_end_ns(const struct cn_trace_node *node)
{
    return node->duration_ns < UINT64_MAX - node->start_ns
               ? node->start_ns + node->duration_ns
               : UINT64_MAX;
}

/* The time of a call in which no call that it made runs. */
uint64_t cn_trace_self_ns(const struct cn_trace *trace, uint32_t node);

#endif
