#include "analyze/mpi/waits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/mpi/run.h"
#include "base/alloc.h"
#include "base/duration.h"

static int by_place(const void *a, const void *b)
{
    const struct cn_mpi_wait_row *x = a, *y = b;

    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    if (x->late_rank != y->late_rank)
        return x->late_rank < y->late_rank ? -1 : 1;
    return (x->late_path > y->late_path) - (x->late_path < y->late_path);
}

static int by_time(const void *a, const void *b)
{
    const struct cn_mpi_wait_row *x = a, *y = b;
    bool is_known[2] = {x->cause != CN_MPI_UNMATCHED, y->cause != CN_MPI_UNMATCHED};

    if (is_known[0] != is_known[1])
        return is_known[0] ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return by_place(a, b);
}

static void merge_rows(struct cn_mpi_waits *waits)
{
    size_t count = 0;

    if (waits->count > 1)
        qsort(waits->list, waits->count, sizeof(*waits->list), by_place);
    for (size_t i = 0; i < waits->count; i++) {
        const struct cn_mpi_wait_row *row = &waits->list[i];
        struct cn_mpi_wait_row *into = count > 0 ? &waits->list[count - 1] : NULL;

        if (!into || by_place(into, row) != 0) {
            waits->list[count++] = *row;
            continue;
        }
        into->time_ns += row->time_ns;
        into->count += row->count;
        into->longest_ns =
            row->longest_ns > into->longest_ns ? row->longest_ns : into->longest_ns;
    }
    waits->count = count;
}

enum { MERGE_EVERY = 1 << 18 };

static void add_call(struct cn_mpi_waits *waits, const struct cn_mpi_run *run,
                     const struct cn_mpi_call *call, size_t *merge_at)
{
    bool is_unknown = call->cause == CN_MPI_UNMATCHED;
    uint64_t ns = is_unknown ? call->end_ns - call->begin_ns : call->wait_ns;

    if (ns == 0 || (run->phase && run->paths[call->path].phase == CN_NONE))
        return;
    *(is_unknown ? &waits->unknown_ns : &waits->known_ns) += ns;
    if (waits->count == *merge_at) {
        merge_rows(waits);
        *merge_at = 2 * waits->count > MERGE_EVERY ? 2 * waits->count : MERGE_EVERY;
    }
    CN_PUSH(waits->list, waits->count, waits->capacity,
            (struct cn_mpi_wait_row){.time_ns = ns,
                                     .longest_ns = ns,
                                     .count = 1,
                                     .path = call->path,
                                     .late_rank = is_unknown ? CN_NONE : call->late_rank,
                                     .late_path = is_unknown ? CN_NONE : call->late_path,
                                     .cause = call->cause});
}

void cn_mpi_waits_build(struct cn_mpi_waits *waits, const struct cn_mpi_run *run)
{
    size_t merge_at = MERGE_EVERY;

    *waits = (struct cn_mpi_waits){0};
    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; !run->ranks[i].why && k < run->ranks[i].call_count; k++)
            add_call(waits, run, &run->ranks[i].calls[k], &merge_at);
    merge_rows(waits);
    if (waits->count > 1)
        qsort(waits->list, waits->count, sizeof(*waits->list), by_time);
}

void cn_mpi_waits_done(struct cn_mpi_waits *waits)
{
    free(waits->list);
    *waits = (struct cn_mpi_waits){0};
}

/* What a rank spent in each path with everything below it. Children have larger numbers. */
static void add_up(const struct cn_mpi_run *run, const struct cn_mpi_rank *rank,
                   struct cn_mpi_cost *total)
{
    for (size_t i = 0; i < run->path_count; i++)
        total[i] = (struct cn_mpi_cost){0};
    for (size_t i = 0; i < rank->cost_count; i++)
        total[rank->costs[i].path] = rank->costs[i];
    for (size_t i = run->path_count; i-- > 0;) {
        uint32_t parent = run->paths[i].parent;

        if (parent == CN_NONE)
            continue;
        total[parent].outside_ns += total[i].outside_ns;
        total[parent].inside_ns += total[i].inside_ns;
    }
}

static int by_useful(const void *a, const void *b)
{
    const struct cn_mpi_path_row *x = a, *y = b;
    uint64_t of_x = x->efficiency.useful_ns + x->inside_ns,
             of_y = y->efficiency.useful_ns + y->inside_ns;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path);
}

struct cn_mpi_path_row *cn_mpi_path_rows(const struct cn_mpi_run *run, double share,
                                         size_t *count)
{
    struct cn_mpi_path_row *rows = cn_alloc(run->path_count, sizeof(*rows));
    struct cn_mpi_cost *total = cn_alloc(run->path_count, sizeof(*total));
    uint64_t all_ns = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct cn_mpi_rank *rank = &run->ranks[i];

        if (rank->why)
            continue;
        all_ns += rank->span.end_ns - rank->span.begin_ns;
        add_up(run, rank, total);
        for (size_t k = 0; k < run->path_count; k++) {
            struct cn_mpi_share cost = {.time_ns =
                                            total[k].outside_ns + total[k].inside_ns,
                                        .useful_ns = total[k].outside_ns};

            rows[k].path = (uint32_t)k;
            rows[k].inside_ns += total[k].inside_ns;
            cn_mpi_efficiency_add(&rows[k].efficiency, i, &cost);
        }
    }
    *count = 0;
    for (size_t k = 0; k < run->path_count; k++)
        if (run->paths[k].mpi == CN_NONE &&
            (double)(rows[k].efficiency.useful_ns + rows[k].inside_ns) >=
                share * (double)all_ns) {
            cn_mpi_efficiency_finish(&rows[k].efficiency);
            rows[(*count)++] = rows[k];
        }
    if (*count > 1)
        qsort(rows, *count, sizeof(*rows), by_useful);
    free(total);
    return rows;
}

void cn_mpi_sentence(const struct cn_mpi_run *run,
                     const struct cn_mpi_efficiency *efficiency,
                     const struct cn_mpi_waits *waits, struct cn_text *out)
{
    cn_text_printf(out, "%" PRIu32 " %s took ", efficiency->ranks,
                   cn_plural(efficiency->ranks, "rank", "ranks"));
    cn_duration_print(out, efficiency->run_ns);
    if (efficiency->parallel >= 0)
        cn_text_printf(out, ": parallel efficiency %.1f %%", 100 * efficiency->parallel);
    if (waits->count == 0 || waits->list[0].cause == CN_MPI_UNMATCHED)
        return;
    const struct cn_mpi_wait_row *row = &waits->list[0];
    cn_text_str_add(out, "; the longest wait is ");
    cn_duration_print(out, row->time_ns);
    cn_text_str_add(out, " in ");
    cn_mpi_path_print(run, row->path, out);
    cn_text_printf(out, " for rank %u", run->ranks[row->late_rank].number);
    if (row->late_path != CN_NONE) {
        cn_text_str_add(out, ", which was in ");
        cn_mpi_path_print(run, row->late_path, out);
    }
}
