/* The options of the commands that record: record and live.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_RECORD_OPTIONS_H
#define CN_CLI_RECORDING_RECORD_OPTIONS_H

#include "base/error.h"
#include "cli/shell/args.h"
#include "launcher/launch.h"

#define CN_RECORD_OPTIONS                                                                \
    {.name = "filter",                                                                   \
     .letter = 'F',                                                                      \
     .value = "FUNC",                                                                    \
     .is_repeatable = true,                                                              \
     .help = "record these functions and what they call, no others"},                    \
        {.name = "notrace",                                                              \
         .letter = 'N',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "record neither these functions nor what they call"},                   \
        {.name = "depth",                                                                \
         .letter = 'D',                                                                  \
         .value = "N",                                                                   \
         .help = "record calls down to this many levels"},                               \
        {.name = "time-filter",                                                          \
         .letter = 't',                                                                  \
         .value = "TIME",                                                                \
         .help = "record calls that take at least this long"},                           \
        {.name = "size-filter",                                                          \
         .letter = 'Z',                                                                  \
         .value = "N",                                                                   \
         .help = "record functions of at least this many bytes"},                        \
        {.name = "trigger",                                                              \
         .letter = 'T',                                                                  \
         .value = "FUNC@ACTION",                                                         \
         .is_repeatable = true,                                                          \
         .help = "when a function is called: trace_on, trace_off, depth=N, "             \
                 "time=TIME, finish, filter, notrace, hide, callsite, "                  \
                 "read=page-fault, read=proc/statm; several with commas"},               \
        {.name = "argument",                                                             \
         .letter = 'A',                                                                  \
         .value = "FUNC@SPEC",                                                           \
         .is_repeatable = true,                                                          \
         .help = "record arguments: arg1, arg2/s, arg3/x32, fparg1/32; without a SPEC "  \
                 "what debug information says"},                                         \
        {.name = "retval",                                                               \
         .letter = 'R',                                                                  \
         .value = "FUNC@SPEC",                                                           \
         .is_repeatable = true,                                                          \
         .help = "record results: retval, retval/s, retval/f32"},                        \
        {.name = "auto-args",                                                            \
         .letter = 'a',                                                                  \
         .help = "record arguments and results of all functions whose types are known "  \
                 "from debug information, and of functions of the C library"},           \
        {.name = "callsite",                                                             \
         .help = "record with each call where it is made, so that analyze attributes "   \
                 "calls to lines"},                                                      \
        {.name = "trace",                                                                \
         .value = "on|off",                                                              \
         .help = "with off, record nothing until a trigger says trace_on"},              \
        {.name = "patch",                                                                \
         .letter = 'P',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "patch these functions of a program built with "                        \
                 "-fpatchable-function-entry (default: all)"},                           \
        {.name = "unpatch",                                                              \
         .letter = 'U',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "do not patch these"},                                                  \
        {.name = "match",                                                                \
         .value = "regex|glob",                                                          \
         .help = "how patterns of functions are meant (default: regex)"},                \
        {.name = "buffer",                                                               \
         .letter = 'b',                                                                  \
         .value = "SIZE",                                                                \
         .help = "memory for the records of a thread, a power of two (default: 512K)"},  \
        {.name = "no-libcall", .help = "do not record calls of library functions"},      \
        {.name = "nest-libcall",                                                         \
         .letter = 'l',                                                                  \
         .help = "record, too, the calls that libraries make of library functions"},     \
        {.name = "no-event",                                                             \
         .help = "do not record context switches and the names of tasks"},               \
        {.name = "pack",                                                                 \
         .help = "pack the records while they are recorded, to a sixth or less"},        \
        {.name = "size-limit",                                                           \
         .value = "SIZE",                                                                \
         .help = "stop recording after this many bytes of records, before packing, and " \
                 "what is in the buffers then; the program goes on"},                    \
        {.name = "duration",                                                             \
         .value = "TIME",                                                                \
         .help = "stop recording after this time; the program goes on"},                 \
        {.name = "clock",                                                                \
         .value = "counter|kernel",                                                      \
         .help = "where the time comes from: the processor's counter (the default "      \
                 "where it is steady) or the kernel, which costs more"},                 \
    {                                                                                    \
        .name = "force", .help = "run a program, too, that offers no calls to record"    \
    }

#define CN_RECORD_DIR "cairn.data"

/* What the options point to. */
struct cn_record_options {
    struct cn_launch_options launch;
    struct cn_arguments arguments;
};

/* Understand the arguments; they must outlive the options. */
CN_CHECK bool cn_record_options_init(struct cn_record_options *options,
                                     const struct cn_args *args, struct cn_error *err);
void cn_record_options_done(struct cn_record_options *options);

#endif
