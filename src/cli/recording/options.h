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
#include "base/arena.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "model/format.h"

/* What cairn record and cairn sample write, unless told otherwise. */
#define CN_RECORD_DIR  "cairn.data"
#define CN_SAMPLE_FILE "cairn.perf.data"

#define CN_RECORDING_DATA_OPTION  \
    CN_OPTION("data", 'd', "DIR", \
              "the recording (default: cairn.data, then uftrace.data)")

#define CN_RECORDING_DEMANGLE_OPTION                                                \
    CN_OPTION_FOR(CN_FOR_CALLS, "demangle", 0, "full|simple|no",                    \
                  "show C++ and Rust names with arguments, without (the default), " \
                  "or mangled")

/* Filters that only views have, beside those that record has as well. */
#define CN_RECORDING_VIEW_FILTER_OPTIONS                                              \
    CN_OPTION_FOR(CN_FOR_CALLS, "with-syms", 0, "DIR",                                \
                  "use the .sym files of this recording first: names of a program "   \
                  "that was stripped"),                                               \
        CN_FILTER_LIST_FOR(CN_FOR_CALLS, "tid", 0, "TID,...", "only these tasks"),    \
        CN_FILTER_FOR(CN_FOR_CALLS, "time-range", 'r', "FROM~TO",                     \
                      "only this time: seconds as `-f time` shows them, or with a "   \
                      "unit, since the start (10us~1ms); either end may be omitted"), \
        CN_FILTER_FOR(CN_FOR_CALLS, "event-full", 0, NULL,                            \
                      "also events outside of functions"),                            \
        CN_FILTER_FOR(CN_FOR_CALLS, "kernel-full", 0, NULL,                           \
                      "also functions and events of the kernel "                      \
                      "outside of functions of the program"),                         \
        CN_FILTER_FOR(CN_FOR_CALLS, "kernel-only", 0, NULL,                           \
                      "only functions of the kernel"),                                \
        CN_FILTER_FOR(CN_FOR_CALLS, "no-sched-preempt", 0, NULL,                      \
                      "exclude waiting while pre-empted")

#define CN_RECORDING_FILTER_OPTIONS                                                      \
    CN_RECORDING_DATA_OPTION,                                                            \
        CN_FILTER_LIST_FOR(                                                              \
            CN_FOR_CALLS, "filter", 'F', "FUNC",                                         \
            "only these functions and what they call; FUNC is a pattern, "               \
            "FUNC@LIB restricts it to a library"),                                       \
        CN_FILTER_LIST_FOR(CN_FOR_CALLS, "notrace", 'N', "FUNC",                         \
                           "exclude these functions and what they call"),                \
        CN_FILTER_LIST_FOR(CN_FOR_CALLS, "caller-filter", 'C', "FUNC",                   \
                           "only calls that lead to these functions"),                   \
        CN_FILTER_LIST_FOR(CN_FOR_CALLS, "hide", 'H', "FUNC",                            \
                           "exclude these functions, but not what they call"),           \
        CN_FILTER_LIST_FOR(CN_FOR_CALLS, "loc-filter", 'L', "FILE[@hide]",               \
                           "only functions of this source file; FILE@hide: all others"), \
        CN_FILTER_LIST_FOR(                                                              \
            CN_FOR_CALLS, "trigger", 'T', "FUNC@ACTION,...",                             \
            "act when FUNC is entered: depth=N, time=TIME, size=N, trace, "              \
            "trace_on, trace_off, filter, notrace, hide, backtrace, "                    \
            "color=NAME; if:argN>3 adds a condition"),                                   \
        CN_FILTER_FOR(CN_FOR_CALLS, "depth", 'D', "N",                                   \
                      "only the first N levels of nested calls"),                        \
        CN_FILTER_FOR(CN_FOR_CALLS, "time-filter", 't', "TIME",                          \
                      "only calls that last TIME or longer: 10us, 1.5ms"),               \
        CN_FILTER_FOR(CN_FOR_CALLS, "size-filter", 'Z', "SIZE",                          \
                      "only functions of SIZE bytes or more"),                           \
        CN_OPTION_FOR(CN_FOR_CALLS, "match", 0, "regex|glob",                            \
                      "syntax of patterns (default: regex)"),                            \
        CN_FILTER_FOR(CN_FOR_CALLS, "no-libcall", 0, NULL, "exclude library calls"),     \
        CN_FILTER_FOR(CN_FOR_CALLS, "no-event", 0, NULL, "exclude events"),              \
        CN_FILTER_FOR(CN_FOR_CALLS, "no-sched", 0, NULL,                                 \
                      "exclude waiting (blocked or pre-empted)"),                        \
        CN_RECORDING_VIEW_FILTER_OPTIONS, CN_RECORDING_DEMANGLE_OPTION

#define CN_RECORDING_OPTIONS                              \
    CN_RECORDING_FILTER_OPTIONS,                          \
        CN_FILTER_FOR(CN_FOR_CALLS, "trace", 0, "on|off", \
                      "off: show nothing until a trigger with trace_on")

/* For commands that add up times; they are corrected for the cost of recording. */
#define CN_RECORDING_RAW_OPTION                                                        \
    CN_OPTION_FOR(CN_FOR_CALLS, "raw", 0, NULL,                                        \
                  "show recorded times, not corrected for the cost of recording (see " \
                  "cairn info)")

/* For commands that read tasks on several threads. */
#define CN_RECORDING_THREADS_OPTION \
    CN_OPTION("threads", 'j', "N",  \
              "use N threads (default: one per processor); the result is the same")
enum { CN_RECORDING_THREADS_MAX = 1024 };

/* For the descriptions of such commands. */
#define CN_RECORDING_THREADS_TEXT                                                  \
    "Several threads read a long task in parts. With filters, triggers, "          \
    "--no-libcall, --no-event, --no-sched or a time range, what is shown depends " \
    "on the past: then one thread reads a task as a whole, as it does with --task."

/* For commands that show functions in columns. */
#define CN_RECORDING_FIELDS_OPTION(columns) \
    CN_OPTION_FOR(CN_FOR_CALLS, "output-fields", 'f', "FIELDS", columns)
#define CN_RECORDING_SRCLINE_OPTION                 \
    CN_OPTION_FOR(CN_FOR_CALLS, "srcline", 0, NULL, \
                  "show source file and line of functions")

/* For commands that print text for people alone. */
#define CN_RECORDING_HTML_OPTION                          \
    CN_OPTION_FOR(CN_FOR_CALLS, "format", 0, "text|html", \
                  "print as text (the default) or as an HTML page in colours")

/* For commands that show calls in the order of time. */
#define CN_RECORDING_REPLAY_OPTIONS                                          \
    CN_OPTION_FOR(CN_FOR_CALLS, "flat", 0, NULL,                             \
                  "one numbered line per record, without nesting"),          \
        CN_OPTION_FOR(CN_FOR_CALLS, "no-merge", 0, NULL,                     \
                      "two lines even for a call that calls nothing"),       \
        CN_OPTION_FOR(CN_FOR_CALLS, "column-view", 0, NULL,                  \
                      "indent each task further than the one before"),       \
        CN_OPTION_FOR(CN_FOR_CALLS, "column-offset", 0, "N",                 \
                      "levels by which --column-view indents (default: 8)"), \
        CN_OPTION_FOR(CN_FOR_CALLS, "task-newline", 0, NULL,                 \
                      "print an empty line where the task changes"),         \
        CN_OPTION_FOR(CN_FOR_CALLS, "no-comment", 0, NULL,                   \
                      "no function name after the closing brace"),           \
        CN_OPTION_FOR(CN_FOR_CALLS, "no-callsite", 0, NULL,                  \
                      "no call sites, where they were recorded"),            \
        CN_OPTION_FOR(CN_FOR_CALLS, "no-args", 0, NULL,                      \
                      "no arguments and return values"),                     \
        CN_OPTION_FOR(CN_FOR_CALLS, "libname", 0, NULL,                      \
                      "show the library of a library function")

/* For commands that show a table of functions. */
#define CN_RECORDING_REPORT_OPTIONS                                                      \
    CN_OPTION_FOR(CN_FOR_CALLS, "sort", 's', "KEYS",                                     \
                  "sort by these columns, or by func, the name (default: total)"),       \
        CN_OPTION_FOR(CN_FOR_CALLS, "avg-total", 0, NULL,                                \
                      "show average, minimum, maximum and deviation of total time"),     \
        CN_OPTION_FOR(CN_FOR_CALLS, "avg-self", 0, NULL, "show the same for self time"), \
        CN_OPTION_FOR(CN_FOR_CALLS, "task", 0, NULL,                                     \
                      "one row per task: total, self, tid, func")

/* A recording to show. */
struct cn_recording_source {
    const char *path;
    bool is_recorded; /* by this command: the options acted while recording */
    bool is_raw;      /* with recorded times, whatever the options */
};

struct cn_recording_setup {
    const struct cn_args *args;
    struct cn_recording *rec;
    struct cn_text warnings, notes; /* of the options, lines */
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t *tasks;
    struct cn_arena memory; /* of default options */
    uint64_t start_ns;      /* start of elapsed time; 0 until it is needed */
    bool is_range_elapsed;  /* --time-range is in elapsed time */
    unsigned workers;
};

/* The path of the data: --data, else `operand` (NULL: none), else what was recorded in this
 * folder under a name that is not chosen, or sampled last. Fails without any. Borrowed. */
CN_CHECK bool cn_data_path(const struct cn_args *args, const char *operand,
                           const char **out, struct cn_error *err);
/* The same of the operands FUNC [DATA]. Data alone is told from a function. */
CN_CHECK bool cn_data_path_after_function(const struct cn_args *args, const char **out,
                                          struct cn_error *err);

/* --demangle */
enum cn_demangle cn_recording_demangle(const struct cn_args *args);

/* Find out what a path is; calls are loaded from it with names as --demangle says. */
CN_CHECK bool cn_recording_find(struct cn_opened *out, const struct cn_args *args,
                                const char *path, struct cn_error *err);

/* Fail if a warning was about damage: what was shown may be wrong. */
CN_CHECK bool cn_recording_check(const struct cn_recording *rec, struct cn_error *err);

/* Open the recording and apply the options. On failure, release the setup as well. */
CN_CHECK bool cn_recording_setup_open(struct cn_recording_setup *setup,
                                      const struct cn_args *args,
                                      const struct cn_recording_source *source,
                                      struct cn_error *err);

/* The same for a recording that is open. The setup owns it, even after a failure. */
CN_CHECK bool cn_recording_setup_apply(struct cn_recording_setup *setup,
                                       const struct cn_args *args,
                                       const struct cn_recording_source *source,
                                       struct cn_recording *rec, struct cn_error *err);

/* The same without printing: setup->warnings and setup->notes are for the caller. */
CN_CHECK bool
cn_recording_setup_use(struct cn_recording_setup *setup, const struct cn_args *args,
                       const struct cn_recording_source *source, struct cn_recording *rec,
                       const struct cn_progress *progress, struct cn_error *err);
void cn_recording_setup_done(struct cn_recording_setup *setup);

/* Open a recording, call `show`, close it. */
typedef bool (*cn_recording_show_fn)(struct cn_recording_setup *setup, void *arg,
                                     struct cn_error *err);
CN_CHECK bool cn_recording_show(const struct cn_args *args,
                                const struct cn_recording_source *source,
                                cn_recording_show_fn show, void *arg,
                                struct cn_error *err);

/* The same for what was found, which is closed in any case. */
CN_CHECK bool cn_recording_show_found(const struct cn_args *args,
                                      const struct cn_recording_source *source,
                                      struct cn_opened *found, cn_recording_show_fn show,
                                      void *arg, struct cn_error *err);

/* A time as one end of --time-range: "600.5" is a timestamp in seconds, "10us" elapsed time. */
CN_CHECK bool cn_recording_setup_time(struct cn_recording_setup *setup, const char *text,
                                      uint64_t *out_ns, struct cn_error *err);

/* Say what totals of calls are where scheduler events are known, and which command,
 * "cairn tree", shows running time. For tables of whole calls, after they were read. */
void cn_recording_tell_base(const struct cn_recording_setup *setup, const char *running);

/* Append a line for each damaged task; fails if there are any. */
CN_CHECK bool cn_recording_check_damage(const struct cn_recording_setup *setup,
                                        const struct cn_call_damages *damages,
                                        struct cn_text *lines, struct cn_error *err);

/* The same, and print them. */
CN_CHECK bool cn_recording_setup_result(const struct cn_recording_setup *setup,
                                        const struct cn_call_damages *damages,
                                        struct cn_error *err);

/* The default of an option that is stored in the recording, "" of a flag; NULL: none. */
const char *cn_recording_setup_default(struct cn_recording_setup *setup,
                                       const char *name);

/* The value of an option, or the default. */
const char *cn_recording_setup_value(struct cn_recording_setup *setup, const char *name);

/* What cairn report and cairn replay show, for cn_recording_show(); `arg` is the value of
 * --output-fields, NULL: the default. In cmd_report.c and cmd_replay.c. */
CN_CHECK bool cn_report_show(struct cn_recording_setup *setup, void *arg,
                             struct cn_error *err);
CN_CHECK bool cn_replay_show(struct cn_recording_setup *setup, void *arg,
                             struct cn_error *err);

#endif
