#include "server/served/range_flame.h"

#include <stdlib.h>

#include "analyze/timeline/range_sums.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "model/labels/context.h"

/* While it is built. */
struct range_flame_build {
    struct cn_database *db;
    const struct cn_context_index *index;
    const uint64_t *self_ns; /* by context id */
    double *total;           /* seconds by node of the index */
    const struct cn_codes *codes;
    struct cn_flame *flame;
};

/* Only one of the contexts with the same id counts. */
static double self_of(const struct range_flame_build *build, uint32_t node)
{
    uint32_t id = build->index->nodes[node].id;

    return build->index->node_of_id[id] == node ? (double)build->self_ns[id] / 1e9 : 0;
}

/* Returns the total of all nodes. Parents have smaller numbers than their children: one pass
 * backwards adds up. */
static double add_up(struct range_flame_build *build)
{
    const struct cn_context_index *index = build->index;
    double total = 0;

    for (uint32_t i = 0; i < index->count; i++)
        if (build->self_ns[index->nodes[i].id] > 0)
            build->total[i] = self_of(build, i);
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;

        if (build->total[i] > 0 && parent != CN_NONE)
            build->total[parent] += build->total[i];
    }
    for (size_t i = 0; i < index->count; i++)
        if (index->nodes[i].parent == CN_NONE && build->total[i] > 0)
            total += build->total[i];
    return total;
}

static bool add_node(struct range_flame_build *build, uint32_t node, uint32_t depth,
                     struct cn_error *err)
{
    struct cn_text label = {0};
    struct cn_context context;
    struct cn_function function = {.module = CN_NONE};
    struct cn_module module = {0};
    bool ok = cn_context_at(build->db, build->index->nodes[node].at, &context, err) &&
              cn_label_context(build->db, &context, &label, err);

    if (ok && context.has_function && context.function != CN_NONE)
        ok = cn_database_function(build->db, context.function, &function, err);
    if (ok && function.module != CN_NONE)
        ok = cn_database_module(build->db, function.module, &module, err);
    ok = ok &&
         (cn_flame_add(build->flame,
                       &(struct cn_flame_node){
                           .depth = depth,
                           .total = build->total[node],
                           .self = self_of(build, node),
                           .id = build->index->nodes[node].at,
                           .code = build->codes && context.kind == CN_CONTEXT_FUNCTION
                                       ? cn_codes_of(build->codes, &context)
                                       : NULL,
                       },
                       cn_text_str(&label), module.path) ||
          cn_fail(err, CN_ERR_LIMIT, "more than %d contexts: choose a larger min",
                  CN_FLAME_NODE_MAX));
    cn_text_done(&label);
    return ok;
}

/* Nodes are numbered depth first. Those that are too small are left out, and with them all below
 * them, which are no larger. */
static bool paint(struct range_flame_build *build, double smallest, struct cn_error *err)
{
    const struct cn_context_index *index = build->index;
    uint32_t *path = NULL; /* the nodes around the next one */
    size_t depth = 0, capacity = 0;
    bool ok = true;

    for (uint32_t i = 0; ok && i < index->count; i++) {
        if (!(build->total[i] > smallest))
            continue;
        while (depth > 0 && path[depth - 1] != index->nodes[i].parent)
            depth--;
        ok = add_node(build, i, (uint32_t)depth, err);
        CN_PUSH(path, depth, capacity, i);
    }
    free(path);
    return ok;
}

/* Lines and loops belong to their function. */
static void find_functions(struct cn_function_times *out, const struct cn_frames *frames,
                           const uint64_t *self_ns)
{
    uint64_t *place_ns = cn_alloc(frames->names.count, sizeof(*place_ns));

    for (uint32_t id = 1; id < frames->index.id_limit; id++)
        if (self_ns[id] > 0)
            place_ns[frames->list[cn_frames_find(frames, id)].place] += self_ns[id];
    cn_function_times_find(out, place_ns, frames->names.count);
    free(place_ns);
}

bool cn_range_flame_build(struct cn_range_flame *out, struct cn_database *db,
                          const struct cn_frames *frames, const struct cn_codes *codes,
                          const struct cn_range_request *request, double min_share,
                          const struct cn_progress *progress, struct cn_error *err)
{
    struct range_flame_build build = {
        .db = db, .index = &frames->index, .codes = codes, .flame = &out->flame};
    struct cn_range_sums sums;

    *out = (struct cn_range_flame){.flame.has_codes = codes != NULL};
    if (!cn_range_sums_build(&sums, db, request, progress, err))
        return false;
    build.self_ns = sums.ns;
    build.total = cn_alloc(build.index->count, sizeof(*build.total));
    out->total_s = add_up(&build);
    /* Samples of a waiting thread have context 0. */
    out->waiting_s = build.index->id_limit > 0 ? (double)sums.ns[0] / 1e9 : 0;
    out->sample_count = sums.sample_count;
    out->is_estimate = sums.is_estimate;
    find_functions(&out->functions, frames, sums.ns);
    bool ok = paint(&build, out->total_s * min_share, err);
    free(build.total);
    cn_range_sums_done(&sums);
    if (!ok)
        cn_range_flame_done(out);
    return ok;
}

void cn_range_flame_done(struct cn_range_flame *range)
{
    cn_flame_done(&range->flame);
    *range = (struct cn_range_flame){0};
}
