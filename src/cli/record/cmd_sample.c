/* cairn sample: sample any program. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/record/options.h"
#include "cli/record/sample.h"
#include "cli/recording/options.h"
#include "cli/shell/command.h"

enum { FREQUENCY_MAX = 100000, PIDS_MAX = 1024, LEVEL_MAX = 19, PERCENT_MAX = 100 };
#define INTERVAL_MAX (UINT64_C(1) << 40)

/* "12,345" */
static bool parse_pids(struct cn_values values, pid_t *out, size_t *count,
                       struct cn_error *err)
{
    for (size_t i = 0; i < values.count; i++) {
        const char *text = values.list[i];
        char *end;

        do {
            errno = 0;
            long pid = strtol(text, &end, 10);
            if (end == text || (*end && *end != ',') || pid <= 0 || pid > INT32_MAX ||
                errno || *count == PIDS_MAX)
                return cn_fail(err, CN_ERR_USAGE,
                               "--pid: '%s' is not a list of process ids",
                               values.list[i]);
            out[(*count)++] = (pid_t)pid;
            text = end + 1;
        } while (*end);
    }
    return true;
}

/* "kernel", "fp", "none", "dwarf", "dwarf,16384", "signals" */
static bool choose_stacks(const char *value, struct cn_sample_options *options,
                          struct cn_error *err)
{
    char *end;
    unsigned long len = 0;

    options->stacks = CN_SAMPLE_WHOLE;
    options->place = value ? CN_SAMPLE_COPIED : CN_SAMPLE_ANYWHERE;
    if (value && strcmp(value, "kernel") == 0)
        options->place = CN_SAMPLE_IN_KERNEL;
    else if (value && strcmp(value, "signals") == 0)
        options->place = CN_SAMPLE_BY_SIGNALS;
    else if (value && strcmp(value, "fp") == 0)
        options->stacks = CN_SAMPLE_POINTERS;
    else if (value && (strcmp(value, "none") == 0 || strcmp(value, "no") == 0))
        options->stacks = CN_SAMPLE_NONE;
    else if (value && strncmp(value, "dwarf,", 6) == 0) {
        len = strtoul(value + 6, &end, 10);
        if (end == value + 6 || *end || len < 512 || len > CN_SAMPLE_STACK_LEN_MAX)
            return cn_fail(err, CN_ERR_USAGE,
                           "--call-graph: '%s' is not a length from 512 to %d", value + 6,
                           (int)CN_SAMPLE_STACK_LEN_MAX);
    } else if (value && strcmp(value, "dwarf") != 0)
        return cn_fail(
            err, CN_ERR_USAGE,
            "--call-graph: '%s' is not kernel, dwarf, dwarf,BYTES, signals, fp or "
            "none",
            value);
    options->stack_len = (uint32_t)len;
    return true;
}

/* Allocations are sampled by a library inside the program, or probes in processes that run. */
static bool choose_memory(const struct cn_args *args, struct cn_sample_options *options,
                          struct cn_error *err)
{
    const char *interval = cn_args_value(args, "memory-interval");
    uint64_t percent;

    if (!cn_args_u64(args, "memory-limit", 1, PERCENT_MAX, CN_SAMPLE_MEMORY_LIMIT,
                     &percent, err))
        return false;
    options->memory_share_max = (double)percent / 100;
    options->has_leaks = cn_args_has(args, "leaks");
    if (!interval && !cn_args_has(args, "memory") && !options->has_leaks)
        return true;
    options->memory_interval = CN_SAMPLE_MEMORY;
    if (interval && !cn_record_size_parse("memory-interval", interval,
                                          &options->memory_interval, err))
        return false;
    if (options->memory_interval == 0 || options->memory_interval > INTERVAL_MAX)
        return cn_fail(err, CN_ERR_USAGE, "--memory-interval: %s is not from 1 to 1T",
                       interval);
    if (options->has_leaks && cn_args_count(args) == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "--leaks: only a program that is started; it is searched for "
                       "pointers at its end");
    if (cn_args_has(args, "all-cpus"))
        return cn_fail(err, CN_ERR_USAGE,
                       "--memory: a program that is started, or processes (-p)");
    return true;
}

static bool choose(const struct cn_args *args, struct cn_sample_options *options,
                   pid_t *pids, struct cn_error *err)
{
    struct cn_values events = cn_args_values(args, "event");
    uint64_t level;

    if (!cn_args_u64(args, "freq", 1, FREQUENCY_MAX, CN_SAMPLE_FREQUENCY,
                     &options->frequency, err) ||
        !cn_args_exclusive(args, "freq", "count", err) ||
        !cn_args_u64(args, "count", 1, UINT64_MAX >> 1, 0, &options->period, err) ||
        !cn_args_u64(args, "compression-level", 0, LEVEL_MAX, 1, &level, err) ||
        !choose_stacks(cn_args_value(args, "call-graph"), options, err) ||
        !parse_pids(cn_args_values(args, "pid"), pids, &options->pid_count, err) ||
        !cn_sample_choose(args, options, err))
        return false;
    options->compression_level = (int)level;
    options->pids = pids;
    options->has_machine = cn_args_has(args, "all-cpus");
    options->has_symbols = !cn_args_has(args, "no-symbols");
    options->has_switches = cn_args_has(args, "off-cpu");
    options->has_io = cn_args_has(args, "io");
    options->has_goroutines = cn_args_has(args, "goroutines");
    options->has_gpu = cn_record_has_gpu(args);
    options->has_ranges = cn_args_has(args, "nvtx");
    if (!choose_memory(args, options, err))
        return false;
    options->events = events.list;
    options->event_count = events.count;
    options->path = cn_args_value(args, "output");
    if (!options->path)
        options->path = CN_SAMPLE_FILE;
    if (cn_args_count(args) == 0 && options->pid_count == 0 && !options->has_machine)
        return cn_fail(err, CN_ERR_USAGE,
                       "no program given: cairn sample -- PROGRAM, -p PID or -a");
    if (options->has_gpu && cn_args_count(args) == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "--gpu: only a program that is started; running ones have "
                       "initialised their GPUs");
    if (options->has_ranges && cn_args_count(args) == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "--nvtx: only a program that is started; running ones have "
                       "initialised NVTX");
    if (options->pid_count > 0 && (options->has_machine || cn_args_count(args) > 0))
        return cn_fail(err, CN_ERR_USAGE, "-p: neither with a program nor with -a");
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_sample_options options = {0};
    pid_t *pids = cn_alloc(PIDS_MAX, sizeof(*pids));
    int wait_status = 0;
    bool ok = choose(args, &options, pids, err) &&
              cn_sample_and_tell(args, &options, true, &wait_status, err);

    free(pids);
    free((void *)(uintptr_t)options.words);
    if (ok)
        cn_end_like(wait_status);
    return ok;
}

static const struct cn_option options_table[] = {
    CN_OPTION("freq", 'F', "HZ", "samples a second and processor (default: 999)"),
    CN_OPTION("count", 'c', "N",
              "sample each N-th event instead (of a clock: each N nanoseconds)"),
    CN_OPTION_LIST("event", 'e', "EVENT",
                   "events, separated by commas: cpu-clock (the default), task-clock, "
                   "page-faults, context-switches, cycles, instructions, cache-misses, "
                   "branch-misses, tracepoints such as sched:sched_wakeup"),
    CN_OPTION_LIST("pid", 'p', "PID",
                   "attach to running processes, separated by commas, until Ctrl-C"),
    CN_OPTION("all-cpus", 'a', NULL,
              "sample all processes, until the program ends or Ctrl-C"),
    CN_OPTION("output", 'o', "FILE",
              "write FILE (default: " CN_SAMPLE_FILE "); an earlier one is renamed to "
              "FILE.old. Each process of mpirun or srun writes FILE/rank.N"),
    CN_OPTION("duration", 0, "TIME",
              "stop sampling after TIME: 10s, 1.5m; a program continues"),
    CN_OPTION(
        "off-cpu", 0, NULL,
        "also sample where threads stop running, when they continue and, as root, what "
        "wakes them, for cairn waits"),
    CN_OPTION("io", 0, NULL,
              "as root, also record system calls about files and sockets, each below the "
              "call path that made it, with its duration, its bytes, and its file or "
              "peer, and requests of disks, for cairn io"),
    CN_OPTION(
        "call-graph", 0, "WAY",
        "stacks: kernel (the default where BPF programs are allowed) unwinds them in "
        "the kernel, dwarf (elsewhere) a copy of up to 60 KB of the stack, "
        "dwarf,BYTES of another length, signals a copy that the program makes itself "
        "(where perf events are refused, and for interpreters where BPF programs are), "
        "fp uses frame pointers, none has no callers"),
    CN_OPTION("goroutines", 0, NULL,
              "show each goroutine of Go programs apart, by its number, below what "
              "created it"),
    CN_OPTION("gpu", 0, NULL,
              "also record kernels, copies and waits of NVIDIA GPUs, each below the call "
              "path that launched it; needs libcupti.so of CUDA 11.8 or newer"),
    CN_OPTION("gpu-auto", 0, NULL,
              "the same, and say nothing if the program uses no GPU"),
    CN_OPTION("nvtx", 0, NULL,
              "begin call paths with the NVTX ranges that the thread is in; with --gpu "
              "alone, ranges are in the timeline"),
    CN_OPTION(
        "memory", 0, NULL,
        "also sample what the program allocates, each allocation below the call path "
        "that asked for it, and what it frees; with -p what running processes allocate "
        "from now on (as root)"),
    CN_OPTION("leaks", 0, NULL,
              "the same, and stop the program for a moment when it ends, to find sampled "
              "allocations that no pointer leads to any more"),
    CN_OPTION("memory-interval", 0, "SIZE",
              "the same, with one sample in SIZE bytes in the mean (default: 512K)"),
    CN_OPTION("memory-limit", 0, "PERCENT",
              "with -p, sample no more memory when that takes more than PERCENT of a "
              "processor's time (default: 25): each call of an allocator then enters the "
              "kernel; 100 is no limit"),
    CN_OPTION("compression-level", 'z', "N",
              "compress the file with level N of zstd (default: 1); 0 does not"),
    CN_OPTION("no-symbols", 0, NULL,
              "do not store the names of functions in the file; it is then readable only "
              "where the programs are"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn sample -- python3 script.py", "sample a program; no rebuild is needed"},
    {"cairn sample -p 1234 --duration 10s", "attach to a running process"},
    {"sudo cairn sample -p 1234 --memory --duration 10s",
     "also what it allocates, and does not free, in that time"},
    {"cairn sample --off-cpu -- ./server --check", "also where its threads wait"},
    {"sudo cairn sample --io -- ./server --check",
     "also which files and peers it reads and writes, and how long that takes"},
    {"cairn sample --gpu -- python3 train.py",
     "also kernels and copies of GPUs, below what launches them"},
    {"cairn sample --gpu --nvtx -- python3 train.py",
     "the same, by the ranges that the program names"},
    {"cairn sample --memory -- ./server --check",
     "also what allocates memory, and what is not freed"},
    {0},
};

const struct cn_command cn_cmd_sample = {
    .name = "sample",
    .operands = "[PROGRAM [ARGUMENT]...]",
    .operand_max = CN_OPERANDS_MAX,
    .program = "",
    .summary = "sample any program, with whole stacks",
    .description =
        "Runs a program, or attaches to running ones, and samples all its threads and "
        "child processes at regular times. The program needs not be built for it: the "
        "stacks of code without frame pointers are unwound with the tables that "
        "exceptions use.\n\n"
        "The result is a perf.data file: use cairn tree, flat, top, timeline, analyze or "
        "view, or perf itself. It contains the names of the functions that were sampled, "
        "so "
        "that other machines show them as well (cairn symbolize adds those that are "
        "missing). "
        "It is readable even if cairn is killed. The output and "
        "the exit status are those of the program.",
    .examples = examples,
    .options = options_table,
    .run = run,
};
