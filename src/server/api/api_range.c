/* What some threads did in a part of time: the flame graph and the functions of exactly
 * that, added up from the samples. */
#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/range_sums.h"
#include "analyze/views/label.h"
#include "base/alloc.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/flame_json.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

struct range {
    struct cn_database *db;
    const struct cn_context_index *index;
    const uint64_t *own_ns;       /* by context id */
    double *total;                /* seconds by node of the index */
    uint32_t *first_child, *next; /* node; CN_NONE: none */
    uint32_t first_top;
};

/* Of contexts with the same id, one counts. */
static double own_of(const struct range *range, uint32_t node)
{
    uint32_t id = range->index->nodes[node].id;

    return range->index->node_of_id[id] == node ? (double)range->own_ns[id] / 1e9 : 0;
}

/* Parents have smaller numbers than their children: one pass backwards adds up. */
static void add_up(struct range *range)
{
    const struct cn_context_index *index = range->index;

    for (uint32_t i = 0; i < index->count; i++)
        range->total[i] = own_of(range, i);
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
                       own_of(range, node), range->index->nodes[node].at) ||
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

static void begin(struct range *range)
{
    size_t count = range->index->count;

    range->total = cn_alloc(count, sizeof(*range->total));
    range->first_child = cn_alloc(count, sizeof(*range->first_child));
    range->next = cn_alloc(count, sizeof(*range->next));
}

static void done(struct range *range)
{
    free(range->total);
    free(range->first_child);
    free(range->next);
}

static bool print(struct range *range, struct cn_served_range *kept,
                  const struct cn_range_sums *sums, struct cn_error *err)
{
    struct cn_json json = {.text = &kept->answer};
    struct cn_flame flame;
    double total = 0;
    bool ok;

    for (uint32_t i = range->first_top; i != CN_NONE; i = range->next[i])
        total += range->total[i];
    cn_flame_begin(&flame);
    ok = paint(range, &flame, total * kept->min_share, err);
    cn_json_object(&json);
    cn_json_add_str(&json, "column", "time (s)");
    cn_json_add_u64(&json, "samples", sums->sample_count);
    cn_flame_end(&flame, &json, total);
    cn_json_end(&json);
    return ok;
}

static bool work(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_range *kept = arg;
    struct range range = {.db = kept->db, .index = &kept->frames->index};
    struct cn_range_request wanted = {
        .profiles = kept->threads.profiles,
        .profile_count = kept->threads.count,
        .begin_ns = kept->begin_ns,
        .end_ns = kept->end_ns,
        .id_limit = kept->frames->index.id_limit,
    };
    struct cn_range_sums sums;
    bool ok;

    if (!cn_range_sums_build(&sums, kept->db, &wanted, progress, err))
        return false;
    range.own_ns = sums.ns;
    begin(&range);
    add_up(&range);
    cn_text_clear(&kept->answer);
    ok = print(&range, kept, &sums, err);
    done(&range);
    cn_range_sums_done(&sums);
    return ok;
}

/* What a request asks for, as the place of its answer is set up. */
struct question {
    struct cn_served *served;
    struct cn_request *request;
    const struct cn_frames *frames;
};

static bool set_up(void *arg, struct cn_served_range *range, struct cn_error *err)
{
    const struct question *question = arg;
    struct cn_database *db = question->served->db;

    range->db = db;
    range->frames = question->frames;
    range->chore.work = work;
    return cn_request_range(question->request, db, &range->begin_ns, &range->end_ns,
                            err) &&
           cn_request_f64(question->request, "min", 0, 1, 0.0005, &range->min_share,
                          err) &&
           cn_thread_list_build(&range->threads, db, question->request, err);
}

static char *key_of(const struct cn_request *request)
{
    struct cn_text key = {0};

    for (size_t i = 0; i < request->parameter_count; i++)
        cn_text_printf(&key, "%s=%s\n", request->parameters[i].name,
                       request->parameters[i].value);
    cn_text_char(&key, '.');
    return key.chars;
}

static bool answer(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    struct question question = {.served = served, .request = request};
    struct cn_served_range *range;
    char *key;
    bool ok;

    if (!cn_served_frames(served, &question.frames, err))
        return false;
    key = key_of(request);
    ok = cn_served_range_borrow(&served->ranges, key, set_up, &question, &range, err);
    free(key);
    if (!ok)
        return false;
    ok = cn_chore_wait(&range->chore, err);
    if (ok)
        cn_text_str_add(request->json.text, cn_text_str(&range->answer));
    cn_served_range_return(&served->ranges, range);
    return ok;
}

bool cn_api_range(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    return cn_served_ready(served, err) && answer(served, request, err);
}
