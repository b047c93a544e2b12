#include <stdlib.h>

#include "analyze/mpi/match.h"
#include "base/alloc.h"

struct comm_call {
    uint32_t comm, call;
};

/* The collective calls of a rank by communicator, and which of them are of the one being matched. */
struct comm_calls {
    struct comm_call *list;
    size_t all, capacity;
    size_t first, count;
};

struct collectives {
    struct cn_mpi_run *run;
    struct comm_calls *calls; /* by rank */
    uint64_t unmatched, uneven;
    uint32_t uneven_rank, uneven_count, even_count; /* for the message */
};

/* Of ranks whose clocks or samples do not agree, one may seem to leave before another enters. */
static uint64_t slack_ns(const struct cn_mpi_run *run)
{
    return 2 * run->resolution_ns;
}

void cn_mpi_match_late(struct cn_mpi_call *call, enum cn_mpi_cause cause,
                       uint32_t late_rank, const struct cn_mpi_call *late)
{
    uint64_t until_ns = late->begin_ns < call->end_ns ? late->begin_ns : call->end_ns;

    if (call->cause == CN_MPI_UNMATCHED || until_ns <= call->begin_ns ||
        until_ns - call->begin_ns < call->wait_ns)
        return;
    call->wait_ns = until_ns - call->begin_ns;
    call->cause = (uint8_t)cause;
    call->late_rank = late_rank;
    call->late_path = late->before;
}

static const struct cn_mpi_operation *operation_of(const struct cn_mpi_run *run,
                                                   const struct cn_mpi_call *call)
{
    return run->paths[call->path].operation;
}

static const struct cn_mpi_values *values_of(const struct cn_mpi_rank *rank,
                                             const struct cn_mpi_call *call)
{
    return call->link < rank->value_count ? &rank->values[call->link] : NULL;
}

static int by_comm(const void *a, const void *b)
{
    const struct comm_call *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* List the calls of all communicators; the number of these. Without arguments all calls are taken for those of
 * the communicator of all ranks. */
static uint32_t list_calls(struct collectives *c)
{
    uint32_t most = 0;

    for (size_t i = 0; i < c->run->count; i++) {
        const struct cn_mpi_rank *rank = &c->run->ranks[i];
        struct comm_calls *calls = &c->calls[i];
        uint32_t largest = 0;

        for (uint32_t k = 0; !rank->why && k < rank->call_count; k++) {
            uint32_t comm = rank->calls[k].comm;

            if (!cn_mpi_is_collective(operation_of(c->run, &rank->calls[k])))
                continue;
            comm = comm == CN_MPI_COMM_UNKNOWN ? 0 : comm;
            largest = comm > largest ? comm : largest;
            CN_PUSH(calls->list, calls->all, calls->capacity,
                    (struct comm_call){comm, k});
        }
        if (largest > 0)
            qsort(calls->list, calls->all, sizeof(*calls->list), by_comm);
        most = largest > most ? largest : most;
    }
    return most + 1;
}

/* Go on to the calls of a communicator. */
static void choose_comm(struct collectives *c, uint32_t comm)
{
    for (size_t i = 0; i < c->run->count; i++) {
        struct comm_calls *calls = &c->calls[i];

        calls->first += calls->count;
        calls->count = 0;
        while (calls->first + calls->count < calls->all &&
               calls->list[calls->first + calls->count].comm == comm)
            calls->count++;
    }
}

static struct cn_mpi_call *call_at(const struct collectives *c, size_t rank, size_t n)
{
    const struct comm_calls *calls = &c->calls[rank];

    return &c->run->ranks[rank].calls[calls->list[calls->first + n].call];
}

static size_t first_known(const struct cn_mpi_run *run)
{
    size_t i = 0;

    while (i + 1 < run->count && run->ranks[i].why)
        i++;
    return i;
}

/* True if all known ranks make the same calls in the same order. */
static bool is_even(struct collectives *c)
{
    size_t first = first_known(c->run);

    for (size_t i = first + 1; i < c->run->count; i++) {
        if (c->run->ranks[i].why)
            continue;
        if (c->calls[i].count != c->calls[first].count) {
            c->uneven_rank = c->run->ranks[i].number;
            c->uneven_count = (uint32_t)c->calls[i].count;
            c->even_count = (uint32_t)c->calls[first].count;
            return false;
        }
        for (size_t n = 0; n < c->calls[i].count; n++)
            if (operation_of(c->run, call_at(c, i, n)) !=
                operation_of(c->run, call_at(c, first, n)))
                return false;
    }
    return true;
}

/* The one that came last, and the first end. */
static size_t find_last(const struct collectives *c, size_t n, uint64_t *first_end_ns)
{
    size_t last = CN_NONE;

    *first_end_ns = UINT64_MAX;
    for (size_t i = 0; i < c->run->count; i++) {
        if (c->run->ranks[i].why)
            continue;
        const struct cn_mpi_call *call = call_at(c, i, n);
        if (last == CN_NONE || call->begin_ns > call_at(c, last, n)->begin_ns)
            last = i;
        if (call->end_ns < *first_end_ns)
            *first_end_ns = call->end_ns;
    }
    return last;
}

/* The rank that is the root, as an index; CN_NONE if it is unknown. */
static size_t find_root(const struct collectives *c, size_t n)
{
    size_t first = first_known(c->run);
    const struct cn_mpi_rank *rank = &c->run->ranks[first];
    const struct cn_mpi_values *values = values_of(rank, call_at(c, first, n));

    for (size_t i = 0; values && values->known & 1U << CN_MPI_PEER && i < c->run->count;
         i++)
        if (c->run->ranks[i].number == (uint32_t)values->numbers[CN_MPI_PEER] &&
            !c->run->ranks[i].why)
            return i;
    return CN_NONE;
}

static bool is_before(const struct collectives *c, const struct cn_mpi_call *end,
                      const struct cn_mpi_call *begin)
{
    return end->end_ns + slack_ns(c->run) < begin->begin_ns;
}

/* False if what the calls do contradicts that they are one operation. */
static bool match_one(struct collectives *c, size_t n, bool is_world)
{
    uint64_t first_end_ns;
    size_t last = find_last(c, n, &first_end_ns), first = first_known(c->run);
    unsigned kind = operation_of(c->run, call_at(c, first, n))->kind;
    size_t root =
        kind == CN_MPI_FROM_ROOT || kind == CN_MPI_TO_ROOT ? find_root(c, n) : CN_NONE;
    const struct cn_mpi_call *late;

    if (kind == CN_MPI_FROM_ROOT || kind == CN_MPI_TO_ROOT) {
        if (!is_world || root == CN_NONE)
            return false;
    } else if (first_end_ns + slack_ns(c->run) < call_at(c, last, n)->begin_ns) {
        return false;
    }
    if (root != CN_NONE)
        call_at(c, root, n)->is_root = true;
    late = call_at(c, kind == CN_MPI_FROM_ROOT ? root : last, n);
    for (size_t i = 0; i < c->run->count; i++) {
        if (c->run->ranks[i].why || (kind == CN_MPI_TO_ROOT && i != root))
            continue;
        if (is_before(c, call_at(c, i, n), late))
            return false;
    }
    for (size_t i = 0; i < c->run->count; i++)
        if (!c->run->ranks[i].why && call_at(c, i, n) != late &&
            (kind != CN_MPI_TO_ROOT || i == root))
            cn_mpi_match_late(call_at(c, i, n),
                              kind == CN_MPI_FROM_ROOT ? CN_MPI_LATE_ROOT
                                                       : CN_MPI_LATE_RANK,
                              (uint32_t)(kind == CN_MPI_FROM_ROOT ? root : last), late);
    return true;
}

/* What is set when a call was matched, or could not be. */
static void settle(struct collectives *c, size_t n, bool is_matched)
{
    for (size_t i = 0; i < c->run->count; i++) {
        if (c->run->ranks[i].why || n >= c->calls[i].count)
            continue;
        struct cn_mpi_call *call = call_at(c, i, n);
        if (!is_matched)
            call->cause = CN_MPI_UNMATCHED;
        call->link = is_matched ? c->run->collective_count : CN_NONE;
    }
    c->run->collective_count += is_matched;
    c->unmatched += !is_matched;
}

static void match_comm(struct collectives *c, bool is_world)
{
    size_t most = 0;
    bool is_same = is_even(c);

    for (size_t i = 0; i < c->run->count; i++)
        most = c->calls[i].count > most ? c->calls[i].count : most;
    for (size_t n = 0; n < most; n++)
        settle(c, n, is_same && match_one(c, n, is_world));
    c->uneven += !is_same;
}

static void add_notes(struct collectives *c)
{
    struct cn_text *notes = &c->run->notes;

    const char *samples = c->run->resolution_ns > 0 ? ", as far as samples show" : "";

    if (c->uneven > 0 && c->uneven_count != c->even_count)
        cn_text_printf(
            notes,
            "collective operations are not matched: rank %u makes %u, rank %u %u%s\n",
            c->uneven_rank, c->uneven_count, c->run->ranks[first_known(c->run)].number,
            c->even_count, samples);
    else if (c->uneven > 0)
        cn_text_printf(notes,
                       "collective operations are not matched: ranks make them in "
                       "different orders%s\n",
                       samples);
    else if (c->unmatched > 0)
        cn_text_printf(
            notes,
            "%llu collective %s not matched: the root or the ranks are unknown, "
            "or a rank leaves before another one enters\n",
            (unsigned long long)c->unmatched,
            cn_plural(c->unmatched, "operation is", "operations are"));
}

void cn_mpi_match_collectives(struct cn_mpi_run *run)
{
    struct collectives c = {.run = run, .calls = cn_alloc(run->count, sizeof(*c.calls))};
    uint32_t comms = list_calls(&c);

    for (uint32_t comm = 0; comm < comms; comm++) {
        choose_comm(&c, comm);
        match_comm(&c, comm == 0);
    }
    add_notes(&c);
    for (size_t i = 0; i < run->count; i++)
        free(c.calls[i].list);
    free(c.calls);
}
