#include "analyze/mpi/efficiency.h"

#include <stdlib.h>

#include "analyze/mpi/ideal.h"
#include "analyze/mpi/run.h"
#include "base/alloc.h"

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : -1;
}

void cn_mpi_efficiency_add(struct cn_mpi_efficiency *e, uint32_t rank,
                           const struct cn_mpi_share *share)
{
    if (e->ranks++ == 0 || share->useful_ns > e->longest_ns) {
        e->longest_ns = share->useful_ns;
        e->longest = rank;
    }
    e->useful_ns += share->useful_ns;
    e->wait_ns += share->wait_ns;
    e->run_ns = share->time_ns > e->run_ns ? share->time_ns : e->run_ns;
}

void cn_mpi_efficiency_finish(struct cn_mpi_efficiency *e)
{
    e->balance = e->longest_ns > 0 && e->ranks > 0
                     ? (double)e->useful_ns / (double)e->ranks / (double)e->longest_ns
                     : -1;
    e->communication = ratio(e->longest_ns, e->run_ns);
    e->parallel =
        e->balance >= 0 && e->communication >= 0 ? e->balance * e->communication : -1;
    e->serialisation = e->transfer = -1;
}

/* What an interval has of calls; `*at` is the first call that does not end before it. */
static void add_interval(const struct cn_mpi_rank *rank, struct cn_mpi_interval interval,
                         size_t *at, struct cn_mpi_share *out)
{
    uint64_t inside_ns = 0, begin_ns, end_ns;

    while (*at < rank->call_count && rank->calls[*at].end_ns <= interval.begin_ns)
        (*at)++;
    for (size_t i = *at;
         i < rank->call_count && rank->calls[i].begin_ns < interval.end_ns; i++) {
        const struct cn_mpi_call *call = &rank->calls[i];
        uint64_t waited_ns = call->begin_ns + call->wait_ns;

        begin_ns =
            call->begin_ns > interval.begin_ns ? call->begin_ns : interval.begin_ns;
        end_ns = call->end_ns < interval.end_ns ? call->end_ns : interval.end_ns;
        inside_ns += end_ns - begin_ns;
        waited_ns = waited_ns < end_ns ? waited_ns : end_ns;
        out->wait_ns += waited_ns > begin_ns ? waited_ns - begin_ns : 0;
    }
    out->time_ns += interval.end_ns - interval.begin_ns;
    out->useful_ns += interval.end_ns - interval.begin_ns - inside_ns;
}

struct cn_mpi_share cn_mpi_share_of(const struct cn_mpi_run *run, uint32_t rank)
{
    struct cn_mpi_share share = {0};
    size_t at = 0;

    if (!run->ranks[rank].why)
        add_interval(&run->ranks[rank], run->ranks[rank].span, &at, &share);
    return share;
}

uint64_t *cn_mpi_caused(const struct cn_mpi_run *run)
{
    uint64_t *list = cn_alloc(run->count, sizeof(*list));

    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < run->ranks[i].call_count; k++) {
            const struct cn_mpi_call *call = &run->ranks[i].calls[k];

            if (call->late_rank != CN_NONE)
                list[call->late_rank] += call->wait_ns;
        }
    return list;
}

void cn_mpi_efficiency_of_run(const struct cn_mpi_run *run, struct cn_mpi_efficiency *out)
{
    uint64_t ideal_ns;

    *out = (struct cn_mpi_efficiency){0};
    for (uint32_t i = 0; i < run->count; i++) {
        struct cn_mpi_share share = cn_mpi_share_of(run, i);

        if (run->ranks[i].why)
            continue;
        cn_mpi_efficiency_add(out, i, &share);
    }
    cn_mpi_efficiency_finish(out);
    if (out->communication < 0 || !cn_mpi_ideal_time(run, &ideal_ns))
        return;
    /* Times of different clocks may disagree by a little. */
    ideal_ns = ideal_ns < out->run_ns ? ideal_ns : out->run_ns;
    ideal_ns = ideal_ns > out->longest_ns ? ideal_ns : out->longest_ns;
    out->serialisation = ratio(out->longest_ns, ideal_ns);
    out->transfer = ratio(ideal_ns, out->run_ns);
}

void cn_mpi_efficiency_of_phase(const struct cn_mpi_run *run,
                                struct cn_mpi_efficiency *out)
{
    *out = (struct cn_mpi_efficiency){0};
    for (uint32_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *rank = &run->ranks[i];
        struct cn_mpi_share share = {0};
        size_t at = 0;

        if (rank->why)
            continue;
        for (size_t k = 0; k < rank->phase_count; k++)
            add_interval(rank, rank->phases[k], &at, &share);
        cn_mpi_efficiency_add(out, i, &share);
    }
    cn_mpi_efficiency_finish(out);
}

bool cn_mpi_iterations(const struct cn_mpi_run *run, size_t *out, struct cn_error *err)
{
    const struct cn_mpi_rank *first = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *rank = &run->ranks[i];

        if (rank->why)
            continue;
        first = first ? first : rank;
        if (rank->phase_count != first->phase_count)
            return cn_fail(err, CN_ERR_NOT_FOUND,
                           "iterations of %s are unknown: rank %u has %zu, rank %u %zu",
                           run->phase, first->number, first->phase_count, rank->number,
                           rank->phase_count);
    }
    if (!first || first->phase_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no function matches --phase %s",
                       run->phase);
    *out = first->phase_count;
    return true;
}

struct cn_mpi_share *cn_mpi_shares(const struct cn_mpi_run *run, size_t count)
{
    struct cn_mpi_share *list = cn_alloc(run->count * count, sizeof(*list));

    for (size_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *rank = &run->ranks[i];
        size_t at = 0;

        for (size_t k = 0; !rank->why && k < count; k++)
            add_interval(rank, rank->phases[k], &at, &list[i * count + k]);
    }
    return list;
}

struct cn_mpi_share *cn_mpi_shares_over_time(const struct cn_mpi_run *run, size_t count)
{
    struct cn_mpi_share *list = cn_alloc(run->count * count, sizeof(*list));
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct cn_mpi_interval *span = &run->ranks[i].span;

        if (run->ranks[i].why)
            continue;
        begin_ns = span->begin_ns < begin_ns ? span->begin_ns : begin_ns;
        end_ns = span->end_ns > end_ns ? span->end_ns : end_ns;
    }
    for (size_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *rank = &run->ranks[i];
        double step = (double)(end_ns - begin_ns) / (double)count;
        size_t at = 0;

        for (size_t k = 0; !rank->why && k < count; k++) {
            struct cn_mpi_interval part = {begin_ns + (uint64_t)(step * (double)k),
                                           begin_ns + (uint64_t)(step * (double)(k + 1))};

            part.begin_ns =
                part.begin_ns > rank->span.begin_ns ? part.begin_ns : rank->span.begin_ns;
            part.end_ns =
                part.end_ns < rank->span.end_ns ? part.end_ns : rank->span.end_ns;
            if (part.begin_ns < part.end_ns)
                add_interval(rank, part, &at, &list[i * count + k]);
        }
    }
    return list;
}

void cn_mpi_efficiency_of(const struct cn_mpi_run *run, const struct cn_mpi_share *shares,
                          size_t count, size_t iteration, struct cn_mpi_efficiency *out)
{
    *out = (struct cn_mpi_efficiency){0};
    for (uint32_t i = 0; i < run->count; i++)
        if (!run->ranks[i].why)
            cn_mpi_efficiency_add(out, i, &shares[i * count + iteration]);
    cn_mpi_efficiency_finish(out);
}

double cn_mpi_scalability(const struct cn_mpi_efficiency *first,
                          const struct cn_mpi_efficiency *run, bool is_weak)
{
    double of_first = (double)first->useful_ns, of_run = (double)run->useful_ns;

    if (is_weak) {
        of_first /= first->ranks;
        of_run /= run->ranks;
    }
    return of_run > 0 ? of_first / of_run : -1;
}
