#include "server/served/trace_flame.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "model/traces/trace.h"
#include "server/served/flame_json.h"
#include "store/segment/reader.h"

void cn_trace_flame_init(struct cn_trace_flame *flame, const struct cn_store *store,
                         struct cn_search_hits *hits)
{
    *flame = (struct cn_trace_flame){
        .store = store,
        .hits = *hits,
        .first_top = CN_NONE,
    };
    *hits = (struct cn_search_hits){0};
}

void cn_trace_flame_done(struct cn_trace_flame *flame)
{
    cn_search_hits_done(&flame->hits);
    free(flame->nodes);
    free(flame->node_of);
    cn_map_done(&flame->children);
    cn_map_done(&flame->methods);
    cn_names_done(&flame->names);
    cn_text_done(&flame->text);
    *flame = (struct cn_trace_flame){0};
}

static uint32_t child_of(struct cn_trace_flame *flame, uint32_t parent, uint32_t name)
{
    uint64_t key = (uint64_t)(parent + 1) << 32 | name; /* no parent is CN_NONE: 0 */
    uint32_t *at = cn_map_at(&flame->children, key, CN_NONE);
    uint32_t *list;

    if (*at != CN_NONE)
        return *at;
    *at = (uint32_t)flame->count;
    flame->nodes =
        cn_grow(flame->nodes, flame->count, &flame->capacity, sizeof(*flame->nodes));
    list = parent == CN_NONE ? &flame->first_top : &flame->nodes[parent].first_child;
    flame->nodes[flame->count] = (struct cn_trace_flame_node){
        .parent = parent,
        .name = name,
        .first_child = CN_NONE,
        .next = *list,
    };
    *list = (uint32_t)flame->count;
    return (uint32_t)flame->count++;
}

/* Print each word of a segment once. */
static uint32_t name_of(struct cn_trace_flame *flame, uint32_t segment,
                        const struct cn_words *words, uint32_t method)
{
    uint64_t key = (uint64_t)segment << 32 | method;
    uint32_t name = cn_map_find(&flame->methods, key, CN_NONE);

    if (name != CN_NONE)
        return name;
    cn_text_clear(&flame->text);
    cn_words_print_method_name(words, method, &flame->text);
    name = cn_names_add(&flame->names, cn_text_str(&flame->text));
    *cn_map_at(&flame->methods, key, name) = name;
    return name;
}

static void add_trace(struct cn_trace_flame *flame, uint32_t segment,
                      const struct cn_trace *trace)
{
    flame->node_of = cn_grow_to(flame->node_of, trace->node_count,
                                &flame->node_of_capacity, sizeof(*flame->node_of));
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *call = &trace->nodes[i];
        uint32_t parent =
            call->parent == CN_NONE ? CN_NONE : flame->node_of[call->parent];
        uint32_t node =
            child_of(flame, parent, name_of(flame, segment, trace->words, call->method));

        flame->node_of[i] = node;
        flame->nodes[node].total_ns += (double)call->duration_ns;
        flame->nodes[node].self_ns += (double)call->duration_ns;
        if (parent == CN_NONE)
            flame->total_ns += (double)call->duration_ns;
        else
            flame->nodes[parent].self_ns -= (double)call->duration_ns;
    }
}

/* The hits from flame->added on: workers load traces, which are added in the order of
 * the hits. */
struct batch {
    struct cn_trace_flame *flame;
    struct worker {
        struct cn_segment_loader *loader;
        struct cn_trace trace;
        struct cn_error err;
        bool is_ok;
    } * workers;
    bool is_ok;
    struct cn_error *err; /* of the first hit that failed */
};

static void load_hit(void *arg, size_t i, unsigned number)
{
    const struct batch *batch = arg;
    const struct cn_trace_flame *flame = batch->flame;
    const struct cn_search_hit *hit = &flame->hits.list[flame->added + i];
    struct worker *worker = &batch->workers[number];

    worker->is_ok =
        cn_segment_load(worker->loader, cn_store_segment(flame->store, hit->segment),
                        hit->row, &worker->trace, &worker->err);
}

static void take_hit(void *arg, size_t i, unsigned number)
{
    struct batch *batch = arg;
    struct cn_trace_flame *flame = batch->flame;
    const struct worker *worker = &batch->workers[number];

    if (!batch->is_ok)
        return;
    batch->is_ok = worker->is_ok;
    if (worker->is_ok)
        add_trace(flame, flame->hits.list[flame->added + i].segment, &worker->trace);
    else
        *batch->err = worker->err;
}

bool cn_trace_flame_add(struct cn_trace_flame *flame, uint64_t budget_ns,
                        struct cn_error *err)
{
    enum { TRACES_OF_WORKER = 16 };
    uint64_t deadline_ns = cn_clock_ns() + budget_ns;
    unsigned workers = cn_pool_default_workers();
    struct batch batch = {
        .flame = flame,
        .workers = cn_alloc(workers, sizeof(*batch.workers)),
        .is_ok = true,
        .err = err,
    };
    struct cn_jobs jobs = {.arg = &batch, .run = load_hit, .take = take_hit};

    for (unsigned i = 0; i < workers; i++)
        batch.workers[i].loader = cn_segment_loader_new();
    while (batch.is_ok && !cn_trace_flame_is_complete(flame)) {
        jobs.count = flame->hits.count - flame->added;
        if (jobs.count > TRACES_OF_WORKER * workers)
            jobs.count = TRACES_OF_WORKER * workers;
        cn_pool_run(&jobs, workers);
        if (batch.is_ok)
            flame->added += jobs.count;
        if (cn_clock_ns() >= deadline_ns)
            break;
    }
    for (unsigned i = 0; i < workers; i++) {
        cn_segment_loader_free(batch.workers[i].loader);
        cn_trace_done(&batch.workers[i].trace);
    }
    free(batch.workers);
    for (size_t i = 0; i < cn_store_segment_count(flame->store); i++)
        cn_file_forget(cn_segment_data(cn_store_segment(flame->store, i)));
    return batch.is_ok;
}

void cn_trace_flame_paint(const struct cn_trace_flame *flame, double share,
                          struct cn_flame *out)
{
    double smallest_ns = flame->total_ns * share;
    uint32_t node = flame->first_top, depth = 0;

    while (node != CN_NONE) {
        const struct cn_trace_flame_node *at = &flame->nodes[node];
        struct cn_flame_node shown = {
            .depth = depth,
            .name = flame->names.list[at->name],
            .total = at->total_ns / 1e9,
            .self = fmax(at->self_ns, 0) / 1e9,
            .id = node,
        };
        bool is_shown = at->total_ns > smallest_ns && cn_flame_add(out, &shown);

        if (is_shown && at->first_child != CN_NONE) {
            node = at->first_child;
            depth++;
            continue;
        }
        while (node != CN_NONE && flame->nodes[node].next == CN_NONE) {
            node = flame->nodes[node].parent;
            depth--;
        }
        if (node != CN_NONE)
            node = flame->nodes[node].next;
    }
}
