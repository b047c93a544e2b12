#include "analyze/why/memory.h"

#include <stdlib.h>

#include "analyze/calls/visit.h"
#include "analyze/why/rows.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "model/calls/recording.h"
#include "model/memory/log.h"

#define MORE_MIN  1.5  /* times as much as typical calls */
#define BYTES_MIN 4096 /* more than they */

/* A sampled call of a task. */
struct during {
    uint64_t begin_ns, end_ns;
    uint32_t task, group;
};

/* What calls of both groups allocated in a function. */
struct use_in {
    double bytes[CN_WHY_GROUPS], allocations[CN_WHY_GROUPS];
};

struct uses {
    struct cn_map at; /* by function; CN_NONE: in none */
    struct use_in *list;
    uint32_t *functions;
    size_t count, capacity, function_capacity;
};

struct memory_walk {
    struct cn_task_walk base; /* first */
    struct cn_heap_log log;
    struct cn_heap_event event; /* the next one */
    bool has_event;
    size_t during; /* the first call that is not over */
    struct uses uses;
};

struct memory_build {
    const struct cn_call_query *query;
    struct during *list; /* by task, then by begin */
    size_t count;
    struct uses *workers;
};

static struct use_in *use_of(struct uses *uses, uint32_t function)
{
    uint32_t at = *cn_map_at(&uses->at, function, (uint32_t)uses->count);

    if (at == uses->count) {
        CN_GROW(uses->functions, uses->count, uses->function_capacity);
        uses->functions[at] = function;
        CN_PUSH(uses->list, uses->count, uses->capacity, (struct use_in){0});
    }
    return &uses->list[at];
}

static void add_uses(struct uses *into, const struct uses *from)
{
    for (size_t i = 0; i < from->count; i++) {
        struct use_in *to = use_of(into, from->functions[i]);

        for (int k = 0; k < CN_WHY_GROUPS; k++) {
            to->bytes[k] += from->list[i].bytes[k];
            to->allocations[k] += from->list[i].allocations[k];
        }
    }
}

static void done_uses(struct uses *uses)
{
    cn_map_done(&uses->at);
    free(uses->list);
    free(uses->functions);
}

static struct memory_walk *walk_of(struct cn_task_walk *base)
{
    return (struct memory_walk *)base;
}

static uint32_t task_of(const struct memory_build *build, const struct memory_walk *walk)
{
    return build->query->tasks[walk->base.slot];
}

/* The innermost function that is open, and does more than to manage memory. */
static uint32_t function_in(const struct memory_build *build,
                            const struct memory_walk *walk)
{
    const struct cn_recording *rec = build->query->rec;
    const struct cn_call_stack *stack = &walk->base.stack;

    for (uint32_t i = stack->count; i-- > 0;) {
        const struct cn_call_frame *frame = &stack->frames[i];

        if (frame->function < rec->function_count && frame->flags & CN_FRAME_SHOWN &&
            cn_why_kind_of(rec->functions[frame->function].name) != CN_WHY_MEMORY)
            return frame->function;
    }
    return CN_NONE;
}

/* Damage ends the records; it is reported where memory is shown. */
static void read_event(const struct memory_build *build, struct memory_walk *walk)
{
    struct cn_error ignored = {0};

    walk->has_event =
        build->query->rec->ops->heap_next(&walk->log, &walk->event, &ignored) == CN_ITEM;
}

static void take_event(const struct memory_build *build, struct memory_walk *walk)
{
    uint64_t time_ns = walk->event.time_ns;
    uint32_t task = task_of(build, walk);
    struct use_in *use;

    while (walk->during < build->count && build->list[walk->during].task == task &&
           build->list[walk->during].end_ns <= time_ns)
        walk->during++;
    if (walk->event.kind != CN_HEAP_EVENT_ALLOC || walk->during == build->count ||
        build->list[walk->during].task != task ||
        build->list[walk->during].begin_ns > time_ns)
        return;
    use = use_of(&walk->uses, function_in(build, walk));
    use->bytes[build->list[walk->during].group] += (double)walk->event.size;
    use->allocations[build->list[walk->during].group]++;
}

static void walk_begin(void *arg, struct cn_task_walk *base)
{
    const struct memory_build *build = arg;
    struct memory_walk *walk = walk_of(base);
    uint32_t task = task_of(build, walk);

    while (walk->during < build->count && build->list[walk->during].task < task)
        walk->during++;
    if (build->query->rec->tasks[task].heap_len == 0)
        return;
    build->query->rec->ops->heap_begin(build->query->rec, task, &walk->log);
    read_event(build, walk);
}

static void walk_done(void *arg, struct cn_task_walk *base)
{
    (void)arg;
    done_uses(&walk_of(base)->uses);
}

static void walk_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    const struct memory_build *build = arg;
    struct memory_walk *walk = walk_of(base);

    for (size_t i = 0; i < batch->count; i++) {
        const struct cn_call *call = &batch->calls[i];

        for (; walk->has_event && walk->event.time_ns < cn_call_recorded_ns(batch, call);
             read_event(build, walk))
            take_event(build, walk);
        cn_call_stack_follow(&walk->base.stack, call, batch);
    }
}

static void walk_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    const struct memory_build *build = arg;

    add_uses(&build->workers[worker], &((const struct memory_walk *)base)->uses);
}

static void list_calls(struct memory_build *build, const struct cn_why *why)
{
    build->list = cn_alloc(why->groups[CN_WHY_SLOW].sample_count +
                               why->groups[CN_WHY_TYPICAL].sample_count,
                           sizeof(*build->list));
    for (uint32_t k = 0; k < CN_WHY_GROUPS; k++) {
        for (size_t i = 0; i < why->groups[k].sample_count; i++) {
            const struct cn_why_call *call = &why->groups[k].samples[i];

            build->list[build->count++] =
                (struct during){call->begin_ns, call->end_ns, call->task, k};
        }
    }
    CN_SORT(build->list, build->count, CN_UP(struct during, task),
            CN_UP(struct during, begin_ns));
}

/* The result does not depend on the order of functions, which that of the workers decides: sums are of whole numbers,
 * divided at the end, and a function is chosen by its bytes, then by its number. */
static void sum_up(struct cn_why_memory *out, const struct uses *uses,
                   const struct cn_why *why, const struct cn_recording *rec)
{
    double counts[CN_WHY_GROUPS], most = 0, whole;
    uint32_t best = CN_NONE;

    for (int k = 0; k < CN_WHY_GROUPS; k++) {
        counts[k] = (double)why->groups[k].sample_count;
        for (size_t i = 0; i < uses->count; i++) {
            out->bytes[k] += uses->list[i].bytes[k];
            out->allocations[k] += uses->list[i].allocations[k];
        }
        out->bytes[k] /= counts[k];
        out->allocations[k] /= counts[k];
    }
    whole = out->bytes[CN_WHY_SLOW] - out->bytes[CN_WHY_TYPICAL];
    out->is_more = whole >= BYTES_MIN &&
                   out->bytes[CN_WHY_SLOW] >= MORE_MIN * out->bytes[CN_WHY_TYPICAL];
    for (size_t i = 0; out->is_more && i < uses->count; i++) {
        double more = uses->list[i].bytes[CN_WHY_SLOW] / counts[CN_WHY_SLOW] -
                      uses->list[i].bytes[CN_WHY_TYPICAL] / counts[CN_WHY_TYPICAL];

        if (uses->functions[i] == CN_NONE || more <= 0 || more < most ||
            (more == most && uses->functions[i] > best))
            continue;
        most = more;
        best = uses->functions[i];
        out->function = rec->functions[uses->functions[i]].name;
        out->share = more / whole;
    }
    if (!out->is_more)
        *out = (struct cn_why_memory){0};
}

bool cn_why_memory_find(struct cn_why_memory *out, const struct cn_why *why,
                        const struct cn_call_query *query, unsigned workers,
                        struct cn_error *err)
{
    static const struct cn_call_visitor visitor = {
        .walk_size = sizeof(struct memory_walk),
        .begin = walk_begin,
        .done = walk_done,
        .count = walk_count,
        .merge = walk_merge,
    };
    unsigned worker_count = workers > 0 ? workers : 1;
    struct memory_build build = {.query = query};
    struct cn_call_visit visit = {
        .query = query,
        .is_ordered = query->filter->has_switches,
        .workers = worker_count,
        .visitor = &visitor,
        .arg = &build,
    };
    struct cn_call_damages damages = {0}; /* reported by the readings before */
    struct uses uses = {0};

    *out = (struct cn_why_memory){0};
    if (!query->rec->has_heap || !query->rec->ops->heap_begin ||
        why->groups[CN_WHY_SLOW].sample_count == 0 ||
        why->groups[CN_WHY_TYPICAL].sample_count == 0)
        return true;
    build.workers = cn_alloc(worker_count, sizeof(*build.workers));
    list_calls(&build, why);
    bool ok = cn_call_visit_run(&visit, &damages, err);
    for (unsigned i = 0; i < worker_count; i++) {
        add_uses(&uses, &build.workers[i]);
        done_uses(&build.workers[i]);
    }
    if (ok)
        sum_up(out, &uses, why, query->rec);
    done_uses(&uses);
    cn_call_damages_done(&damages);
    free(build.workers);
    free(build.list);
    return ok;
}
