/* A signal at every instruction of recorded calls. The parent steps its child through one
 * call, one instruction further each time, and sends it a signal there; the handler makes
 * calls of its own. If processes cannot be traced, a timer sends the signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 500, HANDLER_CALLS = 150 };

static volatile int sum, handler_sum, handled;

__attribute__((noinline)) static void inner(int x)
{
    sum += x;
}

__attribute__((noinline)) static void outer(int x)
{
    inner(x);
    sum -= x;
}

__attribute__((noinline)) static void called_by_handler(int x)
{
    handler_sum += x;
}

static void on_signal(int number)
{
    (void)number;
    for (int i = 0; i < HANDLER_CALLS; i++)
        called_by_handler(1);
    handled++;
}

/* The parent begins to step here. */
static void stop_here(void)
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
}

static void run_child(int is_traced)
{
    signal(SIGUSR1, on_signal);
    if (is_traced)
        raise(SIGSTOP);
    for (int i = 0; i < STEPS; i++) {
        if (is_traced)
            stop_here();
        else
            raise(SIGUSR1);
        outer(i);
    }
    printf("%d %d %d\n", sum, handler_sum - handled * HANDLER_CALLS, handled > STEPS / 3);
    fflush(stdout);
    _exit(0);
}

/* Steps this many instructions, at most to the next stop. False when the child ends. */
static int step(pid_t child, int steps)
{
    siginfo_t info;
    int status;

    for (int i = 0; i < steps; i++) {
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            return 0;
        ptrace(PTRACE_GETSIGINFO, child, 0, &info);
        if (info.si_code != TRAP_TRACE)
            break;
    }
    return 1;
}

static int trace(pid_t child)
{
    int status = 0, signal = 0, count = 0;

    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        signal = WSTOPSIG(status);
        if (signal == SIGTRAP && step(child, count++))
            signal = SIGUSR1;
        else if (signal == SIGSTOP)
            signal = 0;
        ptrace(PTRACE_CONT, child, 0, (void *)(long)signal);
    }
    return status;
}

int main(void)
{
    int fds[2], status;
    char can_trace = 0;
    pid_t child;

    if (pipe(fds) != 0)
        return 2;
    child = fork();
    if (child == 0) {
        can_trace = ptrace(PTRACE_TRACEME, 0, 0, 0) == 0;
        (void)!write(fds[1], &can_trace, 1);
        run_child(can_trace);
    }
    (void)!read(fds[0], &can_trace, 1);
    if (can_trace)
        status = trace(child);
    else
        waitpid(child, &status, 0);
    printf("status %d\n", status);
    return 0;
}
