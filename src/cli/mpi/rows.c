/* Tables of `cairn mpi` with a row for each rank, iteration or call path; and the heat map. */

#include <stdlib.h>
#include <string.h>

#include "analyze/mpi/run.h"
#include "analyze/mpi/waits.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/mpi/cells.h"
#include "cli/mpi/print.h"
#include "cli/shell/cli.h"

#define EFFICIENCY_COLUMNS                                                     \
    CN_COLUMN_RIGHT("run_ns", "TIME"), CN_COLUMN_RIGHT("useful_ns", "USEFUL"), \
        CN_COLUMN_RIGHT("longest_useful_ns", "LONGEST"),                       \
        {.name = "longest_rank", .title = "RANK", .kind = CN_COLUMN_U64},      \
        CN_COLUMN_RIGHT("parallel_efficiency", "PARALLEL"),                    \
        CN_COLUMN_RIGHT("load_balance", "BALANCE"),                            \
        CN_COLUMN_RIGHT("communication_efficiency", "COMMUNICATION")

static void add_efficiency(struct cn_table *table, const struct cn_mpi_run *run,
                           const struct cn_mpi_efficiency *e, bool is_text)
{
    cn_table_time(table, is_text, e->run_ns);
    cn_table_time(table, is_text, e->useful_ns);
    cn_table_time(table, is_text, e->longest_ns);
    cn_table_u64(table, run->ranks[e->longest].number);
    cn_mpi_cell_ratio(table, e->parallel, is_text);
    cn_mpi_cell_ratio(table, e->balance, is_text);
    cn_mpi_cell_ratio(table, e->communication, is_text);
}

static const struct cn_column context_columns[] = {
    EFFICIENCY_COLUMNS,
    CN_COLUMN_RIGHT("mpi_ns", "IN MPI"),
    {.name = "context", .title = "CONTEXT", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_PATH},
};

enum { CONTEXT_COLUMNS = sizeof(context_columns) / sizeof(context_columns[0]) };

size_t cn_mpi_print_contexts(const struct cn_args *args, const struct cn_mpi_run *run,
                             size_t most)
{
    bool is_text = cn_cli_is_for_people(args);
    struct cn_column columns[CONTEXT_COLUMNS];
    struct cn_table *table =
        cn_mpi_table(args, context_columns, CONTEXT_COLUMNS, columns);
    size_t count;
    struct cn_mpi_path_row *rows = cn_mpi_path_rows(run, is_text ? 0.01 : 0, &count);

    for (size_t i = 0; i < count && (!is_text || i < most); i++) {
        add_efficiency(table, run, &rows[i].efficiency, is_text);
        cn_table_time(table, is_text, rows[i].inside_ns);
        cn_mpi_cell_path(table, run, rows[i].path, is_text);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    free(rows);
    return count;
}

static const struct cn_column iteration_columns[] = {
    {.name = "iteration", .title = "ITERATION", .kind = CN_COLUMN_U64},
    EFFICIENCY_COLUMNS,
    CN_COLUMN_RIGHT("wait_ns", "WAITING"),
};

enum { ITERATION_COLUMNS = sizeof(iteration_columns) / sizeof(iteration_columns[0]) };

bool cn_mpi_print_iterations(const struct cn_args *args, const struct cn_mpi_run *run,
                             size_t most, size_t *rows, struct cn_error *err)
{
    bool is_text = cn_cli_is_for_people(args);
    struct cn_column columns[ITERATION_COLUMNS];
    struct cn_mpi_share *shares;
    struct cn_table *table;

    if (!cn_mpi_iterations(run, rows, err))
        return false;
    shares = cn_mpi_shares(run, *rows);
    table = cn_mpi_table(args, iteration_columns, ITERATION_COLUMNS, columns);
    for (size_t i = 0; i < *rows && (!is_text || i < most); i++) {
        struct cn_mpi_efficiency e;

        cn_mpi_efficiency_of(run, shares, *rows, i, &e);
        cn_table_u64(table, i + 1);
        add_efficiency(table, run, &e, is_text);
        cn_table_time(table, is_text, e.wait_ns);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    free(shares);
    return true;
}

static const struct cn_column rank_columns[] = {
    {.name = "rank", .title = "RANK", .kind = CN_COLUMN_U64},
    CN_COLUMN_RIGHT("time_ns", "TIME"),
    CN_COLUMN_RIGHT("useful_ns", "USEFUL"),
    CN_COLUMN_RIGHT("mpi_ns", "IN MPI"),
    CN_COLUMN_RIGHT("wait_ns", "WAITS"),
    CN_COLUMN_RIGHT("caused_ns", "OTHERS WAIT"),
    {.name = "unknown", .title = "", .kind = CN_COLUMN_TEXT},
};

enum { RANK_COLUMNS = sizeof(rank_columns) / sizeof(rank_columns[0]) };

size_t cn_mpi_print_ranks(const struct cn_args *args, const struct cn_mpi_run *run,
                          size_t most)
{
    bool is_text = cn_cli_is_for_people(args);
    struct cn_column columns[RANK_COLUMNS];
    struct cn_table *table = cn_mpi_table(args, rank_columns, RANK_COLUMNS, columns);
    uint64_t *caused_ns = cn_mpi_caused(run);

    for (uint32_t i = 0; i < run->count && (!is_text || i < most); i++) {
        struct cn_mpi_share share = cn_mpi_share_of(run, i);
        bool is_known = !run->ranks[i].why;
        uint64_t values[] = {share.time_ns, share.useful_ns,
                             share.time_ns - share.useful_ns, share.wait_ns,
                             caused_ns[i]};

        cn_table_u64(table, run->ranks[i].number);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            if (is_known)
                cn_table_time(table, is_text, values[k]);
            else if (is_text)
                cn_table_str(table, "unknown");
            else
                cn_table_none(table);
        cn_table_str(table, run->ranks[i].why);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    free(caused_ns);
    return run->count;
}

enum { HEAT_COLUMNS_MIN = 10, HEAT_COLUMNS = 60, HEAT_LABEL = 12 };

struct heat {
    const struct cn_mpi_run *run;
    const struct cn_mpi_share *shares;
    size_t count, shown; /* of iterations; of columns */
    bool is_of_waits;
    uint64_t most_ns;
};

static uint64_t heat_of(const struct heat *heat, const struct cn_mpi_share *share)
{
    return heat->is_of_waits ? share->wait_ns : share->useful_ns;
}

/* The largest of the iterations of a column: a late rank in one of them is seen. */
static uint64_t heat_at(const struct heat *heat, size_t rank, size_t column)
{
    size_t first = column * heat->count / heat->shown;
    size_t end = (column + 1) * heat->count / heat->shown;
    uint64_t most = 0;

    for (size_t i = first; i < end; i++) {
        uint64_t ns = heat_of(heat, &heat->shares[rank * heat->count + i]);

        most = ns > most ? ns : most;
    }
    return most;
}

static void print_heat(const struct cn_args *args, struct heat *heat)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    struct cn_text text = {0};
    char label[32];

    for (size_t i = 0; i < heat->run->count * heat->count; i++) {
        uint64_t ns = heat_of(heat, &heat->shares[i]);

        heat->most_ns = ns > heat->most_ns ? ns : heat->most_ns;
    }
    for (size_t i = 0; i < heat->run->count; i++) {
        (void)snprintf(label, sizeof(label), "RANK %u", heat->run->ranks[i].number);
        cn_text_printf(&text, "%-*s|", HEAT_LABEL, label);
        for (size_t k = 0; !heat->run->ranks[i].why && k < heat->shown; k++) {
            double share = heat->most_ns > 0
                               ? (double)heat_at(heat, i, k) / (double)heat->most_ns
                               : 0;

            cn_text_str_add(&text, blocks[(size_t)(share * 8 + 0.5)]);
        }
        cn_text_str_add(&text, heat->run->ranks[i].why ? " unknown\n" : "|\n");
    }
    cn_text_printf(&text, "%zu %s, of which a column shows the longest; █ is ",
                   heat->count, heat->run->phase ? "iterations" : "parts of the run");
    cn_duration_print(&text, heat->most_ns);
    cn_text_printf(&text, " %s\n",
                   heat->is_of_waits ? "of waiting in MPI" : "outside of MPI");
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static const struct cn_column heat_columns[] = {
    {.name = "rank", .kind = CN_COLUMN_U64},
    {.name = "iteration", .kind = CN_COLUMN_U64},
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "useful_ns", .kind = CN_COLUMN_U64},
    {.name = "wait_ns", .kind = CN_COLUMN_U64},
};

static void print_cells(const struct cn_args *args, const struct heat *heat)
{
    struct cn_table *table =
        cn_cli_table(args, heat_columns, sizeof(heat_columns) / sizeof(heat_columns[0]));

    for (size_t i = 0; i < heat->run->count * heat->count; i++) {
        const struct cn_mpi_rank *rank = &heat->run->ranks[i / heat->count];

        cn_table_u64(table, rank->number);
        cn_table_u64(table, i % heat->count + 1);
        for (unsigned k = 0; rank->why && k < 3; k++)
            cn_table_none(table);
        if (!rank->why) {
            cn_table_u64(table, heat->shares[i].time_ns);
            cn_table_u64(table, heat->shares[i].useful_ns);
            cn_table_u64(table, heat->shares[i].wait_ns);
        }
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

bool cn_mpi_print_heat_map(const struct cn_args *args, const struct cn_mpi_run *run,
                           bool is_of_waits, struct cn_error *err)
{
    struct heat heat = {.run = run, .is_of_waits = is_of_waits, .count = HEAT_COLUMNS};
    struct cn_mpi_share *shares;

    if (run->phase && !cn_mpi_iterations(run, &heat.count, err))
        return false;
    shares = run->phase ? cn_mpi_shares(run, heat.count)
                        : cn_mpi_shares_over_time(run, heat.count);
    heat.shares = shares;
    heat.shown = heat.count < HEAT_COLUMNS ? heat.count : HEAT_COLUMNS;
    if (cn_cli_is_for_people(args))
        print_heat(args, &heat);
    else
        print_cells(args, &heat);
    free(shares);
    return true;
}
