#include "analyze/mpi/builder.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_mpi_builder_init(struct cn_mpi_builder *builder, struct cn_mpi_run *run)
{
    *builder = (struct cn_mpi_builder){
        .run = run, .path = CN_NONE, .call_path = CN_NONE, .phase_path = CN_NONE};
}

void cn_mpi_builder_done(struct cn_mpi_builder *builder)
{
    free(builder->rank.calls);
    free(builder->rank.values);
    free(builder->rank.phases);
    free(builder->costs);
    free(builder->gap_ns);
    free(builder->gap_paths);
    *builder = (struct cn_mpi_builder){0};
}

/* Room for what is counted by path. */
static void make_room(struct cn_mpi_builder *b)
{
    size_t old = b->cost_capacity;

    if (b->run->path_count <= old)
        return;
    CN_GROW_TO(b->costs, b->run->path_count, b->cost_capacity);
    for (size_t i = old; i < b->cost_capacity; i++)
        b->costs[i] = (struct cn_mpi_cost){.path = (uint32_t)i};
    old = b->gap_capacity;
    CN_GROW_TO(b->gap_ns, b->cost_capacity, b->gap_capacity);
    for (size_t i = old; i < b->gap_capacity; i++)
        b->gap_ns[i] = 0;
}

static void add_span(struct cn_mpi_builder *b, uint64_t end_ns)
{
    uint64_t ns = end_ns - b->since_ns;

    if (b->path == CN_NONE || ns == 0)
        return;
    make_room(b);
    if (b->call_path != CN_NONE) {
        if (b->run->paths[b->call_path].operation->kind != CN_MPI_FINALIZE)
            b->costs[b->path].inside_ns += ns;
        return;
    }
    b->costs[b->path].outside_ns += ns;
    if (b->gap_ns[b->path] == 0)
        CN_PUSH(b->gap_paths, b->gap_count, b->gap_path_capacity, b->path);
    b->gap_ns[b->path] += ns;
}

/* The path with most of the time since the last call, which ends here. */
static uint32_t end_gap(struct cn_mpi_builder *b)
{
    uint64_t most_ns = 0;
    uint32_t most = CN_NONE;

    for (size_t i = 0; i < b->gap_count; i++) {
        uint32_t path = b->gap_paths[i];

        if (b->gap_ns[path] > most_ns) {
            most_ns = b->gap_ns[path];
            most = path;
        }
        b->gap_ns[path] = 0;
    }
    b->gap_count = 0;
    return most;
}

/* A run begins when MPI_Init ends: what was before is none of it. */
static void forget_before(struct cn_mpi_builder *b, uint64_t time_ns)
{
    b->rank.call_count = 0;
    b->rank.value_count = 0;
    b->rank.phase_count = 0;
    b->rank.span.begin_ns = time_ns;
    if (b->phase_path != CN_NONE)
        CN_PUSH(b->rank.phases, b->rank.phase_count, b->rank.phase_capacity,
                (struct cn_mpi_interval){time_ns, time_ns});
    for (size_t i = 0; i < b->cost_capacity; i++)
        b->costs[i].outside_ns = b->costs[i].inside_ns = 0;
    (void)end_gap(b);
}

static void end_call(struct cn_mpi_builder *b, uint64_t time_ns)
{
    const struct cn_mpi_operation *operation = b->run->paths[b->call_path].operation;

    b->rank.calls[b->rank.call_count - 1].end_ns = time_ns;
    if (operation->kind == CN_MPI_INIT)
        forget_before(b, time_ns);
    b->call_path = CN_NONE;
}

static void begin_call(struct cn_mpi_builder *b, uint32_t path, uint64_t time_ns)
{
    CN_PUSH(b->rank.calls, b->rank.call_count, b->rank.call_capacity,
            (struct cn_mpi_call){.begin_ns = time_ns,
                                 .end_ns = time_ns,
                                 .path = path,
                                 .before = end_gap(b),
                                 .late_rank = CN_NONE,
                                 .late_path = CN_NONE,
                                 .link = CN_NONE,
                                 .comm = CN_MPI_COMM_UNKNOWN});
    b->call_path = path;
    b->rank.seen_calls++;
}

static void change_phase(struct cn_mpi_builder *b, uint32_t phase, uint64_t time_ns)
{
    if (b->phase_path != CN_NONE && b->rank.phase_count > 0)
        b->rank.phases[b->rank.phase_count - 1].end_ns = time_ns;
    if (phase != CN_NONE)
        CN_PUSH(b->rank.phases, b->rank.phase_count, b->rank.phase_capacity,
                (struct cn_mpi_interval){time_ns, time_ns});
    b->phase_path = phase;
}

void cn_mpi_builder_move(struct cn_mpi_builder *b, uint32_t path, uint64_t time_ns)
{
    uint32_t call = path == CN_NONE ? CN_NONE : b->run->paths[path].mpi;
    uint32_t phase = path == CN_NONE ? CN_NONE : b->run->paths[path].phase;

    if (!b->has_begun) {
        b->has_begun = true;
        b->rank.span = (struct cn_mpi_interval){time_ns, time_ns};
    } else {
        add_span(b, time_ns);
    }
    b->since_ns = time_ns;
    b->rank.span.end_ns = time_ns;
    if (call != b->call_path && b->call_path != CN_NONE)
        end_call(b, time_ns);
    if (phase != b->phase_path)
        change_phase(b, phase, time_ns);
    if (call != b->call_path)
        begin_call(b, call, time_ns);
    b->path = path;
}

void cn_mpi_builder_add_values(struct cn_mpi_builder *b, uint16_t comm,
                               const struct cn_mpi_values *values)
{
    struct cn_mpi_call *call;

    if (b->call_path == CN_NONE || b->rank.call_count == 0)
        return;
    call = &b->rank.calls[b->rank.call_count - 1];
    call->comm = comm;
    if (values->known == 0 || b->rank.value_count >= CN_NONE)
        return;
    call->link = (uint32_t)b->rank.value_count;
    CN_PUSH(b->rank.values, b->rank.value_count, b->rank.value_capacity, *values);
}

void cn_mpi_builder_end(struct cn_mpi_builder *b, uint64_t time_ns)
{
    if (b->has_begun)
        cn_mpi_builder_move(b, CN_NONE, time_ns);
}

/* Where the run ends: where MPI_Finalize begins, unless it was not seen. */
static void cut_end(struct cn_mpi_builder *b)
{
    struct cn_mpi_rank *rank = &b->rank;
    const struct cn_mpi_call *last;

    if (rank->call_count == 0)
        return;
    last = &rank->calls[rank->call_count - 1];
    if (b->run->paths[last->path].operation->kind == CN_MPI_FINALIZE)
        rank->span.end_ns = last->begin_ns;
}

void cn_mpi_builder_take(struct cn_mpi_builder *b, uint32_t number)
{
    struct cn_mpi_run *run = b->run;
    struct cn_mpi_rank rank = b->rank;

    cut_end(b);
    rank.span = b->rank.span;
    rank.number = number;
    rank.costs = cn_alloc(b->cost_capacity, sizeof(*rank.costs));
    for (size_t i = 0; i < b->cost_capacity; i++)
        if (b->costs[i].outside_ns + b->costs[i].inside_ns > 0)
            rank.costs[rank.cost_count++] = b->costs[i];
    CN_PUSH(run->ranks, run->count, run->capacity, rank);
    b->rank = (struct cn_mpi_rank){0};
    cn_mpi_builder_done(b);
}
