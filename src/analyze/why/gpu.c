#include "analyze/why/gpu.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "model/calls/recording.h"
#include "model/contexts/context.h"
#include "model/gpu/work.h"

#define SHARE_MIN    0.1 /* of the difference */
#define KERNEL_RATIO 1.1 /* all that follow are late: kernels say more than copies */

/* Operations of one kind: kernels of a name, copies into the device. */
struct gpu_kind {
    uint32_t function, device;
    bool is_kernel;
    double ran_ns[CN_WHY_GROUPS];
    double late_ns[CN_WHY_GROUPS];
    uint64_t launch_counts[CN_WHY_GROUPS];
    double before_ns; /* how long it ran before the one that is late */
};

struct gpu_look {
    const struct cn_why *why;
    const struct cn_recording *rec;
    const struct cn_gpu_work *work;
    uint64_t *last_end_ns; /* by operation: the latest end of it and those before */
    struct cn_map kind_of; /* by function and device */
    struct gpu_kind *kinds;
    size_t kind_count, kind_capacity;
};

struct gpu_time {
    uint64_t from_ns, to_ns;
};

typedef void (*gpu_seen_fn)(struct gpu_look *look, struct gpu_kind *kind, double ns,
                            int group);

static struct gpu_kind *kind_at(struct gpu_look *look, const struct cn_gpu_op *op)
{
    uint64_t key = (uint64_t)op->device << 32 | op->place;
    uint32_t at = *cn_map_at(&look->kind_of, key, (uint32_t)look->kind_count);

    if (at == look->kind_count) {
        CN_PUSH(look->kinds, look->kind_count, look->kind_capacity,
                (struct gpu_kind){.function = op->place,
                                  .device = op->device,
                                  .is_kernel = op->kind == CN_GPU_KERNEL});
    }
    return &look->kinds[at];
}

/* The number of operations that begin before this time. */
static uint32_t begun_before(const struct cn_gpu_work *work, uint64_t time_ns)
{
    return work->op_count == 0
               ? 0
               : (uint32_t)cn_search_below_u64(&work->ops->begin_ns, work->op_count,
                                               sizeof(*work->ops), time_ns);
}

/* See what ran on devices during this time, but not the operation `except`. */
static void see_running(struct gpu_look *look, struct gpu_time during, uint32_t except,
                        uint32_t device, gpu_seen_fn seen, int group)
{
    for (uint32_t i = begun_before(look->work, during.to_ns);
         i-- > 0 && look->last_end_ns[i] > during.from_ns;) {
        const struct cn_gpu_op *op = &look->work->ops[i];
        uint64_t from_ns = op->begin_ns > during.from_ns ? op->begin_ns : during.from_ns;
        uint64_t to_ns = op->end_ns < during.to_ns ? op->end_ns : during.to_ns;

        if (i != except && cn_gpu_op_is_busy(op) && op->device != CN_NONE &&
            (device == CN_NONE || op->device == device) && from_ns < to_ns)
            seen(look, kind_at(look, op), (double)(to_ns - from_ns), group);
    }
}

static void saw_in_wait(struct gpu_look *look, struct gpu_kind *kind, double ns,
                        int group)
{
    (void)look;
    kind->ran_ns[group] += ns;
}

static void saw_before(struct gpu_look *look, struct gpu_kind *kind, double ns, int group)
{
    (void)look;
    (void)group;
    kind->before_ns += ns;
}

/* Visit the operations that calls of a group launched. */
typedef void (*gpu_launched_fn)(struct gpu_look *look, uint32_t op,
                                const struct cn_why_call *call, int group, void *arg);

static void each_launched(struct gpu_look *look, int group, gpu_launched_fn visit,
                          void *arg)
{
    const struct cn_why_calls *calls = &look->why->groups[group];
    const struct cn_gpu_work *work = look->work;

    for (size_t i = 0; i < calls->sample_count; i++) {
        const struct cn_why_call *call = &calls->samples[i];

        for (uint32_t k = cn_gpu_work_launches(work, call->task, call->begin_ns);
             k < work->launch_count; k++) {
            uint32_t at = work->by_launch[k];

            if (work->ops[at].thread != call->task ||
                work->ops[at].launch_ns >= call->end_ns)
                break;
            visit(look, at, call, group, arg);
        }
    }
}

static void take_launched(struct gpu_look *look, uint32_t at,
                          const struct cn_why_call *call, int group, void *arg)
{
    const struct cn_gpu_op *op = &look->work->ops[at];

    (void)arg;
    if (cn_gpu_op_is_wait(op)) {
        struct gpu_time wait = {op->begin_ns > call->begin_ns ? op->begin_ns
                                                              : call->begin_ns,
                                op->end_ns < call->end_ns ? op->end_ns : call->end_ns};

        see_running(look, wait, at, CN_NONE, saw_in_wait, group);
    } else if (cn_gpu_op_is_busy(op) && op->device != CN_NONE) {
        struct gpu_kind *kind = kind_at(look, op);

        kind->late_ns[group] += (double)cn_gpu_op_delay_ns(op);
        kind->launch_counts[group]++;
    }
}

/* Of an operation that is late: what ran before. */
static void take_late(struct gpu_look *look, uint32_t at, const struct cn_why_call *call,
                      int group, void *arg)
{
    const struct cn_gpu_op *op = &look->work->ops[at];
    const struct gpu_kind *late = arg;

    (void)call;
    if (op->place == late->function && op->device == late->device)
        see_running(look, (struct gpu_time){op->launch_ns, op->begin_ns}, at, op->device,
                    saw_before, group);
}

static double ran_in(const struct gpu_look *look, const struct gpu_kind *kind, int group)
{
    size_t count = look->why->groups[group].sample_count;

    return count > 0 ? kind->ran_ns[group] / (double)count : 0;
}

static double late_in(const struct gpu_kind *kind, int group)
{
    return kind->launch_counts[group] > 0
               ? kind->late_ns[group] / (double)kind->launch_counts[group]
               : 0;
}

static const char *name_of(const struct gpu_look *look, uint32_t function)
{
    return function < look->rec->function_count ? look->rec->functions[function].name
                                                : NULL;
}

static void find_ran(struct gpu_look *look, struct cn_why_gpu *out, double least_ns)
{
    for (size_t i = 0; i < look->kind_count; i++) {
        const struct gpu_kind *kind = &look->kinds[i];
        double slow = ran_in(look, kind, CN_WHY_SLOW);
        double typical = ran_in(look, kind, CN_WHY_TYPICAL);

        if (slow - typical < least_ns)
            continue;
        least_ns = slow - typical;
        out->ran = name_of(look, kind->function);
        out->device = look->work->devices[kind->device].number;
        out->ran_ns[CN_WHY_SLOW] = slow;
        out->ran_ns[CN_WHY_TYPICAL] = typical;
    }
}

static void find_late(struct gpu_look *look, struct cn_why_gpu *out, double least_ns)
{
    struct gpu_kind late = {.function = CN_NONE};
    double most_ns = 0;

    for (size_t i = 0; i < look->kind_count; i++) {
        const struct gpu_kind *kind = &look->kinds[i];
        double slow = late_in(kind, CN_WHY_SLOW), typical = late_in(kind, CN_WHY_TYPICAL);

        double later_ns = (slow - typical) * (kind->is_kernel ? KERNEL_RATIO : 1);

        if (kind->launch_counts[CN_WHY_SLOW] == 0 || later_ns < least_ns)
            continue;
        least_ns = later_ns;
        late = *kind;
        out->late = name_of(look, kind->function);
        out->late_ns[CN_WHY_SLOW] = slow;
        out->late_ns[CN_WHY_TYPICAL] = typical;
    }
    if (!out->late)
        return;
    each_launched(look, CN_WHY_SLOW, take_late, &late);
    for (size_t i = 0; i < look->kind_count; i++)
        if (look->kinds[i].before_ns > most_ns) {
            most_ns = look->kinds[i].before_ns;
            out->before = name_of(look, look->kinds[i].function);
        }
}

void cn_why_gpu_find(struct cn_why_gpu *out, const struct cn_why *why,
                     const struct cn_recording *rec, double whole_ns)
{
    struct gpu_look look = {.why = why, .rec = rec, .work = rec->gpu};
    uint64_t last_ns = 0;

    *out = (struct cn_why_gpu){0};
    if (!rec->gpu || whole_ns <= 0)
        return;
    look.last_end_ns = cn_alloc(rec->gpu->op_count, sizeof(*look.last_end_ns));
    for (uint32_t i = 0; i < rec->gpu->op_count; i++) {
        const struct cn_gpu_op *op = &rec->gpu->ops[i];

        if (cn_gpu_op_is_busy(op) && op->end_ns > last_ns)
            last_ns = op->end_ns;
        look.last_end_ns[i] = last_ns;
    }
    for (int group = 0; group < CN_WHY_GROUPS; group++)
        each_launched(&look, group, take_launched, NULL);
    find_ran(&look, out, SHARE_MIN * whole_ns);
    find_late(&look, out, SHARE_MIN * whole_ns);
    cn_map_done(&look.kind_of);
    free(look.kinds);
    free(look.last_end_ns);
}
