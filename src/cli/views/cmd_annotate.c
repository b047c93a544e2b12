/* cairn annotate: the machine code of a function, with the cost of each instruction. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/views/annotation.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/views/options.h"
#include "cli/views/print.h"

enum { SELF = 3, INSTRUCTION = 5, COLUMN_COUNT = 11 }; /* columns of the table */

struct annotate {
    const struct cn_args *args;
    struct cn_opened opened;
    struct cn_costs costs;
    struct cn_context_index index;
    size_t column;
    struct cn_column columns[COLUMN_COUNT];
    struct cn_table *table; /* of JSON and CSV; text has one for each function */
    size_t shown_count;
};

/* The name itself, or all of it before the parameters of a C++ function. */
static bool is_named(const struct cn_function *function, const char *name)
{
    size_t len = strlen(name);

    return strncmp(function->name, name, len) == 0 &&
           (function->name[len] == '\0' || function->name[len] == '(');
}

static void begin_table(struct annotate *a)
{
    static const struct cn_column columns[COLUMN_COUNT] = {
        {.name = "function", .kind = CN_COLUMN_TEXT},
        {.name = "module", .kind = CN_COLUMN_TEXT},
        {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
        {0}, /* the self cost */
        {.name = "offset",
         .title = "OFFSET",
         .kind = CN_COLUMN_TEXT,
         .align = CN_ALIGN_RIGHT},
        {.name = "instruction", .title = "INSTRUCTION", .kind = CN_COLUMN_TEXT},
        {.name = "target", .kind = CN_COLUMN_TEXT},
        {.name = "callee", .kind = CN_COLUMN_TEXT},
        {.name = "inlined", .kind = CN_COLUMN_TEXT},
        {.name = "file", .kind = CN_COLUMN_TEXT},
        {.name = "line", .kind = CN_COLUMN_U64},
    };
    const struct cn_cost_column *cost = &a->costs.columns[a->column];

    memcpy(a->columns, columns, sizeof(columns));
    a->columns[SELF] = cn_view_value_column(cost, cost->total);
    a->table = cn_cli_table(a->args, a->columns, COLUMN_COUNT);
}

static void put_hex(struct cn_table *table, uint64_t offset)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIx64, offset);
    cn_table_str(table, text);
}

/* A row of text with a source line, and no cost. */
static void put_source(struct annotate *a, const struct cn_assembly_line *line,
                       const char *source)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%s:%" PRIu32, cn_path_name(line->file), line->line);
    if (line->inlined)
        cn_text_printf(&text, " (%s inlined)", line->inlined);
    if (source)
        cn_text_printf(&text, "  %s", source);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (i == INSTRUCTION)
            cn_table_str(a->table, cn_text_str(&text));
        else
            cn_table_none(a->table);
    cn_table_end_row(a->table);
    cn_text_done(&text);
}

static void put_instruction(struct annotate *a, const struct cn_annotation *annotation,
                            const char *function, size_t i, bool is_text)
{
    const struct cn_assembly_line *line = &annotation->assembly.list[i];
    double whole = annotation->self + annotation->inlined;
    struct cn_text text = {0};

    cn_text_printf(&text, "%s%s", is_text ? "    " : "", line->text);
    if (is_text && line->callee)
        cn_text_printf(&text, "  <%s>", line->callee);
    cn_table_str(a->table, function);
    cn_table_str(a->table, annotation->module);
    if (annotation->costs[i] != 0) {
        cn_table_f64(a->table, whole > 0 ? 100 * annotation->costs[i] / whole : 0);
        cn_table_f64(a->table, annotation->costs[i]);
    } else {
        cn_table_none(a->table);
        cn_table_none(a->table);
    }
    put_hex(a->table, line->offset);
    cn_table_str(a->table, cn_text_str(&text));
    if (line->target > 0)
        put_hex(a->table, line->target);
    else
        cn_table_none(a->table);
    cn_table_str(a->table, line->callee);
    cn_table_str(a->table, line->inlined);
    cn_table_str(a->table, line->file);
    if (line->file)
        cn_table_u64(a->table, line->line);
    else
        cn_table_none(a->table);
    cn_table_end_row(a->table);
    cn_text_done(&text);
}

static void put_head(struct annotate *a, const struct cn_annotation *annotation,
                     const char *function)
{
    const struct cn_cost_column *column = &a->costs.columns[a->column];

    cn_cli_page(a->args);
    (void)printf("%s%s in %s: self %g", a->shown_count > 0 ? "\n" : "", function,
                 annotation->module, annotation->self);
    if (column->has_percent)
        (void)printf(" (%.1f%% of all)", cn_cost_percent(column, annotation->self));
    if (annotation->inlined > 0)
        (void)printf(", of functions inlined there %g", annotation->inlined);
    (void)printf(", %s%s\n", column->metric,
                 annotation->build_id ? "" : "; build id not recorded, not checked");
}

static void print(struct annotate *a, const struct cn_annotation *annotation,
                  const char *function)
{
    bool is_text = cn_cli_format(a->args) == CN_TABLE_TEXT;

    if (is_text)
        put_head(a, annotation, function);
    if (!a->table)
        begin_table(a);
    for (size_t i = 0; i < annotation->assembly.count; i++) {
        if (is_text && cn_annotation_begins_line(&annotation->assembly, i))
            put_source(a, &annotation->assembly.list[i], annotation->sources[i]);
        put_instruction(a, annotation, function, i, is_text);
    }
    if (is_text) {
        cn_table_free(a->table);
        a->table = NULL;
    }
    a->shown_count++;
}

/* Functions of the same name in several modules are shown one after the other. Records of
 * calls that were inlined have no code: what is wrong with the last one is said only if
 * nothing else was found. */
static bool annotate_all(struct annotate *a, const char *name, struct cn_error *err)
{
    struct cn_database *db = a->opened.db;
    bool is_known = false;

    for (uint32_t i = 0; i < db->function_count; i++) {
        struct cn_annotation annotation = {0};
        struct cn_function function;

        if (!cn_database_function(db, i, &function, err))
            return false;
        if (!is_named(&function, name))
            continue;
        bool ok =
            cn_annotation_open(&annotation, &a->costs, &a->index, a->column, i, err);
        is_known = true;
        if (ok)
            print(a, &annotation, function.name);
        cn_annotation_close(&annotation);
        if (!ok && err->kind != CN_ERR_NOT_FOUND)
            return false;
    }
    if (!is_known)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no function '%s'", a->opened.path,
                       name);
    return a->shown_count > 0;
}

static bool open_costs(struct annotate *a, struct cn_error *err)
{
    struct cn_values threads = cn_args_values(a->args, "thread");
    const char *metric = cn_args_value(a->args, "metric");
    const char *defaults[CN_COST_DEFAULT_MAX];
    struct cn_cost_request request = {.side = CN_SELF, .profile = CN_NONE};

    for (size_t i = 0; i < threads.count; i++)
        if (!cn_costs_select(&a->costs, threads.list[i], err))
            return false;
    (void)cn_costs_default_metrics(&a->costs, defaults);
    request.metric = metric ? metric : defaults[0];
    return (cn_costs_add(&a->costs, &request, err) ||
            cn_args_misnamed(a->args, "metric", err)) &&
           cn_costs_ready(&a->costs, err) &&
           cn_annotation_column(&a->costs, &a->column, err) &&
           cn_context_index_build(&a->index, a->opened.db, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct annotate a = {.args = args};
    const char *path;
    bool ok = cn_data_path_after_function(args, &path, err) &&
              cn_view_open(&a.opened, args, path, NULL, err);

    if (ok) {
        cn_costs_init(&a.costs, a.opened.db);
        ok = open_costs(&a, err) && annotate_all(&a, cn_args_operand(args, 0), err) &&
             cn_cli_check_opened(&a.opened, err);
        cn_table_free(a.table);
        cn_context_index_done(&a.index);
        cn_costs_done(&a.costs);
    }
    cn_opened_close(&a.opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("metric", 'm', "NAME",
              "show this metric; the beginning of its name is enough (default: the "
              "first one that has values; of time, running time)"),
    CN_VIEW_THREAD_OPTION('t'),
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn annotate similarity cairn.perf.data", "show its hot instructions"},
    {"cairn annotate main perf.data -m cycles --format json", "cycles, as JSON"},
    {0},
};

const struct cn_command cn_cmd_annotate = {
    .name = "annotate",
    .operands = "FUNC [PATH]",
    .operand_min = 1,
    .operand_max = 2,
    .scope = CN_FOR_DATA,
    .summary = "show the instructions of a function with their costs",
    .description =
        "Prints the machine code of a function with the self cost of each instruction, "
        "below the source lines that it was compiled from. The sum over all "
        "instructions is the self cost of the function and of the functions inlined "
        "there.\n\n"
        "perf.data files, recordings of cairn sample and databases whose contexts are "
        "instructions have such costs. The binary is read from this machine; one with "
        "another build id than the measured one is refused.",
    .examples = examples,
    .options = options,
    .run = run,
};
