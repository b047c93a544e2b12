#include "cli/record/sample.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/record/options.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "gpu/shared.h"
#include "launcher/elf/command.h"
#include "launcher/files/recording_dir.h"
#include "sampler/inside/shared.h"

void cn_end_like(int wait_status)
{
    struct rlimit none = {0};

    if (WIFSIGNALED(wait_status)) {
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(WTERMSIG(wait_status), SIG_DFL);
        (void)raise(WTERMSIG(wait_status));
        exit(128 + WTERMSIG(wait_status));
    }
    if (WEXITSTATUS(wait_status) != 0)
        exit(WEXITSTATUS(wait_status));
}

static void on_message(void *arg, const char *text)
{
    cn_cli_say(arg, "%s", text);
}

/* Say what would give callers that are missing in more than 1 % of stacks. */
static void tell_missing(const struct cn_args *args,
                         const struct cn_sample_result *result)
{
    const double all = (double)result->stack_count;

    if ((double)result->cut_count > all / 100)
        cn_cli_say(args,
                   "%.0f %% of stacks lack their outer callers: they are longer than the "
                   "copy; choose --call-graph dwarf,%d",
                   100 * (double)result->cut_count / all, (int)CN_SAMPLE_STACK_LEN_MAX);
    if ((double)result->unknown_count > all / 100)
        cn_cli_say(args,
                   "%.0f %% of stacks lack their outer callers: code without tables for "
                   "unwinding; if it was not made at run time, build it with "
                   "-fasynchronous-unwind-tables or -fno-omit-frame-pointer",
                   100 * (double)result->unknown_count / all);
}

/* Say what leaked, and of how many programs it is unknown. */
static void tell_leaks(const struct cn_args *args,
                       const struct cn_sample_leaks_result *leaks)
{
    if (leaks->checked_count > 0)
        cn_cli_say(args,
                   "%" PRIu64
                   " sampled allocation%s leaked, at least: no pointer leads to "
                   "%s",
                   leaks->leaked_count, cn_plural(leaks->leaked_count, "", "s"),
                   cn_plural(leaks->leaked_count, "it", "them"));
    cn_record_tell_unchecked(args, leaks->program_count, leaks->checked_count,
                             leaks->failure);
}

/* Say what probes in running processes cost, and whether they were taken out for it. */
static void tell_probes(const struct cn_args *args, const struct cn_sample_result *result)
{
    struct cn_text text = {0};

    cn_count_print_of(&text, result->probe_count, "call");
    cn_text_printf(&text, " of allocators: each took about %.1f us longer, all ",
                   result->probe_ns / 1e3);
    cn_duration_print(&text, (uint64_t)((double)result->probe_count * result->probe_ns));
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
    if (result->ended_share > 0)
        cn_cli_warn(args,
                    "memory was sampled for %.1f s alone: that took %.0f %% of a "
                    "processor's time; start the program with cairn sample --memory, or "
                    "choose a higher --memory-limit",
                    result->ended_s, 100 * result->ended_share);
}

/* Say what is not known of the program's memory. */
static void tell_memory(const struct cn_args *args,
                        const struct cn_sample_options *options,
                        const struct cn_sample_result *result)
{
    if (options->pid_count > 0) {
        tell_probes(args, result);
        if (result->alloc_lost_count > 0)
            cn_cli_warn(args, "%" PRIu64 " record%s of memory lost",
                        result->alloc_lost_count,
                        cn_plural(result->alloc_lost_count, "", "s"));
        return;
    }
    if (!options->runner ||
        !(result->memory_notes & (CN_INSIDE_HAS_MEMORY | CN_INSIDE_OWN_MALLOC)))
        cn_cli_say(args,
                   "no allocations are sampled: the program is linked statically or "
                   "setuid, or began no program that is not");
    if (result->memory_notes & CN_INSIDE_OWN_MALLOC)
        cn_cli_say(args, "a program contains its own malloc(): its allocations are not "
                         "sampled");
    if (result->memory_notes & CN_INSIDE_RELEASES_FULL)
        cn_cli_warn(args, "frees of sampled allocations were lost: too much looks live");
    if (options->has_leaks)
        tell_leaks(args, &result->leaks);
    if (result->alloc_lost_count > 0)
        cn_cli_warn(args,
                    "%" PRIu64 " sampled allocation%s lost: choose a larger "
                    "--memory-interval",
                    result->alloc_lost_count,
                    cn_plural(result->alloc_lost_count, "", "s"));
}

static void tell_no_samples(const struct cn_args *args,
                            const struct cn_sample_options *options,
                            const struct cn_sample_result *result)
{
    if (result->is_inside)
        cn_cli_say(args,
                   "no samples: the program took less processor time than one period, or "
                   "is linked statically or setuid, where signals cannot sample it");
    else
        cn_cli_say(args,
                   "no samples: %s took less processor time than one period; choose a "
                   "higher -F",
                   options->has_machine     ? "all processes together"
                   : options->pid_count > 1 ? "the processes"
                   : options->pid_count > 0 ? "the process"
                                            : "the program");
}

static void tell_result(const struct cn_args *args,
                        const struct cn_sample_options *options,
                        const struct cn_sample_result *result, bool is_kept)
{
    struct cn_text text = {0};

    if (result->failure.text[0])
        cn_cli_warn(args, "sampling stopped: %s; the program continued",
                    result->failure.text);
    if (result->lost_count > 0)
        cn_cli_warn(args,
                    "%" PRIu64 " record%s lost: they came faster than they could be "
                    "written; choose a lower -F",
                    result->lost_count, cn_plural(result->lost_count, "", "s"));
    if (result->gpu_lost_count > 0)
        cn_cli_warn(args,
                    "%" PRIu64 " record%s of GPU work lost: they came faster than they "
                    "could be written",
                    result->gpu_lost_count, cn_plural(result->gpu_lost_count, "", "s"));
    if (result->memory_notes & CN_INSIDE_SANDBOXED)
        cn_cli_warn(args,
                    "a program restricted its system calls (seccomp): %s after that is "
                    "not sampled",
                    result->is_inside ? "what it did" : "what it allocated and freed");
    if (options->memory_interval > 0)
        tell_memory(args, options, result);
    if (options->has_gpu)
        cn_record_tell_gpu(args, result->has_gpu, result->gpu_notes);
    if (options->has_ranges)
        cn_record_tell_ranges(args, result->range_count);
    if (result->sample_count == 0)
        tell_no_samples(args, options, result);
    cn_count_print_of(&text, result->sample_count, "sample");
    cn_text_str_add(&text, " in ");
    cn_size_print(&text, result->file_len);
    if (result->stack_count > 0)
        cn_text_printf(&text, ", %.1f %% of stacks%s whole",
                       100 * (double)result->whole_count / (double)result->stack_count,
                       result->sample_count > 0 ? ""
                       : result->call_count > 0 ? " of system calls"
                                                : " of other events");
    if (result->kernel_count > 0)
        cn_text_printf(&text, ", %.1f %% unwound in the kernel",
                       100 * (double)result->kernel_count / (double)result->stack_count);
    else if (result->stack_count > 0)
        cn_text_str_add(&text, result->is_inside ? ", copied by signals"
                                                 : ", unwound from copies");
    if (result->refusal.text[0])
        cn_cli_detail(args, "stacks were copied: %s", result->refusal.text);
    cn_cli_detail(args,
                  "stacks: %" PRIu64 " whole, %" PRIu64
                  " longer than the copy (--call-graph dwarf,BYTES), %" PRIu64
                  " in code without tables, %" PRIu64 " that contradict their tables",
                  result->whole_count, result->cut_count, result->unknown_count,
                  result->bad_count);
    tell_missing(args, result);
    if (result->alloc_count > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, result->alloc_count, "sampled allocation");
    }
    if (result->call_count > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, result->call_count, "system call");
    }
    if (result->gpu_op_count > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, result->gpu_op_count, "GPU operation");
    }
    if (result->range_count > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, result->range_count, "NVTX range");
    }
    if (is_kept)
        cn_text_printf(&text, "; next: cairn tree %s%s",
                       options->has_machine ? "--group program " : "", options->path);
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

/* Under mpirun or srun, each rank has a file in a folder, which belongs to one job: an
 * earlier one is renamed. Returns the file that locks it, or -1. */
static bool choose_path(struct cn_sample_options *options, char **path, int *lock,
                        struct cn_error *err)
{
    struct cn_launch_rank rank;
    bool ok;

    if (!cn_launch_rank_find(&rank))
        return true;
    if (cn_path_is_file(options->path))
        ok = cn_fail(err, CN_ERR_IO,
                     "'%s' is a file: choose a folder for the files of all ranks with -o",
                     options->path);
    else
        ok = cn_recording_dir_create(options->path, &rank, path, lock, err);
    /* The rank has a file instead of a folder. */
    if (ok && rmdir(*path) != 0)
        ok = cn_fail_errno(err, "cannot write '%s'", *path);
    if (ok)
        options->path = *path;
    cn_text_done(&rank.job);
    return ok;
}

/* The file that runs the program, if signals can sample it; the caller frees it. */
static char *find_runner(const struct cn_sample_options *options)
{
    struct cn_program_file program = {0};
    struct cn_error ignored = {0};
    char *path = NULL;

    if (options->words && cn_command_open(&program, options->words, &ignored) &&
        program.kind == CN_REC_EXEC_LOADED)
        path = cn_strdup(program.path);
    cn_program_file_close(&program);
    return path;
}

bool cn_sample_and_tell(const struct cn_args *args, struct cn_sample_options *options,
                        bool is_kept, int *wait_status, struct cn_error *err)
{
    struct cn_sample_result result;
    char *path = NULL, *runner = find_runner(options);
    int lock = -1;

    options->runner = runner;
    if (!options->say) {
        options->say = on_message;
        options->arg = (void *)(uintptr_t)args;
    }
    bool ok =
        choose_path(options, &path, &lock, err) && cn_sample_run(options, &result, err);
    if (ok) {
        *wait_status = result.wait_status;
        tell_result(args, options, &result, is_kept);
        free(result.gpu_notes);
    }
    if (lock >= 0)
        (void)close(lock);
    options->runner = NULL;
    free(runner);
    free(path);
    return ok;
}

static bool is_program(const char *name)
{
    struct cn_program_file program;
    struct cn_error ignored = {0};

    if (!cn_program_file_open(&program, name, &ignored))
        return false;
    cn_program_file_close(&program);
    return true;
}

/* True if functions of the program can be recorded, not only calls to library functions. */
static bool has_calls(const char *name)
{
    const unsigned hooks =
        CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT | CN_ELF_PATCHABLE;
    struct cn_program_file program;
    struct cn_error ignored = {0};

    if (!cn_program_file_open(&program, name, &ignored))
        return false;
    bool has = program.is_script || (program.elf.hooks & hooks && !program.elf.is_static);
    cn_program_file_close(&program);
    return has;
}

/* True if the words name such a program: it may be started by another one, as in
 * `env A=1 ./program` or `sh -c './program 1'`. */
static bool names_calls(const char *const *words)
{
    enum { TOKENS_MAX = 64 };
    static const char separators[] = " \t\n;&|()'\"";
    size_t count = 0;
    bool has = false;

    for (size_t i = 0; words[i] && !has; i++) {
        char *copy = cn_strdup(words[i]), *rest = copy, *token;

        while (!has && count < TOKENS_MAX && (token = strsep(&rest, separators))) {
            if (!*token)
                continue;
            count++;
            has = (i == 0 || strchr(token, '/')) && has_calls(token);
        }
        free(copy);
    }
    return has;
}

/* The words of the program, NULL at the end; the caller frees the list. */
static const char **words_of(const struct cn_args *args)
{
    size_t count = cn_args_count(args);
    const char **words = cn_alloc(count + 1, sizeof(*words));

    for (size_t i = 0; i < count; i++)
        words[i] = cn_args_operand(args, i);
    return words;
}

/* True if a program is sampled that no option asks to record: then it is said why. */
static bool samples_words(const struct cn_args *args, const char *const *words)
{
    const struct cn_command_language *interpreter = cn_command_language_of(words);

    if (interpreter && interpreter->is_recorded)
        return false;
    if (interpreter) {
        cn_cli_say(args,
                   "calls of %s functions are not recorded: sampling %s, which shows "
                   "them; --calls records calls to library functions of its run-time",
                   interpreter->language, words[0]);
        return true;
    }
    if (names_calls(words) || !is_program(words[0]))
        return false;
    cn_cli_say(
        args,
        "%s is not instrumented: sampling it; --calls records its calls to library "
        "functions, -P . patches its own functions",
        words[0]);
    return true;
}

bool cn_record_samples(const struct cn_args *args)
{
    if (cn_args_has(args, "sample"))
        return true;
    for (size_t i = 0; i < args->given_count; i++)
        if (cn_option_scope(args->command, args->given[i]) == CN_FOR_RECORDED)
            return false;
    const char **words = words_of(args);
    bool samples = words[0] && samples_words(args, words);

    free(words);
    return samples;
}

bool cn_sample_choose(const struct cn_args *args, struct cn_sample_options *options,
                      struct cn_error *err)
{
    const char *duration = cn_args_value(args, "duration");
    const char **words = words_of(args);

    options->words = words[0] ? words : NULL;
    if (!words[0])
        free(words);
    if (duration &&
        (!cn_duration_parse(duration, CN_BARE_REFUSED, &options->duration_ns, err) ||
         (options->duration_ns == 0 &&
          !cn_fail(err, CN_ERR_USAGE, "%s would sample nothing", duration))))
        return cn_fail_in(err, "--duration");
    return true;
}

bool cn_sample_program(const struct cn_args *args, struct cn_sample_options *options,
                       bool is_kept, int *wait_status, struct cn_error *err)
{
    const char *name = cn_args_find_operand(args, 0);
    uint64_t start_ns = cn_clock_ns();

    if (!name)
        return cn_fail(err, CN_ERR_USAGE, "no program given");
    options->frequency = CN_SAMPLE_FREQUENCY;
    options->compression_level = 1;
    bool ok = cn_kinds_check(args, CN_FOR_SAMPLED, name, err) &&
              cn_sample_choose(args, options, err) &&
              cn_sample_and_tell(args, options, is_kept, wait_status, err);
    if (ok && cn_args_has(args, "time"))
        cn_record_print_time(start_ns);
    free((void *)(uintptr_t)options->words);
    return ok;
}

bool cn_record_sample(const struct cn_args *args, int *wait_status, struct cn_error *err)
{
    const char *path = cn_args_value(args, "data");
    struct cn_sample_options options = {.path = path ? path : CN_SAMPLE_FILE,
                                        .has_gpu = cn_record_has_gpu(args),
                                        .has_ranges = cn_args_has(args, "nvtx"),
                                        .has_symbols = true};

    return cn_sample_program(args, &options, true, wait_status, err);
}
