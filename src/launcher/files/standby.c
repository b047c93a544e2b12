#include "launcher/files/standby.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/files/modules.h"

enum { LOOK_EVERY_MS = 50 };

/* Drain until the last task has ended. The exit status stays unknown: only the launcher
 * could wait for the program. Errors are ignored, to save as much as possible. */
static void take_over(struct cn_drain *drain)
{
    struct cn_module_files modules = {.dir = drain->dir};
    struct cn_error err = {0};

    (void)!(cn_drain_take_over(drain, &err) && cn_drain_step(drain, &err));
    (void)!cn_module_files_update(&modules, &err);
    do {
        cn_drain_wait(drain, LOOK_EVERY_MS);
        cn_drain_look_now(drain);
    } while (cn_drain_step(drain, &err) && drain->open_count > 0);
    (void)!cn_drain_finish(drain, &err);
    (void)!cn_module_files_finish(&modules, &err);
    cn_module_files_done(&modules);
    cn_shared_memory_close(drain->memory);
}

static void wait_for_launcher(struct cn_drain *drain, int fd)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
    char message;
    ssize_t len;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], SIG_IGN);
    /* Readers of the program's output must not wait for this process. */
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    (void)close(STDERR_FILENO);
    do
        len = read(fd, &message, 1);
    while (len < 0 && errno == EINTR);
    if (len == 0)
        take_over(drain);
}

bool cn_standby_start(struct cn_standby *standby, struct cn_drain *drain,
                      struct cn_error *err)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return cn_fail_errno(err, "cannot create a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[1]);
        (void)setsid();
        wait_for_launcher(drain, fds[0]);
        _exit(0);
    }
    (void)close(fds[0]);
    if (pid < 0) {
        (void)close(fds[1]);
        return cn_fail_errno(err, "cannot start a process");
    }
    *standby = (struct cn_standby){pid, fds[1]};
    return true;
}

void cn_standby_stop(struct cn_standby *standby)
{
    if (standby->pid == 0)
        return;
    (void)!write(standby->fd, "", 1);
    (void)close(standby->fd);
    while (waitpid(standby->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *standby = (struct cn_standby){0};
}
