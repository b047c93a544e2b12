#include "server/served/trace_flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/search.h"
#include "model/traces/span.h"
#include "server/served/flame.h"
#include "store/segment/reader.h"
#include "store/trace/distributed.h"

void cn_trace_flame_init(struct cn_trace_flame *flame, const struct cn_store *store,
                         struct cn_search_hits *hits)
{
    *flame = (struct cn_trace_flame){
        .store = store,
        .hits = *hits,
    };
    for (size_t i = 0; i < hits->count; i++)
        flame->trace_count += i == 0 || hits->list[i].key != hits->list[i - 1].key;
    *hits = (struct cn_search_hits){0};
    cn_tree_init(&flame->tree);
}

void cn_trace_flame_done(struct cn_trace_flame *flame)
{
    cn_search_hits_done(&flame->hits);
    free(flame->nodes);
    free(flame->open);
    cn_tree_done(&flame->tree);
    free(flame->methods);
    cn_map_done(&flame->numbers);
    cn_map_done(&flame->names_of);
    cn_map_done(&flame->services_of);
    cn_names_done(&flame->names);
    cn_names_done(&flame->services);
    cn_text_done(&flame->text);
    *flame = (struct cn_trace_flame){0};
}

static uint32_t child_of(struct cn_trace_flame *flame, uint32_t parent, uint32_t method)
{
    uint32_t node = cn_tree_child(&flame->tree, parent, method);

    while (flame->count < flame->tree.count) {
        CN_PUSH(flame->nodes, flame->count, flame->capacity,
                (struct cn_trace_flame_node){0});
    }
    return node;
}

/* Print each word of a segment once. */
static uint32_t name_of(struct cn_trace_flame *flame, uint32_t segment,
                        const struct cn_words *words, uint32_t method)
{
    uint64_t key = (uint64_t)segment << 32 | method;
    uint32_t name = cn_map_find(&flame->names_of, key, CN_NONE);

    if (name != CN_NONE)
        return name;
    cn_text_clear(&flame->text);
    cn_words_print_method_name(words, method, &flame->text);
    name = cn_names_add(&flame->names, cn_text_str(&flame->text));
    *cn_map_at(&flame->names_of, key, name) = name;
    return name;
}

static uint32_t service_of(struct cn_trace_flame *flame, uint32_t segment,
                           const struct cn_words *words, uint32_t word)
{
    uint64_t key = (uint64_t)segment << 32 | word;
    uint32_t service = cn_map_find(&flame->services_of, key, CN_NONE);

    if (service != CN_NONE)
        return service;
    cn_text_clear(&flame->text);
    if (word != 0)
        cn_words_print(words, word, &flame->text);
    service = cn_names_add(&flame->services, cn_text_str(&flame->text));
    *cn_map_at(&flame->services_of, key, service) = service;
    return service;
}

static uint32_t method_of(struct cn_trace_flame *flame, uint32_t segment,
                          const struct cn_trace *trace, uint32_t node)
{
    struct cn_trace_flame_method method = {
        .name = name_of(flame, segment, trace->words, trace->nodes[node].method),
        .service =
            service_of(flame, segment, trace->words, cn_trace_service_of(trace, node)),
    };
    uint64_t key = (uint64_t)method.service << 32 | method.name;
    uint32_t number = cn_map_find(&flame->numbers, key, CN_NONE);

    if (number != CN_NONE)
        return number;
    number = (uint32_t)flame->method_count;
    CN_PUSH(flame->methods, flame->method_count, flame->method_capacity, method);
    *cn_map_at(&flame->numbers, key, number) = number;
    return number;
}

/* A trace that is being added. */
struct flame_adding {
    struct cn_trace_flame *flame;
    const struct cn_trace_set *set;
    const struct cn_search_hit *hits; /* of its branches */
};

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static bool add_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                     uint32_t depth)
{
    const struct flame_adding *adding = arg;
    struct cn_trace_flame *flame = adding->flame;
    uint32_t segment = adding->hits[branch - adding->set->branches].segment;
    uint32_t method = method_of(flame, segment, &branch->trace, node);
    struct cn_trace_flame_call *caller = depth > 0 ? &flame->open[depth - 1] : NULL;
    struct cn_trace_flame_call part = {
        .begin_ns = cn_trace_branch_begin_ns(branch, node),
        .end_ns = cn_trace_branch_end_ns(branch, node),
    };

    part.left_ns = part.end_ns;
    if (caller && part.begin_ns >= caller->left_ns)
        caller = NULL;
    if (caller) {
        part.begin_ns = clamp(part.begin_ns, caller->begin_ns, caller->end_ns);
        part.end_ns = clamp(part.end_ns, part.begin_ns, caller->end_ns);
        caller->begin_ns = part.end_ns;
    }
    double counted_ns = (double)(part.end_ns - part.begin_ns);
    part.node = child_of(flame, caller ? caller->node : 0, method);
    flame->nodes[part.node].total_ns += counted_ns;
    flame->nodes[part.node].self_ns += counted_ns;
    if (caller)
        flame->nodes[caller->node].self_ns -= counted_ns;
    else
        flame->total_ns += counted_ns;
    CN_GROW(flame->open, depth, flame->open_capacity);
    flame->open[depth] = part;
    return true;
}

/* The hits from flame->added on: workers load traces, which are added in the order of
 * the hits. */
struct flame_batch {
    struct cn_trace_flame *flame;
    size_t *first_hits; /* of each trace, and of the one after the last */
    struct worker {
        struct cn_segment_loader *loader;
        struct cn_trace_set set;
        struct cn_error err;
        bool is_ok;
    } * workers;
    bool is_ok;
    struct cn_error *err; /* of the first trace that failed */
};

/* Find the next traces, at most `most` of them. */
static size_t find_traces(struct flame_batch *batch, size_t most)
{
    const struct cn_search_hits *hits = &batch->flame->hits;
    size_t count = 0, at = batch->flame->added;

    while (count < most && at < hits->count) {
        batch->first_hits[count++] = at;
        while (++at < hits->count && hits->list[at].key == hits->list[at - 1].key)
            ;
    }
    batch->first_hits[count] = at;
    return count;
}

static void load_trace(void *arg, size_t i, unsigned number)
{
    const struct flame_batch *batch = arg;
    const struct cn_trace_flame *flame = batch->flame;
    size_t first = batch->first_hits[i], end = batch->first_hits[i + 1];
    struct worker *worker = &batch->workers[number];

    cn_trace_set_done(&worker->set);
    worker->is_ok =
        cn_trace_set_load_hits(&worker->set, flame->store, worker->loader,
                               &flame->hits.list[first], end - first, &worker->err);
}

static void take_trace(void *arg, size_t i, unsigned number)
{
    struct flame_batch *batch = arg;
    const struct worker *worker = &batch->workers[number];
    struct flame_adding adding = {
        .flame = batch->flame,
        .set = &worker->set,
        .hits = &batch->flame->hits.list[batch->first_hits[i]],
    };

    if (!batch->is_ok)
        return;
    batch->is_ok = worker->is_ok;
    if (worker->is_ok)
        cn_trace_set_walk(&worker->set, add_call, &adding);
    else
        *batch->err = worker->err;
}

/* What only adding needs. */
static void finish(struct cn_trace_flame *flame)
{
    cn_search_hits_done(&flame->hits);
    cn_tree_trim(&flame->tree);
    cn_map_done(&flame->numbers);
    cn_map_done(&flame->names_of);
    cn_map_done(&flame->services_of);
    free(flame->open);
    flame->open = NULL;
    flame->open_capacity = 0;
    flame->capacity = flame->count;
    flame->nodes = cn_realloc(flame->nodes, flame->count, sizeof(*flame->nodes));
}

/* A fault may map a megabyte around each chunk: that of many traces is much. */
static void forget_traces(const struct cn_store *store)
{
    for (size_t i = 0; i < cn_store_segment_count(store); i++)
        cn_file_forget(cn_segment_data(cn_store_segment(store, i)));
}

bool cn_trace_flame_add(struct cn_trace_flame *flame, uint64_t budget_ns,
                        struct cn_error *err)
{
    enum { TRACES_OF_WORKER = 16 };
    uint64_t deadline_ns = cn_clock_ns() + budget_ns;
    unsigned workers = cn_pool_default_workers();
    struct flame_batch batch = {
        .flame = flame,
        .first_hits = cn_alloc(TRACES_OF_WORKER * workers + 1, sizeof(*batch.first_hits)),
        .workers = cn_alloc(workers, sizeof(*batch.workers)),
        .is_ok = true,
        .err = err,
    };
    struct cn_jobs jobs = {.arg = &batch, .run = load_trace, .take = take_trace};

    for (unsigned i = 0; i < workers; i++)
        batch.workers[i].loader = cn_segment_loader_new();
    while (batch.is_ok && !cn_trace_flame_is_complete(flame)) {
        jobs.count = find_traces(&batch, TRACES_OF_WORKER * workers);
        cn_pool_run(&jobs, workers);
        if (batch.is_ok) {
            flame->added = batch.first_hits[jobs.count];
            flame->added_count += jobs.count;
        }
        forget_traces(flame->store);
        if (cn_clock_ns() >= deadline_ns)
            break;
    }
    if (batch.is_ok && cn_trace_flame_is_complete(flame))
        finish(flame);
    for (unsigned i = 0; i < workers; i++) {
        cn_segment_loader_free(batch.workers[i].loader);
        cn_trace_set_done(&batch.workers[i].set);
    }
    free(batch.first_hits);
    free(batch.workers);
    return batch.is_ok;
}

/* The nodes that are painted, those of a caller one after the other, the largest first. */
struct painted {
    const struct cn_trace_flame *flame;
    uint32_t *nodes;
    size_t count, capacity;
};

static const char *name_in(const struct cn_trace_flame *flame, uint32_t node)
{
    return flame->names.list[flame->methods[flame->tree.links[node].key].name];
}

static const char *service_in(const struct cn_trace_flame *flame, uint32_t node)
{
    return flame->services.list[flame->methods[flame->tree.links[node].key].service];
}

static int compare_nodes(const void *a, const void *b, void *arg)
{
    const struct cn_trace_flame *flame = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct cn_tree_link *x = &flame->tree.links[i], *y = &flame->tree.links[k];

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (flame->nodes[i].total_ns != flame->nodes[k].total_ns)
        return flame->nodes[i].total_ns > flame->nodes[k].total_ns ? -1 : 1;
    int order = strcmp(name_in(flame, i), name_in(flame, k));

    return order != 0 ? order : strcmp(service_in(flame, i), service_in(flame, k));
}

static void list_painted(struct painted *painted, double smallest_ns)
{
    const struct cn_trace_flame *flame = painted->flame;

    for (uint32_t i = 1; i < flame->count; i++) {
        if (flame->nodes[i].total_ns <= smallest_ns)
            continue;
        CN_PUSH(painted->nodes, painted->count, painted->capacity, i);
    }
    if (painted->count > 1)
        qsort_r(painted->nodes, painted->count, sizeof(*painted->nodes), compare_nodes,
                (void *)(uintptr_t)flame);
}

static bool is_of_earlier(const void *arg, uint64_t i, uint64_t parent)
{
    const struct painted *painted = arg;

    return painted->flame->tree.links[painted->nodes[i]].parent < parent;
}

/* The index of the first callee, or of the one after the last, if the node at that index is not one
 * of `parent`. */
static size_t first_callee(const struct painted *painted, uint32_t parent)
{
    return (size_t)cn_search(0, painted->count, is_of_earlier, painted, parent);
}

static bool is_callee(const struct painted *painted, size_t at, uint32_t parent)
{
    return at < painted->count &&
           painted->flame->tree.links[painted->nodes[at]].parent == parent;
}

void cn_trace_flame_paint(const struct cn_trace_flame *flame, double share,
                          struct cn_flame *out)
{
    struct painted painted = {.flame = flame};
    uint32_t parent = 0;
    size_t *ats = NULL, depth = 0, capacity = 0, at;

    list_painted(&painted, flame->total_ns * share);
    at = first_callee(&painted, parent);
    for (;;) {
        if (!is_callee(&painted, at, parent)) {
            if (depth == 0)
                break;
            at = ats[--depth] + 1;
            parent = flame->tree.links[parent].parent;
            continue;
        }
        uint32_t id = painted.nodes[at];
        const struct cn_trace_flame_node *node = &flame->nodes[id];
        if (!cn_flame_add(out,
                          &(struct cn_flame_node){
                              .depth = (uint32_t)depth,
                              .total = node->total_ns / 1e9,
                              .self = fmax(node->self_ns, 0) / 1e9,
                              .id = id - 1,
                          },
                          name_in(flame, id), service_in(flame, id)))
            break;
        CN_PUSH(ats, depth, capacity, at);
        parent = id;
        at = first_callee(&painted, parent);
    }
    free(ats);
    free(painted.nodes);
}
