#include "server/served/ranges.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "analyze/timeline/structure.h"
#include "analyze/views/label.h"
#include "base/alloc.h"
#include "server/served/flame_json.h"
#include "server/served/function_times.h"
#include "server/served/question.h"
#include "server/served/thread_list.h"

enum {
    RANGE_MAX = 8,
    FIRST_SAMPLES = 1 << 17, /* read for the first answer, where there are many more */
};

struct range {
    /* Set once; the job reads it. */
    struct cn_database *db;
    const struct cn_frames *frames;
    const struct cn_context_index *index; /* of the frames */
    struct cn_thread_list threads;
    uint64_t begin_ns, end_ns;
    double min_share;
    struct cn_job job;

    pthread_mutex_t lock;  /* of the answer */
    struct cn_text answer; /* JSON: an estimate, then, when the job is done, the answer */

    /* Of the job while it runs. */
    const uint64_t *self_ns; /* by context id */
    double *total;           /* seconds by node of the index */
};

static void free_range(void *value)
{
    struct range *range = value;

    cn_job_end(&range->job);
    cn_thread_list_done(&range->threads);
    cn_text_done(&range->answer);
    (void)pthread_mutex_destroy(&range->lock);
    free(range);
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return cn_job_is_running(&((struct range *)entry->value)->job);
}

void cn_served_ranges_init(struct cn_served_ranges *ranges,
                           struct cn_structure *structure)
{
    ranges->structure = structure;
    ranges->cache = (struct cn_cache){
        .count_max = RANGE_MAX, .free_value = free_range, .is_busy = is_busy};
    (void)pthread_mutex_init(&ranges->lock, NULL);
}

void cn_served_ranges_done(struct cn_served_ranges *ranges)
{
    cn_cache_done(&ranges->cache);
    (void)pthread_mutex_destroy(&ranges->lock);
}

/* Of contexts with the same id, one counts. */
static double self_of(const struct range *range, uint32_t node)
{
    uint32_t id = range->index->nodes[node].id;

    return range->index->node_of_id[id] == node ? (double)range->self_ns[id] / 1e9 : 0;
}

/* Parents have smaller numbers than their children: one pass backwards adds up. */
static void add_up(struct range *range)
{
    const struct cn_context_index *index = range->index;

    for (uint32_t i = 0; i < index->count; i++)
        if (range->self_ns[index->nodes[i].id] > 0)
            range->total[i] = self_of(range, i);
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;

        if (range->total[i] > 0 && parent != CN_NONE)
            range->total[parent] += range->total[i];
    }
}

static bool add_node(struct range *range, struct cn_flame *flame, uint32_t node,
                     uint32_t depth, struct cn_error *err)
{
    struct cn_text label = {0};
    struct cn_context context;
    struct cn_function function = {.module = CN_NONE};
    struct cn_module module = {0};
    bool ok = cn_context_at(range->db, range->index->nodes[node].at, &context, err) &&
              cn_label_context(range->db, &context, &label, err);

    if (ok && context.has_function && context.function != CN_NONE)
        ok = cn_database_function(range->db, context.function, &function, err);
    if (ok && function.module != CN_NONE)
        ok = cn_database_module(range->db, function.module, &module, err);
    ok = ok && (cn_flame_add(flame,
                             &(struct cn_flame_node){
                                 .depth = depth,
                                 .name = cn_text_str(&label),
                                 .module = module.path,
                                 .total = range->total[node],
                                 .self = self_of(range, node),
                                 .id = range->index->nodes[node].at,
                             }) ||
                cn_fail(err, CN_ERR_LIMIT, "more than %d contexts: choose a larger min",
                        CN_FLAME_NODE_MAX));
    cn_text_done(&label);
    return ok;
}

/* Nodes are numbered depth first. Those that are too small are left out, and with them all below
 * them, which are no larger. */
static bool paint(struct range *range, struct cn_flame *flame, double smallest,
                  struct cn_error *err)
{
    const struct cn_context_index *index = range->index;
    uint32_t *path = NULL; /* the nodes around the next one */
    size_t depth = 0, capacity = 0;
    bool ok = true;

    for (uint32_t i = 0; ok && i < index->count; i++) {
        if (!(range->total[i] > smallest))
            continue;
        while (depth > 0 && path[depth - 1] != index->nodes[i].parent)
            depth--;
        ok = add_node(range, flame, i, (uint32_t)depth, err);
        path = cn_grow(path, depth, &capacity, sizeof(*path));
        path[depth++] = i;
    }
    free(path);
    return ok;
}

/* Lines and loops belong to their function. */
static void add_functions(const struct range *range, struct cn_json *json)
{
    uint64_t *place_ns = cn_alloc(range->frames->names.count, sizeof(*place_ns));

    for (uint32_t id = 1; id < range->index->id_limit; id++)
        if (range->self_ns[id] > 0)
            place_ns[range->frames->list[cn_frames_find(range->frames, id)].place] +=
                range->self_ns[id];
    cn_json_function_times(json, range->frames, place_ns);
    free(place_ns);
}

static bool print(struct range *range, const struct cn_range_sums *sums,
                  struct cn_text *out, struct cn_error *err)
{
    struct cn_json json = {.text = out};
    struct cn_flame flame;
    double total = 0;
    bool ok;

    for (size_t i = 0; i < range->index->count; i++)
        if (range->index->nodes[i].parent == CN_NONE && range->total[i] > 0)
            total += range->total[i];
    cn_flame_begin(&flame);
    ok = paint(range, &flame, total * range->min_share, err);
    cn_json_object(&json);
    /* Samples of a waiting thread have context 0. */
    cn_json_add_str(&json, "column", cn_range_metric(range->db));
    cn_json_add_f64(&json, "waiting",
                    range->index->id_limit > 0 ? (double)range->self_ns[0] / 1e9 : 0);
    cn_json_add_u64(&json, "samples", sums->sample_count);
    if (sums->is_estimate)
        cn_json_add_bool(&json, "isPartial", true);
    add_functions(range, &json);
    cn_flame_end(&flame, &json, total);
    cn_json_end(&json);
    return ok;
}

static bool answer(struct range *range, uint64_t sample_max, bool *is_estimate,
                   const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_range_request request = {
        .profiles = range->threads.profiles,
        .profile_count = range->threads.count,
        .begin_ns = range->begin_ns,
        .end_ns = range->end_ns,
        .id_limit = range->index->id_limit,
        .sample_max = sample_max,
    };
    struct cn_text text = {0}, before;
    struct cn_range_sums sums;
    bool ok;

    if (!cn_range_sums_build(&sums, range->db, &request, progress, err))
        return false;
    range->self_ns = sums.ns;
    range->total = cn_alloc(range->index->count, sizeof(*range->total));
    add_up(range);
    ok = print(range, &sums, &text, err);
    free(range->total);
    *is_estimate = sums.is_estimate;
    cn_range_sums_done(&sums);
    (void)pthread_mutex_lock(&range->lock);
    before = range->answer;
    if (ok)
        range->answer = text;
    (void)pthread_mutex_unlock(&range->lock);
    cn_text_done(ok ? &before : &text);
    return ok;
}

/* First an estimate, so that there is something to show. */
static bool compute(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct range *range = arg;
    bool is_estimate;

    if (!answer(range, FIRST_SAMPLES, &is_estimate, progress, err))
        return false;
    if (!is_estimate)
        return true;
    cn_job_estimated(&range->job);
    return answer(range, 0, &is_estimate, progress, err);
}

static void print_key(const struct cn_range_question *question, struct cn_text *key)
{
    cn_text_printf(key, "%" PRIu64 " %" PRIu64 " %a", question->begin_ns,
                   question->end_ns, question->min_share);
    for (size_t i = 0; i < question->threads.count; i++)
        cn_text_printf(key, "\n%s", question->threads.list[i]);
}

/* With the lock held. */
static bool add_range(struct cn_served_ranges *ranges,
                      const struct cn_range_question *question, const char *key,
                      struct cn_cached **out, struct cn_error *err)
{
    struct range *range = cn_alloc(1, sizeof(*range));

    *range = (struct range){
        .db = ranges->structure->db,
        .frames = &ranges->structure->frames,
        .index = &ranges->structure->frames.index,
        .begin_ns = question->begin_ns,
        .end_ns = question->end_ns,
        .min_share = question->min_share,
        .job = {.group = ranges->structure->requests,
                .work = compute,
                .arg = range,
                .what = "computing this time range",
                .stops_unasked = true},
    };
    (void)pthread_mutex_init(&range->lock, NULL);
    if (!cn_thread_list_build(&range->threads, range->db, &question->threads, err)) {
        free_range(range);
        return false;
    }
    *out = cn_cache_add(&ranges->cache, key, range, 0);
    if (*out)
        return true;
    free_range(range);
    return cn_fail(err, CN_ERR_INTERRUPTED, "%d other time ranges are being computed",
                   RANGE_MAX);
}

bool cn_served_range(struct cn_served_ranges *ranges,
                     const struct cn_range_question *question, struct cn_text *out,
                     struct cn_error *err)
{
    struct cn_text key = {0};
    struct cn_cached *entry;
    struct range *range;
    bool ok;

    if (!cn_structure_wait(ranges->structure, CN_STRUCTURE_FRAMES, err))
        return false;
    print_key(question, &key);
    (void)pthread_mutex_lock(&ranges->lock);
    entry = cn_cache_find(&ranges->cache, cn_text_str(&key));
    ok = entry || add_range(ranges, question, cn_text_str(&key), &entry, err);
    if (ok)
        cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&ranges->lock);
    cn_text_done(&key);
    if (!ok)
        return false;
    range = entry->value;
    ok = cn_job_wait_estimate(&range->job, err) || err->kind == CN_ERR_INTERRUPTED;
    (void)pthread_mutex_lock(&range->lock);
    ok = ok && range->answer.len > 0;
    if (ok)
        cn_text_str_add(out, cn_text_str(&range->answer));
    (void)pthread_mutex_unlock(&range->lock);
    (void)pthread_mutex_lock(&ranges->lock);
    cn_cached_unpin(entry);
    (void)pthread_mutex_unlock(&ranges->lock);
    return ok;
}
