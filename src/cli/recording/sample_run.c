#include "cli/recording/sample_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "launcher/files/rank.h"

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

static void tell_result(const struct cn_args *args,
                        const struct cn_sample_options *options,
                        const struct cn_sample_result *result)
{
    struct cn_text text = {0};

    if (result->failure.text[0])
        cn_cli_warn(args, "sampling stopped: %s; the program continued",
                    result->failure.text);
    if (result->lost_count > 0)
        cn_cli_warn(args,
                    "%" PRIu64 " records lost: they came faster than they could be "
                    "written; choose a lower -F",
                    result->lost_count);
    if (result->sample_count == 0)
        cn_cli_say(args, "no samples: the program ran for less than one period; choose a "
                         "higher -F");
    cn_count_print_of(&text, result->sample_count, "sample");
    cn_text_str_add(&text, " in ");
    cn_size_print(&text, result->file_len);
    if (result->stack_count > 0)
        cn_text_printf(&text, ", %.1f %% of stacks whole",
                       100 * (double)result->whole_count / (double)result->stack_count);
    cn_cli_say(args, "%s; next: cairn tree %s", cn_text_str(&text), options->path);
    cn_text_done(&text);
}

/* Under mpirun or srun, each rank has a file in a folder. */
static bool choose_path(struct cn_sample_options *options, struct cn_text *path,
                        struct cn_error *err)
{
    struct cn_launch_rank rank;

    if (!cn_launch_rank_find(&rank))
        return true;
    if (mkdir(options->path, 0700) != 0) {
        struct stat status;

        if (stat(options->path, &status) != 0 || !S_ISDIR(status.st_mode)) {
            cn_text_done(&rank.job);
            return cn_fail(err, CN_ERR_IO,
                           "'%s' is not a folder for a file of each rank: choose another "
                           "one with -o",
                           options->path);
        }
    }
    cn_text_printf(path, "%s/" CN_RANK_PREFIX "%" PRIu64, options->path, rank.number);
    options->path = cn_text_str(path);
    cn_text_done(&rank.job);
    return true;
}

bool cn_sample_and_tell(const struct cn_args *args, struct cn_sample_options *options,
                        int *wait_status, struct cn_error *err)
{
    struct cn_sample_result result;
    struct cn_text path = {0};
    bool ok;

    if (!options->say) {
        options->say = on_message;
        options->arg = (void *)(uintptr_t)args;
    }
    ok = choose_path(options, &path, err) && cn_sample_run(options, &result, err);
    if (ok) {
        *wait_status = result.wait_status;
        tell_result(args, options, &result);
    }
    cn_text_done(&path);
    return ok;
}
