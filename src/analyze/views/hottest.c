#include "analyze/views/hottest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/label.h"
#include "base/alloc.h"

struct candidate {
    double value;
    uint32_t node;
};

/* A heap of the best so far, the worst of them on top. */
struct heap {
    struct candidate *list;
    size_t count, limit;
    bool is_reversed;
};

/* Whether a is worse than b; equal values rank by node, so that results are stable. */
static bool is_worse(const struct heap *heap, struct candidate a, struct candidate b)
{
    if (a.value != b.value)
        return (a.value < b.value) != heap->is_reversed;
    return a.node > b.node;
}

static void swap(struct heap *heap, size_t i, size_t k)
{
    struct candidate old = heap->list[i];

    heap->list[i] = heap->list[k];
    heap->list[k] = old;
}

static void sift_down(struct heap *heap)
{
    size_t i = 0;

    for (;;) {
        size_t worst = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < heap->count &&
                is_worse(heap, heap->list[child], heap->list[worst]))
                worst = child;
        if (worst == i)
            return;
        swap(heap, i, worst);
        i = worst;
    }
}

static void offer(struct heap *heap, struct candidate candidate)
{
    if (heap->count < heap->limit) {
        size_t i = heap->count++;

        heap->list[i] = candidate;
        for (; i > 0 && is_worse(heap, heap->list[i], heap->list[(i - 1) / 2]);
             i = (i - 1) / 2)
            swap(heap, i, (i - 1) / 2);
    } else if (is_worse(heap, heap->list[0], candidate)) {
        heap->list[0] = candidate;
        sift_down(heap);
    }
}

/* Whether the context at a node is asked for. */
static bool takes_part(const struct cn_hottest *hottest, struct cn_database *db,
                       const struct cn_hottest_request *request, uint32_t node,
                       struct cn_text *label, bool *out, struct cn_error *err)
{
    struct cn_context context;

    if (!cn_context_at(db, hottest->index.nodes[node].at, &context, err))
        return false;
    *out = (request->kinds >> cn_row_kind_of(&context) & 1) != 0;
    if (!*out || request->filter->count == 0)
        return true;
    cn_text_clear(label);
    if (!cn_label_context(db, &context, label, err))
        return false;
    *out = cn_name_filter_matches(request->filter, cn_text_str(label));
    return true;
}

/* Only what beats the worst of the best so far is looked at in the database. */
static bool choose(struct cn_hottest *hottest, struct cn_costs *costs,
                   const struct cn_hottest_request *request, struct heap *heap,
                   struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];
    struct cn_text label = {0};
    bool ok = true;

    for (size_t node = 0; ok && node < hottest->index.count; node++) {
        struct candidate candidate;
        bool is_asked_for = false;

        cn_cost_rows_values(costs, &hottest->rows, node, values);
        candidate = (struct candidate){values[request->column], (uint32_t)node};
        if (isnan(candidate.value) || heap->limit == 0 ||
            (heap->count == heap->limit && !is_worse(heap, heap->list[0], candidate)))
            continue;
        ok = takes_part(hottest, costs->db, request, candidate.node, &label,
                        &is_asked_for, err);
        if (ok && is_asked_for)
            offer(heap, candidate);
    }
    cn_text_done(&label);
    return ok;
}

static void take_sorted(struct cn_hottest *hottest, struct heap *heap)
{
    hottest->count = heap->count;
    hottest->nodes = cn_alloc(heap->count, sizeof(*hottest->nodes));
    while (heap->count > 0) {
        hottest->nodes[heap->count - 1] = heap->list[0].node;
        heap->list[0] = heap->list[--heap->count];
        sift_down(heap);
    }
}

bool cn_hottest_find(struct cn_hottest *out, struct cn_costs *costs,
                     const struct cn_hottest_request *request,
                     const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_cost_targets every_node_is_a_row = {0};
    struct heap heap = {.is_reversed = request->is_reversed};
    struct cn_error later;
    bool ok;

    *out = (struct cn_hottest){0};
    ok = cn_context_index_build(&out->index, costs->db, err);
    cn_database_forget(costs->db);
    ok = cn_costs_fill(costs, &out->index, &every_node_is_a_row, out->index.count,
                       progress, &out->rows, ok ? err : &later) &&
         ok;
    heap.limit = request->count < out->index.count ? request->count : out->index.count;
    heap.list = cn_alloc(heap.limit, sizeof(*heap.list));
    ok = choose(out, costs, request, &heap, ok ? err : &later) && ok;
    take_sorted(out, &heap);
    free(heap.list);
    return ok;
}

void cn_hottest_done(struct cn_hottest *hottest)
{
    cn_context_index_done(&hottest->index);
    cn_cost_rows_done(&hottest->rows);
    free(hottest->nodes);
    *hottest = (struct cn_hottest){0};
}

enum { PATH_SHOWN = 8 }; /* calls of a path that are written out */

/* The calls above and including a node, innermost first, up to `max`; returns how many there
 * are in all. */
static bool collect_calls(const struct cn_hottest *hottest, struct cn_database *db,
                          uint32_t node, struct cn_context *calls, size_t max,
                          size_t *count, struct cn_error *err)
{
    *count = 0;
    for (; node != CN_NONE; node = hottest->index.nodes[node].parent) {
        struct cn_context context;

        if (!cn_context_at(db, hottest->index.nodes[node].at, &context, err))
            return false;
        if (context.kind != CN_CONTEXT_FUNCTION &&
            (context.kind == CN_CONTEXT_ENTRY || context.relation == CN_LEXICAL))
            continue;
        if (*count < max)
            calls[*count] = context;
        else /* keep the outermost one in the last place */
            calls[max - 1] = context;
        ++*count;
    }
    return true;
}

bool cn_hottest_path(const struct cn_hottest *hottest, struct cn_database *db,
                     uint32_t node, struct cn_text *text, struct cn_error *err)
{
    struct cn_context calls[PATH_SHOWN];
    size_t count;
    size_t shown;

    if (!collect_calls(hottest, db, node, calls, PATH_SHOWN, &count, err))
        return false;
    shown = count < PATH_SHOWN ? count : PATH_SHOWN;
    for (size_t i = shown; i-- > 0;) {
        if (!cn_label_context(db, &calls[i], text, err))
            return false;
        if (i == shown - 1 && count > shown)
            cn_text_printf(text, " > (%zu more)", count - shown);
        if (i > 0)
            cn_text_str_add(text, " > ");
    }
    return true;
}
