/* Options that the views of a recording share, with the names of uftrace: which recording,
 * tasks, time and calls.
 *
 * A command puts CN_RECORDING_OPTIONS into its option table and calls cn_recording_show()
 * with a function that reads setup->query and ends with cn_recording_setup_result().
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_OPTIONS_H
#define CN_CLI_RECORDING_OPTIONS_H

#include "analyze/calls/filter.h"
#include "analyze/calls/merge.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "model/format.h"

#define CN_RECORDING_DATA_OPTION                                         \
    {                                                                    \
        .name = "data", .letter = 'd', .value = "DIR",                   \
        .help = "the recording (default: cairn.data, then uftrace.data)" \
    }

#define CN_RECORDING_DEMANGLE_OPTION                                                 \
    {                                                                                \
        .name = "demangle", .value = "full|simple|no",                               \
        .help = "show C++ and Rust names with arguments, without (the default), or " \
                "mangled"                                                            \
    }

#define CN_RECORDING_TID_OPTION                                   \
    {                                                             \
        .name = "tid", .value = "TID,...", .is_repeatable = true, \
        .help = "only these tasks"                                \
    }

/* Filters that only views have, beside those that record has as well. */
#define CN_RECORDING_VIEW_FILTER_OPTIONS                                                \
    {.name = "with-syms",                                                               \
     .value = "DIR",                                                                    \
     .help = "use the .sym files of this recording first: names of a program that was " \
             "stripped"},                                                               \
        CN_RECORDING_TID_OPTION,                                                        \
        {.name = "time-range",                                                          \
         .letter = 'r',                                                                 \
         .value = "FROM~TO",                                                            \
         .help =                                                                        \
             "only this time: seconds as `-f time` shows them, or with a unit, since "  \
             "the start (10us~1ms); either end may be omitted"},                        \
    {                                                                                   \
        .name = "no-sched-preempt", .help = "exclude waiting while pre-empted"          \
    }

#define CN_RECORDING_FILTER_OPTIONS                                                      \
    CN_RECORDING_DATA_OPTION,                                                            \
        {.name = "filter",                                                               \
         .letter = 'F',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "only these functions and what they call; FUNC is a pattern, FUNC@LIB " \
                 "restricts it to a library"},                                           \
        {.name = "notrace",                                                              \
         .letter = 'N',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "exclude these functions and what they call"},                          \
        {.name = "caller-filter",                                                        \
         .letter = 'C',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "only calls that lead to these functions"},                             \
        {.name = "hide",                                                                 \
         .letter = 'H',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "exclude these functions, but not what they call"},                     \
        {.name = "loc-filter",                                                           \
         .letter = 'L',                                                                  \
         .value = "FILE[@hide]",                                                         \
         .is_repeatable = true,                                                          \
         .help = "only functions of this source file; FILE@hide: all others"},           \
        {.name = "trigger",                                                              \
         .letter = 'T',                                                                  \
         .value = "FUNC@ACTION,...",                                                     \
         .is_repeatable = true,                                                          \
         .help =                                                                         \
             "act when FUNC is entered: depth=N, time=TIME, size=N, trace, trace_on, "   \
             "trace_off, filter, notrace, hide, backtrace, color=NAME; if:argN>3 "       \
             "adds a condition"},                                                        \
        {.name = "depth",                                                                \
         .letter = 'D',                                                                  \
         .value = "N",                                                                   \
         .help = "only the first N levels of nested calls"},                             \
        {.name = "time-filter",                                                          \
         .letter = 't',                                                                  \
         .value = "TIME",                                                                \
         .help = "only calls that last TIME or longer: 10us, 1.5ms"},                    \
        {.name = "size-filter",                                                          \
         .letter = 'Z',                                                                  \
         .value = "SIZE",                                                                \
         .help = "only functions of SIZE bytes or more"},                                \
        {.name = "match",                                                                \
         .value = "regex|glob",                                                          \
         .help = "syntax of patterns (default: regex)"},                                 \
        {.name = "no-libcall", .help = "exclude library calls"},                         \
        {.name = "no-event", .help = "exclude events"},                                  \
        {.name = "event-full", .help = "also events outside of functions"},              \
        {.name = "kernel-full",                                                          \
         .help = "also functions and events of the kernel outside of functions of the "  \
                 "program"},                                                             \
        {.name = "kernel-only", .help = "only functions of the kernel"},                 \
        {.name = "no-sched", .help = "exclude waiting (blocked or pre-empted)"},         \
        CN_RECORDING_VIEW_FILTER_OPTIONS, CN_RECORDING_DEMANGLE_OPTION

#define CN_RECORDING_OPTIONS                                      \
    CN_RECORDING_FILTER_OPTIONS,                                  \
    {                                                             \
        .name = "trace", .value = "on|off",                       \
        .help = "off: show nothing until a trigger with trace_on" \
    }

/* For commands that add up times; they are corrected for the cost of recording. */
#define CN_RECORDING_RAW_OPTION                                                        \
    {                                                                                  \
        .name = "raw",                                                                 \
        .help =                                                                        \
            "show recorded times, not corrected for the cost of recording (see cairn " \
            "info)"                                                                    \
    }

/* For commands that read tasks on several threads. */
#define CN_RECORDING_THREADS_OPTION                                                  \
    {                                                                                \
        .name = "threads", .letter = 'j', .value = "N",                              \
        .help = "use N threads (default: one per processor); the result is the same" \
    }
enum { CN_RECORDING_THREADS_MAX = 1024 };

/* For the descriptions of such commands. */
#define CN_RECORDING_THREADS_TEXT                                                  \
    "Several threads read a long task in parts. With filters, triggers, "          \
    "--no-libcall, --no-event, --no-sched or a time range, what is shown depends " \
    "on the past: then one thread reads a task as a whole, as it does with --task."

/* For commands that show functions in columns. */
#define CN_RECORDING_FIELDS_OPTION(columns)                                        \
    {                                                                              \
        .name = "output-fields", .letter = 'f', .value = "FIELDS", .help = columns \
    }
#define CN_RECORDING_SRCLINE_OPTION                                         \
    {                                                                       \
        .name = "srcline", .help = "show source file and line of functions" \
    }

/* For commands that show calls in the order of time. */
#define CN_RECORDING_REPLAY_OPTIONS                                                      \
    {.name = "flat", .help = "one numbered line per record, without nesting"},           \
        {.name = "no-merge", .help = "two lines even for a call that calls nothing"},    \
        {.name = "column-view", .help = "indent each task further than the one before"}, \
        {.name = "column-offset",                                                        \
         .value = "N",                                                                   \
         .help = "levels by which --column-view indents (default: 8)"},                  \
        {.name = "task-newline", .help = "print an empty line where the task changes"},  \
        {.name = "no-comment", .help = "no function name after the closing brace"},      \
        {.name = "no-args", .help = "no arguments and return values"},                   \
    {                                                                                    \
        .name = "libname", .help = "show the library of a library function"              \
    }

/* For commands that show a table of functions. */
#define CN_RECORDING_REPORT_OPTIONS                                             \
    {.name = "sort",                                                            \
     .letter = 's',                                                             \
     .value = "KEYS",                                                           \
     .help = "sort by these columns, or by func, the name (default: total)"},   \
        {.name = "avg-total",                                                   \
         .help = "show average, minimum, maximum and deviation of total time"}, \
        {.name = "avg-self", .help = "show the same for self time"},            \
    {                                                                           \
        .name = "task", .help = "one row per task: total, self, tid, func"      \
    }

struct cn_recording_setup {
    const struct cn_args *args;
    struct cn_args defaults;           /* options stored in the recording */
    struct cn_command default_command; /* the command, without operands */
    char *default_text;
    const char **default_words;
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t *tasks;
    uint64_t start_ns;     /* start of elapsed time; 0 until it is needed */
    bool is_range_elapsed; /* --time-range is in elapsed time */
    unsigned workers;
};

/* What was recorded or sampled last in this folder, under a name that is not chosen:
 * cairn.data, cairn.perf.data or uftrace.data; NULL: nothing. */
const char *cn_recorded_last(void);

/* The first operand, else what was recorded last. Fails without both. */
CN_CHECK bool cn_data_path(const struct cn_args *args, const char **out,
                           struct cn_error *err);

/* The path of the recording: -d, else `operand` (NULL: none), else the first default that
 * exists. Borrowed. */
const char *cn_recording_path(const struct cn_args *args, const char *operand);

/* --demangle */
enum cn_demangle cn_recording_demangle(const struct cn_args *args);

/* Open a recording with names as --demangle says, and print its warnings. */
CN_CHECK bool cn_recording_open(const struct cn_args *args, const char *path,
                                struct cn_recording **out, struct cn_error *err);

/* Fail if a warning was about damage: what was shown may be wrong. */
CN_CHECK bool cn_recording_check(const struct cn_recording *rec, struct cn_error *err);

/* Open the recording and apply the options. On failure, release the setup as well. */
CN_CHECK bool cn_recording_setup_open(struct cn_recording_setup *setup,
                                      const struct cn_args *args, const char *path,
                                      struct cn_error *err);

/* The same for a recording that is open. The setup owns it, even after a failure. */
CN_CHECK bool cn_recording_setup_use(struct cn_recording_setup *setup,
                                     const struct cn_args *args, struct cn_recording *rec,
                                     struct cn_error *err);
void cn_recording_setup_done(struct cn_recording_setup *setup);

/* Open the recording that -d or `operand` (NULL: none) names, call `show`, close it. */
typedef bool (*cn_recording_show_fn)(struct cn_recording_setup *setup, void *arg,
                                     struct cn_error *err);
CN_CHECK bool cn_recording_show(const struct cn_args *args, const char *operand,
                                cn_recording_show_fn show, void *arg,
                                struct cn_error *err);

/* The same with recorded times, whatever the options. */
CN_CHECK bool cn_recording_show_raw(const struct cn_args *args, const char *operand,
                                    cn_recording_show_fn show, void *arg,
                                    struct cn_error *err);

/* A time as one end of --time-range: "600.5" is a timestamp in seconds, "10us" elapsed time. */
CN_CHECK bool cn_recording_setup_time(struct cn_recording_setup *setup, const char *text,
                                      uint64_t *out_ns, struct cn_error *err);

/* Warn about damaged tasks; fails if there are any. */
CN_CHECK bool cn_recording_setup_result(const struct cn_recording_setup *setup,
                                        const struct cn_call_damages *damages,
                                        struct cn_error *err);

/* The value of an option, or the default stored in the recording. */
const char *cn_recording_setup_value(const struct cn_recording_setup *setup,
                                     const char *name);

#endif
