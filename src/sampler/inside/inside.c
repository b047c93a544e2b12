/* Samples the program that this library is preloaded into: where the kernel allows no perf
 * events, a timer of each thread's processor time sends it a signal, whose handler copies
 * registers and stack to shared memory.
 *
 * The program must not notice: the handler calls no function that may lock or allocate,
 * restores errno, and restarts system calls. A program that uses the signal itself is not
 * sampled.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampler/inside/slot.h"
#include "sampler/inside/thread.h"

enum { BELOW_MAX = 9 }; /* signals below SIGRTMAX that are tried */

static int signal_number;
static pthread_key_t timer_key;
static _Atomic(void (*)(int, siginfo_t *,
                        void *)) handler_of_all; /* NULL: there is none */

/* Of this thread. */
static _Thread_local timer_t timer;
static _Thread_local bool has_timer;

static uintptr_t read_registers(const ucontext_t *context, uint64_t *out)
{
#if defined(__x86_64__)
    static const int numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        out[i] = (uint64_t)context->uc_mcontext.gregs[numbers[i]];
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
    for (size_t i = 0; i < 31; i++)
        out[i] = context->uc_mcontext.regs[i];
    out[31] = context->uc_mcontext.sp;
    out[32] = context->uc_mcontext.pc;
    return context->uc_mcontext.sp;
#endif
}

static void on_timer(int number, siginfo_t *info, void *context)
{
    void (*other)(int, siginfo_t *, void *) = atomic_load(&handler_of_all);
    int error = errno;
    struct cn_inside_slot *slot;

    if (info->si_code != SI_TIMER && other) {
        other(number, info, context);
        return;
    }
    if (info->si_code == SI_TIMER && cn_inside_is_on() &&
        (slot = cn_inside_take(CN_INSIDE_SAMPLE))) {
        uintptr_t from = read_registers(context, slot->registers);

        slot->period_count = 1 + (uint32_t)info->si_overrun;
        cn_inside_copy_stack(slot, from);
        cn_inside_read_frames(slot);
        cn_inside_give(slot);
    }
    errno = error;
}

static struct sigaction own_action(void)
{
    struct sigaction action = {.sa_sigaction = on_timer,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    (void)sigfillset(&action.sa_mask);
    return action;
}

static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signal_number};
    long ns = (long)cn_inside->period_ns;
    struct itimerspec every = {.it_interval = {ns / 1000000000, ns % 1000000000},
                               .it_value = {ns / 1000000000, ns % 1000000000}};

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return;
    has_timer = true;
    (void)pthread_setspecific(timer_key, cn_inside);
    (void)timer_settime(timer, 0, &every, NULL);
}

static void stop_timer(void *ignored)
{
    (void)ignored;
    if (has_timer && !atomic_load(&cn_inside_is_sandboxed))
        (void)timer_delete(timer);
    has_timer = false;
}

/* Tell cairn the mappings, before the process may end. */
static void report_mappings(void)
{
    struct cn_inside_slot *slot = cn_inside_take(CN_INSIDE_BEGIN);
    int fd = slot ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    size_t len = 0;
    ssize_t done = 1;

    if (!slot)
        return;
    while (fd >= 0 && done > 0 && len < CN_INSIDE_COPY_MAX) {
        done = read(fd, slot->copy + len, CN_INSIDE_COPY_MAX - len);
        len += done > 0 ? (size_t)done : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    slot->copy_len = (uint32_t)len;
    cn_inside_give(slot);
}

void cn_inside_sandboxed(void)
{
    atomic_fetch_or(&cn_inside->notes, CN_INSIDE_SANDBOXED);
    if (has_timer)
        (void)timer_delete(timer);
    has_timer = false;
}

/* A run-time that handles all signals (Go with C) has taken this one when it began, before it starts
 * threads. It gets those that are no timer's. */
static void take_back_signal(void)
{
    struct sigaction now, ours, another;

    if (sigaction(signal_number, NULL, &now) != 0 || now.sa_sigaction == on_timer ||
        !(now.sa_flags & SA_SIGINFO) || sigaction(SIGURG, NULL, &another) != 0 ||
        another.sa_sigaction != now.sa_sigaction ||
        sigaction(SIGPIPE, NULL, &another) != 0 ||
        another.sa_sigaction != now.sa_sigaction)
        return;
    atomic_store(&handler_of_all, now.sa_sigaction);
    ours = own_action();
    (void)sigaction(signal_number, &ours, NULL);
}

void cn_inside_thread_begin(void)
{
    if (!cn_inside_is_on())
        return;
    take_back_signal();
    cn_inside_find_stack();
    start_timer();
}

/* A forked process has no timers. */
static void after_fork(void)
{
    has_timer = false;
    cn_inside_forget();
    if (!cn_inside_is_on())
        return;
    report_mappings();
    start_timer();
}

/* A signal that the program does not handle; 0 if there is none. */
static int choose_signal(void)
{
    for (int i = SIGRTMAX - 1; i >= SIGRTMIN && i >= SIGRTMAX - BELOW_MAX; i--) {
        struct sigaction action;

        if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            return i;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = own_action();
    const char *path = getenv(CN_INSIDE_ENV);
    int error = errno;

    cn_inside_find_calls();
    signal_number = path ? choose_signal() : 0;
    if (signal_number > 0 && pthread_key_create(&timer_key, stop_timer) == 0 &&
        cn_inside_map(path)) {
        (void)sigaction(signal_number, &action, NULL);
        (void)pthread_atfork(NULL, NULL, after_fork);
        cn_inside_find_stack();
        report_mappings();
        start_timer();
    }
    errno = error;
}
