/* cairn top: the hottest contexts, and the hot path. */

#include <stdio.h>
#include <string.h>

#include "analyze/views/hottest.h"
#include "cli/record/sample.h"
#include "cli/shell/progress.h"
#include "cli/views/options.h"
#include "cli/views/print.h"
#include "cli/views/processes.h"
#include "model/labels/context.h"

enum { COUNT_DEFAULT = 20, COUNT_MAX = 1000000 };

#define KINDS "function|loop|line|instruction|any"

/* The kinds of contexts to compare. Without --kind: functions and, for databases without
 * functions, instructions. */
static unsigned chosen_kinds(const char *kind)
{
    if (!kind)
        return 1U << CN_ROW_FUNCTION | 1U << CN_ROW_INSTRUCTION;
    for (unsigned k = CN_ROW_FUNCTION; k <= CN_ROW_INSTRUCTION; k++)
        if (strcmp(kind, cn_row_kind_name((enum cn_row_kind)k)) == 0)
            return 1U << k;
    return ~0U;
}

static size_t first_column(const struct cn_costs *costs, enum cn_cost_side side)
{
    size_t i = 0;

    while (i < costs->column_count &&
           (costs->columns[i].side != side || costs->columns[i].is_hidden))
        i++;
    return i;
}

/* The first self column, unless --sort or --by names another. */
static size_t chosen_column(const struct cn_view_setup *setup)
{
    size_t self = first_column(&setup->costs, CN_SELF);

    return setup->has_order || self == setup->costs.column_count ? setup->sort_column
                                                                 : self;
}

/* The total column that the hot path follows; the number of columns if there is none. */
static size_t path_column(const struct cn_view_setup *setup)
{
    return setup->costs.columns[setup->sort_column].side == CN_TOTAL
               ? setup->sort_column
               : first_column(&setup->costs, CN_TOTAL);
}

static bool print_node(struct cn_view_table *table, const struct cn_hottest *hottest,
                       struct cn_view_setup *setup, uint32_t node, struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];
    struct cn_text label = {0}, path = {0};
    struct cn_view_row_text text = {0};
    struct cn_context c;
    bool ok =
        cn_context_at(setup->db, hottest->index.nodes[node].at, &c, err) &&
        cn_label_context(setup->db, &c, &label, err) &&
        cn_hottest_path(hottest, setup->db, node, &path, err) &&
        cn_location_find(setup->db, c.has_function ? c.function : CN_NONE,
                         c.has_point ? c.module : CN_NONE,
                         c.has_source ? c.file : CN_NONE, c.line, &text.location, err);

    if (ok) {
        struct cn_row row = {
            .kind = cn_row_kind_of(&c), .context = c.id, .values = values};

        text.label = cn_text_str(&label);
        text.path = cn_text_str(&path);
        text.code = setup->codes && row.kind == CN_ROW_FUNCTION
                        ? cn_codes_of(setup->codes, &c)
                        : NULL;
        cn_cost_rows_values(&setup->costs, &hottest->rows, node, values);
        cn_view_table_row(table, &row, &text);
    }
    cn_text_done(&label);
    cn_text_done(&path);
    return ok;
}

static bool print_hottest(struct cn_view_setup *setup, const struct cn_args *args,
                          uint64_t count, struct cn_error *err)
{
    struct cn_hottest_request request = {
        .column = chosen_column(setup),
        .kinds = chosen_kinds(cn_args_value(args, "kind")),
        .count = (size_t)count,
        .is_reversed = setup->is_reversed,
        .filter = &setup->filter,
    };
    struct cn_error later;
    struct cn_hottest hottest;
    struct cn_view_table table;
    struct cn_bar bar;
    bool ok;

    cn_bar_begin(&bar, args);
    ok = cn_hottest_find(&hottest, &setup->costs, &request, &bar.progress, err);
    cn_bar_end(&bar);
    if (ok || err->kind != CN_ERR_INTERRUPTED) {
        cn_view_table_begin(&table, args, &setup->costs, setup->codes, true);
        for (size_t i = 0; i < hottest.count; i++)
            ok = print_node(&table, &hottest, setup, hottest.nodes[i],
                            ok ? err : &later) &&
                 ok;
        cn_view_table_end(&table);
    }
    if (ok && hottest.count == 0)
        cn_cli_say(args, "no rows: no context of this kind has a value");
    cn_hottest_done(&hottest);
    return ok;
}

static bool print_hot_path(struct cn_view_setup *setup, const struct cn_args *args,
                           struct cn_error *err)
{
    const double share = 0.5; /* the path ends at a child with less of its parent */
    struct cn_view *view = cn_view_top_down_new(&setup->costs);
    struct cn_row_list path;
    struct cn_view_table table;
    struct cn_text label = {0};
    struct cn_error later;
    bool ok;

    view->codes = setup->codes;
    cn_row_list_begin(&path, setup->costs.column_count);
    ok = cn_view_hot_path(view, path_column(setup), share, &path, err);
    cn_view_table_begin(&table, args, &setup->costs, setup->codes, false);
    for (size_t i = 0; i < path.count; i++) {
        struct cn_view_row_text text = {.depth = i};

        cn_text_clear(&label);
        ok =
            view->ops->label(view, &path.rows[i], &label, ok ? err : &later) &&
            view->ops->location(view, &path.rows[i], &text.location, ok ? err : &later) &&
            ok;
        text.label = cn_text_str(&label);
        text.code = cn_view_code(view, &path.rows[i]);
        cn_view_table_row(&table, &path.rows[i], &text);
    }
    cn_view_table_end(&table);
    cn_text_done(&label);
    cn_row_list_done(&path);
    cn_view_free(view);
    return ok;
}

static bool show(struct cn_view_setup *setup, const struct cn_args *args, uint64_t count,
                 struct cn_error *err)
{
    bool has_path = path_column(setup) < setup->costs.column_count;
    bool wants_path = cn_args_has(args, "hot-path");
    struct cn_error later;
    bool ok = true;

    if (wants_path && !has_path)
        return cn_fail(err, CN_ERR_USAGE, "--hot-path needs a metric with total values");
    if (!wants_path)
        ok = print_hottest(setup, args, count, err);
    if (!ok && err->kind == CN_ERR_INTERRUPTED)
        return false;
    if (!wants_path && has_path && cn_cli_format(args) == CN_TABLE_TEXT) {
        wants_path = true;
        (void)printf("\nHot path\n");
    }
    if (wants_path)
        ok = print_hot_path(setup, args, ok ? err : &later) && ok;
    return ok || cn_fail_in(err, "%s", setup->db->path);
}

/* Fails on options that cannot be combined. */
static bool check_options(const struct cn_args *args, struct cn_error *err)
{
    static const char *const of_list[] = {"count", "kind", "filter", "reverse"};
    const char *sort = cn_args_value(args, "sort");

    if (sort && strcmp(sort, "name") == 0)
        return cn_fail(err, CN_ERR_USAGE, "--sort: 'name' is not a cost");
    for (size_t i = 0; i < sizeof(of_list) / sizeof(*of_list); i++)
        if (!cn_args_exclusive(args, "hot-path", of_list[i], err))
            return false;
    return true;
}

struct top_wish {
    const struct cn_args *args;
    uint64_t count;
};

static bool show_wish(struct cn_view_setup *setup, void *arg, struct cn_error *err)
{
    const struct top_wish *wish = arg;

    return show(setup, wish->args, wish->count, err);
}

bool cn_top_show(const struct cn_args *args, const char *path, uint64_t count,
                 struct cn_error *err)
{
    struct cn_view_setup setup;
    bool ok = cn_view_setup_open(&setup, args, path, err) &&
              cn_view_each_process(&setup, args, show_wish,
                                   &(struct top_wish){args, count}, err) &&
              cn_cli_check_opened(&setup.opened, err);

    cn_view_setup_done(&setup);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path;
    uint64_t count;

    return cn_args_u64(args, "count", 1, COUNT_MAX, COUNT_DEFAULT, &count, err) &&
           check_options(args, err) &&
           cn_data_path(args, cn_args_find_operand(args, 0), &path, err) &&
           cn_top_show(args, path, count, err);
}

static const struct cn_option options[] = {
    CN_OPTION("count", 'n', "N", "show the N hottest contexts (default: 20)"),
    CN_OPTION("kind", 0, KINDS, "compare contexts of this kind (default: calls)"),
    CN_OPTION("hot-path", 0, NULL,
              "show only the hot path: from the root to the child with the largest "
              "total, as long as that is half of its parent or more"),
    CN_VIEW_GROUP_OPTION("", ""),
    CN_VIEW_OPTIONS,
    CN_VIEW_PROCESS_OPTION,
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn top run.db", "show the 20 hottest calls, and the hot path"},
    {"cairn top run.db --kind loop -n 5", "show the five hottest loops"},
    {"cairn top run.db -s total --format json", "sort by total, print JSON"},
    {0},
};

const struct cn_command cn_cmd_top = {
    .name = "top",
    .operands = "[DB]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "show the hottest contexts and the hot path",
    .description =
        "Lists the contexts with the largest self cost, each with its call path, and "
        "below them the hot path. JSON and CSV contain the list, or with --hot-path the "
        "path." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
