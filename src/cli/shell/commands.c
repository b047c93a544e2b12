#include "cli/shell/command.h"

#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

extern const struct cn_command cn_cmd_sample, cn_cmd_record, cn_cmd_live, cn_cmd_recv,
    cn_cmd_uftrace;
extern const struct cn_command cn_cmd_view, cn_cmd_serve, cn_cmd_tui, cn_cmd_tree,
    cn_cmd_callers, cn_cmd_flat, cn_cmd_top, cn_cmd_timeline, cn_cmd_annotate,
    cn_cmd_report, cn_cmd_graph, cn_cmd_replay, cn_cmd_info;
extern const struct cn_command cn_cmd_waits, cn_cmd_mpi, cn_cmd_io, cn_cmd_why,
    cn_cmd_diff, cn_cmd_gate;
extern const struct cn_command cn_cmd_store;
extern const struct cn_command cn_cmd_sql, cn_cmd_script, cn_cmd_analyze, cn_cmd_convert,
    cn_cmd_export_html, cn_cmd_dump, cn_cmd_verify, cn_cmd_symbolize, cn_cmd_formats;
extern const struct cn_command cn_cmd_help, cn_cmd_completion;

/* One a line, so that changes merge. */
/* clang-format off */
const struct cn_command *const cn_commands[] = {
    &cn_cmd_sample,
    &cn_cmd_record,
    &cn_cmd_live,
    &cn_cmd_recv,
    &cn_cmd_uftrace,
    &cn_cmd_view,
    &cn_cmd_serve,
    &cn_cmd_tui,
    &cn_cmd_tree,
    &cn_cmd_callers,
    &cn_cmd_flat,
    &cn_cmd_top,
    &cn_cmd_timeline,
    &cn_cmd_annotate,
    &cn_cmd_report,
    &cn_cmd_graph,
    &cn_cmd_replay,
    &cn_cmd_info,
    &cn_cmd_waits,
    &cn_cmd_mpi,
    &cn_cmd_io,
    &cn_cmd_why,
    &cn_cmd_diff,
    &cn_cmd_gate,
    &cn_cmd_store,
    &cn_cmd_sql,
    &cn_cmd_script,
    &cn_cmd_analyze,
    &cn_cmd_convert,
    &cn_cmd_export_html,
    &cn_cmd_dump,
    &cn_cmd_verify,
    &cn_cmd_symbolize,
    &cn_cmd_formats,
    &cn_cmd_help,
    &cn_cmd_completion,
    NULL,
};
/* clang-format on */

/* The tasks, each with its first command. */
static const struct {
    const char *name;
    const struct cn_command *first;
} tasks[] = {
    {"Measure a program", &cn_cmd_sample},
    {"Look at the result", &cn_cmd_view},
    {"Find causes, compare runs", &cn_cmd_waits},
    {"Store and search request traces", &cn_cmd_store},
    {"Query, convert and check data", &cn_cmd_sql},
    {"About cairn", &cn_cmd_help},
};

const struct cn_option cn_shared_options[] = {
    CN_OPTION("help", 'h', NULL, "describe the command and its options"),
    CN_OPTION("quiet", 'q', NULL, "print warnings and errors only"),
    CN_OPTION("verbose", 'v', NULL, "print details of the work"),
    {
        .name = "color",
        .value = "auto|always|never",
        .also = "yes|true|1|on|no|false|0|off", /* of uftrace */
        .help = "use colour: on a terminal (the default), always or never",
    },
    CN_OPTION("logfile", 0, "FILE",
              "append messages to FILE instead of printing them on standard error"),
    CN_OPTION("no-pager", 0, NULL, "do not show the output in a pager"),
    {0},
};

bool cn_command_choose(const struct cn_command *const *list, const char *name,
                       const struct cn_command **out, struct cn_error *err)
{
    struct cn_suggestion near = {.typed = name};

    for (size_t i = 0; list[i]; i++) {
        const char *known = cn_command_part_name(list[i]);

        if (strcmp(known, name) == 0) {
            *out = list[i];
            return true;
        }
        cn_suggestion_offer(&near, known);
    }
    if (near.best)
        return cn_fail(err, CN_ERR_USAGE, "unknown command '%s', did you mean '%s'?",
                       name, near.best);
    return cn_fail(err, CN_ERR_USAGE, "unknown command '%s'", name);
}

bool cn_command_follow(const struct cn_command *const *list, const char *const *arguments,
                       size_t count, const struct cn_command **out, struct cn_error *err)
{
    for (size_t i = 0; list && i < count; i++) {
        if (!cn_command_choose(list, arguments[i], out, err))
            return false;
        list = (*out)->parts;
    }
    return true;
}

const struct cn_command *cn_command_at(size_t i)
{
    for (size_t c = 0; cn_commands[c]; c++) {
        const struct cn_command *const *parts = cn_commands[c]->parts;

        if (i-- == 0)
            return cn_commands[c];
        for (size_t p = 0; parts && parts[p]; p++) {
            if (i-- == 0)
                return parts[p];
        }
    }
    return NULL;
}

const char *cn_command_task(const struct cn_command *command)
{
    size_t task = 0, whole = 0;

    for (size_t c = 0; cn_commands[c]; c++) {
        task += task + 1 < sizeof(tasks) / sizeof(*tasks) &&
                cn_commands[c] == tasks[task + 1].first;
        if (cn_commands[c] == command)
            return tasks[task].name;
        whole = strlen(cn_commands[c]->name);
        if (strncmp(command->name, cn_commands[c]->name, whole) == 0 &&
            command->name[whole] == ' ')
            return cn_commands[c]->name;
    }
    return NULL;
}

void cn_command_page_add(struct cn_text *text, const struct cn_command *command)
{
    for (const char *c = command->name; *c; c++)
        cn_text_char(text, *c == ' ' ? '-' : *c);
}

const char *cn_command_part_name(const struct cn_command *command)
{
    const char *blank = strchr(command->name, ' ');

    return blank ? blank + 1 : command->name;
}

const struct cn_option *cn_command_option(const struct cn_command *command, size_t i)
{
    size_t own_count = 0;

    while (command->options && command->options[own_count].name) {
        if (own_count == i)
            return &command->options[i];
        own_count++;
    }
    for (size_t k = 0; cn_shared_options[k].name; k++) {
        if (own_count + k == i)
            return &cn_shared_options[k];
    }
    return NULL;
}

const struct cn_option *cn_command_find_option(const struct cn_command *command,
                                               const char *name)
{
    const struct cn_option *option;
    size_t i = 0;

    while ((option = cn_command_option(command, i)) && strcmp(option->name, name) != 0)
        i++;
    return option;
}

unsigned cn_option_scope(const struct cn_command *command, const struct cn_option *option)
{
    unsigned scope = option->scope & command->scope;

    return scope == command->scope ? 0 : scope;
}

bool cn_command_scope_at(const struct cn_command *command, size_t i, unsigned *scope)
{
    const struct cn_option *options = command->options;

    *scope = 0;
    for (size_t k = 0; i > 0 && options && options[k].name; k++) {
        size_t before = 0;

        *scope = cn_option_scope(command, &options[k]);
        while (cn_option_scope(command, &options[before]) != *scope)
            before++;
        i -= *scope != 0 && before == k;
    }
    return i == 0 && options;
}

static size_t placeholder_len(const char *placeholder)
{
    return strcspn(placeholder, " .]");
}

enum cn_placeholder_kind cn_placeholder_kind(const char *placeholder)
{
    static const struct {
        const char *name;
        enum cn_placeholder_kind kind;
    } known[] = {
        {"FILE", CN_PLACEHOLDER_FILE}, {"PATH", CN_PLACEHOLDER_FILE},
        {"SRC", CN_PLACEHOLDER_FILE},  {"DST", CN_PLACEHOLDER_FILE},
        {"DIR", CN_PLACEHOLDER_DIR},   {"DB", CN_PLACEHOLDER_DIR},
        {"STORE", CN_PLACEHOLDER_DIR}, {"COMMAND", CN_PLACEHOLDER_COMMAND},
    };
    size_t len = placeholder_len(placeholder);

    if (strspn(placeholder, "abcdefghijklmnopqrstuvwxyz0123456789-|") == len &&
        memchr(placeholder, '|', len))
        return CN_PLACEHOLDER_CHOICE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i].name) == len && memcmp(known[i].name, placeholder, len) == 0)
            return known[i].kind;
    }
    return CN_PLACEHOLDER_OTHER;
}

const char *cn_operand_at(const char *operands, size_t i)
{
    const char *last = NULL;

    while (operands && *operands) {
        const char *word = operands + strspn(operands, " [");

        operands = word + strcspn(word, " ");
        if (i-- == 0)
            return word;
        if (memmem(word, (size_t)(operands - word), "...", 3))
            last = word;
    }
    return last;
}

const char *cn_choice_at(const char *choices, size_t i, size_t *len)
{
    const char *end = choices + placeholder_len(choices);

    for (;;) {
        size_t n = strcspn(choices, "|");

        if (n > (size_t)(end - choices))
            n = (size_t)(end - choices);
        if (i-- == 0) {
            *len = n;
            return choices;
        }
        choices += n;
        if (choices == end)
            return NULL;
        choices++;
    }
}

bool cn_choice_has(const char *placeholder, const char *value)
{
    const char *choice;
    size_t len;

    if (cn_placeholder_kind(placeholder) != CN_PLACEHOLDER_CHOICE)
        return true;
    for (size_t i = 0; (choice = cn_choice_at(placeholder, i, &len)); i++) {
        if (strlen(value) == len && memcmp(choice, value, len) == 0)
            return true;
    }
    return false;
}

void cn_choices_add(struct cn_text *text, const char *choices)
{
    const char *choice;
    size_t len;

    for (size_t i = 0; (choice = cn_choice_at(choices, i, &len)); i++) {
        cn_text_str_add(text, i ? " " : "");
        cn_text_add(text, choice, len);
    }
}
