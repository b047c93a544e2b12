#include "cli/recording/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/calls/clock.h"
#include "analyze/calls/defaults.h"
#include "analyze/time_base.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/open.h"
#include "cli/shell/progress.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"

/* The data that was written here last. */
static const char *find_newest(const char *const *names, size_t count)
{
    const char *newest = NULL;
    struct timespec newest_at = {0};

    for (size_t i = 0; i < count; i++) {
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

bool cn_data_path(const struct cn_args *args, const char *operand, const char **out,
                  struct cn_error *err)
{
    static const char *const names[] = {CN_RECORD_DIR, "uftrace.data", CN_SAMPLE_FILE};
    bool takes_samples = args->command->scope & CN_FOR_SAMPLES;
    const char *data = cn_args_value(args, "data");

    *out = data ? data : operand;
    if (!*out && takes_samples)
        *out = find_newest(names, sizeof(names) / sizeof(*names));
    for (size_t i = 0; !*out && i < 2; i++)
        *out = access(names[i], F_OK) == 0 ? names[i] : NULL;
    return *out || cn_fail(err, CN_ERR_USAGE,
                           "no data given, and none was recorded here; run 'cairn %s -- "
                           "PROGRAM' first, or name the data",
                           takes_samples ? "sample" : "record");
}

bool cn_data_path_after_function(const struct cn_args *args, const char **out,
                                 struct cn_error *err)
{
    const char *function = cn_args_operand(args, 0);
    bool ok = cn_data_path(args, cn_args_find_operand(args, 1), out, err);

    if (!ok && access(function, F_OK) == 0)
        (void)cn_fail(err, CN_ERR_USAGE, "no function given: expected FUNC %s", function);
    return ok;
}

enum cn_demangle cn_recording_demangle(const struct cn_args *args)
{
    const char *demangle = cn_args_value(args, "demangle");

    return !demangle                       ? CN_DEMANGLE_SIMPLE
           : strcmp(demangle, "full") == 0 ? CN_DEMANGLE_FULL
           : strcmp(demangle, "no") == 0   ? CN_DEMANGLE_NO
                                           : CN_DEMANGLE_SIMPLE;
}

bool cn_recording_find(struct cn_opened *out, const struct cn_args *args,
                       const char *path, struct cn_error *err)
{
    struct cn_open_options options = {
        .recording = {.demangle = cn_recording_demangle(args),
                      .symbols = cn_args_value(args, "with-syms")},
        .query = cn_args_value(args, "query"),
    };

    return cn_cli_open(out, args, path, 0, &options, err);
}

static bool choose_listed(const struct cn_recording *rec, const char *list, bool *chosen,
                          struct cn_error *err)
{
    const char *at = list;

    while (*at) {
        char *end;
        unsigned long tid = strtoul(at, &end, 10);

        if (end == at || (*end && *end != ',') || tid > UINT32_MAX)
            return cn_fail(err, CN_ERR_USAGE, "--tid: '%s' is not a list of task ids",
                           list);
        uint32_t task = cn_recording_find_task(rec, (uint32_t)tid);
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

const char *cn_recording_setup_default(struct cn_recording_setup *setup, const char *name)
{
    const struct cn_option *option = cn_command_find_option(setup->args->command, name);

    return option ? cn_call_default_find(setup->rec, name, option->letter, !option->value,
                                         &setup->memory)
                  : NULL;
}

const char *cn_recording_setup_value(struct cn_recording_setup *setup, const char *name)
{
    const char *value = cn_args_value(setup->args, name);

    return value ? value : cn_recording_setup_default(setup, name);
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
        if (filter->idle)
            cn_text_printf(&setup->warnings,
                           "--%s '%s': %s acts while recording, not here\n", option,
                           pattern, filter->idle);
        if (filter->match_count == 0)
            cn_text_printf(&setup->warnings,
                           "--%s '%s' matches no function and is ignored\n", option,
                           pattern);
    }
    return true;
}

static bool parse_number(const struct cn_args *args, const char *name, uint64_t max,
                         uint64_t *out, struct cn_error *err)
{
    const char *value = cn_args_value(args, name);
    char *end;

    if (!value)
        return true;
    unsigned long long number = strtoull(value, &end, 0);
    if (end == value || *end || value[0] == '-' || number > max)
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a number up to %" PRIu64,
                       name, value, max);
    *out = number;
    return true;
}

/* The options that recording has as well. */
static bool apply_recorded(struct cn_recording_setup *setup, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    struct cn_call_filter *filter = &setup->filter;
    const char *time = cn_args_value(args, "time-filter");
    const char *trace = cn_args_value(args, "trace");
    uint64_t depth = filter->depth;

    if (!parse_number(args, "depth", UINT32_MAX, &depth, err) ||
        !parse_number(args, "size-filter", UINT64_MAX, &filter->size_min, err) ||
        !add_filters(setup, err))
        return false;
    if (time && !cn_duration_parse(time, CN_BARE_NS, &filter->time_ns, err))
        return cn_fail_in(err, "--time-filter");
    filter->depth = (uint32_t)depth;
    if (trace)
        filter->is_off = strcmp(trace, "off") == 0;
    filter->without_libcalls |= cn_args_has(args, "no-libcall");
    filter->without_events |= cn_args_has(args, "no-event");
    filter->without_schedule |= cn_args_has(args, "no-sched");
    return true;
}

static bool make_filter(struct cn_recording_setup *setup, bool is_recorded,
                        struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    struct cn_call_filter *filter = &setup->filter;

    cn_call_filter_init(filter, setup->rec);
    if (!cn_call_filter_add_defaults(filter, err) ||
        (!is_recorded && !apply_recorded(setup, err)))
        return false;
    filter->has_outer_events |= cn_args_has(args, "event-full");
    filter->has_outer_kernel |= cn_args_has(args, "kernel-full");
    filter->is_kernel_only |= cn_args_has(args, "kernel-only");
    filter->without_preemption |= cn_args_has(args, "no-sched-preempt");
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

static bool parse_threads(struct cn_recording_setup *setup, struct cn_error *err)
{
    uint64_t workers = cn_pool_default_workers();
    bool ok = cn_args_u64(setup->args, "threads", 1, CN_RECORDING_THREADS_MAX, workers,
                          &workers, err);

    setup->workers = ok ? (unsigned)workers : 1;
    return ok;
}

bool cn_recording_setup_use(struct cn_recording_setup *setup, const struct cn_args *args,
                            const struct cn_recording_source *source,
                            struct cn_recording *rec, const struct cn_progress *progress,
                            struct cn_error *err)
{
    *setup = (struct cn_recording_setup){
        .args = args,
        .rec = rec,
        .query = {.rec = rec, .filter = &setup->filter, .range = cn_time_always},
    };
    bool ok = parse_threads(setup, err) && make_filter(setup, source->is_recorded, err) &&
              choose_tasks(args, rec, &setup->tasks, &setup->query.task_count, err);
    setup->query.tasks = setup->tasks;
    setup->query.is_raw = source->is_raw || cn_args_has(args, "raw") ||
                          cn_recording_setup_default(setup, "raw");
    if (ok && !setup->query.is_raw)
        cn_call_clock_explain(rec, &setup->notes);
    if (!ok || !cn_recording_setup_value(setup, "time-range"))
        return ok;
    /* An index finds the time range in a long recording; the first use writes it. */
    return parse_range(setup, err) &&
           cn_recording_prepare(rec, setup->workers, progress, err);
}

bool cn_recording_setup_apply(struct cn_recording_setup *setup,
                              const struct cn_args *args,
                              const struct cn_recording_source *source,
                              struct cn_recording *rec, struct cn_error *err)
{
    struct cn_bar bar;

    cn_bar_begin_late(&bar, args);
    bool ok = cn_recording_setup_use(setup, args, source, rec, &bar.progress, err);
    cn_bar_end(&bar);
    cn_cli_warn_lines(args, cn_text_str(&setup->warnings));
    cn_cli_say_lines(args, cn_text_str(&setup->notes));
    return ok;
}

/* The same for what was found, which is closed in any case. */
static bool setup_found(struct cn_recording_setup *setup, const struct cn_args *args,
                        const struct cn_recording_source *source, struct cn_opened *found,
                        struct cn_error *err)
{
    bool ok = cn_cli_load(found, args, CN_CALLS, err);

    *setup = (struct cn_recording_setup){0};
    if (ok)
        cn_cli_warn_opened(args, found);
    ok = ok && (source->is_recorded || cn_cli_check_kinds(args, found, err));
    setup->rec = cn_opened_take_recording(found);
    return ok && cn_recording_setup_apply(setup, args, source, setup->rec, err);
}

bool cn_recording_setup_open(struct cn_recording_setup *setup, const struct cn_args *args,
                             const struct cn_recording_source *source,
                             struct cn_error *err)
{
    struct cn_opened found;

    *setup = (struct cn_recording_setup){0};
    return cn_recording_find(&found, args, source->path, err) &&
           setup_found(setup, args, source, &found, err);
}

bool cn_recording_check(const struct cn_recording *rec, struct cn_error *err)
{
    for (const struct cn_warning *w = rec->warnings; w; w = w->next)
        if (w->is_damage)
            return cn_fail(err, CN_ERR_FORMAT,
                           "%s is damaged: what is shown may be wrong", rec->path);
    return true;
}

bool cn_recording_show_found(const struct cn_args *args,
                             const struct cn_recording_source *source,
                             struct cn_opened *found, cn_recording_show_fn show,
                             void *arg, struct cn_error *err)
{
    struct cn_recording_setup setup;
    bool ok = setup_found(&setup, args, source, found, err) && show(&setup, arg, err) &&
              cn_recording_check(setup.rec, err);

    cn_recording_setup_done(&setup);
    return ok;
}

bool cn_recording_show(const struct cn_args *args,
                       const struct cn_recording_source *source,
                       cn_recording_show_fn show, void *arg, struct cn_error *err)
{
    struct cn_opened found;

    return cn_recording_find(&found, args, source->path, err) &&
           cn_recording_show_found(args, source, &found, show, arg, err);
}

void cn_recording_setup_done(struct cn_recording_setup *setup)
{
    cn_call_filter_done(&setup->filter);
    cn_arena_done(&setup->memory);
    free(setup->tasks);
    cn_text_done(&setup->warnings);
    cn_text_done(&setup->notes);
    cn_recording_close(setup->rec);
}

/* Of recordings, and of what was imported, whose waiting is calls. */
static bool knows_waits(const struct cn_recording *rec)
{
    const char *name = cn_recording_event_name(rec, CN_EVENT_SCHED_BOTH);

    for (uint32_t i = 0; i < rec->function_count; i++)
        if (strncmp(rec->functions[i].name, name, strlen(name)) == 0)
            return true;
    return cn_time_base_of_costs(rec, false).waits == CN_TIME_RUNNING;
}

void cn_recording_tell_base(const struct cn_recording_setup *setup, const char *running)
{
    const struct cn_recording *rec = setup->rec;
    struct cn_time_base base = cn_time_base_of_calls(rec, setup->query.is_raw);

    if (!setup->args->session->is_uftrace &&
        cn_cli_format(setup->args) == CN_TABLE_TEXT && knows_waits(rec))
        cn_cli_say(setup->args, "totals show %s (running: %s)", cn_time_base_name(base),
                   running);
}

bool cn_recording_check_damage(const struct cn_recording_setup *setup,
                               const struct cn_call_damages *damages,
                               struct cn_text *lines, struct cn_error *err)
{
    for (size_t i = 0; i < damages->count; i++)
        cn_text_printf(lines, "%s: task %" PRIu32 ": %s\n", setup->rec->path,
                       setup->rec->tasks[damages->list[i].task].tid,
                       damages->list[i].err.text);
    return damages->count == 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%s: %zu of %" PRIu32 " %s damaged; what could be read is "
                   "shown",
                   setup->rec->path, damages->count, setup->query.task_count,
                   cn_plural(setup->query.task_count, "task is", "tasks are"));
}

bool cn_recording_setup_result(const struct cn_recording_setup *setup,
                               const struct cn_call_damages *damages,
                               struct cn_error *err)
{
    struct cn_text lines = {0};
    bool ok = cn_recording_check_damage(setup, damages, &lines, err);

    cn_cli_warn_lines(setup->args, cn_text_str(&lines));
    cn_text_done(&lines);
    return ok;
}
