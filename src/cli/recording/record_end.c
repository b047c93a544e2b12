#include "cli/recording/record_end.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cli/shell/cli.h"
#include "launcher/launch.h"
#include "record/shared.h"

static const char *why_stopped(int stop)
{
    switch ((enum cn_rec_stop)stop) {
    case CN_REC_RUNNING:
        return NULL;
    case CN_REC_STOP_DISK:
        return "recording stopped: the disk is full or cannot be written";
    case CN_REC_STOP_SIZE:
        return "recording stopped at --size-limit";
    case CN_REC_STOP_DURATION:
        return "recording stopped after --duration";
    case CN_REC_STOP_FINISH:
        return "recording stopped by the trigger 'finish'";
    }
    return NULL;
}

void cn_record_tell_stop(const struct cn_args *args,
                         const struct cn_launch_result *result)
{
    const char *stopped = why_stopped(result->stop);

    if (stopped)
        cn_cli_warn(args, "%s; the program ran on", stopped);
}

/* End as the program did: whoever waits for us is to see the same. */
void cn_record_end_like(int wait_status)
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
