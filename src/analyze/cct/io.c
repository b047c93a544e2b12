/* System calls by context: the innermost shown call when they begin, which is their own if it is shown. */

#include "analyze/cct/analysis.h"

#include <string.h>

#include "base/sort.h"

void cn_cct_task_begin_io(struct cn_cct_task *task)
{
    const struct cn_io_calls *io = task->options.query->rec->io;

    if (!task->options.io_nodes)
        return;
    task->next_io = cn_io_calls_first(io, task->options.task);
    task->end_io = cn_io_calls_first(io, task->options.task + 1);
    while (task->next_io < task->end_io &&
           io->list[task->next_io].begin_ns < task->options.query->range.first_ns)
        task->next_io++;
}

/* Its caller is the innermost call that is none of the kernel. */
static void add_call(struct cn_cct_task *task, size_t number)
{
    const struct cn_recording *rec = task->options.query->rec;
    const struct cn_call_stack *stack = &task->follow.stack;
    uint32_t frames = stack->count, function;
    struct cn_cct_io_nodes nodes;

    while (frames > 0 && stack->frames[frames - 1].flags & CN_FRAME_SCHEDULE)
        frames--;
    if (frames == 0 || stack->frames[frames - 1].mark == 0)
        return;
    nodes.own = stack->frames[frames - 1].mark;
    for (; frames > 0; frames--) {
        function = stack->frames[frames - 1].function;
        if (function >= rec->function_count || rec->functions[function].type != 'K')
            break;
    }
    nodes.caller = frames > 0 ? stack->frames[frames - 1].mark : 0;
    task->options.io_nodes[number] = nodes;
    cn_cct_readings_add_io(&task->readings, &rec->io->list[number], nodes.own);
}

void cn_cct_task_count_io(struct cn_cct_task *task, uint64_t before_ns)
{
    const struct cn_io_calls *io = task->options.query->rec->io;

    for (; task->next_io < task->end_io; task->next_io++) {
        uint64_t begin_ns = io->list[task->next_io].begin_ns;

        if (begin_ns >= before_ns || begin_ns > task->options.query->range.last_ns)
            return;
        add_call(task, task->next_io);
    }
}

static size_t count_targets(const struct cn_cct_analysis *a)
{
    size_t count = 0;

    for (size_t i = 0; i < a->self->source_count; i++)
        count += a->queries[i].rec->io ? a->queries[i].rec->io->target_count : 0;
    return count;
}

static size_t count_calls(const struct cn_cct_analysis *a)
{
    size_t count = 0;

    for (size_t i = 0; i < a->self->source_count; i++) {
        const struct cn_io_calls *io = a->queries[i].rec->io;

        for (size_t k = 0; io && k < io->count; k++)
            count += a->io_nodes[i][k].own != 0;
    }
    return count;
}

/* Names of all recordings; `first` is by source. */
static const char **list_targets(struct cn_cct_analysis *a, size_t *first)
{
    struct cn_arena *arena = &a->self->db.arena;
    const char **list = cn_arena_alloc(arena, count_targets(a) + 1, sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < a->self->source_count; i++) {
        const struct cn_io_calls *io = a->queries[i].rec->io;

        first[i] = count;
        for (size_t k = 0; io && k < io->target_count; k++)
            list[count++] = cn_arena_strdup(arena, io->targets[k]);
    }
    return list;
}

static void show_calls(struct cn_cct_analysis *a, size_t number, size_t first_target,
                       struct cn_io_calls *out)
{
    const struct cn_cct_member *member = &a->self->members.list[number];
    const struct cn_io_calls *io = a->queries[member->source].rec->io;
    uint64_t offset_ns = (uint64_t)a->self->offsets_ns[member->source];
    uint32_t task = member->task.options.task;
    size_t end = cn_io_calls_first(io, task + 1);

    for (size_t i = cn_io_calls_first(io, task); i < end; i++) {
        const struct cn_cct_io_nodes *nodes = &a->io_nodes[member->source][i];
        struct cn_io_call call = io->list[i];

        if (nodes->own == 0)
            continue;
        call.begin_ns += offset_ns;
        call.end_ns += call.end_ns != 0 ? offset_ns : 0;
        call.profile = (uint32_t)number + 1;
        call.caller = member->nodes[nodes->caller];
        call.context = member->nodes[nodes->own];
        if (call.target != CN_NONE)
            call.target += (uint32_t)first_target;
        out->list[out->count++] = call;
    }
}

void cn_cct_analysis_show_io(struct cn_cct_analysis *a)
{
    struct cn_arena *arena = &a->self->db.arena;
    size_t count = count_calls(a);
    struct cn_io_calls *io;

    if (count == 0)
        return;
    io = cn_arena_alloc(arena, 1, sizeof(*io));
    size_t *first = cn_arena_alloc(arena, a->self->source_count, sizeof(*first));
    io->list = cn_arena_alloc(arena, count, sizeof(*io->list));
    io->targets = list_targets(a, first);
    io->target_count = count_targets(a);
    for (size_t i = a->own_first; i < a->own_end; i++) {
        size_t source = a->self->members.list[i].source;

        if (a->queries[source].rec->io)
            show_calls(a, i, first[source], io);
    }
    CN_SORT(io->list, io->count, CN_UP(struct cn_io_call, begin_ns),
            CN_UP(struct cn_io_call, profile));
    a->self->db.io = io;
}
