/* What some threads did in a part of time: the flame graph and the functions of exactly
 * that, added up from the samples. */
#include <math.h>
#include <stdlib.h>

#include "analyze/label.h"
#include "analyze/spans.h"
#include "base/alloc.h"
#include "base/map.h"
#include "server/api.h"
#include "server/flame_json.h"
#include "server/request.h"
#include "server/served.h"
#include "server/thread_list.h"

/* Seconds by node of the context index. */
struct range {
    struct cn_database *db;
    const struct cn_context_index *index;
    uint64_t begin_ns, end_ns;
    double *own, *total;
    uint32_t *first_child, *next; /* node; CN_NONE: none */
    uint32_t first_top;
    uint64_t sample_count;
};

static void count_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct range *range = arg;
    uint32_t node = context == 0 ? CN_NONE : cn_context_index_find(range->index, context);

    if (node == CN_NONE)
        return;
    range->own[node] += (double)(end_ns - begin_ns) / 1e9;
    range->sample_count++;
}

/* Parents have smaller numbers than their children: one pass backwards adds up. */
static void add_up(struct range *range)
{
    const struct cn_context_index *index = range->index;

    for (size_t i = 0; i < index->count; i++)
        range->total[i] = range->own[i];
    range->first_top = CN_NONE;
    for (size_t i = 0; i < index->count; i++)
        range->first_child[i] = range->next[i] = CN_NONE;
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;
        uint32_t *list =
            parent == CN_NONE ? &range->first_top : &range->first_child[parent];

        if (range->total[i] <= 0)
            continue;
        range->next[i] = *list;
        *list = (uint32_t)i;
        if (parent != CN_NONE)
            range->total[parent] += range->total[i];
    }
}

static bool add_node(struct range *range, struct cn_flame *flame, uint32_t node,
                     uint32_t depth, struct cn_error *err)
{
    struct cn_text label = {0};
    struct cn_context context;
    struct cn_function function = {0};
    struct cn_module module = {0};
    bool ok = cn_context_at(range->db, range->index->nodes[node].at, &context, err) &&
              cn_label_context(range->db, &context, &label, err);

    function.module = CN_NONE;
    if (ok && context.has_function && context.function != CN_NONE)
        ok = cn_database_function(range->db, context.function, &function, err);
    if (ok && function.module != CN_NONE)
        ok = cn_database_module(range->db, function.module, &module, err);
    ok = ok &&
         (cn_flame_add(flame, depth, cn_text_str(&label), module.path, range->total[node],
                       range->own[node], range->index->nodes[node].at) ||
          cn_fail(err, CN_ERR_LIMIT, "more than %d contexts: choose a larger min",
                  CN_FLAME_NODE_MAX));
    cn_text_done(&label);
    return ok;
}

/* Depth first, without what is too small. */
static bool paint(struct range *range, struct cn_flame *flame, double smallest,
                  struct cn_error *err)
{
    uint32_t node = range->first_top, depth = 0;

    while (node != CN_NONE) {
        bool is_shown = range->total[node] > smallest;

        if (is_shown && !add_node(range, flame, node, depth, err))
            return false;
        if (is_shown && range->first_child[node] != CN_NONE) {
            node = range->first_child[node];
            depth++;
            continue;
        }
        while (node != CN_NONE && range->next[node] == CN_NONE) {
            node = range->index->nodes[node].parent;
            depth--;
        }
        if (node != CN_NONE)
            node = range->next[node];
    }
    return true;
}

static bool answer(struct range *range, struct cn_request *request,
                   const struct cn_thread_list *threads, struct cn_error *err)
{
    struct cn_flame flame;
    double share, total = 0;
    bool ok = true;

    if (!cn_request_f64(request, "min", 0, 1, 0.0005, &share, err))
        return false;
    for (size_t i = 0; ok && i < threads->count; i++)
        ok = cn_spans_visit(range->db, threads->profiles[i], range->begin_ns,
                            range->end_ns, count_span, range, err);
    if (!ok)
        return false;
    add_up(range);
    for (uint32_t i = range->first_top; i != CN_NONE; i = range->next[i])
        total += range->total[i];
    cn_flame_begin(&flame);
    ok = paint(range, &flame, total * share, err);
    cn_json_object(&request->json);
    cn_json_add_str(&request->json, "column", "time (s)");
    cn_json_add_u64(&request->json, "samples", range->sample_count);
    cn_flame_end(&flame, &request->json, total);
    cn_json_end(&request->json);
    return ok;
}

static bool build(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_database *db = served->db;
    struct range range = {.db = db};
    struct cn_thread_list threads;
    struct cn_frames *frames;
    size_t count;
    bool ok;

    if (!cn_request_range(request, db, &range.begin_ns, &range.end_ns, err) ||
        !cn_served_frames(served, &frames, err) ||
        !cn_thread_list_build(&threads, db, request, err))
        return false;
    range.index = &frames->index;
    count = frames->index.count;
    range.own = cn_alloc(count, sizeof(*range.own));
    range.total = cn_alloc(count, sizeof(*range.total));
    range.first_child = cn_alloc(count, sizeof(*range.first_child));
    range.next = cn_alloc(count, sizeof(*range.next));
    ok = answer(&range, request, &threads, err);
    free(range.own);
    free(range.total);
    free(range.first_child);
    free(range.next);
    cn_thread_list_done(&threads);
    return ok;
}

bool cn_api_range(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    return cn_served_ready(served, err) && build(served, request, err);
}
