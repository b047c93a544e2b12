/* Options of cairn record and cairn live.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_RECORD_OPTIONS_H
#define CN_CLI_RECORDING_RECORD_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/shell/args.h"
#include "launcher/launch.h"

#define CN_RECORD_OPTIONS                                                                \
    {.name = "filter",                                                                   \
     .letter = 'F',                                                                      \
     .value = "FUNC",                                                                    \
     .is_repeatable = true,                                                              \
     .help = "record only these functions and what they call"},                          \
        {.name = "notrace",                                                              \
         .letter = 'N',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "record neither these functions nor what they call"},                   \
        {.name = "caller-filter",                                                        \
         .letter = 'C',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "record only these functions and the calls that lead to them"},         \
        {.name = "hide",                                                                 \
         .letter = 'H',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "do not record these functions, but what they call"},                   \
        {.name = "loc-filter",                                                           \
         .letter = 'L',                                                                  \
         .value = "FILE",                                                                \
         .is_repeatable = true,                                                          \
         .help =                                                                         \
             "record only functions in these source files; with FILE@hide all others"},  \
        {.name = "depth",                                                                \
         .letter = 'D',                                                                  \
         .value = "N",                                                                   \
         .help = "record at most N levels of nested calls"},                             \
        {.name = "time-filter",                                                          \
         .letter = 't',                                                                  \
         .value = "TIME",                                                                \
         .help = "record only calls that take TIME or longer: 10us, 1.5ms"},             \
        {.name = "size-filter",                                                          \
         .letter = 'Z',                                                                  \
         .value = "N",                                                                   \
         .help = "record only functions of N bytes or more"},                            \
        {.name = "trigger",                                                              \
         .letter = 'T',                                                                  \
         .value = "FUNC@ACTION",                                                         \
         .is_repeatable = true,                                                          \
         .help = "act when FUNC is called: trace_on, trace_off, depth=N, time=TIME, "    \
                 "size=N, trace, finish, filter, notrace, hide, callsite, argN, "        \
                 "retval, auto-args, read=page-fault, read=proc/statm, read=pmu-cycle, " \
                 "backtrace, color=NAME, if:argN>N; separate several with commas"},      \
        {.name = "watch",                                                                \
         .letter = 'W',                                                                  \
         .value = "POINT",                                                               \
         .is_repeatable = true,                                                          \
         .help = "record changes of the processor (cpu) or of a global variable "        \
                 "(var:NAME), "                                                          \
                 "where calls begin and end"},                                           \
        {.name = "signal",                                                               \
         .value = "SIG@ACTION",                                                          \
         .is_repeatable = true,                                                          \
         .help = "act when a signal arrives: trace_on, trace_off, finish; the program "  \
                 "does not end by this signal"},                                         \
        {.name = "argument",                                                             \
         .letter = 'A',                                                                  \
         .value = "FUNC@SPEC",                                                           \
         .is_repeatable = true,                                                          \
         .help = "record arguments: arg1, arg2/s, arg3/x32, fparg1/32; without a SPEC, " \
                 "those in debug information"},                                          \
        {.name = "retval",                                                               \
         .letter = 'R',                                                                  \
         .value = "FUNC@SPEC",                                                           \
         .is_repeatable = true,                                                          \
         .help = "record return values: retval, retval/s, retval/f32"},                  \
        {.name = "auto-args",                                                            \
         .letter = 'a',                                                                  \
         .help = "record arguments and return values of all functions that have debug "  \
                 "information, and of functions of the C library"},                      \
        {.name = "callsite",                                                             \
         .help = "record the call site of each call, so that analyze attributes calls "  \
                 "to source lines"},                                                     \
        {.name = "srcline",                                                              \
         .help = "store source file and line of functions, for --srcline and -L of the " \
                 "views"},                                                               \
        {.name = "trace",                                                                \
         .value = "on|off",                                                              \
         .help = "off: record nothing until a trigger with trace_on"},                   \
        {.name = "patch",                                                                \
         .letter = 'P',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "patch these functions: of a program built with "                       \
                 "-fpatchable-function-entry (default: all), or without hooks, if that " \
                 "is safe; of a library without hooks with FUNC@LIBRARY"},               \
        {.name = "unpatch",                                                              \
         .letter = 'U',                                                                  \
         .value = "FUNC",                                                                \
         .is_repeatable = true,                                                          \
         .help = "do not patch these functions"},                                        \
        {.name = "match",                                                                \
         .value = "regex|glob",                                                          \
         .help = "syntax of patterns (default: regex)"},                                 \
        {.name = "buffer",                                                               \
         .letter = 'b',                                                                  \
         .value = "SIZE",                                                                \
         .help = "size of a thread's buffer, a power of two (default: 512K)"},           \
        {.name = "script",                                                               \
         .letter = 'S',                                                                  \
         .value = "FILE",                                                                \
         .help = "run a script on the calls after the program has ended; see cairn "     \
                 "script"},                                                              \
        {.name = "no-libcall", .help = "do not record calls to library functions"},      \
        {.name = "no-throw",                                                             \
         .help = "do not record __cxa_throw(), __cxa_begin_catch() and other functions " \
                 "that throw and catch exceptions"},                                     \
        {.name = "bare-jumps",                                                           \
         .help = "record longjmp() as uftrace does: where it is called, without exits "  \
                 "of the calls that it leaves"},                                         \
        {.name = "nest-libcall",                                                         \
         .letter = 'l',                                                                  \
         .help = "also record calls from one library function to another"},              \
        {.name = "kernel",                                                               \
         .letter = 'k',                                                                  \
         .help = "also record functions of the kernel, one level unless "                \
                 "--kernel-depth; choose them with -F FUNC@kernel, -N FUNC@kernel. "     \
                 "Needs root and function_graph in tracefs"},                            \
        {.name = "kernel-depth",                                                         \
         .letter = 'K',                                                                  \
         .value = "N",                                                                   \
         .help = "record N levels of functions of the kernel; implies --kernel"},        \
        {.name = "kernel-buffer",                                                        \
         .value = "SIZE",                                                                \
         .help = "size of the kernel's buffer of each processor: 4M"},                   \
        {.name = "event",                                                                \
         .letter = 'E',                                                                  \
         .value = "EVENT",                                                               \
         .is_repeatable = true,                                                          \
         .help = "also record these events: SDT probes of the program and its "          \
                 "libraries, software events, tracepoints; see --list-event"},           \
        {.name = "list-event", .help = "list the events of PROGRAM, which is not run"},  \
        {.name = "no-python",                                                            \
         .help = "of a program in Python, record the interpreter's library calls "       \
                 "instead of its functions"},                                            \
        {.name = "no-event",                                                             \
         .help = "do not record context switches and the names of tasks"},               \
        {.name = "no-sched", .help = "do not record context switches"},                  \
        {.name = "pack",                                                                 \
         .help = "pack the records while recording, to a sixth or less"},                \
        {.name = "size-limit",                                                           \
         .value = "SIZE",                                                                \
         .help = "stop recording after SIZE bytes of records (before packing) plus the " \
                 "buffers; the program continues"},                                      \
        {.name = "duration",                                                             \
         .value = "TIME",                                                                \
         .help = "stop recording after TIME; the program continues"},                    \
        {.name = "keep-pid",                                                             \
         .help =                                                                         \
             "run the program in the process that was started, with its number; the "    \
             "recording is complete some time after the program has ended"},             \
        {.name = "agent",                                                                \
         .letter = 'g',                                                                  \
         .help = "let cairn live -p PID change what is recorded while the program "      \
                 "runs"},                                                                \
        {.name = "pid",                                                                  \
         .letter = 'p',                                                                  \
         .value = "PID",                                                                 \
         .help =                                                                         \
             "start no program: change -F, -N, -C, -T, -D, -t, -Z and --trace of the "   \
             "running process PID, recorded with --agent; FUNC@clear removes what "      \
             "-F, -N, -C and -T added"},                                                 \
        {.name = "clock",                                                                \
         .value = "counter|kernel",                                                      \
         .help = "clock: the processor's counter (the default where it is constant) or " \
                 "the kernel's, which is slower"},                                       \
        {.name = "no-pltbind",                                                           \
         .help =                                                                         \
             "the loader looks up library functions at each call (LD_BIND_NOT), so "     \
             "that calls of several threads at once are recorded from the first on"},    \
        {.name = "no-randomize-addr",                                                    \
         .help = "run the program at the same addresses each time"},                     \
        {.name = "rt-prio",                                                              \
         .value = "N",                                                                   \
         .help = "write records with real-time priority N (SCHED_FIFO), 1 to 99"},       \
        {.name = "time", .help = "print the time that the program took"},                \
        {.name = "demangle",                                                             \
         .value = "full|simple|no",                                                      \
         .help = "C++ and Rust names that patterns match: with arguments, without (the " \
                 "default), or mangled"},                                                \
    {                                                                                    \
        .name = "force", .help = "run the program even if it is not instrumented"        \
    }

#define CN_RECORD_DIR "cairn.data"

struct cn_record_options {
    struct cn_launch_options launch;
    struct cn_arguments arguments;
    char **kernel_patterns; /* of -F and -N, without "@kernel" */
    size_t kernel_pattern_count;
    struct cn_text view_options;
    struct cn_arena arena;
};

/* Print the time since `start_ns` of cn_clock_ns(), and that of the children so far. */
void cn_record_print_time(uint64_t start_ns);

/* Parse the arguments, which must outlive the options. On failure, release them as well. */
CN_CHECK bool cn_record_options_init(struct cn_record_options *options,
                                     const struct cn_args *args, struct cn_error *err);
void cn_record_options_done(struct cn_record_options *options);

/* With --list-event: list events. */
CN_CHECK bool cn_record_list_events(const struct cn_args *args, struct cn_error *err);

/* With --pid: change what a running process records. */
CN_CHECK bool cn_record_change(const struct cn_args *args, struct cn_error *err);

/* The value of an option --NAME: "512K", "1M", "2G" are bytes. */
CN_CHECK bool cn_record_size_parse(const char *name, const char *str, uint64_t *out,
                                   struct cn_error *err);

#endif
