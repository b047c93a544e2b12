/* cairn store verify: check a store for damage. */

#include <inttypes.h>

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "cli/store/args.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/reader.h"

static const struct cn_column columns[] = {
    {.name = "severity", .title = "SEVERITY", .kind = CN_COLUMN_TEXT},
    {.name = "file", .title = "FILE", .kind = CN_COLUMN_TEXT},
    {.name = "offset", .title = "OFFSET", .kind = CN_COLUMN_U64},
    {.name = "rule", .title = "RULE", .kind = CN_COLUMN_TEXT},
    {.name = "text", .title = "FINDING", .kind = CN_COLUMN_TEXT},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct report {
    const struct cn_args *args;
    struct cn_table
        *table; /* made with the first finding, or for a program that reads it */
    uint64_t errors;
};

static void print(void *arg, const struct cn_finding *finding)
{
    struct report *report = arg;

    if (finding->is_error)
        report->errors++;
    if (!report->table)
        report->table = cn_cli_table(report->args, columns, COLUMNS);
    cn_table_paint(report->table, finding->is_error ? CN_COLOR_RED : CN_COLOR_YELLOW);
    cn_table_str(report->table, finding->is_error ? "error" : "note");
    cn_table_str(report->table, finding->file);
    cn_table_u64(report->table, finding->off);
    cn_table_str(report->table, finding->rule);
    cn_table_str(report->table, finding->text);
    cn_table_end_row(report->table);
}

static bool say_sampled(const struct cn_args *args, const char *path,
                        struct cn_error *err)
{
    struct cn_store *store;

    if (!cn_store_open(&store, path, err))
        return false;
    cn_store_say_sampled(args, store);
    cn_store_close(store);
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    struct report report = {.args = args};
    struct cn_bar bar;

    if (cn_cli_format(args) != CN_TABLE_TEXT)
        report.table = cn_cli_table(args, columns, COLUMNS);
    cn_bar_begin(&bar, args);
    bool ok = cn_store_verify(path, &bar.progress, print, &report, err);
    cn_bar_end(&bar);
    cn_table_free(report.table);
    if (!ok)
        return false;
    if (report.errors > 0)
        return cn_fail(err, CN_ERR_FORMAT, "%s: %" PRIu64 " error%s", path, report.errors,
                       cn_plural(report.errors, "", "s"));
    cn_cli_say(args, "%s is sound", path);
    return say_sampled(args, path, err);
}

static const struct cn_option options[] = {
    CN_OPTION_FORMAT,
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store verify traces", "check every byte of a store"},
    {"cairn store verify traces && cairn store compact traces",
     "change a store only if it is sound"},
    {0},
};

const struct cn_command cn_cmd_store_verify = {
    .name = "store verify",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "check a store for damage",
    .description =
        "Reads a whole store and reports wrong checksums, records that cannot be "
        "decoded, and rows and indexes that do not fit the data. Ends with status "
        "3 if there are errors; cairn store recover repairs what it can. A store that is "
        "being written to is checked as it was at one moment. What a crash left and the "
        "next "
        "writer removes or completes is a note, not an error.",
    .examples = examples,
    .options = options,
    .run = run,
};
