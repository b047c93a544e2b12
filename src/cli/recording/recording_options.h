/* What all views of a recording share on the command line, under uftrace's names:
 * which recording, which tasks, which time, which calls.
 *
 * A command puts CN_RECORDING_OPTIONS into its option table, calls
 * cn_recording_setup_open(), looks at setup.query and ends with
 * cn_recording_setup_result().
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_RECORDING_OPTIONS_H
#define CN_CLI_RECORDING_RECORDING_OPTIONS_H

#include "analyze/calls/call_filter.h"
#include "analyze/calls/call_merge.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"

#define CN_RECORDING_DATA_OPTION                                         \
    {                                                                    \
        .name = "data", .letter = 'd', .value = "DIR",                   \
        .help = "the recording (default: cairn.data, then uftrace.data)" \
    }

#define CN_RECORDING_DEMANGLE_OPTION                                                    \
    {                                                                                   \
        .name = "demangle", .value = "full|simple|no",                                  \
        .help = "show names of C++ and Rust with arguments, without (the default), or " \
                "as the linker knows them"                                              \
    }

#define CN_RECORDING_TID_OPTION                                   \
    {                                                             \
        .name = "tid", .value = "TID,...", .is_repeatable = true, \
        .help = "only these tasks"                                \
    }

#define CN_RECORDING_OPTIONS                                                             \
    CN_RECORDING_DATA_OPTION,                                                            \
        {.name = "filter",                                                               \
         .letter = 'F',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "only these functions and what they call; FUNC is a pattern, FUNC@LIB " \
                 "one in a library"},                                                    \
        {.name = "notrace",                                                              \
         .letter = 'N',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "neither these functions nor what they call"},                          \
        {.name = "caller-filter",                                                        \
         .letter = 'C',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "only calls that lead to these functions"},                             \
        {.name = "hide",                                                                 \
         .letter = 'H',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "not these functions, but what they call"},                             \
        {.name = "trigger",                                                              \
         .letter = 'T',                                                                  \
         .value = "FUNC@ACTION,...",                                                     \
         .is_repeatable = true,                                                          \
         .help = "do something when a function is entered: depth=N, time=TIME, trace, "  \
                 "trace_on, trace_off, filter, notrace, hide, backtrace, color=NAME; "   \
                 "if:argN>3 makes it depend on an argument"},                            \
        {.name = "depth",                                                                \
         .letter = 'D',                                                                  \
         .value = "N",                                                                   \
         .help = "only calls nested less deep than N"},                                  \
        {.name = "time-filter",                                                          \
         .letter = 't',                                                                  \
         .value = "TIME",                                                                \
         .help = "only calls that last TIME or longer: 10us, 1.5ms"},                    \
        {.name = "size-filter",                                                          \
         .letter = 'Z',                                                                  \
         .value = "SIZE",                                                                \
         .help = "only functions of SIZE bytes or more"},                                \
        {.name = "loc-filter",                                                           \
         .letter = 'L',                                                                  \
         .value = "FILE[@hide]",                                                         \
         .is_repeatable = true,                                                          \
         .help = "only functions of this source file, or all others"},                   \
        CN_RECORDING_TID_OPTION,                                                         \
        {.name = "time-range",                                                           \
         .letter = 'r',                                                                  \
         .value = "FROM~TO",                                                             \
         .help =                                                                         \
             "only this time: seconds as `-f time` shows them, or with a unit since "    \
             "the start (10us~1ms); either may be left out"},                            \
        {.name = "match",                                                                \
         .value = "regex|glob",                                                          \
         .help = "how patterns of functions are meant (default: regex)"},                \
        CN_RECORDING_DEMANGLE_OPTION,                                                    \
        {.name = "trace",                                                                \
         .value = "on|off",                                                              \
         .help = "with off, show nothing until a trigger says trace_on"},                \
        {.name = "no-libcall", .help = "not calls into libraries"},                      \
        {.name = "no-event", .help = "no events"},                                       \
        {.name = "no-sched", .help = "not when tasks do not run"},                       \
    {                                                                                    \
        .name = "no-sched-preempt",                                                      \
        .help = "not when tasks do not run though they could"                            \
    }

/* For commands that take the recorder's own cost off times. */
#define CN_RECORDING_RAW_OPTION                                                        \
    {                                                                                  \
        .name = "raw",                                                                 \
        .help = "times as recorded, with what the recorder itself took for each call " \
                "(see cairn info)"                                                     \
    }

/* For commands that show functions in columns: which there are, and where the functions
 * are. */
#define CN_RECORDING_FIELDS_OPTION(columns)                                        \
    {                                                                              \
        .name = "output-fields", .letter = 'f', .value = "FIELDS", .help = columns \
    }
#define CN_RECORDING_SRCLINE_OPTION                                   \
    {                                                                 \
        .name = "srcline", .help = "show where functions are defined" \
    }

struct cn_recording_setup {
    const struct cn_args *args;
    struct cn_args defaults; /* what the recording asks for */
    char *default_text;
    const char **default_words;
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t *tasks;
    uint64_t start_ns;     /* where elapsed time counts from; 0 until it is needed */
    bool is_range_elapsed; /* --time-range was given so */
    unsigned workers;
};

/* The recording that the arguments name: -d, else `operand` (which may be NULL),
 * else the first default that exists. Borrowed. */
const char *cn_recording_path(const struct cn_args *args, const char *operand);

/* Open a recording as --demangle wants it and pass its warnings on. */
CN_CHECK bool cn_recording_open(const struct cn_args *args, const char *path,
                                struct cn_recording **out, struct cn_error *err);

CN_CHECK bool cn_recording_setup_open(struct cn_recording_setup *setup,
                                      const struct cn_args *args, const char *path,
                                      struct cn_error *err);

/* The same for a recording that is open; it is closed with the setup. */
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

/* Tell about damaged tasks. False, when there are any. */
CN_CHECK bool cn_recording_setup_result(const struct cn_recording_setup *setup,
                                        const struct cn_call_damages *damages,
                                        struct cn_error *err);

/* The value of an option, or what the recording asks for. */
const char *cn_recording_setup_value(const struct cn_recording_setup *setup,
                                     const char *name);

#endif
