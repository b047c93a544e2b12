#include "server/served/span_pairs.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { SPANS_MAX = 65536 };

static uint64_t key_of(const struct cn_paired_span *span, uint64_t id)
{
    return id ^ (span->trace_low * UINT64_C(0x9e3779b97f4a7c15)) ^ span->trace_high;
}

static void list_done(struct cn_pair_list *list)
{
    cn_map_done(&list->by_id);
    free(list->list);
    free(list->next);
    *list = (struct cn_pair_list){0};
}

/* Add a span to the newest list; a full one becomes the earlier one. */
static void add(struct cn_pair_list lists[2], uint64_t key,
                const struct cn_paired_span *span)
{
    struct cn_pair_list *list = &lists[0];
    uint32_t *first;

    if (list->count >= SPANS_MAX) {
        list_done(&lists[1]);
        lists[1] = *list;
        *list = (struct cn_pair_list){0};
    }
    first = cn_map_at(&list->by_id, key, 0);
    CN_GROW(list->next, list->count, list->next_capacity);
    list->next[list->count] = *first;
    CN_PUSH(list->list, list->count, list->capacity, *span);
    *first = (uint32_t)list->count;
}

static bool is_caller(const struct cn_paired_span *caller,
                      const struct cn_paired_span *callee)
{
    return caller->id == callee->parent_id && caller->trace_low == callee->trace_low &&
           caller->trace_high == callee->trace_high;
}

static const struct cn_paired_span *find_caller(const struct cn_span_pairs *pairs,
                                                const struct cn_paired_span *span)
{
    uint64_t key = key_of(span, span->parent_id);

    for (size_t i = 0; i < 2; i++) {
        const struct cn_pair_list *list = &pairs->known[i];

        for (uint32_t n = cn_map_find(&list->by_id, key, 0); n > 0; n = list->next[n - 1])
            if (is_caller(&list->list[n - 1], span))
                return &list->list[n - 1];
    }
    return NULL;
}

/* Visit the spans that waited for this one; they no longer do. */
static void take_waiting(struct cn_span_pairs *pairs, const struct cn_paired_span *span,
                         cn_pair_visit *visit, void *arg)
{
    uint64_t key = key_of(span, span->id);

    for (size_t i = 0; i < 2; i++) {
        struct cn_pair_list *list = &pairs->waiting[i];
        uint32_t first = cn_map_find(&list->by_id, key, 0);

        for (uint32_t n = first; n > 0; n = list->next[n - 1])
            if (is_caller(span, &list->list[n - 1]))
                visit(arg, span, &list->list[n - 1]);
        if (first > 0)
            *cn_map_at(&list->by_id, key, 0) = 0;
    }
}

void cn_span_pairs_add(struct cn_span_pairs *pairs, const struct cn_paired_span *span,
                       cn_pair_visit *visit, void *arg)
{
    if (span->id == 0)
        return;
    if (span->parent_id != 0) {
        const struct cn_paired_span *caller = find_caller(pairs, span);

        if (caller)
            visit(arg, caller, span);
        else
            add(pairs->waiting, key_of(span, span->parent_id), span);
    }
    take_waiting(pairs, span, visit, arg);
    add(pairs->known, key_of(span, span->id), span);
}

void cn_span_pairs_done(struct cn_span_pairs *pairs)
{
    for (size_t i = 0; i < 2; i++) {
        list_done(&pairs->known[i]);
        list_done(&pairs->waiting[i]);
    }
}
