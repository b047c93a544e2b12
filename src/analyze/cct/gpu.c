#include "analyze/cct/analysis.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/gpu/builder.h"
#include "model/gpu/memory.h"
#include "model/gpu/timelines.h"

struct gpu_finish {
    struct cn_cct_analysis *a;
    struct cn_gpu_work *work;
    uint32_t *profiles; /* by query and task: in `first_task` + task */
    size_t *first_task; /* by query */
};

/* The members of this process know the contexts of what they launched. */
static void find_contexts(const struct gpu_finish *f, uint64_t *contexts)
{
    const struct cn_cct_analysis *a = f->a;
    size_t first = 0;

    for (size_t source = 0; source < a->self->source_count; source++) {
        const struct cn_gpu_work *from = a->queries[source].rec->gpu;

        for (uint32_t i = 0; from && i < from->op_count; i++) {
            const struct cn_gpu_op *op = &from->ops[i];
            uint32_t task = op->thread;
            uint32_t node = a->op_nodes[source][i];

            if (task == CN_NONE && op->stream != CN_NONE)
                task = from->streams[op->stream].thread;
            if (node == 0 || task == CN_NONE)
                continue;
            uint32_t profile = f->profiles[f->first_task[source] + task];
            contexts[first + i] = a->self->members.list[profile - 1].nodes[node];
        }
        first += from ? from->op_count : 0;
    }
}

static uint32_t profile_of(const struct gpu_finish *f, size_t source, uint32_t task)
{
    uint32_t profile = task == CN_NONE ? 0 : f->profiles[f->first_task[source] + task];

    return profile > 0 ? profile : CN_NONE;
}

/* Replace tasks by profiles and functions by contexts. */
static void place_ops(const struct gpu_finish *f, const uint64_t *contexts)
{
    const struct cn_cct_analysis *a = f->a;
    size_t at = 0, stream = 0;

    for (size_t source = 0; source < a->self->source_count; source++) {
        const struct cn_gpu_work *from = a->queries[source].rec->gpu;
        uint64_t offset_ns = (uint64_t)a->self->offsets_ns[source];

        for (uint32_t i = 0; from && i < from->op_count; i++, at++) {
            struct cn_gpu_op *op = &f->work->ops[at];

            op->thread = profile_of(f, source, op->thread);
            op->place = (uint32_t)contexts[at];
            op->path = CN_NONE;
            op->begin_ns += offset_ns;
            op->end_ns += offset_ns;
            op->freed_ns += op->is_followed && op->freed_ns > 0 ? offset_ns : 0;
            op->launch_ns = op->thread == CN_NONE ? 0 : op->launch_ns + offset_ns;
        }
        for (uint32_t i = 0; from && i < from->stream_count; i++, stream++)
            f->work->streams[stream].thread =
                profile_of(f, source, from->streams[i].thread);
    }
}

/* Store a sample of the timeline of a stream. */
static bool take_sample(void *arg, uint32_t stream, uint64_t time_ns, uint32_t place,
                        struct cn_error *err)
{
    const struct gpu_finish *f = arg;
    const struct cn_cct_analysis *a = f->a;
    uint32_t profile = f->work->streams[stream].thread;

    if (profile == CN_NONE || profile <= a->own_first || profile > a->own_end)
        return true;
    struct cn_cct_member *member = &a->self->members.list[profile - 1];
    struct cn_sample sample = {time_ns - (uint64_t)a->self->offsets_ns[member->source],
                               place};
    if (member->task.options.sample_max > 0) {
        cn_thinner_put(&member->task.thinner, sample);
        return true;
    }
    return cn_cct_samples_add(&member->samples, sample, err);
}

static bool end_stream(struct cn_cct_member *member, struct cn_error *err)
{
    struct cn_thinner *thinner = &member->task.thinner;
    bool ok = true;

    if (member->task.options.sample_max > 0) {
        cn_thinner_end(thinner);
        for (size_t i = 0; ok && i < thinner->count; i++)
            ok = cn_cct_samples_add(&member->samples, thinner->list[i], err);
        free(thinner->list);
        thinner->list = NULL;
    }
    ok = ok && cn_cct_samples_end(&member->samples, err);
    member->task.sample_count = member->samples.count;
    return ok;
}

static bool write_timelines(struct gpu_finish *f, struct cn_error *err)
{
    struct cn_cct_analysis *a = f->a;
    struct cn_cct_member *list = a->self->members.list;

    if (a->options->without_timelines)
        return true;
    for (size_t i = a->own_first; i < a->own_end; i++)
        if (list[i].stream != CN_NONE)
            cn_cct_samples_init(&list[i].samples, &a->self->spool, 0);
    bool ok = cn_gpu_timelines(f->work, take_sample, f, err);
    for (size_t i = a->own_first; i < a->own_end; i++)
        if (list[i].stream != CN_NONE)
            ok = ok && end_stream(&list[i], err);
    return ok;
}

static void number_profiles(struct gpu_finish *f)
{
    const struct cn_cct_analysis *a = f->a;
    size_t count = 0;

    f->first_task = cn_alloc(a->self->source_count, sizeof(*f->first_task));
    for (size_t i = 0; i < a->self->source_count; i++) {
        f->first_task[i] = count;
        count += a->queries[i].rec->task_count;
    }
    f->profiles = cn_alloc(count, sizeof(*f->profiles));
    for (size_t i = 0; i < a->self->members.count; i++) {
        const struct cn_cct_member *member = &a->self->members.list[i];

        f->profiles[f->first_task[member->source] + member->task.options.task] =
            (uint32_t)i + 1;
    }
}

static bool finish_init(struct gpu_finish *f, struct cn_cct_analysis *a)
{
    size_t count = a->self->source_count;
    const struct cn_gpu_work **list = cn_alloc(count, sizeof(*list));

    *f = (struct gpu_finish){.a = a};
    for (size_t i = 0; i < count; i++)
        list[i] = a->queries[i].rec->gpu;
    f->work = cn_gpu_work_concat(list, count);
    free(list);
    if (f->work)
        number_profiles(f);
    return f->work != NULL;
}

static void finish_done(struct gpu_finish *f)
{
    cn_gpu_work_free(f->work);
    free(f->profiles);
    free(f->first_task);
}

/* The first CN_LAUNCH_MAX launches of operations become part of the database. */
static void take_launches(struct cn_cct_database *self, const struct cn_gpu_work *work)
{
    uint32_t most =
        work->launch_count < CN_LAUNCH_MAX ? work->launch_count : CN_LAUNCH_MAX;
    struct cn_launch *list = cn_arena_alloc(&self->db.arena, most, sizeof(*list));
    size_t count = 0;

    for (uint32_t i = 0; i < work->op_count && count < most; i++) {
        const struct cn_gpu_op *op = &work->ops[i];
        uint32_t stream =
            op->stream != CN_NONE ? work->streams[op->stream].thread : CN_NONE;

        if (op->thread != CN_NONE && stream != CN_NONE && op->launch_ns > 0)
            list[count++] =
                (struct cn_launch){op->launch_ns, op->begin_ns, op->thread, stream};
    }
    self->db.launches = list;
    self->db.launch_count = count;
}

uint64_t *cn_cct_analysis_gpu_contexts(struct cn_cct_analysis *a, size_t *count)
{
    struct gpu_finish f;
    uint64_t *contexts = NULL;

    *count = 0;
    if (finish_init(&f, a)) {
        *count = f.work->op_count;
        contexts = cn_alloc(*count, sizeof(*contexts));
        find_contexts(&f, contexts);
        finish_done(&f);
    }
    return contexts;
}

bool cn_cct_analysis_draw_streams(struct cn_cct_analysis *a, const uint64_t *contexts,
                                  struct cn_error *err)
{
    struct gpu_finish f;

    if (!finish_init(&f, a))
        return true;
    place_ops(&f, contexts);
    cn_gpu_work_arrange(f.work);
    take_launches(a->self, f.work);
    a->self->db.gpu_memory = cn_gpu_memory_history(f.work, &a->self->db.arena);
    bool ok = write_timelines(&f, err);
    finish_done(&f);
    return ok;
}
