/* Set-up when the library is loaded. If anything fails, the program runs unrecorded. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/calls/cost.h"
#include "record/calls/filter.h"
#include "record/calls/hooks.h"
#include "record/calls/watch.h"
#include "record/clock.h"
#include "record/code/loader.h"
#include "record/heap/log.h"
#include "record/process.h"
#include "record/start/exec.h"
#include "record/start/interpose.h"
#include "record/start/python.h"
#include "record/start/signals.h"
#include "record/state/memory.h"
#include "record/state/returns.h"
#include "record/state/session.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

extern void *__libc_stack_end;

struct cn_rec_process cn_rec_process;

static void say(const char *what)
{
    char line[160] = "cairn record: ";

    strncat(line, what, sizeof(line) - strlen(line) - 2);
    strcat(line, "\n");
    (void)!write(STDERR_FILENO, line, strlen(line));
}

/* The stack of the first thread grows downwards from __libc_stack_end. */
static void find_main_stack(struct cn_rec_thread *self)
{
    struct rlimit limit = {0};
    uintptr_t high = ((uintptr_t)__libc_stack_end + CN_REC_PAGE_LEN) &
                     ~(uintptr_t)(CN_REC_PAGE_LEN - 1);
    uintptr_t len = (uintptr_t)1 << 30;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < len)
        len = limit.rlim_cur;
    self->stack_high = high;
    self->stack_low = high > len ? high - len : 0;
}

/* True if the launcher waits for this program. The program does not see the mark. */
static bool take_mark(char *path)
{
    size_t len = sizeof(CN_REC_ENV_COMING) - 1;

    if (strncmp(path, CN_REC_ENV_COMING, len) != 0)
        return false;
    memmove(path, path + len, strlen(path + len) + 1);
    return true;
}

/* The launcher need not wait any more. */
static void arrive(void)
{
    uint32_t count = atomic_load(&cn_rec_process.shared->coming_count);

    while (count > 0 && !atomic_compare_exchange_weak(
                            &cn_rec_process.shared->coming_count, &count, count - 1))
        continue;
}

static void set_up(void)
{
    char *path = getenv(CN_REC_ENV);
    struct cn_rec_thread *self;
    bool has_memory, is_coming;

    is_coming = path && take_mark(path);
    cn_rec_exec_begin(path);
    if (!path || !*path)
        return;
    has_memory = cn_rec_memory_open(path);
    if (!has_memory || !cn_rec_session_begin(cn_rec_clock_ns(cn_rec_process.shared))) {
        if (has_memory && is_coming)
            arrive();
        cn_rec_process.shared = NULL;
        say(has_memory ? "program not recorded: cannot write to the recording"
                       : "program not recorded: cannot map the memory of the launcher");
        return;
    }
    /* Library functions of a program in Python are those of Python. */
    cn_rec_process.has_libcalls =
        cn_rec_process.shared->has_libcalls && !cn_rec_python_is_program();
    cn_rec_process.has_nested_libcalls =
        cn_rec_process.has_libcalls && cn_rec_process.shared->has_nested_libcalls;
    cn_rec_interpose_begin();
    cn_rec_returns_begin();
    cn_rec_filter_begin();
    self = cn_rec_thread_begin();
    if (!cn_rec_loader_begin())
        say("library calls cannot be recorded");
    if (self) {
        find_main_stack(self);
        cn_rec_cost_measure(self);
    }
    if (is_coming)
        arrive();
    cn_rec_watch_begin();
    cn_rec_signals_begin();
    cn_rec_process.is_running = true;
    cn_rec_python_begin();
}

/* What the recorder allocates is not the program's. */
__attribute__((constructor)) static void begin(void)
{
    int error = errno;

    cn_rec_quiet++;
    set_up();
    cn_rec_quiet--;
    if (cn_rec_heap_begin)
        cn_rec_heap_begin();
    errno = error;
}
