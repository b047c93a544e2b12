#include "cli/mpi/print.h"

#include <stdlib.h>

#include "analyze/mpi/run.h"
#include "analyze/mpi/waits.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/mpi/cells.h"
#include "cli/shell/cli.h"

/* Rows of the table for people, each with its value in a column. */
enum {
    GLOBAL,
    PARALLEL,
    BALANCE,
    COMMUNICATION,
    SERIALISATION,
    TRANSFER,
    SCALABILITY,
    RATIOS,
};

static const char *const ratio_names[RATIOS] = {
    [GLOBAL] = "Global efficiency",
    [PARALLEL] = "  Parallel efficiency",
    [BALANCE] = "    Load balance",
    [COMMUNICATION] = "    Communication efficiency",
    [SERIALISATION] = "      Serialisation efficiency",
    [TRANSFER] = "      Transfer efficiency",
    [SCALABILITY] = "  Computation scalability",
};

static double ratio_of(const struct cn_mpi_column *column, unsigned ratio)
{
    const struct cn_mpi_efficiency *e = &column->efficiency;

    switch (ratio) {
    case GLOBAL:
        return e->parallel >= 0 && column->scalability >= 0
                   ? e->parallel * column->scalability
                   : -1;
    case PARALLEL:
        return e->parallel;
    case BALANCE:
        return e->balance;
    case COMMUNICATION:
        return e->communication;
    case SERIALISATION:
        return e->serialisation;
    case TRANSFER:
        return e->transfer;
    default:
        return column->scalability;
    }
}

struct cn_table *cn_mpi_table(const struct cn_args *args, const struct cn_column *from,
                              size_t count, struct cn_column *columns)
{
    for (size_t i = 0; i < count; i++) {
        columns[i] = from[i];
        if (!cn_cli_is_for_people(args) && columns[i].align == CN_ALIGN_RIGHT)
            columns[i].kind =
                cn_ends_with(columns[i].name, "_ns") ? CN_COLUMN_U64 : CN_COLUMN_F64;
    }
    return cn_cli_table(args, columns, count);
}

void cn_mpi_cell_ratio(struct cn_table *table, double value, bool is_text)
{
    struct cn_text text = {0};

    if (!is_text && value < 0) {
        cn_table_none(table);
    } else if (!is_text) {
        cn_table_f64(table, value);
    } else {
        if (value < 0)
            cn_text_str_add(&text, "unknown");
        else
            cn_text_printf(&text, "%.1f %%", 100 * value);
        cn_table_str(table, cn_text_str(&text));
    }
    cn_text_done(&text);
}

void cn_mpi_cell_path(struct cn_table *table, const struct cn_mpi_run *run, uint32_t path,
                      bool is_text)
{
    struct cn_text text = {0};

    if (path != CN_NONE || is_text)
        cn_mpi_path_print(run, path, &text);
    cn_table_str(table, text.len > 0 ? cn_text_str(&text) : NULL);
    cn_text_done(&text);
}

static void print_times(struct cn_table *table, const struct cn_mpi_column *columns,
                        size_t count)
{
    static const char *const names[] = {"Run time", "Useful time, mean of ranks",
                                        "Useful time, longest"};

    for (size_t row = 0; row < sizeof(names) / sizeof(names[0]); row++) {
        cn_table_str(table, names[row]);
        for (size_t i = 0; i < count; i++) {
            const struct cn_mpi_efficiency *e = &columns[i].efficiency;

            cn_table_duration(table, row == 0 ? e->run_ns
                                     : row == 1
                                         ? e->useful_ns / (e->ranks > 0 ? e->ranks : 1)
                                         : e->longest_ns);
        }
        cn_table_end_row(table);
    }
}

/* One run is compared with none: its scalability is 100 %. */
static void print_for_people(const struct cn_args *args, const struct cn_mpi_column *runs,
                             size_t count)
{
    struct cn_column *columns = cn_alloc(count + 1, sizeof(*columns));
    struct cn_table *table;
    struct cn_text text = {0};

    columns[0] = (struct cn_column){
        .name = "efficiency", .title = "EFFICIENCY", .kind = CN_COLUMN_TEXT};
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (struct cn_column){.name = "run",
                                            .title = runs[i].path,
                                            .kind = CN_COLUMN_TEXT,
                                            .align = CN_ALIGN_RIGHT};
    table = cn_cli_table(args, columns, count + 1);
    cn_table_str(table, "Ranks");
    for (size_t i = 0; i < count; i++) {
        cn_text_clear(&text);
        cn_text_u64(&text, runs[i].efficiency.ranks);
        cn_table_str(table, cn_text_str(&text));
    }
    cn_table_end_row(table);
    print_times(table, runs, count);
    for (unsigned ratio = 0; ratio < RATIOS; ratio++) {
        if (count == 1 && (ratio == GLOBAL || ratio == SCALABILITY))
            continue;
        cn_table_str(table, ratio_names[ratio] + (count == 1 ? 2 : 0));
        for (size_t i = 0; i < count; i++)
            cn_mpi_cell_ratio(table, ratio_of(&runs[i], ratio), true);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
    free(columns);
}

static const struct cn_column run_columns[] = {
    {.name = "run", .kind = CN_COLUMN_TEXT},
    {.name = "ranks", .kind = CN_COLUMN_U64},
    {.name = "run_ns", .kind = CN_COLUMN_U64},
    {.name = "useful_ns", .kind = CN_COLUMN_U64},
    {.name = "longest_useful_ns", .kind = CN_COLUMN_U64},
    {.name = "global_efficiency", .kind = CN_COLUMN_F64},
    {.name = "parallel_efficiency", .kind = CN_COLUMN_F64},
    {.name = "load_balance", .kind = CN_COLUMN_F64},
    {.name = "communication_efficiency", .kind = CN_COLUMN_F64},
    {.name = "serialisation_efficiency", .kind = CN_COLUMN_F64},
    {.name = "transfer_efficiency", .kind = CN_COLUMN_F64},
    {.name = "computation_scalability", .kind = CN_COLUMN_F64},
};

void cn_mpi_print_efficiency(const struct cn_args *args,
                             const struct cn_mpi_column *columns, size_t count)
{
    struct cn_table *table;

    if (cn_cli_is_for_people(args)) {
        print_for_people(args, columns, count);
        return;
    }
    table = cn_cli_table(args, run_columns, sizeof(run_columns) / sizeof(run_columns[0]));
    for (size_t i = 0; i < count; i++) {
        const struct cn_mpi_efficiency *e = &columns[i].efficiency;

        cn_table_str(table, columns[i].path);
        cn_table_u64(table, e->ranks);
        cn_table_u64(table, e->run_ns);
        cn_table_u64(table, e->useful_ns);
        cn_table_u64(table, e->longest_ns);
        for (unsigned ratio = 0; ratio < RATIOS; ratio++)
            cn_mpi_cell_ratio(table, ratio_of(&columns[i], ratio), false);
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

static const struct cn_column wait_columns[] = {
    CN_COLUMN_RIGHT("time_ns", "TIME"),
    {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
    {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    CN_COLUMN_RIGHT("longest_ns", "LONGEST"),
    {.name = "cause", .title = "FOR", .kind = CN_COLUMN_TEXT},
    {.name = "late_rank", .title = "RANK", .kind = CN_COLUMN_U64},
    {.name = "in", .title = "IN", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_PATH},
    {.name = "late_in",
     .title = "WHICH WAS IN",
     .kind = CN_COLUMN_TEXT,
     .fit = CN_FIT_PATH},
};

enum { WAIT_COLUMNS = sizeof(wait_columns) / sizeof(wait_columns[0]) };

void cn_mpi_print_waits(const struct cn_args *args, const struct cn_mpi_run *run,
                        const struct cn_mpi_waits *waits, size_t most)
{
    bool is_text = cn_cli_is_for_people(args);
    struct cn_column columns[WAIT_COLUMNS];
    struct cn_table *table = cn_mpi_table(args, wait_columns, WAIT_COLUMNS, columns);
    uint64_t all_ns = waits->known_ns + waits->unknown_ns;

    for (size_t i = 0; i < waits->count && (!is_text || i < most); i++) {
        const struct cn_mpi_wait_row *row = &waits->list[i];

        cn_table_time(table, is_text, row->time_ns);
        cn_table_f64(table, 100.0 * (double)row->time_ns / (double)all_ns);
        cn_table_u64(table, row->count);
        cn_table_time(table, is_text, row->longest_ns);
        cn_table_str(table, cn_mpi_cause_names[row->cause]);
        if (row->late_rank != CN_NONE)
            cn_table_u64(table, run->ranks[row->late_rank].number);
        else
            cn_table_none(table);
        cn_mpi_cell_path(table, run, row->path, is_text);
        cn_mpi_cell_path(table, run, row->late_path, is_text);
        cn_table_end_row(table);
    }
    cn_table_free(table);
}
