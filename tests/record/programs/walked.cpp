/* A walk of the stack at every instruction of recorded calls, while another thread throws and
 * others start and end. The parent steps its child through one call, one instruction further
 * each time, and sends it a signal there; the handler must find the caller of it. If
 * processes cannot be traced, a timer sends the signals. */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { STEPS = 450 };

static volatile int sum;
static std::atomic<bool> is_over;
static std::atomic<int> thrown;
static int walks, broken;
static volatile bool is_driving; /* the last steps go on after drive() */

extern "C" const char __start_driving[], __stop_driving[]; /* the code of drive() */

extern "C" __attribute__((noipa)) void inner(int x)
{
    sum += x;
}

extern "C" __attribute__((noipa)) void outer(int x)
{
    inner(x);
    sum -= x;
}

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
    const char *pc = (const char *)_Unwind_GetIP(context);

    if (pc >= __start_driving && pc < __stop_driving)
        *(bool *)arg = true;
    return _URC_NO_REASON;
}

/* In the recorder, each instruction has unwind information. */
static void on_signal(int, siginfo_t *, void *arg)
{
    const ucontext_t *context = (const ucontext_t *)arg;
#if defined(__x86_64__)
    void *pc = (void *)context->uc_mcontext.gregs[REG_RIP];
#else
    void *pc = (void *)context->uc_mcontext.pc;
#endif
    bool is_whole = false;
    Dl_info info;

    _Unwind_Backtrace(look, &is_whole);
    walks++;
    broken += is_driving && !is_whole && dladdr(pc, &info) && strstr(info.dli_fname, "cairn-record");
}

static void throw_out(int n)
{
    if (n == 0)
        throw std::runtime_error("thrown");
    throw_out(n - 1);
    asm volatile("");
}

static void keep_throwing()
{
    while (!is_over) {
        try {
            throw_out(3);
        } catch (std::exception &) {
            thrown++;
        }
        if (thrown % 16 == 0)
            std::thread([] { sum += 0; }).join();
    }
}

/* The parent begins to step here. */
static void stop_here()
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
}

__attribute__((noipa, section("driving"))) static void drive(bool is_traced)
{
    is_driving = true;
    for (int i = 0; i < STEPS; i++) {
        if (is_traced)
            stop_here();
        else
            raise(SIGUSR1);
        outer(i);
    }
    is_driving = false;
}

static void run_child(bool is_traced)
{
    std::thread thrower(keep_throwing);
    struct sigaction action = {};

    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, nullptr);
    if (is_traced)
        raise(SIGSTOP);
    drive(is_traced);
    is_over = true;
    thrower.join();
    printf("%d %d broken\n", walks > STEPS / 3, broken);
    fflush(stdout);
    _exit(0);
}

/* Steps this many instructions, at most to the next stop. False when the child ends. */
static bool step(pid_t child, int steps)
{
    siginfo_t info;
    int status;

    for (int i = 0; i < steps; i++) {
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            return false;
        ptrace(PTRACE_GETSIGINFO, child, 0, &info);
        if (info.si_code != TRAP_TRACE)
            break;
    }
    return true;
}

static int trace(pid_t child)
{
    int status = 0, count = 0;

    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);

        if (signal == SIGTRAP && step(child, count++))
            signal = SIGUSR1;
        else if (signal == SIGSTOP)
            signal = 0;
        ptrace(PTRACE_CONT, child, 0, (void *)(long)signal);
    }
    return status;
}

int main()
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
