#include "cli/recording/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/calls/clock.h"
#include "analyze/calls/defaults.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/run/pool.h"
#include "cli/recording/record_options.h"
#include "cli/recording/sample_run.h"
#include "cli/shell/cli.h"
#include "cli/shell/progress.h"
#include "launcher/files/recording_dir.h"
#include "model/calls/recording.h"
#include "open/formats.h"

enum { DEFAULT_WORDS_MAX = 256 };

const char *cn_recording_path(const struct cn_args *args, const char *operand)
{
    const char *data = cn_args_value(args, "data");

    if (data)
        return data;
    if (operand)
        return operand;
    return access(CN_RECORD_DIR, F_OK) == 0 ? CN_RECORD_DIR : "uftrace.data";
}

const char *cn_recorded_last(void)
{
    static const char *const names[] = {CN_RECORD_DIR, CN_SAMPLE_FILE, "uftrace.data"};
    const char *newest = NULL;
    struct timespec newest_at = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct stat status;

        if (stat(names[i], &status) != 0 ||
            (newest && (status.st_mtim.tv_sec < newest_at.tv_sec ||
                        (status.st_mtim.tv_sec == newest_at.tv_sec &&
                         status.st_mtim.tv_nsec <= newest_at.tv_nsec))))
            continue;
        newest = names[i];
        newest_at = status.st_mtim;
    }
    return newest;
}

bool cn_data_path(const struct cn_args *args, const char **out, struct cn_error *err)
{
    *out = cn_args_find_operand(args, 0);
    if (!*out)
        *out = cn_recorded_last();
    return *out || cn_fail(err, CN_ERR_USAGE,
                           "missing operand: there is no " CN_RECORD_DIR
                           " or " CN_SAMPLE_FILE " here");
}

enum cn_demangle cn_recording_demangle(const struct cn_args *args)
{
    const char *demangle = cn_args_value(args, "demangle");

    return !demangle                       ? CN_DEMANGLE_SIMPLE
           : strcmp(demangle, "full") == 0 ? CN_DEMANGLE_FULL
           : strcmp(demangle, "no") == 0   ? CN_DEMANGLE_NO
                                           : CN_DEMANGLE_SIMPLE;
}

/* Whether the command has an option: some use a recording without it. */
static bool takes_option(const struct cn_args *args, const char *name)
{
    const struct cn_option *option = args->command->options;

    while (option && option->name && strcmp(option->name, name) != 0)
        option++;
    return option && option->name;
}

bool cn_recording_open(const struct cn_args *args, const char *path,
                       struct cn_recording **out, struct cn_error *err)
{
    struct cn_recording_options options = {.demangle = cn_recording_demangle(args)};
    const struct cn_format *format;

    if (takes_option(args, "with-syms"))
        options.symbols = cn_args_value(args, "with-syms");
    cn_recording_dir_wait(path);
    if (!cn_format_probe(path, &format, err))
        return false;
    if (!format->open_recording && (format->open_database || format->open_measurements))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s is not a recording but a %s; use cairn tree, top or view",
                       path,
                       format->open_database ? "database" : "measurement directory");
    if (!cn_format_open_recording(path, &options, out, err))
        return false;
    for (const struct cn_warning *w = (*out)->warnings; w; w = w->next)
        cn_cli_warn(args, "%s: %s", path, w->text);
    return true;
}

static bool choose_listed(const struct cn_recording *rec, const char *list, bool *chosen,
                          struct cn_error *err)
{
    const char *at = list;

    while (*at) {
        char *end;
        unsigned long tid = strtoul(at, &end, 10);
        uint32_t task;

        if (end == at || (*end && *end != ',') || tid > UINT32_MAX)
            return cn_fail(err, CN_ERR_USAGE, "--tid: '%s' is not a list of task ids",
                           list);
        task = cn_recording_find_task(rec, (uint32_t)tid);
        if (task == CN_NONE)
            return cn_fail(err, CN_ERR_NOT_FOUND,
                           "--tid: no task %lu; see cairn info --task", tid);
        chosen[task] = true;
        at = *end ? end + 1 : end;
    }
    return true;
}

/* The tasks that --tid names, all without it; release them with free(). */
static bool choose_tasks(const struct cn_args *args, const struct cn_recording *rec,
                         uint32_t **out, uint32_t *count, struct cn_error *err)
{
    struct cn_values lists = cn_args_values(args, "tid");
    bool *chosen = cn_alloc(rec->task_count, sizeof(*chosen));
    uint32_t *tasks = cn_alloc(rec->task_count, sizeof(*tasks));
    uint32_t chosen_count = 0;
    bool ok = true;

    for (size_t i = 0; i < lists.count && ok; i++)
        ok = choose_listed(rec, lists.list[i], chosen, err);
    for (uint32_t i = 0; i < rec->task_count; i++)
        if (lists.count == 0 || chosen[i])
            tasks[chosen_count++] = i;
    free(chosen);
    *out = tasks;
    *count = chosen_count;
    return ok;
}

/* Parse the options stored in the recording; those of the command line override them. */
static void parse_defaults(struct cn_recording_setup *setup)
{
    const struct cn_args *args = setup->args;
    size_t count = 0;
    char *save = NULL;
    struct cn_error err;

    setup->default_text = cn_strdup(setup->rec->options);
    setup->default_words = cn_alloc(DEFAULT_WORDS_MAX, sizeof(*setup->default_words));
    for (char *word = strtok_r(setup->default_text, " \t\n", &save);
         word && count < DEFAULT_WORDS_MAX; word = strtok_r(NULL, " \t\n", &save))
        setup->default_words[count++] = word;
    setup->default_command = *args->command;
    setup->default_command.operand_min = 0;
    if (cn_args_parse(&setup->defaults, &setup->default_command, count,
                      setup->default_words, &err))
        return;
    cn_cli_warn(args, "%s: default options ignored: %s", setup->rec->path, err.text);
    setup->defaults = (struct cn_args){.command = args->command};
}

const char *cn_recording_setup_value(const struct cn_recording_setup *setup,
                                     const char *name)
{
    const char *value = cn_args_value(setup->args, name);

    return value ? value : cn_args_value(&setup->defaults, name);
}

static bool setup_has(const struct cn_recording_setup *setup, const char *name)
{
    return cn_args_has(setup->args, name) || cn_args_has(&setup->defaults, name);
}

/* Add the filters of the command line, in its order. */
static bool add_filters(struct cn_recording_setup *setup, struct cn_error *err)
{
    enum { LOCATION = -1 };
    static const struct {
        const char *option;
        int kind; /* enum cn_filter_kind */
    } kinds[] = {
        {"filter", CN_FILTER_ONLY},          {"notrace", CN_FILTER_NOT},
        {"caller-filter", CN_FILTER_CALLER}, {"hide", CN_FILTER_HIDE},
        {"trigger", CN_FILTER_TRIGGER},      {"loc-filter", LOCATION},
    };
    const char *match_name = cn_recording_setup_value(setup, "match");
    enum cn_match match =
        match_name && strcmp(match_name, "glob") == 0 ? CN_MATCH_GLOB : CN_MATCH_REGEX;
    struct cn_call_filter *filter = &setup->filter;
    const char *option, *pattern;

    for (size_t i = 0; (option = cn_args_at(setup->args, i, &pattern)); i++) {
        size_t k = 0;

        while (k < sizeof(kinds) / sizeof(kinds[0]) &&
               strcmp(kinds[k].option, option) != 0)
            k++;
        if (k == sizeof(kinds) / sizeof(kinds[0]))
            continue;
        if (!(kinds[k].kind == LOCATION
                  ? cn_call_filter_add_file(filter, pattern, match, err)
                  : cn_call_filter_add(filter, (enum cn_filter_kind)kinds[k].kind,
                                       pattern, match, err)))
            return cn_fail_in(err, "--%s", option);
        if (filter->match_count == 0)
            cn_cli_warn(setup->args, "--%s '%s' matches no function and is ignored",
                        option, pattern);
    }
    return true;
}

static bool parse_number(const struct cn_recording_setup *setup, const char *name,
                         uint64_t max, uint64_t *out, struct cn_error *err)
{
    const char *value = cn_recording_setup_value(setup, name);
    char *end;
    unsigned long long number;

    if (!value)
        return true;
    number = strtoull(value, &end, 0);
    if (end == value || *end || value[0] == '-' || number > max)
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a number up to %" PRIu64,
                       name, value, max);
    *out = number;
    return true;
}

static bool make_filter(struct cn_recording_setup *setup, struct cn_error *err)
{
    struct cn_call_filter *filter = &setup->filter;
    const char *time = cn_args_value(setup->args, "time-filter");
    const char *trace = cn_args_value(setup->args, "trace");
    uint64_t depth;

    cn_call_filter_init(filter, setup->rec);
    if (!cn_call_filter_add_defaults(filter, err))
        return false;
    depth = filter->depth;
    if (!parse_number(setup, "depth", UINT32_MAX, &depth, err) ||
        !parse_number(setup, "size-filter", UINT64_MAX, &filter->size_min, err) ||
        !add_filters(setup, err))
        return false;
    if (time && !cn_duration_parse(time, CN_BARE_NS, &filter->time_ns, err))
        return cn_fail_in(err, "--time-filter");
    filter->depth = (uint32_t)depth;
    if (trace)
        filter->is_off = strcmp(trace, "off") == 0;
    filter->without_libcalls |= cn_args_has(setup->args, "no-libcall");
    filter->without_events |= cn_args_has(setup->args, "no-event");
    filter->has_outer_events |= cn_args_has(setup->args, "event-full");
    filter->has_outer_kernel |= cn_args_has(setup->args, "kernel-full");
    filter->is_kernel_only |= cn_args_has(setup->args, "kernel-only");
    filter->without_schedule |= cn_args_has(setup->args, "no-sched");
    filter->without_preemption |= cn_args_has(setup->args, "no-sched-preempt");
    cn_call_filter_ready(filter);
    return true;
}

bool cn_recording_setup_time(struct cn_recording_setup *setup, const char *text,
                             uint64_t *out_ns, struct cn_error *err)
{
    size_t digits = strspn(text, "0123456789.");
    uint64_t ns;

    if (digits > 0 && text[digits] == '\0') {
        char *end;
        unsigned long long seconds = strtoull(text, &end, 10);
        uint64_t unit = 100000000, part = 0;

        for (const char *c = *end == '.' ? end + 1 : end; *c; c++, unit /= 10)
            part += (uint64_t)(*c >= '0' ? *c - '0' : 0) * unit;
        if (seconds > UINT64_MAX / 1000000000 - 1)
            return cn_fail(err, CN_ERR_USAGE, "time '%s' is too large", text);
        *out_ns = seconds * 1000000000 + part;
        return true;
    }
    if (!cn_duration_parse(text, CN_BARE_NS, &ns, err))
        return false;
    if (setup->start_ns == 0)
        setup->start_ns = cn_call_query_start(&setup->query);
    setup->is_range_elapsed = true;
    *out_ns = setup->start_ns + ns;
    return true;
}

static bool parse_range(struct cn_recording_setup *setup, struct cn_error *err)
{
    const char *value = cn_recording_setup_value(setup, "time-range");
    char *from, *to;
    bool ok = true;

    from = cn_strdup(value);
    to = strchr(from, '~');
    if (!to)
        ok = cn_fail(err, CN_ERR_USAGE, "'%s' is not FROM~TO", value);
    if (to)
        *to++ = '\0';
    if (ok && *from)
        ok = cn_recording_setup_time(setup, from, &setup->query.range.first_ns, err);
    if (ok && *to)
        ok = cn_recording_setup_time(setup, to, &setup->query.range.last_ns, err);
    if (ok && setup->query.range.first_ns > setup->query.range.last_ns)
        ok = cn_fail(err, CN_ERR_USAGE, "range '%s' ends before it begins", value);
    free(from);
    return ok || cn_fail_in(err, "--time-range");
}

/* Commands without --raw place calls in time and show recorded times. */
static bool is_raw(const struct cn_recording_setup *setup)
{
    return !takes_option(setup->args, "raw") || setup_has(setup, "raw");
}

static bool parse_threads(struct cn_recording_setup *setup, struct cn_error *err)
{
    uint64_t workers = cn_pool_default_workers();
    bool ok = !takes_option(setup->args, "threads") ||
              cn_args_u64(setup->args, "threads", 1, CN_RECORDING_THREADS_MAX, workers,
                          &workers, err);

    setup->workers = ok ? (unsigned)workers : 1;
    return ok;
}

/* Say which costs of recording the corrected times still contain. */
static void tell_costs(const struct cn_args *args, const struct cn_recording *rec)
{
    if (rec->left_out_ps > 0)
        cn_cli_say(
            args,
            "calls that the recorder filtered out (-N, -D, -t, -Z, -T) took %.0f ns "
            "each; the times of their callers still include this",
            (double)rec->left_out_ps / 1000);
    if (rec->has_value_costs)
        cn_cli_say(args, "recording arguments, return values and counters takes longer "
                         "than is subtracted from the times of such calls");
}

static bool use(struct cn_recording_setup *setup, const struct cn_args *args,
                struct cn_recording *rec, bool wants_raw, struct cn_error *err)
{
    struct cn_bar bar;
    bool ok;

    *setup = (struct cn_recording_setup){
        .args = args,
        .rec = rec,
        .query = {.rec = rec, .filter = &setup->filter, .range = cn_time_always},
    };
    parse_defaults(setup);
    ok = parse_threads(setup, err) && make_filter(setup, err) &&
         choose_tasks(args, rec, &setup->tasks, &setup->query.task_count, err);
    setup->query.tasks = setup->tasks;
    setup->query.is_raw = wants_raw || is_raw(setup);
    if (ok && !setup->query.is_raw && cn_call_clock_is_needed(rec))
        tell_costs(args, rec);
    if (!ok || !cn_recording_setup_value(setup, "time-range"))
        return ok;
    /* An index finds the time range in a long recording; the first use writes it. */
    cn_bar_begin(&bar, args);
    ok = parse_range(setup, err) &&
         cn_recording_prepare(rec, setup->workers, &bar.progress, err);
    cn_bar_end(&bar);
    return ok;
}

bool cn_recording_setup_use(struct cn_recording_setup *setup, const struct cn_args *args,
                            struct cn_recording *rec, struct cn_error *err)
{
    return use(setup, args, rec, false, err);
}

static bool open_setup(struct cn_recording_setup *setup, const struct cn_args *args,
                       const char *path, bool wants_raw, struct cn_error *err)
{
    struct cn_recording *rec;

    *setup = (struct cn_recording_setup){0};
    return cn_recording_open(args, path, &rec, err) &&
           use(setup, args, rec, wants_raw, err);
}

bool cn_recording_setup_open(struct cn_recording_setup *setup, const struct cn_args *args,
                             const char *path, struct cn_error *err)
{
    return open_setup(setup, args, path, false, err);
}

bool cn_recording_check(const struct cn_recording *rec, struct cn_error *err)
{
    for (const struct cn_warning *w = rec->warnings; w; w = w->next)
        if (w->is_damage)
            return cn_fail(err, CN_ERR_FORMAT,
                           "%s is damaged: what is shown may be wrong", rec->path);
    return true;
}

static bool open_and_show(const struct cn_args *args, const char *operand, bool wants_raw,
                          cn_recording_show_fn show, void *arg, struct cn_error *err)
{
    struct cn_recording_setup setup;
    bool ok =
        open_setup(&setup, args, cn_recording_path(args, operand), wants_raw, err) &&
        show(&setup, arg, err) && cn_recording_check(setup.rec, err);

    cn_recording_setup_done(&setup);
    return ok;
}

bool cn_recording_show(const struct cn_args *args, const char *operand,
                       cn_recording_show_fn show, void *arg, struct cn_error *err)
{
    return open_and_show(args, operand, false, show, arg, err);
}

bool cn_recording_show_raw(const struct cn_args *args, const char *operand,
                           cn_recording_show_fn show, void *arg, struct cn_error *err)
{
    return open_and_show(args, operand, true, show, arg, err);
}

void cn_recording_setup_done(struct cn_recording_setup *setup)
{
    cn_call_filter_done(&setup->filter);
    if (setup->default_words)
        cn_args_done(&setup->defaults);
    free(setup->default_words);
    free(setup->default_text);
    free(setup->tasks);
    cn_recording_close(setup->rec);
}

bool cn_recording_setup_result(const struct cn_recording_setup *setup,
                               const struct cn_call_damages *damages,
                               struct cn_error *err)
{
    if (damages->count == 0)
        return true;
    for (size_t i = 0; i < damages->count; i++)
        cn_cli_warn(setup->args, "%s: task %" PRIu32 ": %s", setup->rec->path,
                    setup->rec->tasks[damages->list[i].task].tid,
                    damages->list[i].err.text);
    return cn_fail(err, CN_ERR_FORMAT,
                   "%s: %zu of %" PRIu32 " tasks are damaged; data before the damage is "
                   "shown",
                   setup->rec->path, damages->count, setup->query.task_count);
}
