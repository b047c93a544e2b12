#include "analyze/mpi/ideal.h"

#include <stdlib.h>

#include "analyze/mpi/run.h"
#include "base/alloc.h"

struct replayed_rank {
    size_t next;        /* call */
    uint64_t now_ns;    /* since the begin of the run, on an ideal network */
    uint64_t left_ns;   /* when the call before ended in the run */
    bool has_arrived;   /* in the next call, at now_ns */
    uint64_t *begun_ns; /* of each call that was begun, on an ideal network */
    size_t message;     /* the first one that is not before the next call */
};

struct replayed_collective {
    uint64_t last_ns, root_ns;
    uint32_t arrived;
    bool has_root;
};

struct ideal_run {
    const struct cn_mpi_run *run;
    struct replayed_rank *ranks;
    struct replayed_collective *collectives;
};

/* The part of a path's operation that says what it waits for. */
static unsigned kind_of(const struct ideal_run *r, const struct cn_mpi_call *call)
{
    return r->run->paths[call->path].operation->kind;
}

static void arrive(struct ideal_run *r, size_t rank, const struct cn_mpi_call *call)
{
    struct replayed_rank *it = &r->ranks[rank];
    struct replayed_collective *group;

    it->now_ns += call->begin_ns > it->left_ns ? call->begin_ns - it->left_ns : 0;
    it->begun_ns[it->next] = it->now_ns;
    it->has_arrived = true;
    if (call->link == CN_NONE)
        return;
    group = &r->collectives[call->link];
    group->arrived++;
    group->last_ns = it->now_ns > group->last_ns ? it->now_ns : group->last_ns;
    if (call->is_root) {
        group->has_root = true;
        group->root_ns = it->now_ns;
    }
}

/* True if the call can end; then at *end_ns. */
static bool can_end_collective(const struct ideal_run *r, const struct cn_mpi_call *call,
                               uint64_t *end_ns)
{
    const struct replayed_collective *group = &r->collectives[call->link];
    unsigned kind = kind_of(r, call);

    if (kind == CN_MPI_FROM_ROOT) {
        *end_ns = group->root_ns > *end_ns ? group->root_ns : *end_ns;
        return group->has_root;
    }
    if (kind == CN_MPI_TO_ROOT && !call->is_root)
        return true;
    *end_ns = group->last_ns > *end_ns ? group->last_ns : *end_ns;
    return group->arrived == r->run->count;
}

/* All messages that it receives must have been sent. */
static bool can_end_receives(struct ideal_run *r, size_t rank, uint64_t *end_ns)
{
    struct replayed_rank *it = &r->ranks[rank];

    for (size_t i = it->message; i < r->run->message_count; i++) {
        const struct cn_mpi_message *message = &r->run->messages[i];
        const struct replayed_rank *from = &r->ranks[message->from_rank];

        if (message->to_rank != rank || message->to_call != it->next)
            break;
        if (from->next < message->from_call ||
            (from->next == message->from_call && !from->has_arrived))
            return false;
        if (from->begun_ns[message->from_call] > *end_ns)
            *end_ns = from->begun_ns[message->from_call];
    }
    return true;
}

/* Go on with a rank as far as it gets; true if it got anywhere. */
static bool go_on(struct ideal_run *r, size_t rank)
{
    const struct cn_mpi_rank *from = &r->run->ranks[rank];
    struct replayed_rank *it = &r->ranks[rank];
    bool has_moved = false;

    while (it->next < from->call_count) {
        const struct cn_mpi_call *call = &from->calls[it->next];
        uint64_t end_ns;

        if (!it->has_arrived) {
            arrive(r, rank, call);
            has_moved = true;
        }
        end_ns = it->now_ns;
        if (kind_of(r, call) == CN_MPI_FINALIZE)
            break;
        if (call->link != CN_NONE ? !can_end_collective(r, call, &end_ns)
                                  : !can_end_receives(r, rank, &end_ns))
            break;
        while (it->message < r->run->message_count &&
               r->run->messages[it->message].to_rank == rank &&
               r->run->messages[it->message].to_call == it->next)
            it->message++;
        it->now_ns = end_ns;
        it->left_ns = call->end_ns;
        it->next++;
        it->has_arrived = false;
        has_moved = true;
    }
    return has_moved;
}

static bool has_ended(const struct ideal_run *r, size_t rank)
{
    const struct cn_mpi_rank *from = &r->run->ranks[rank];
    const struct replayed_rank *it = &r->ranks[rank];

    return it->next == from->call_count ||
           (it->has_arrived && kind_of(r, &from->calls[it->next]) == CN_MPI_FINALIZE);
}

static void begin(struct ideal_run *r)
{
    size_t message = 0;
    uint64_t begin_ns = UINT64_MAX;

    for (size_t i = 0; i < r->run->count; i++)
        if (r->run->ranks[i].span.begin_ns < begin_ns)
            begin_ns = r->run->ranks[i].span.begin_ns;
    for (size_t i = 0; i < r->run->count; i++) {
        const struct cn_mpi_rank *from = &r->run->ranks[i];

        while (message < r->run->message_count && r->run->messages[message].to_rank < i)
            message++;
        r->ranks[i] = (struct replayed_rank){
            .now_ns = from->span.begin_ns - begin_ns,
            .left_ns = from->span.begin_ns,
            .message = message,
            .begun_ns = cn_alloc(from->call_count, sizeof(*r->ranks[i].begun_ns)),
        };
    }
}

bool cn_mpi_ideal_time(const struct cn_mpi_run *run, uint64_t *out_ns)
{
    struct ideal_run r = {.run = run};
    bool has_moved = true, ok = true;

    if (!run->is_matched)
        return false;
    r.ranks = cn_alloc(run->count, sizeof(*r.ranks));
    r.collectives = cn_alloc(run->collective_count, sizeof(*r.collectives));
    begin(&r);
    while (has_moved) {
        has_moved = false;
        for (size_t i = 0; i < run->count; i++)
            has_moved = go_on(&r, i) || has_moved;
    }
    *out_ns = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *from = &run->ranks[i];
        struct replayed_rank *it = &r.ranks[i];

        ok = ok && has_ended(&r, i);
        if (it->next == from->call_count && from->span.end_ns > it->left_ns)
            it->now_ns += from->span.end_ns - it->left_ns;
        *out_ns = it->now_ns > *out_ns ? it->now_ns : *out_ns;
        free(it->begun_ns);
    }
    free(r.ranks);
    free(r.collectives);
    return ok;
}
