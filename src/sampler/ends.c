#include "sampler/ends.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

/* Set by signal handlers. */
static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t forwarded_to;

static void on_interrupt(int number)
{
    (void)number;
    interrupts = 1;
}

static void on_terminate(int number)
{
    if (forwarded_to > 0)
        (void)kill((pid_t)forwarded_to, number);
    else
        interrupts = 1;
}

void cn_sample_ends_catch(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    struct sigaction terminate = {.sa_handler = on_terminate};

    interrupts = 0;
    /* The terminal sends these to the program as well, which decides how to end. */
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &interrupt, NULL);
    (void)sigaction(SIGTERM, &terminate, NULL);
    (void)sigaction(SIGHUP, &terminate, NULL);
}

void cn_sample_ends_forward(pid_t program)
{
    forwarded_to = program;
}

bool cn_sample_ends_is_asked(void)
{
    return interrupts;
}

void cn_sample_ends_open(struct cn_sample_ends *ends,
                         const struct cn_sample_options *options, int program_end)
{
    ends->has_program = options->words != NULL && !options->has_end;
    ends->polled = cn_alloc(options->pid_count + 1, sizeof(*ends->polled));
    if (options->has_end) {
        int fd = dup(options->end);

        ends->alive_count = 1;
        ends->polled[ends->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
        return;
    }
    if (options->words)
        ends->polled[ends->count++] =
            (struct pollfd){.fd = program_end, .events = POLLIN};
    for (size_t i = 0; i < options->pid_count; i++) {
        int fd = (int)syscall(SYS_pidfd_open, options->pids[i], 0);

        ends->alive_count += fd >= 0;
        ends->polled[ends->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}

void cn_sample_ends_wait(struct cn_sample_ends *ends, int timeout_ms)
{
    if (poll(ends->polled, (nfds_t)ends->count, timeout_ms) <= 0 || ends->has_program)
        return;
    for (size_t i = 0; i < ends->count; i++) {
        struct pollfd *polled = &ends->polled[i];

        if (polled->revents == 0)
            continue;
        (void)close(polled->fd);
        polled->fd = -1;
        ends->alive_count--;
    }
}

void cn_sample_ends_close(struct cn_sample_ends *ends)
{
    for (size_t i = ends->has_program; i < ends->count; i++)
        if (ends->polled[i].fd >= 0)
            (void)close(ends->polled[i].fd);
    free(ends->polled);
    forwarded_to = 0;
}
