#include "sampler/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "gpu/shared.h"
#include "sampler/inside/shared.h"

/* What the process is told when it may run the program. */
struct sampler_order {
    char library[PATH_MAX], allocations[PATH_MAX], memory[64];
    char gpu_library[PATH_MAX], gpu_memory[64];
    bool has_cuda;
};

/* Name the libraries in the environment: the first two are prepended to LD_PRELOAD, the other one is
 * loaded by the driver of the GPU, and by NVTX unless that has another one. */
static void preload(const struct sampler_order *order)
{
    const char *before = getenv("LD_PRELOAD");
    struct cn_text text = {0};

    if (order->gpu_library[0]) {
        if (order->has_cuda)
            (void)setenv(CN_GPU_INJECT_ENV, order->gpu_library, 1);
        (void)setenv(CN_GPU_NVTX_ENV, order->gpu_library, 0);
        (void)setenv(CN_GPU_ENV, order->gpu_memory, 1);
    }
    if (!order->library[0] && !order->allocations[0])
        return;
    cn_text_str_add(&text, order->library);
    if (order->allocations[0])
        cn_text_printf(&text, "%s%s", text.len > 0 ? ":" : "", order->allocations);
    if (before && *before)
        cn_text_printf(&text, ":%s", before);
    (void)setenv("LD_PRELOAD", cn_text_str(&text), 1);
    if (order->library[0])
        (void)setenv(CN_INSIDE_ENV, order->memory, 1);
    if (order->allocations[0])
        (void)setenv(CN_INSIDE_MEMORY_ENV, order->memory, 1);
}

static _Noreturn void run(int go, int failed, const char *const *words)
{
    struct sampler_order order;
    size_t len = 0;
    ssize_t done;
    int error;

    while (len < sizeof(order) &&
           (done = read(go, (char *)&order + len, sizeof(order) - len)) != 0) {
        if (done < 0 && errno != EINTR)
            break;
        len += done > 0 ? (size_t)done : 0;
    }
    if (len != sizeof(order))
        _exit(127);
    preload(&order);
    (void)execvp(words[0], (char *const *)(uintptr_t)words);
    error = errno;
    (void)!write(failed, &error, sizeof(error));
    _exit(127);
}

bool cn_sample_program_start(struct cn_sample_program *program, const char *const *words,
                             struct cn_error *err)
{
    int go[2] = {-1, -1}, failed[2] = {-1, -1};

    *program = (struct cn_sample_program){.end = -1, .go = -1, .failed = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
        return cn_fail_errno(err, "cannot create a socket");
    if (pipe2(failed, O_CLOEXEC) == 0)
        program->pid = fork();
    else
        program->pid = -1;
    if (program->pid == 0) {
        (void)close(go[1]);
        run(go[0], failed[1], words);
    }
    if (program->pid < 0)
        (void)cn_fail_errno(err, "cannot start '%s'", words[0]);
    (void)close(go[0]);
    if (failed[1] >= 0)
        (void)close(failed[1]);
    program->go = go[1];
    program->failed = failed[0];
    if (program->pid > 0) {
        program->end = (int)syscall(SYS_pidfd_open, program->pid, 0);
        return true;
    }
    program->pid = 0;
    cn_sample_program_close(program);
    return false;
}

/* False if the path is too long. */
static bool set_path(char *to, size_t len, const char *path)
{
    return !path || snprintf(to, len, "%s", path) < (int)len;
}

bool cn_sample_program_go(struct cn_sample_program *program, const char *name,
                          const struct cn_sample_libraries *libraries,
                          struct cn_error *err)
{
    struct sampler_order order = {.has_cuda = libraries->has_cuda};
    int error = 0;
    ssize_t len;

    if (!set_path(order.library, sizeof(order.library), libraries->inside) ||
        !set_path(order.allocations, sizeof(order.allocations), libraries->allocations) ||
        !set_path(order.memory, sizeof(order.memory), libraries->inside_memory) ||
        !set_path(order.gpu_library, sizeof(order.gpu_library), libraries->gpu) ||
        !set_path(order.gpu_memory, sizeof(order.gpu_memory), libraries->gpu_memory))
        return cn_fail(err, CN_ERR_LIMIT, "the path of a library of cairn is too long");
    /* The socket takes it at once, and refuses it if the process was killed. */
    (void)!send(program->go, &order, sizeof(order), MSG_NOSIGNAL);
    (void)close(program->go);
    program->go = -1;
    /* The pipe ends when the program runs. */
    do
        len = read(program->failed, &error, sizeof(error));
    while (len < 0 && errno == EINTR);
    if (len != (ssize_t)sizeof(error))
        return true;
    while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    program->pid = 0;
    if (error == ENOENT)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no program '%s'", name);
    errno = error;
    return cn_fail_errno(err, "cannot run '%s'", name);
}

void cn_sample_program_close(struct cn_sample_program *program)
{
    int *const fds[] = {&program->end, &program->go, &program->failed};
    bool waits = program->go >= 0;

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0)
            (void)close(*fds[i]);
        *fds[i] = -1;
    }
    if (waits && program->pid > 0)
        while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    program->pid = 0;
}
