#include "support/made_spans.h"

enum { SPANS_MAX = 12, WORDS = 40, DEPTH_MAX = 3 };

uint64_t cn_made_number(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint32_t below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)((cn_made_number(seed) >> 32) % limit);
}

/* Mostly small, sometimes of any size. */
static uint64_t number(uint64_t *seed)
{
    switch (below(seed, 8)) {
    case 0:
        return cn_made_number(seed);
    case 1:
        return UINT64_MAX - below(seed, 3);
    case 2:
        return below(seed, UINT32_MAX);
    default:
        return below(seed, 1000);
    }
}

static uint32_t maybe(uint64_t *seed, uint32_t limit)
{
    return below(seed, 3) ? 0 : below(seed, limit);
}

static struct cn_trace_value value_of(struct cn_trace *trace, uint64_t *seed,
                                      unsigned depth)
{
    struct cn_trace_value elements[6],
        value = {.kind = (enum cn_trace_value_kind)below(seed, CN_VALUE_MAP + 1)};

    if (depth == DEPTH_MAX || below(seed, 2))
        value.kind = CN_VALUE_WORD;
    switch (value.kind) {
    case CN_VALUE_BOOL:
        value.boolean = below(seed, 2);
        break;
    case CN_VALUE_INT:
        value.integer = (int64_t)number(seed);
        break;
    case CN_VALUE_FLOAT:
        value.real = (double)(int64_t)number(seed) / 3;
        break;
    case CN_VALUE_WORD:
        value.word = below(seed, WORDS);
        break;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP: {
        uint32_t count = below(seed, 4);
        uint32_t all = value.kind == CN_VALUE_MAP ? 2 * count : count;

        for (uint32_t i = 0; i < all; i++)
            elements[i] = value_of(trace, seed, depth + 1);
        value.list.first = cn_trace_add_values(trace, elements, all);
        value.list.count = count;
        break;
    }
    case CN_VALUE_NULL:
    default:
        break;
    }
    return value;
}

static void add_attributes(struct cn_trace *trace, uint64_t *seed,
                           struct cn_trace_list *list)
{
    for (uint32_t i = maybe(seed, 6); i > 0; i--)
        cn_trace_list_add(trace, list, 1 + below(seed, 9), value_of(trace, seed, 0));
}

static void add_events(struct cn_trace *trace, uint64_t *seed, uint64_t time_ns)
{
    for (uint32_t i = maybe(seed, 4); i > 0; i--) {
        struct cn_trace_list list = CN_TRACE_EMPTY_LIST;

        add_attributes(trace, seed, &list);
        *cn_trace_add_event(trace) = (struct cn_trace_event){
            .time_ns = time_ns + (below(seed, 2) ? number(seed) : below(seed, 1000)),
            .name = below(seed, WORDS),
            .dropped_attributes = maybe(seed, UINT32_MAX),
            .is_annotation = below(seed, 2),
            .attributes = list,
        };
    }
}

static void add_links(struct cn_trace *trace, uint64_t *seed)
{
    for (uint32_t i = maybe(seed, 4); i > 0; i--) {
        struct cn_trace_list list = CN_TRACE_EMPTY_LIST;

        add_attributes(trace, seed, &list);
        *cn_trace_add_link(trace) = (struct cn_trace_link){
            .trace_high = number(seed),
            .trace_low = number(seed),
            .span_id = number(seed),
            .trace_state = maybe(seed, WORDS),
            .flags = maybe(seed, UINT32_MAX),
            .dropped_attributes = maybe(seed, 5),
            .attributes = list,
        };
    }
}

static void add_span(struct cn_trace *trace, uint64_t *seed, uint64_t time_ns,
                     uint64_t outer)
{
    struct cn_trace_span *span = cn_trace_add_span(trace, time_ns);

    span->is_whole = true;
    span->id = number(seed);
    span->parent_id = below(seed, 4) ? outer : number(seed);
    span->type = below(seed, 3);
    span->service = 3;
    span->has_no_kind = !below(seed, 9);
    span->has_end = !below(seed, 9);
    span->end_ns = span->has_end ? number(seed) : 0;
    span->status = (uint8_t)below(seed, CN_STATUS_ERROR + 1);
    span->status_message = maybe(seed, WORDS);
    span->trace_state = maybe(seed, WORDS);
    span->flags = maybe(seed, UINT32_MAX);
    span->resource = 7;
    span->scope = maybe(seed, WORDS);
    span->dropped_attributes = maybe(seed, 100);
    span->dropped_events = maybe(seed, 100);
    span->dropped_links = maybe(seed, 100);
    add_events(trace, seed, time_ns);
    add_links(trace, seed);
}

void cn_made_spans(struct cn_trace *trace, uint64_t *seed)
{
    uint32_t count = 1 + below(seed, SPANS_MAX);
    uint64_t begin_ns = UINT64_C(1700000000000000000) + below(seed, UINT32_MAX);
    uint64_t now_ns = 0, unit_ns = below(seed, 2) ? 1000 : 1;
    struct cn_error err;

    cn_trace_clear(trace);
    trace->id_high = cn_made_number(seed);
    trace->id_low = cn_made_number(seed);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t outer = trace->current == CN_NONE || i == 0
                             ? 0
                             : trace->spans[trace->nodes[trace->current].span].id;
        struct cn_trace_list list = CN_TRACE_EMPTY_LIST;

        if (!cn_trace_enter(trace, below(seed, WORDS), now_ns, &err))
            return;
        add_attributes(trace, seed, &list);
        trace->nodes[trace->current].first_attribute = list.first;
        trace->nodes[trace->current].last_attribute = list.last;
        add_span(trace, seed, begin_ns + now_ns + (below(seed, 5) ? 0 : below(seed, 99)),
                 outer);
        if (!below(seed, 6))
            cn_trace_mark(trace, CN_TRACE_ERROR);
        now_ns += unit_ns * below(seed, 5000);
        while (trace->depth > 1 && below(seed, 3) == 0)
            cn_trace_leave(trace, now_ns += unit_ns * below(seed, 100),
                           1 + below(seed, 3));
    }
    while (trace->depth > 0)
        cn_trace_leave(trace, now_ns, trace->node_count - trace->current);
}
