#include "cli/shell/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/facts.h"
#include "cli/print/terminal.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"
#include "cli/shell/progress.h"
#include "model/labels/short_name.h"

enum { MESSAGE_MAX = 1024 };

static FILE *log_file; /* for messages; NULL: stderr */

bool cn_cli_log_to(const char *path, struct cn_error *err)
{
    log_file = fopen(path, "ae");
    return log_file || cn_fail_errno(err, "--logfile: cannot write '%s'", path);
}

/* Messages are complete in the file even if the process is killed. */
static void put_message(const struct cn_text *line)
{
    (void)fputs(cn_text_str(line), log_file ? log_file : stderr);
    if (log_file)
        (void)fflush(log_file);
}

/* Append "cairn" or "cairn COMMAND". */
static void add_name(struct cn_text *text, const struct cn_command *command)
{
    cn_text_str_add(text, "cairn");
    if (command != &cn_program)
        cn_text_printf(text, " %s", command->name);
}

CN_PRINTF(2, 0)
static void print_message(const struct cn_args *args, const char *fmt, va_list values)
{
    char message[MESSAGE_MAX];
    struct cn_text line = {0};

    if (args->session && args->session->is_mute)
        return;
    (void)vsnprintf(message, sizeof(message), fmt, values);
    add_name(&line, args->command);
    cn_text_str_add(&line, ": ");
    cn_utf8_add_printable(&line, message);
    cn_text_char(&line, '\n');
    if (args->session && args->session->bar)
        cn_bar_hide(args->session->bar);
    put_message(&line);
    cn_text_done(&line);
}

void cn_cli_say(const struct cn_args *args, const char *fmt, ...)
{
    va_list values;

    if (cn_args_has(args, "quiet"))
        return;
    va_start(values, fmt);
    print_message(args, fmt, values);
    va_end(values);
}

void cn_cli_detail(const struct cn_args *args, const char *fmt, ...)
{
    va_list values;

    if (!cn_args_has(args, "verbose"))
        return;
    va_start(values, fmt);
    print_message(args, fmt, values);
    va_end(values);
}

void cn_cli_warn(const struct cn_args *args, const char *fmt, ...)
{
    va_list values;

    va_start(values, fmt);
    print_message(args, fmt, values);
    va_end(values);
}

void cn_cli_say_lines(const struct cn_args *args, const char *lines)
{
    if (!cn_args_has(args, "quiet"))
        cn_cli_warn_lines(args, lines);
}

void cn_cli_warn_lines(const struct cn_args *args, const char *lines)
{
    for (; *lines; lines += strcspn(lines, "\n") + 1)
        cn_cli_warn(args, "%.*s", (int)strcspn(lines, "\n"), lines);
}

void cn_cli_fail(const struct cn_command *command, const struct cn_error *err)
{
    struct cn_text text = {0};

    add_name(&text, command);
    cn_text_str_add(&text, ": ");
    cn_utf8_add_printable(&text, err->text);
    cn_text_char(&text, '\n');
    if (err->kind == CN_ERR_USAGE) {
        cn_text_str_add(&text, "try '");
        add_name(&text, command);
        cn_text_str_add(&text, " --help'\n");
    }
    put_message(&text);
    cn_text_done(&text);
}

void cn_cli_page(const struct cn_args *args)
{
    if (isatty(STDOUT_FILENO) && !args->session->without_pager &&
        !cn_args_has(args, "no-pager"))
        cn_pager_begin(&args->session->pager);
}

void cn_cli_print(const struct cn_args *args, const struct cn_text *text)
{
    cn_cli_page(args);
    (void)fwrite(cn_text_str(text), 1, text->len, stdout);
}

void cn_cli_print_facts(const struct cn_args *args, struct cn_facts *facts)
{
    cn_facts_finish(facts);
    cn_cli_print(args, &facts->text);
    cn_facts_done(facts);
}

void cn_cli_add_help(const struct cn_args *args, const struct cn_command *command,
                     struct cn_text *text)
{
    struct cn_help_style style = {
        .columns = cn_terminal_columns(STDOUT_FILENO),
        .has_color = cn_cli_has_color(args),
    };

    if (!command)
        cn_help_print_start(text, &style);
    else if (command == &cn_program)
        cn_help_print_overview(text, &style);
    else
        cn_help_print(text, command, &style);
}

enum cn_table_format cn_cli_format(const struct cn_args *args)
{
    return cn_table_format_parse(cn_args_value(args, "format"));
}

bool cn_cli_is_for_people(const struct cn_args *args)
{
    enum cn_table_format format = cn_cli_format(args);

    return format == CN_TABLE_TEXT || format == CN_TABLE_MARKDOWN;
}

void cn_cli_say_left_out(const struct cn_args *args, uint64_t count, uint64_t most)
{
    if (count > most && cn_cli_format(args) == CN_TABLE_TEXT)
        cn_cli_say(args, "%" PRIu64 " more %s not shown; use --rows", count - most,
                   cn_plural(count - most, "row is", "rows are"));
}

bool cn_cli_fit(const struct cn_args *args, struct cn_error *err)
{
    enum { COLUMNS_MAX = 100000 };
    uint64_t columns;

    if (!cn_args_u64(args, "width", 0, COLUMNS_MAX, args->session->columns, &columns,
                     err))
        return false;
    args->session->fit = (size_t)columns;
    return true;
}

void cn_cli_add_name(const struct cn_args *args, struct cn_text *text, size_t line,
                     const char *name)
{
    enum { NAME_MIN = 16 };
    size_t fit = args->session->fit, used;
    struct cn_text printable = {0};

    if (fit == 0) {
        cn_utf8_add_printable(text, name);
        return;
    }
    used = cn_utf8_width(cn_text_str(text) + line);
    cn_utf8_add_printable(&printable, name);
    cn_name_shorten(text, cn_text_str(&printable),
                    fit > used + NAME_MIN ? fit - used : NAME_MIN);
    cn_text_done(&printable);
}

struct cn_table *cn_cli_table(const struct cn_args *args, const struct cn_column *columns,
                              size_t column_count)
{
    struct cn_table *table;

    cn_cli_page(args);
    table = cn_table_new(stdout, cn_cli_format(args), cn_cli_has_color(args), columns,
                         column_count);
    cn_table_fit(table, args->session->fit);
    return table;
}

bool cn_cli_has_color(const struct cn_args *args)
{
    return args->session->has_color;
}
