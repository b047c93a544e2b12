/* cairn formats: what cairn can read, write, verify and dump. */

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "open/formats.h"

static const char *yes_or_no(bool answer)
{
    return answer ? "yes" : "no";
}

/* A recording in one text file has no binary records. */
static bool dumps(const struct cn_format *format)
{
    return format->dump || (format->open_recording && !format->is_file);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    static const struct cn_column columns[] = {
        {.name = "name", .title = "NAME", .kind = CN_COLUMN_TEXT},
        {.name = "holds", .title = "DATA", .kind = CN_COLUMN_TEXT},
        {.name = "reads", .title = "READS", .kind = CN_COLUMN_TEXT},
        {.name = "writes", .title = "WRITES", .kind = CN_COLUMN_TEXT},
        {.name = "verifies", .title = "VERIFIES", .kind = CN_COLUMN_TEXT},
        {.name = "dumps", .title = "DUMPS", .kind = CN_COLUMN_TEXT},
        {.name = "summary", .title = "SUMMARY", .kind = CN_COLUMN_TEXT},
    };
    struct cn_table *table =
        cn_cli_table(args, columns, sizeof(columns) / sizeof(columns[0]));

    (void)err;
    for (size_t i = 0; cn_formats[i]; i++) {
        const struct cn_format *format = cn_formats[i];

        cn_table_str(table, format->name);
        cn_table_str(table, format->holds);
        cn_table_str(table, yes_or_no(format->open_database || format->open_recording ||
                                      format->open_traces || format->is_measured));
        cn_table_str(table, yes_or_no(cn_format_writes(format)));
        cn_table_str(table, yes_or_no(format->verify));
        cn_table_str(table, yes_or_no(dumps(format)));
        cn_table_str(table, format->summary);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    return true;
}

static const struct cn_option options[] = {CN_OPTION_FORMAT, {0}};

static const struct cn_example examples[] = {
    {"cairn formats", "list the formats"},
    {"cairn formats --format csv", "the same for a program"},
    {0},
};

const struct cn_command cn_cmd_formats = {
    .name = "formats",
    .summary = "list the formats and what cairn can do with each",
    .description = "Commands detect the format of a path themselves. cairn convert --to "
                   "takes these names.",
    .examples = examples,
    .options = options,
    .run = run,
};
