/* Options of cairn record and cairn live.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORD_OPTIONS_H
#define CN_CLI_RECORD_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/shell/args.h"
#include "launcher/launch.h"

/* Those that views of a recording have as well. */
#define CN_RECORD_FILTER_OPTIONS                                                       \
    CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "filter", 'F', "FUNC",                         \
                       "record only these functions and what they call"),              \
        CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "notrace", 'N', "FUNC",                    \
                           "record neither these functions nor what they call"),       \
        CN_FILTER_LIST_FOR(                                                            \
            CN_FOR_RECORDED, "caller-filter", 'C', "FUNC",                             \
            "record only these functions and the calls that lead to them"),            \
        CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "hide", 'H', "FUNC",                       \
                           "do not record these functions, but what they call"),       \
        CN_FILTER_LIST_FOR(                                                            \
            CN_FOR_RECORDED, "loc-filter", 'L', "FILE",                                \
            "record only functions in these source files; with FILE@hide "             \
            "all others"),                                                             \
        CN_OPTION_FOR(CN_FOR_RECORDED, "depth", 'D', "N",                              \
                      "record at most N levels of nested calls"),                      \
        CN_FILTER_FOR(CN_FOR_RECORDED, "time-filter", 't', "TIME",                     \
                      "record only calls that take TIME or longer: 10us, 1.5ms"),      \
        CN_FILTER_FOR(CN_FOR_RECORDED, "size-filter", 'Z', "N",                        \
                      "record only functions of N bytes or more"),                     \
        CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "trigger", 'T', "FUNC@ACTION",             \
                           "act when FUNC is called: trace_on, trace_off, depth=N, "   \
                           "time=TIME, size=N, trace, finish, filter, notrace, hide, " \
                           "callsite, argN, retval, auto-args, read=page-fault, "      \
                           "read=proc/statm, read=pmu-cycle, backtrace, color=NAME, "  \
                           "if:argN>N; separate several with commas"),                 \
        CN_OPTION_FOR(CN_FOR_RECORDED, "trace", 0, "on|off",                           \
                      "off: record nothing until a trigger with trace_on"),            \
        CN_OPTION_FOR(CN_FOR_RECORDED | CN_FOR_CALLS, "match", 0, "regex|glob",        \
                      "syntax of patterns (default: regex)"),                          \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-libcall", 0, NULL,                          \
                      "do not record calls to library functions"),                     \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-event", 0, NULL,                            \
                      "do not record context switches and the names of tasks"),        \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-sched", 0, NULL,                            \
                      "do not record context switches"),                               \
        CN_OPTION_FOR(CN_FOR_RECORDED | CN_FOR_CALLS, "demangle", 0, "full|simple|no", \
                      "C++ and Rust names that patterns match: with arguments, "       \
                      "without (the default), or mangled")

/* Those that only recording has. */
#define CN_RECORD_ONLY_OPTIONS                                                         \
    CN_OPTION_LIST_FOR(CN_FOR_RECORDED, "watch", 'W', "POINT",                         \
                       "record changes of the processor (cpu) or of a global "         \
                       "variable (var:NAME), where calls begin and end"),              \
        CN_OPTION_LIST_FOR(                                                            \
            CN_FOR_RECORDED, "signal", 0, "SIG@ACTION",                                \
            "act when a signal arrives: trace_on, trace_off, finish; the "             \
            "program does not end by this signal"),                                    \
        CN_OPTION_LIST_FOR(CN_FOR_RECORDED, "argument", 'A', "FUNC@SPEC",              \
                           "record arguments: arg1, arg2/s, arg3/x32, fparg1/32; "     \
                           "without a SPEC, those in debug information"),              \
        CN_OPTION_LIST_FOR(CN_FOR_RECORDED, "retval", 'R', "FUNC@SPEC",                \
                           "record return values: retval, retval/s, retval/f32"),      \
        CN_OPTION_FOR(CN_FOR_RECORDED, "auto-args", 'a', NULL,                         \
                      "record arguments and return values of all functions that "      \
                      "have debug information, and of functions of the C library"),    \
        CN_OPTION_FOR(CN_FOR_RECORDED, "mpi", 0, NULL,                                 \
                      "record communicators, ranks, tags and requests of calls of "    \
                      "MPI, by which cairn mpi matches messages"),                     \
        CN_OPTION_FOR(CN_FOR_RECORDED, "locks", 0, NULL,                               \
                      "record which locks are taken, waited for and given back, for "  \
                      "cairn waits: arguments of functions of pthread and C++"),       \
        CN_OPTION_FOR(CN_FOR_RECORDED, "callsite", 0, NULL,                            \
                      "record the call site of each call, so that analyze "            \
                      "attributes calls to source lines"),                             \
        CN_OPTION_FOR(                                                                 \
            CN_FOR_RECORDED | CN_FOR_CALLS, "srcline", 0, NULL,                        \
            "store source file and line of functions, for --srcline and -L of "        \
            "the views"),                                                              \
        CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "patch", 'P', "FUNC",                      \
                           "patch these functions: of a program built with "           \
                           "-fpatchable-function-entry (default: all), or without "    \
                           "hooks, if that is safe; of a library without hooks with "  \
                           "FUNC@LIBRARY"),                                            \
        CN_FILTER_LIST_FOR(CN_FOR_RECORDED, "unpatch", 'U', "FUNC",                    \
                           "do not patch these functions"),                            \
        CN_OPTION_FOR(CN_FOR_RECORDED, "buffer", 'b', "SIZE",                          \
                      "size of a thread's buffer, a power of two (default: 512K)"),    \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-throw", 0, NULL,                            \
                      "do not record __cxa_throw(), __cxa_begin_catch() and other "    \
                      "functions that throw and catch exceptions"),                    \
        CN_OPTION_FOR(CN_FOR_RECORDED, "bare-jumps", 0, NULL,                          \
                      "record longjmp() as uftrace does: where it is called, "         \
                      "without exits of the calls that it leaves"),                    \
        CN_OPTION_FOR(CN_FOR_RECORDED, "nest-libcall", 'l', NULL,                      \
                      "also record calls from one library function to another"),       \
        CN_OPTION_FOR(CN_FOR_RECORDED, "kernel", 'k', NULL,                            \
                      "also record functions of the kernel, one level unless "         \
                      "--kernel-depth; choose them with -F FUNC@kernel, -N "           \
                      "FUNC@kernel. Needs root and function_graph in tracefs"),        \
        CN_OPTION_FOR(CN_FOR_RECORDED, "kernel-depth", 'K', "N",                       \
                      "record N levels of functions of the kernel; implies --kernel"), \
        CN_OPTION_FOR(CN_FOR_RECORDED, "kernel-buffer", 0, "SIZE",                     \
                      "size of the kernel's buffer of each processor: 4M"),            \
        CN_OPTION_LIST_FOR(                                                            \
            CN_FOR_RECORDED, "event", 'E', "EVENT",                                    \
            "also record these events: SDT probes of the program and its "             \
            "libraries, software events, tracepoints; see --list-event"),              \
        CN_OPTION_FOR(CN_FOR_RECORDED, "list-event", 0, NULL,                          \
                      "list the events of PROGRAM, which is not run"),                 \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-python", 0, NULL,                           \
                      "of a program in Python, record the interpreter's library "      \
                      "calls instead of its functions"),                               \
        CN_OPTION_FOR(CN_FOR_RECORDED, "pack", 0, NULL,                                \
                      "pack the records while recording, to a sixth or less"),         \
        CN_OPTION_FOR(CN_FOR_RECORDED, "size-limit", 0, "SIZE",                        \
                      "stop recording after SIZE bytes of records (before packing) "   \
                      "plus the buffers; the program continues"),                      \
        CN_OPTION_FOR(CN_FOR_RECORDED | CN_FOR_SAMPLED, "duration", 0, "TIME",         \
                      "stop recording after TIME; the program continues"),             \
        CN_OPTION_FOR(CN_FOR_RECORDED, "memory", 0, NULL,                              \
                      "also record each allocation and free of the program, with its " \
                      "call path"),                                                    \
        CN_OPTION_FOR(CN_FOR_RECORDED, "leaks", 0, NULL,                               \
                      "the same, and stop the program for a moment when it ends, to "  \
                      "find the allocations that no pointer leads to any more"),       \
        CN_OPTION(                                                                     \
            "gpu", 0, NULL,                                                            \
            "also record kernels, copies and waits of NVIDIA GPUs, each below the "    \
            "call that launched it; needs libcupti.so of CUDA 11.8 or newer"),         \
        CN_OPTION("gpu-auto", 0, NULL,                                                 \
                  "the same, and say nothing if the program uses no GPU"),             \
        CN_OPTION("nvtx", 0, NULL,                                                     \
                  "begin call paths with the NVTX ranges that the thread is in; with " \
                  "--gpu alone, ranges are in the timeline"),                          \
        CN_OPTION_FOR(CN_FOR_RECORDED, "keep-pid", 0, NULL,                            \
                      "run the program in the process that was started, with its "     \
                      "number; the recording is complete some time after the "         \
                      "program has ended"),                                            \
        CN_OPTION_FOR(CN_FOR_RECORDED, "agent", 'g', NULL,                             \
                      "let cairn live -p PID change what is recorded while the "       \
                      "program runs"),                                                 \
        CN_OPTION_FOR(CN_FOR_RECORDED, "pid", 'p', "PID",                              \
                      "start no program: change -F, -N, -C, -T, -D, -t, -Z and "       \
                      "--trace of the running process PID, recorded with --agent; "    \
                      "FUNC@clear removes what -F, -N, -C and -T added"),              \
        CN_OPTION_FOR(CN_FOR_RECORDED, "clock", 0, "counter|kernel",                   \
                      "clock: the processor's counter (the default where it is "       \
                      "constant) or the kernel's, which is slower"),                   \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-pltbind", 0, NULL,                          \
                      "the loader looks up library functions at each call "            \
                      "(LD_BIND_NOT), so that calls of several threads at once are "   \
                      "recorded from the first on"),                                   \
        CN_OPTION_FOR(CN_FOR_RECORDED, "no-randomize-addr", 0, NULL,                   \
                      "run the program at the same addresses each time"),              \
        CN_OPTION_FOR(CN_FOR_RECORDED, "rt-prio", 0, "N",                              \
                      "write records with real-time priority N (SCHED_FIFO), 1 to "    \
                      "99"),                                                           \
        CN_OPTION_FOR(CN_FOR_RECORDED | CN_FOR_SAMPLED, "time", 0, NULL,               \
                      "print the time that the program took"),                         \
        CN_OPTION_FOR(CN_FOR_RECORDED, "force", 0, NULL,                               \
                      "run the program even if it is not instrumented")

#define CN_RECORD_OPTIONS                                                           \
    CN_RECORD_FILTER_OPTIONS, CN_RECORD_ONLY_OPTIONS,                               \
        CN_OPTION_FOR(CN_FOR_RECORDED, "script", 'S', "FILE",                       \
                      "run a script on the calls after the program has ended; see " \
                      "cairn script")

struct cn_record_options {
    struct cn_launch_options launch;
    struct cn_arguments arguments;
    char **kernel_patterns; /* of -F and -N, without "@kernel" */
    size_t kernel_pattern_count;
    const char **events; /* patterns of -E */
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

/* The token of a receiver: of the option, or of the environment; NULL: none. */
#define CN_RECORD_TOKEN "CAIRN_TOKEN"
const char *cn_record_token(const struct cn_args *args);

/* The value of an option --NAME: "512K", "1M", "2G" are bytes. */
CN_CHECK bool cn_record_size_parse(const char *name, const char *str, uint64_t *out,
                                   struct cn_error *err);

/* --gpu or --gpu-auto; says so if another profiler is in the way. */
bool cn_record_has_gpu(const struct cn_args *args);

/* Say what of GPU work is missing: that no program used a GPU, and lines of notes, which are changed;
 * NULL: none. */
void cn_record_tell_gpu(const struct cn_args *args, bool is_used, char *notes);

/* With --leaks: say of how many programs it is unknown what leaked, and why one was not checked ("": it did not
 * ask). */
void cn_record_tell_unchecked(const struct cn_args *args, uint64_t program_count,
                              uint64_t checked_count, const char *failure);

/* With --nvtx: say so if there are no ranges. */
void cn_record_tell_ranges(const struct cn_args *args, uint64_t count);

#endif
