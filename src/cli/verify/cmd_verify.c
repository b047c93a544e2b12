/* cairn verify: every violation of a format's rules, one per line. */

#include <inttypes.h>

#include "base/bytes/utf8.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "open/open.h"

enum { HELD_LEN_MAX = 1 << 20 };

struct verify_check {
    const struct cn_args *args;
    const char *path;
    struct cn_text dir; /* of the files of `path`, with a slash */
    struct cn_bar bar;
    struct cn_table *table; /* NULL for text */
    struct cn_text held;    /* held back while the progress bar is shown */
    uint64_t shown, shown_max;
    uint64_t error_count, warning_count; /* of this path */
    uint64_t total_errors, total_warnings;
    size_t bad_path_count;
};

static void print_held(struct verify_check *check)
{
    if (check->held.len == 0)
        return;
    cn_cli_print(check->args, &check->held);
    cn_text_clear(&check->held);
}

static void add_line(struct verify_check *check, const struct cn_finding *finding)
{
    struct cn_text *out = &check->held;
    bool has_color = cn_cli_has_color(check->args);
    enum cn_color color = finding->is_error ? CN_COLOR_RED : CN_COLOR_YELLOW;

    cn_utf8_add_printable(out, cn_text_str(&check->dir));
    cn_text_printf(out, "%s: 0x%" PRIx64 ": ", finding->file, finding->off);
    cn_text_str_add(out, has_color ? cn_color_start(color) : "");
    cn_text_str_add(out, finding->is_error ? "error" : "warning");
    cn_text_str_add(out, has_color ? cn_color_stop(color) : "");
    cn_text_printf(out, ": %s: ", finding->rule);
    cn_utf8_add_printable(out, finding->text);
    cn_text_char(out, '\n');
    if (out->len >= HELD_LEN_MAX) {
        cn_bar_end(&check->bar);
        print_held(check);
        cn_bar_begin(&check->bar, check->args);
    }
}

static void add_row(struct verify_check *check, const struct cn_finding *finding)
{
    cn_table_str(check->table, check->path);
    cn_table_str(check->table, finding->file);
    cn_table_u64(check->table, finding->off);
    cn_table_str(check->table, finding->is_error ? "error" : "warning");
    cn_table_str(check->table, finding->rule);
    cn_table_str(check->table, finding->text);
    cn_table_end_row(check->table);
}

static void on_finding(void *arg, const struct cn_finding *finding)
{
    struct verify_check *check = arg;

    if (finding->is_error)
        check->error_count++;
    else
        check->warning_count++;
    if (!finding->is_error && cn_args_has(check->args, "quiet"))
        return;
    if (check->shown == check->shown_max)
        return;
    check->shown++;
    if (check->table)
        add_row(check, finding);
    else
        add_line(check, finding);
}

/* Findings name files; those of "run.db" and "run.db/meta.db" are in "run.db/". */
static void find_dir(struct verify_check *check)
{
    cn_text_clear(&check->dir);
    if (cn_path_is_file(check->path)) {
        cn_text_add(&check->dir, check->path, cn_path_folder_len(check->path));
        return;
    }
    cn_text_str_add(&check->dir, check->path);
    if (!cn_ends_with(check->path, "/"))
        cn_text_char(&check->dir, '/');
}

static bool verify_format(struct verify_check *check, struct cn_error *err)
{
    struct cn_opened opened;

    if (!cn_open(&opened, check->path, 0, NULL, err))
        return false;
    cn_bar_begin(&check->bar, check->args);
    bool ok = opened.format->verify
                  ? opened.format->verify(opened.source, &check->bar.progress, on_finding,
                                          check, err)
                  : cn_fail(err, CN_ERR_USAGE, "%s: format %s cannot be verified",
                            check->path, opened.format->name);
    cn_bar_end(&check->bar);
    cn_opened_close(&opened);
    return ok;
}

static bool verify_path(struct verify_check *check, const char *path,
                        struct cn_error *err)
{
    struct cn_error path_err;
    uint64_t hidden;

    check->path = path;
    check->shown = check->error_count = check->warning_count = 0;
    find_dir(check);
    bool ok = verify_format(check, &path_err);
    print_held(check);
    if (!ok && path_err.kind == CN_ERR_INTERRUPTED) {
        *err = path_err;
        return false;
    }
    hidden = check->error_count - check->shown;
    if (!cn_args_has(check->args, "quiet"))
        hidden += check->warning_count;
    if (hidden > 0)
        cn_cli_say(check->args, "%s: %" PRIu64 " more %s not shown", path, hidden,
                   cn_plural(hidden, "finding is", "findings are"));
    if (!ok) {
        cn_cli_warn(check->args, "%s", path_err.text);
        check->error_count++;
    }
    check->total_errors += check->error_count;
    check->total_warnings += check->warning_count;
    check->bad_path_count += check->error_count > 0;
    return true;
}

static bool sum_up(const struct verify_check *check, struct cn_error *err)
{
    size_t path_count = cn_args_count(check->args);
    struct cn_text text = {0};
    bool ok = check->total_errors == 0;

    cn_count_print_of(&text, check->total_errors, "error");
    cn_text_str_add(&text, " and ");
    cn_count_print_of(&text, check->total_warnings, "warning");
    if (path_count > 1 && ok)
        cn_text_printf(&text, " in %zu paths", path_count);
    else if (path_count > 1)
        cn_text_printf(&text, "; %zu of %zu paths have errors", check->bad_path_count,
                       path_count);
    if (ok)
        cn_cli_say(check->args, "%s", cn_text_str(&text));
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "%s", cn_text_str(&text));
    cn_text_done(&text);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    static const struct cn_column columns[] = {
        {.name = "path", .kind = CN_COLUMN_TEXT},
        {.name = "file", .kind = CN_COLUMN_TEXT},
        {.name = "offset_bytes", .kind = CN_COLUMN_U64},
        {.name = "severity", .kind = CN_COLUMN_TEXT},
        {.name = "rule", .kind = CN_COLUMN_TEXT},
        {.name = "text", .kind = CN_COLUMN_TEXT},
    };
    struct verify_check check = {.args = args};
    bool ok = true;

    if (!cn_args_u64(args, "max", 0, UINT64_MAX, UINT64_MAX, &check.shown_max, err))
        return false;
    if (cn_cli_format(args) != CN_TABLE_TEXT)
        check.table = cn_cli_table(args, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < cn_args_count(args) && ok; i++)
        ok = verify_path(&check, cn_args_operand(args, i), err);
    cn_table_free(check.table);
    cn_text_done(&check.dir);
    cn_text_done(&check.held);
    return ok && sum_up(&check, err);
}

static const struct cn_option options[] = {
    CN_OPTION("max", 0, "N", "print at most N findings per path, count all"),
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn verify run.db", "check a database"},
    {"cairn verify -q runs/*", "check many, print errors only"},
    {"cairn verify --format csv run.db | cut -d, -f5 | sort | uniq -c",
     "count findings by rule"},
    {0},
};

const struct cn_command cn_cmd_verify = {
    .name = "verify",
    .operands = "PATH...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "check the rules of a format and report every violation",
    .description =
        "Prints a line per finding: file, offset, severity, rule, and what is wrong with "
        "which value. An error makes the data invalid; a warning is harmless, or a known "
        "deviation of the tools that write the format. -q hides warnings.\n\n"
        "The exit status is 0 if no path has errors, and 3 if one has, or cannot be "
        "read.",
    .examples = examples,
    .options = options,
    .run = run,
};
