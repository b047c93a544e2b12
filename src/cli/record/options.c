#include "cli/record/options.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "analyze/calls/filter.h"
#include "analyze/mpi/operation.h"
#include "analyze/wakers/lock_calls.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "gpu/shared.h"
#include "launcher/agent/client.h"
#include "launcher/elf/program.h"
#include "launcher/events/chosen.h"
#include "model/calls/trigger.h"
#include "record/shared.h"

#define KERNEL          "@kernel"
#define PERSONALITY_ASK 0xffffffffUL /* personality() then changes nothing */

enum {
    DEFAULT_RING = 512 << 10,
    DEPTH_MAX = 1 << 20,
    RT_PRIO_MAX = 99,
    NS_A_SECOND = 1000000000,
};

static void on_message(void *arg, const char *text)
{
    cn_cli_warn(arg, "%s", text);
}

bool cn_record_size_parse(const char *name, const char *str, uint64_t *out,
                          struct cn_error *err)
{
    static const char units[] = "KMG";
    char *end;

    errno = 0;
    unsigned long long value = strtoull(str, &end, 10);
    const char *unit =
        *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : units;
    unsigned shift = *end && unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == str || *str == '-' || errno || !unit || (*end && end[1]) ||
        value > UINT64_MAX >> shift)
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a size such as 512K", name,
                       str);
    *out = value << shift;
    return true;
}

const char *cn_record_token(const struct cn_args *args)
{
    const char *token = cn_args_value(args, "token");

    if (!token)
        token = getenv(CN_RECORD_TOKEN);
    return token && *token ? token : NULL;
}

static bool choose_buffer(const struct cn_args *args, uint64_t size_limit, uint64_t *out,
                          struct cn_error *err)
{
    const char *value = cn_args_value(args, "buffer");
    uint64_t len = DEFAULT_RING;

    /* The buffers are written even after the size limit: keep them small if it is. */
    while (size_limit > 0 && len > size_limit / 4 && len > CN_REC_RING_MIN)
        len /= 2;
    if (value && !cn_record_size_parse("buffer", value, &len, err))
        return false;
    if (len < CN_REC_RING_MIN || len > CN_REC_RING_MAX || (len & (len - 1)))
        return cn_fail(err, CN_ERR_USAGE,
                       "--buffer: %s is not a power of two from 16K to 64M", value);
    *out = len;
    return true;
}

static bool choose_limits(const struct cn_args *args, struct cn_launch_options *options,
                          struct cn_error *err)
{
    const char *size = cn_args_value(args, "size-limit");
    const char *duration = cn_args_value(args, "duration");
    const char *time = cn_args_value(args, "time-filter");
    uint64_t depth;

    if (size && !cn_record_size_parse("size-limit", size, &options->size_limit, err))
        return false;
    if (duration &&
        !cn_duration_parse(duration, CN_BARE_REFUSED, &options->duration_ns, err))
        return cn_fail_in(err, "--duration");
    if ((size && options->size_limit == 0) || (duration && options->duration_ns == 0))
        return cn_fail(err, CN_ERR_USAGE, "--%s: %s would record nothing",
                       size && options->size_limit == 0 ? "size-limit" : "duration",
                       size && options->size_limit == 0 ? size : duration);
    if (time && !cn_duration_parse(time, CN_BARE_NS, &options->time_limit_ns, err))
        return cn_fail_in(err, "--time-filter");
    if (!cn_args_u64(args, "depth", 1, DEPTH_MAX, 0, &depth, err))
        return false;
    options->depth_limit = (uint32_t)depth;
    return true;
}

static bool check_symbols(const char *folder, struct cn_error *err)
{
    return !folder || cn_path_is_folder(folder) ||
           cn_fail(err, CN_ERR_USAGE, "--with-syms: '%s' is no folder", folder);
}

static bool is_kernel_pattern(const char *pattern)
{
    size_t len = strlen(pattern);

    return len > sizeof(KERNEL) - 1 &&
           strcmp(pattern + len - (sizeof(KERNEL) - 1), KERNEL) == 0;
}

/* What views do at a trigger becomes a default option of the recording. Its words are
 * separated by blanks. */
static void add_view_trigger(struct cn_record_options *options,
                             const struct cn_call_trigger *trigger)
{
    static const char *const signs[] = {
        [CN_COMPARE_EQUAL] = "==", [CN_COMPARE_UNEQUAL] = "!=",
        [CN_COMPARE_LESS] = "<",   [CN_COMPARE_LESS_EQUAL] = "<=",
        [CN_COMPARE_MORE] = ">",   [CN_COMPARE_MORE_EQUAL] = ">=",
        [CN_COMPARE_BITS] = "&",
    };
    static const struct {
        uint32_t action;
        const char *name;
    } names[] = {{CN_ACT_BACKTRACE, "backtrace"}, {CN_ACT_TRACE, "trace"}};
    struct cn_text *text = &options->view_options;
    bool is_glob = options->launch.rules.is_glob;

    if (!(trigger->actions &
          (CN_ACT_BACKTRACE | CN_ACT_COLOR | CN_ACT_TRACE | CN_ACT_TIME)))
        return;
    if (is_glob && text->len == 0)
        cn_text_str_add(text, "--match=glob\n");
    cn_text_str_add(text, "-T ");
    for (const char *c = trigger->pattern; *c; c++)
        cn_text_char(text, *c != ' ' ? *c : is_glob ? '?' : '.');
    cn_text_char(text, '@');
    if (*trigger->module)
        cn_text_printf(text, "%s,", trigger->module);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (trigger->actions & names[i].action)
            cn_text_printf(text, "%s,", names[i].name);
    if (trigger->actions & CN_ACT_TIME)
        cn_text_printf(text, "time=%" PRIu64 ",", trigger->time_ns);
    if (trigger->actions & CN_ACT_COLOR)
        cn_text_printf(text, "color=%s,", trigger->color);
    if (trigger->condition.argument > 0)
        cn_text_printf(text, "if:arg%u%s%" PRId64 ",", trigger->condition.argument,
                       signs[trigger->condition.compare], trigger->condition.value);
    text->chars[text->len - 1] = '\n';
}

/* Add "FUNC@MODULE,SPECS" of a trigger to the values that are recorded. */
static bool add_values(struct cn_record_options *options,
                       const struct cn_call_trigger *trigger, bool is_result,
                       struct cn_error *err)
{
    const char *specs = cn_text_str(&trigger->values[is_result]);
    struct cn_text text = {0};

    if (!*specs && !(trigger->actions & CN_ACT_AUTO_ARGS))
        return true;
    cn_text_str_add(&text, trigger->pattern);
    if (*specs || *trigger->module)
        cn_text_printf(&text, "@%s%s%s", trigger->module,
                       *specs && *trigger->module ? "," : "", specs);
    const char *copy = cn_arena_strdup(&options->arena, cn_text_str(&text));
    cn_text_done(&text);
    return cn_arguments_add(&options->arguments, copy, is_result, err);
}

static bool add_rule(struct cn_record_options *options, const char *option,
                     const char *text, uint32_t actions, struct cn_error *err)
{
    bool is_trigger = strcmp(option, "trigger") == 0;
    struct cn_call_trigger trigger;
    bool ok = cn_call_trigger_parse(&trigger, text, err);

    if (ok && is_trigger && trigger.actions == 0 && *trigger.module)
        ok = cn_fail(err, CN_ERR_USAGE, "'%s': unknown action '%s'; known are %s", text,
                     trigger.module, cn_call_trigger_actions);
    else if (ok && is_trigger && trigger.actions == 0)
        ok = cn_fail(err, CN_ERR_USAGE,
                     "'%s' is not a trigger; expected FUNCTION@ACTION, as in "
                     "main@trace_on",
                     text);
    ok = ok &&
         cn_rules_add(&options->launch.rules, option, &trigger, text, actions, err) &&
         add_values(options, &trigger, false, err) &&
         add_values(options, &trigger, true, err);
    if (ok) {
        add_view_trigger(options, &trigger);
        options->arguments.needs_lines |= (trigger.actions & CN_ACT_SITE) != 0;
    }
    cn_call_trigger_done(&trigger);
    return ok || cn_fail_in(err, "--%s", option);
}

static bool choose_rules(const struct cn_args *args, struct cn_record_options *options,
                         struct cn_error *err)
{
    static const struct {
        const char *option;
        uint32_t actions;
    } kinds[] = {
        {"filter", CN_REC_RULE_ONLY},
        {"notrace", CN_REC_RULE_NOT},
        {"patch", CN_REC_RULE_PATCH},
        {"unpatch", CN_REC_RULE_UNPATCH},
        {"hide", CN_REC_RULE_HIDE},
        {"caller-filter", CN_REC_RULE_CALLER},
        {"trigger", 0},
    };
    struct cn_rules *rules = &options->launch.rules;
    const char *match = cn_args_value(args, "match"), *option, *text;

    rules->is_glob = match && strcmp(match, "glob") == 0;
    rules->demangle = cn_recording_demangle(args);
    options->arguments.is_glob = rules->is_glob;
    for (size_t i = 0; (option = cn_args_at(args, i, &text)); i++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            if (strcmp(option, kinds[k].option) == 0 && !is_kernel_pattern(text) &&
                !add_rule(options, option, text, kinds[k].actions, err))
                return false;
        if (strcmp(option, "loc-filter") == 0 &&
            !cn_rules_add_file(rules, option, text, err))
            return cn_fail_in(err, "--%s", option);
        if ((strcmp(option, "watch") == 0 &&
             !cn_watches_add(&options->launch.watches, text, err)) ||
            (strcmp(option, "signal") == 0 &&
             !cn_watches_add_signal(&options->launch.watches, text, err)))
            return cn_fail_in(err, "--%s", option);
    }
    return cn_args_u64(args, "size-filter", 0, UINT32_MAX, 0, &rules->size_min, err);
}

/* Append a part of the pattern of an event: names and globs as regular expressions of all of
 * it, others as they are. */
static void add_event_part(struct cn_text *text, const char *part, size_t len,
                           bool is_first)
{
    bool is_regex = strcspn(part, ".+^$|()[]{}\\") < len;

    cn_text_str_add(text, is_first && !is_regex ? "^" : "");
    for (size_t i = 0; i < len; i++) {
        if (!is_regex && part[i] == '*')
            cn_text_char(text, '.');
        cn_text_char(text, !is_regex && part[i] == '?' ? '.' : part[i]);
    }
    cn_text_str_add(text, !is_first && !is_regex ? "$" : "");
}

/* Events are PROVIDER:NAME. As in uftrace, each may be a pattern: read:* are all events of
 * `read`, and none of `thread`. */
static void choose_events(const struct cn_args *args, struct cn_record_options *options)
{
    struct cn_values given = cn_args_values(args, "event");
    struct cn_launch_options *launch = &options->launch;

    options->events = cn_alloc(given.count, sizeof(*options->events));
    launch->has_glob_events = launch->rules.is_glob;
    launch->event_pattern_count = given.count;
    launch->event_patterns = options->events;
    for (size_t i = 0; i < given.count; i++) {
        const char *colon = strchr(given.list[i], ':');
        struct cn_text text = {0};

        options->events[i] = given.list[i];
        if (!colon || launch->has_glob_events ||
            !strpbrk(given.list[i], ".?*+^$|()[]{}\\"))
            continue;
        add_event_part(&text, given.list[i], (size_t)(colon - given.list[i]), true);
        cn_text_char(&text, ':');
        add_event_part(&text, colon + 1, strlen(colon + 1), false);
        options->events[i] = cn_arena_strdup(&options->arena, cn_text_str(&text));
        cn_text_done(&text);
    }
}

/* The patterns of an option that end with "@kernel", without that. */
static size_t take_kernel_patterns(const struct cn_args *args, const char *option,
                                   struct cn_record_options *options)
{
    struct cn_values values = cn_args_values(args, option);
    size_t before = options->kernel_pattern_count;

    for (size_t i = 0; i < values.count; i++)
        if (is_kernel_pattern(values.list[i]))
            options->kernel_patterns[options->kernel_pattern_count++] =
                strndup(values.list[i], strlen(values.list[i]) - (sizeof(KERNEL) - 1));
    return options->kernel_pattern_count - before;
}

static bool choose_kernel(const struct cn_args *args, struct cn_record_options *options,
                          struct cn_error *err)
{
    struct cn_kernel_choice *kernel = &options->launch.kernel;
    const char *buffer = cn_args_value(args, "kernel-buffer");
    size_t most =
        cn_args_values(args, "filter").count + cn_args_values(args, "notrace").count;
    uint64_t depth;

    if (!cn_args_u64(args, "kernel-depth", 1, 50, cn_args_has(args, "kernel"), &depth,
                     err))
        return false;
    kernel->depth = (uint32_t)depth;
    kernel->is_glob = options->launch.rules.is_glob;
    options->kernel_patterns = cn_alloc(most + 1, sizeof(*options->kernel_patterns));
    kernel->only_count = take_kernel_patterns(args, "filter", options);
    kernel->not_count = take_kernel_patterns(args, "notrace", options);
    kernel->only = (const char *const *)options->kernel_patterns;
    kernel->not = kernel->only + kernel->only_count;
    if (depth == 0 && (options->kernel_pattern_count > 0 || buffer))
        return cn_fail(err, CN_ERR_USAGE, "%s%s needs --kernel",
                       buffer ? "--kernel-buffer" : kernel->only[0],
                       buffer ? "" : KERNEL);
    return !buffer ||
           cn_record_size_parse("kernel-buffer", buffer, &kernel->buffer_len, err);
}

/* The arguments of functions of MPI by which cairn mpi matches calls; requests and communicators may be
 * addresses. */
static bool add_mpi(struct cn_record_options *options, struct cn_error *err)
{
    struct cn_text text = {0};

    for (const struct cn_mpi_operation *it = cn_mpi_operations; it->name; it++) {
        const char *separator = "@";

        cn_text_clear(&text);
        cn_text_printf(&text, "MPI_%s", it->name);
        for (unsigned i = 0; i < CN_MPI_ARGUMENTS; i++) {
            if (it->arguments[i] == 0)
                continue;
            cn_text_printf(&text, "%sarg%u/%s", separator, it->arguments[i],
                           i == CN_MPI_COMM || i == CN_MPI_REQUEST ? "x64" : "i32");
            separator = ",";
        }
        if (*separator == ',' &&
            !cn_arguments_add_quietly(
                &options->arguments, cn_arena_strdup(&options->arena, cn_text_str(&text)),
                false, err)) {
            cn_text_done(&text);
            return false;
        }
    }
    cn_text_done(&text);
    return true;
}

/* The arguments of functions for locks. A program has few of these functions. */
static bool choose_locks(const struct cn_args *args, struct cn_arguments *arguments,
                         struct cn_error *err)
{
    const char *argument, *result;

    if (cn_args_has(args, "no-libcall"))
        return cn_fail(
            err, CN_ERR_USAGE,
            "--locks needs calls of library functions: leave out --no-libcall");
    for (size_t i = 0; cn_lock_call_options(i, &argument, &result); i++)
        if (!cn_arguments_add_quietly(arguments, argument, false, err) ||
            (result && !cn_arguments_add_quietly(arguments, result, true, err)))
            return false;
    return true;
}

static bool choose_arguments(const struct cn_args *args,
                             struct cn_record_options *options, struct cn_error *err)
{
    struct cn_arguments *arguments = &options->arguments;
    const char *option, *text;

    arguments->values.is_automatic = cn_args_has(args, "auto-args");
    arguments->needs_lines |=
        cn_args_has(args, "callsite") || cn_args_has(args, "srcline");
    for (size_t i = 0; (option = cn_args_at(args, i, &text)); i++) {
        bool is_result = strcmp(option, "retval") == 0;

        if ((is_result || strcmp(option, "argument") == 0) &&
            !cn_arguments_add(arguments, text, is_result, err))
            return cn_fail_in(err, "--%s", option);
    }
    return (!cn_args_has(args, "mpi") || add_mpi(options, err)) &&
           (!cn_args_has(args, "locks") || choose_locks(args, arguments, err));
}

/* The command line, for the recording; release it with free(). */
static char *join_words(const struct cn_args *args)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "cairn %s", args->command->name);
    for (size_t i = 0; i < args->given_count; i++) {
        char *word =
            cn_strprintf("--%s%s%s", args->given[i]->name, args->values[i] ? "=" : "",
                         args->values[i] ? args->values[i] : "");

        cn_text_word(&text, word);
        free(word);
    }
    for (size_t i = 0; i < cn_args_count(args); i++)
        cn_text_word(&text, cn_args_operand(args, i));
    return text.chars;
}

/* Settings of this process that the program inherits, or that only this process has. */
static bool change_process(const struct cn_args *args, struct cn_error *err)
{
    struct sched_param priority = {0};
    uint64_t level;
    int persona = personality(PERSONALITY_ASK);

    if (cn_args_has(args, "no-pltbind"))
        (void)setenv("LD_BIND_NOT", "1", 1);
    if (!cn_args_u64(args, "rt-prio", 1, RT_PRIO_MAX, 0, &level, err))
        return false;
    if (cn_args_has(args, "no-randomize-addr") &&
        (persona < 0 || personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0))
        return cn_fail_errno(err, "--no-randomize-addr");
    priority.sched_priority = (int)level;
    if (level > 0 &&
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0)
        return cn_fail_errno(err, "--rt-prio %" PRIu64, level);
    return true;
}

void cn_record_print_time(uint64_t start_ns)
{
    uint64_t elapsed_ns = cn_clock_ns() - start_ns;
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    (void)printf("elapsed time: %10" PRIu64 ".%09" PRIu64 " sec\n"
                 " system time: %10ld.%06ld000 sec\n"
                 "   user time: %10ld.%06ld000 sec\n",
                 elapsed_ns / NS_A_SECOND, elapsed_ns % NS_A_SECOND,
                 (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
                 (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
}

bool cn_record_options_init(struct cn_record_options *options, const struct cn_args *args,
                            struct cn_error *err)
{
    struct cn_launch_options *launch = &options->launch;
    size_t count = cn_args_count(args);

    *options = (struct cn_record_options){0};
    if (count == 0)
        return cn_fail(err, CN_ERR_USAGE, "no program given: cairn %s -- PROGRAM",
                       args->command->name);
    const char **words = cn_alloc(count + 1, sizeof(*words));

    for (size_t i = 0; i < count; i++)
        words[i] = cn_args_operand(args, i);
    *launch = (struct cn_launch_options){
        .arguments = &options->arguments,
        .view_options = &options->view_options,
        .dir = CN_RECORD_DIR,
        .symbols = cn_args_value(args, "with-syms"),
        .words = words,
        .command_line = join_words(args),
        .is_off = cn_args_value(args, "trace") &&
                  strcmp(cn_args_value(args, "trace"), "off") == 0,
        .is_packed = cn_args_has(args, "pack"),
        .has_libcalls = !cn_args_has(args, "no-libcall"),
        .without_throws = cn_args_has(args, "no-throw"),
        .has_bare_jumps = cn_args_has(args, "bare-jumps"),
        .has_nested_libcalls = cn_args_has(args, "nest-libcall"),
        .has_sites = cn_args_has(args, "callsite"),
        .has_python = !cn_args_has(args, "no-python"),
        .has_events = !cn_args_has(args, "no-event"),
        .without_switches = cn_args_has(args, "no-sched"),
        .asks_kernel = cn_args_value(args, "clock") &&
                       strcmp(cn_args_value(args, "clock"), "kernel") == 0,
        .has_agent = cn_args_has(args, "agent"),
        .keeps_pid = cn_args_has(args, "keep-pid"),
        .has_gpu = cn_record_has_gpu(args),
        .has_ranges = cn_args_has(args, "nvtx"),
        .has_memory = cn_args_has(args, "memory") || cn_args_has(args, "leaks"),
        .has_leaks = cn_args_has(args, "leaks"),
        .is_forced = cn_args_has(args, "force") || cn_args_has(args, "nest-libcall"),
        .say = on_message,
        .say_arg = (void *)(uintptr_t)args,
    };
    if (!cn_args_exclusive(args, "gpu", "keep-pid", err) ||
        !cn_args_exclusive(args, "gpu-auto", "keep-pid", err) ||
        !cn_args_exclusive(args, "nvtx", "keep-pid", err) ||
        !check_symbols(launch->symbols, err) || !choose_limits(args, launch, err) ||
        !choose_buffer(args, launch->size_limit, &launch->ring_len, err) ||
        !choose_rules(args, options, err) || !choose_arguments(args, options, err) ||
        !choose_kernel(args, options, err) || !change_process(args, err))
        return false;
    choose_events(args, options);
    return true;
}

bool cn_record_has_gpu(const struct cn_args *args)
{
    const char *other = getenv(CN_GPU_INJECT_ENV);

    if (!cn_args_has(args, "gpu") && !cn_args_has(args, "gpu-auto"))
        return false;
    if (!other || !*other || strstr(other, CN_GPU_LIBRARY))
        return true;
    cn_cli_say(args,
               "GPU work is missing: " CN_GPU_INJECT_ENV " names the library of another "
               "profiler, %s; CUDA loads one",
               other);
    return false;
}

void cn_record_tell_gpu(const struct cn_args *args, bool is_used, char *notes)
{
    char *line;

    if (!is_used && cn_args_has(args, "gpu"))
        cn_cli_say(args, "no GPU work: the program did not start CUDA");
    while ((line = strsep(&notes, "\n")))
        if (*line)
            cn_cli_say(args, "GPU work is missing: %s", line);
}

void cn_record_tell_unchecked(const struct cn_args *args, uint64_t program_count,
                              uint64_t checked_count, const char *failure)
{
    if (checked_count < program_count)
        cn_cli_say(args, "leaks of %" PRIu64 " program%s are unknown: %s",
                   program_count - checked_count,
                   cn_plural(program_count - checked_count, "", "s"),
                   failure[0] ? failure
                              : "it was ended by a signal or _exit(), became another "
                                "one, or was forked");
}

void cn_record_tell_ranges(const struct cn_args *args, uint64_t count)
{
    const char *other = getenv(CN_GPU_NVTX_ENV);

    if (count > 0)
        return;
    if (other && *other && !strstr(other, CN_GPU_LIBRARY))
        cn_cli_say(args,
                   "NVTX ranges are missing: " CN_GPU_NVTX_ENV
                   " names the library of another profiler, %s",
                   other);
    else
        cn_cli_say(args, "no NVTX ranges: the program named none");
}

/* Append the values of an option, separated by ";". */
static void join_values(const struct cn_args *args, const char *option,
                        const char *before, struct cn_text *text)
{
    struct cn_values values = cn_args_values(args, option);

    for (size_t i = 0; i < values.count; i++)
        cn_text_printf(text, "%s%s%s", text->len > 0 ? ";" : "", before, values.list[i]);
}

bool cn_record_list_events(const struct cn_args *args, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_program_file program = {0};
    bool ok = cn_args_count(args) == 0 ||
              cn_program_file_open(&program, cn_args_operand(args, 0), err);

    if (ok) {
        cn_chosen_events_print(program.path, NULL, &text);
        (void)fwrite(cn_text_str(&text), 1, text.len, stdout);
    }
    cn_program_file_close(&program);
    cn_text_done(&text);
    return ok;
}

bool cn_record_change(const struct cn_args *args, struct cn_error *err)
{
    const char *trace = cn_args_value(args, "trace"),
               *match = cn_args_value(args, "match");
    const char *time = cn_args_value(args, "time-filter");
    struct cn_text filters = {0}, callers = {0}, triggers = {0};
    struct cn_agent_change change = {
        .has_trace = trace != NULL,
        .is_on = trace && strcmp(trace, "on") == 0,
        .has_time = time != NULL,
        .has_size = cn_args_has(args, "size-filter"),
        .is_glob = match && strcmp(match, "glob") == 0,
    };
    uint64_t pid, depth, size;

    if (cn_args_count(args) > 0)
        return cn_fail(err, CN_ERR_USAGE, "--pid starts no program; remove '%s'",
                       cn_args_operand(args, 0));
    if (!cn_args_u64(args, "pid", 1, INT32_MAX, 0, &pid, err) ||
        !cn_args_u64(args, "depth", 1, DEPTH_MAX, 0, &depth, err) ||
        !cn_args_u64(args, "size-filter", 0, UINT32_MAX, 0, &size, err))
        return false;
    if (time && !cn_duration_parse(time, CN_BARE_NS, &change.time_ns, err))
        return cn_fail_in(err, "--time-filter");
    join_values(args, "filter", "", &filters);
    join_values(args, "notrace", "!", &filters);
    join_values(args, "trigger", "", &triggers);
    join_values(args, "caller-filter", "", &callers);
    change.depth = (uint32_t)depth;
    change.size_min = (uint32_t)size;
    change.filters = filters.len > 0 ? filters.chars : NULL;
    change.callers = callers.len > 0 ? callers.chars : NULL;
    change.triggers = triggers.len > 0 ? triggers.chars : NULL;
    bool ok = cn_agent_change((pid_t)pid, &change, err);
    cn_text_done(&filters);
    cn_text_done(&callers);
    cn_text_done(&triggers);
    return ok;
}

void cn_record_options_done(struct cn_record_options *options)
{
    free((void *)(uintptr_t)options->launch.words);
    free((void *)(uintptr_t)options->launch.command_line);
    for (size_t i = 0; i < options->kernel_pattern_count; i++)
        free(options->kernel_patterns[i]);
    free(options->kernel_patterns);
    free(options->events);
    cn_rules_done(&options->launch.rules);
    cn_arguments_done(&options->arguments);
    cn_text_done(&options->view_options);
    cn_arena_done(&options->arena);
}
