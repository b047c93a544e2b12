#include "cli/recording/script_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/replay.h"
#include "base/alloc.h"
#include "base/text.h"
#include "formats/uftrace/text/value_rules.h"
#include "model/calls/values.h"

enum { FIELDS_MAX = 8, VALUES_MAX = 64 };

struct script_run {
    struct cn_script *script;
    const struct cn_call_query *query;
    bool *is_chosen; /* by function: matches UFTRACE_FUNCS; NULL: all do */
    bool without_values;
    struct cn_error *err;
    bool has_failed;
    struct cn_text text;   /* of an event */
    struct cn_arena texts; /* of the values of a call */
    struct cn_script_value values[VALUES_MAX];
};

static struct cn_script_value value_of(struct script_run *run,
                                       const struct cn_call_values *from,
                                       const struct cn_call_value *value)
{
    const char *chars = (const char *)value->bytes.ptr;
    size_t len = value->bytes.len;

    switch (value->spec->format) {
    case 's':
    case 'S':
        return (struct cn_script_value){.kind = CN_SCRIPT_TEXT,
                                        .text = {chars, len ? strnlen(chars, len) : 0}};
    case 'c':
        if (from->is_big_endian && len > 0)
            chars += len - 1;
        return (struct cn_script_value){.kind = CN_SCRIPT_TEXT, .text = {chars, len > 0}};
    case 't':
        return cn_script_text(
            cn_arena_printf(&run->texts, "struct: %s{}", value->spec->type_name));
    case 'f':
        return (struct cn_script_value){.kind = CN_SCRIPT_FLOAT,
                                        .real = cn_call_value_real(from, value)};
    case 'u':
    case 'x':
    case 'o':
    case 'p':
        return (struct cn_script_value){.kind = CN_SCRIPT_UNSIGNED,
                                        .natural = cn_call_value_number(from, value)};
    default:
        return (struct cn_script_value){.kind = CN_SCRIPT_SIGNED,
                                        .number = cn_call_value_signed(from, value)};
    }
}

static size_t read_values(struct script_run *run, const struct cn_replay_line *line)
{
    struct cn_call_values from;
    struct cn_call_value value;
    size_t count = 0;

    if (!line->call || run->without_values)
        return 0;
    cn_call_values_begin(&from, run->query->rec, line->batch, line->call);
    while (count < VALUES_MAX && cn_call_values_next(&from, &value))
        run->values[count++] = value_of(run, &from, &value);
    return count;
}

static struct cn_script_value natural(uint64_t number)
{
    return (struct cn_script_value){.kind = CN_SCRIPT_UNSIGNED, .natural = number};
}

static bool call(struct script_run *run, enum cn_script_hook hook,
                 const struct cn_script_field *fields, size_t count)
{
    run->has_failed = !cn_script_call(run->script, hook, fields, count, run->err);
    return !run->has_failed;
}

static bool on_call(struct script_run *run, const struct cn_replay_line *line,
                    bool is_entry)
{
    struct cn_script_field fields[FIELDS_MAX];
    char buffer[CN_CALL_NAME_MAX];
    size_t count = 0, value_count;
    const struct cn_recording *rec = run->query->rec;

    if (!cn_script_has(run->script, is_entry ? CN_SCRIPT_ENTRY : CN_SCRIPT_EXIT))
        return true;
    if (run->is_chosen &&
        (line->function >= rec->function_count || !run->is_chosen[line->function]))
        return true;
    fields[count++] = (struct cn_script_field){
        "tid", natural(rec->tasks[run->query->tasks[line->slot]].tid)};
    fields[count++] = (struct cn_script_field){"depth", natural(line->depth)};
    fields[count++] = (struct cn_script_field){"timestamp", natural(line->time_ns)};
    fields[count++] = (struct cn_script_field){"address", natural(line->address)};
    fields[count++] = (struct cn_script_field){
        "name", cn_script_text(cn_call_name(rec, line->function, line->address, buffer))};
    if (!is_entry)
        fields[count++] =
            (struct cn_script_field){"duration", natural(line->duration_ns)};
    value_count = read_values(run, line);
    if (value_count > 0 && is_entry)
        fields[count++] = (struct cn_script_field){
            "args", {.kind = CN_SCRIPT_LIST, .list = {run->values, value_count}}};
    else if (value_count > 0) /* of a result in several formats, the first */
        fields[count++] = (struct cn_script_field){"retval", run->values[0]};
    bool ok = call(run, is_entry ? CN_SCRIPT_ENTRY : CN_SCRIPT_EXIT, fields, count);
    cn_arena_done(&run->texts);
    return ok;
}

static bool on_event(struct script_run *run, const struct cn_replay_line *line)
{
    const struct cn_recording *rec = run->query->rec;
    uint32_t task = run->query->tasks[line->slot];
    const char *name = cn_recording_event_name(rec, line->event->address);
    char buffer[sizeof("event-18446744073709551615")];

    if (!cn_script_has(run->script, CN_SCRIPT_EVENT))
        return true;
    if (!name) {
        (void)snprintf(buffer, sizeof(buffer), "event-%llu",
                       (unsigned long long)line->event->address);
        name = buffer;
    }
    cn_text_clear(&run->text);
    (void)cn_recording_print_task_event(rec, task, line->batch, line->event, true,
                                        &run->text);
    return call(run, CN_SCRIPT_EVENT,
                (struct cn_script_field[]){
                    {"tid", natural(rec->tasks[task].tid)},
                    {"depth", natural(0)}, /* as in uftrace */
                    {"timestamp", natural(line->time_ns)},
                    {"address", natural(line->event->address)},
                    {"name", cn_script_text(name)},
                    {"args", cn_script_text(cn_text_str(&run->text))},
                },
                6);
}

static bool on_line(void *arg, const struct cn_replay_line *line)
{
    struct script_run *run = arg;

    switch (line->kind) {
    case CN_REPLAY_OPEN:
        return on_call(run, line, true);
    case CN_REPLAY_CLOSE:
        return on_call(run, line, false);
    case CN_REPLAY_EVENT:
        return on_event(run, line);
    case CN_REPLAY_LEAF: /* nothing is merged */
    case CN_REPLAY_SCHEDULE:
    case CN_REPLAY_LOST:
    case CN_REPLAY_BACKTRACE:
        break;
    }
    return true;
}

static bool begin(struct script_run *run, const struct cn_script_run *about)
{
    struct cn_script_value *arguments =
        cn_alloc(about->argument_count, sizeof(*arguments));

    for (size_t i = 0; i < about->argument_count; i++)
        arguments[i] = cn_script_text(about->arguments[i]);
    bool ok =
        call(run, CN_SCRIPT_BEGIN,
             (struct cn_script_field[]){
                 {"record", {.kind = CN_SCRIPT_BOOL, .is_true = about->is_record}},
                 {"version", cn_script_text("cairn " CN_VERSION)},
                 {"cmds",
                  {.kind = CN_SCRIPT_LIST, .list = {arguments, about->argument_count}}},
             },
             3);
    free(arguments);
    return ok;
}

/* Find the functions that UFTRACE_FUNCS names. */
static bool choose_functions(struct script_run *run, struct cn_recording_setup *setup)
{
    const char *match = cn_recording_setup_value(setup, "match");
    bool is_glob = match && strcmp(match, "glob") == 0;
    size_t count;
    const char *const *patterns = cn_script_patterns(run->script, &count);
    struct cn_name_filter filter = {0};
    struct cn_error wrong;
    bool ok = true;

    if (!patterns)
        return true;
    run->is_chosen = cn_alloc(setup->rec->function_count + 1, sizeof(*run->is_chosen));
    for (size_t i = 0; i < count && ok; i++)
        ok = cn_name_filter_add(&filter, patterns[i],
                                cn_uft_match_of(patterns[i], is_glob), &wrong) ||
             cn_fail(run->err, CN_ERR_IO, "%s: UFTRACE_FUNCS: %s",
                     cn_args_value(setup->args, "script"), wrong.text);
    for (uint32_t i = 0; ok && count > 0 && i < setup->rec->function_count; i++)
        run->is_chosen[i] =
            cn_name_filter_matches(&filter, setup->rec->functions[i].name);
    cn_name_filter_done(&filter);
    return ok;
}

bool cn_script_show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_script_run *about = arg;
    struct cn_replay_options options = {
        .is_flat = true, .without_merge = true, .without_arguments = true};
    struct cn_call_replay result = {0};
    struct script_run run = {
        .script = about->script,
        .query = &setup->query,
        .without_values = cn_args_has(setup->args, "no-args"),
        .err = err,
    };
    bool ok = choose_functions(&run, setup) && begin(&run, about) &&
              cn_call_replay_run(&result, &setup->query, &options, on_line, &run, err);

    /* What is before the damage is complete: the script may sum it up. */
    ok = ok && !run.has_failed && call(&run, CN_SCRIPT_END, NULL, 0) &&
         cn_recording_setup_result(setup, &result.damages, err);
    cn_call_replay_done(&result);
    cn_text_done(&run.text);
    free(run.is_chosen);
    return ok;
}

bool cn_script_show_recorded(const struct cn_args *args, const char *dir,
                             struct cn_script *script, struct cn_error *err)
{
    struct cn_script_run about = {
        .script = script,
        .is_record = true,
        .arguments = args->operands,
        .argument_count = args->operand_count,
    };
    struct cn_recording_source source = {
        .path = dir, .is_recorded = true, .is_raw = true};

    return cn_recording_show(args, &source, cn_script_show, &about, err);
}

bool cn_scripted_open(struct cn_scripted *scripted, const struct cn_args *args,
                      struct cn_error *err)
{
    const char *path = cn_args_value(args, "script");
    struct cn_script_options *options = &scripted->options;
    struct cn_command command = *args->command;
    struct cn_args asked;

    command.operand_max = 0;
    *scripted = (struct cn_scripted){0};
    if (path && (!cn_script_options_read(options, path, err) ||
                 !cn_script_open(path, args->operands, args->operand_count,
                                 &scripted->script, err)))
        return false;
    if (!cn_args_parse(&asked, &command, options->count,
                       (const char *const *)options->words, err))
        return cn_fail_in(err, "%s: uftrace-option", path);
    cn_args_join(&scripted->args, &asked, args);
    cn_args_done(&asked);
    return true;
}

void cn_scripted_close(struct cn_scripted *scripted)
{
    cn_args_done(&scripted->args);
    cn_script_options_done(&scripted->options);
    cn_script_close(scripted->script);
    *scripted = (struct cn_scripted){0};
}
