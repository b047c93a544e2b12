#include "record/start/interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unwind.h>

#include "record/calls/hooks.h"
#include "record/calls/pmu.h"
#include "record/code/loader.h"
#include "record/process.h"
#include "record/sandbox.h"
#include "record/state/memory.h"
#include "record/state/returns.h"
#include "record/state/thread.h"
#include "record/state/thread_pool.h"
#include "record/syscalls.h"

enum { BACKTRACE_MAX = 1 << 20 };

#define EXPORT __attribute__((visibility("default")))

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*limit_fn)(int, const struct rlimit *);
typedef int (*limit_of_fn)(pid_t, int, const struct rlimit *, struct rlimit *);
typedef int (*clone_fn)(int (*)(void *), void *, int, void *, ...);
typedef int (*backtrace_fn)(void **, int);
typedef _Unwind_Reason_Code (*walk_fn)(_Unwind_Trace_Fn, void *);
typedef _Unwind_Ptr (*ip_fn)(struct _Unwind_Context *);
typedef _Unwind_Ptr (*ip_info_fn)(struct _Unwind_Context *, int *);

static struct {
    create_fn create;
    clone_fn clone;
    limit_fn limit;
    limit_of_fn limit_of;
    backtrace_fn backtrace;
    uintptr_t forwards[5]; /* by their numbers in hooks_ARCH.S */
    pthread_key_t key;     /* its destructor ends the recording of a thread */
} real;

static const char *const forward_names[] = {"dlopen", "dlmopen", "prctl", "syscall",
                                            "makecontext"};

/* dlsym() returns object pointers; POSIX guarantees that they can represent functions. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    __builtin_memcpy(function, &found, sizeof(found));
}

/* Destructors of thread data run in rounds: the last one ends the recording, so that calls in
 * the destructors of the program are recorded. */
static void end_thread(void *thread)
{
    struct cn_rec_thread *self = thread;
    int error = errno;

    if (cn_rec_self == self && ++self->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        (void)pthread_setspecific(real.key, self);
    } else if (cn_rec_self == self) {
        if (cn_rec_thread_is_ours(self) && (self->top->flags & CN_REC_FRAME_ENDS))
            cn_rec_frame_pop(self);
        cn_rec_pmu_close(thread);
        cn_rec_thread_end(thread);
    }
    errno = error;
}

/* The launcher waits for the child even if this process ends before the child runs. */
static void announce_child(void)
{
    if (cn_rec_self && cn_rec_process.shared)
        atomic_fetch_add(&cn_rec_process.shared->coming_count, 1);
}

/* Also record a child that makes no recorded call. */
static void begin_child(void)
{
    struct cn_rec_thread *self = cn_rec_self;

    if (!self)
        return;
    (void)cn_rec_thread_adopt(self);
    if (cn_rec_process.shared)
        atomic_fetch_sub(&cn_rec_process.shared->coming_count, 1);
}

void cn_rec_interpose_begin(void)
{
    find("pthread_create", &real.create);
    find("clone", &real.clone);
    find("setrlimit", &real.limit);
    find("prlimit", &real.limit_of);
    find("backtrace", &real.backtrace);
    for (int i = 0; i < 5; i++)
        find(forward_names[i], &real.forwards[i]);
    (void)pthread_key_create(&real.key, end_thread);
    (void)pthread_atfork(announce_child, NULL, begin_child);
}

struct interpose_start {
    void *(*run)(void *);
    void *arg;
    size_t stack_len;
    bool is_allocated;
    _Atomic bool is_taken;
};

/* Threads that are being created. malloc() may be the program's own, and recorded: it is
 * called only if there are more. */
static struct interpose_start starts[64];

static struct interpose_start *take_start(void)
{
    struct interpose_start *start = NULL;

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (!atomic_exchange(&starts[i].is_taken, true))
            return &starts[i];
    }
    cn_rec_quiet++;
    start = malloc(sizeof(*start));
    cn_rec_quiet--;
    if (start)
        *start = (struct interpose_start){.is_allocated = true};
    return start;
}

static void release_start(struct interpose_start *start)
{
    if (start->is_allocated)
        free(start);
    else
        atomic_store(&start->is_taken, false);
}

/* All recorded calls of a thread are below `high`. Its control block is at the end of its
 * stack. pthread_getattr_np() would allocate memory, which the allocator of a sanitizer does
 * not allow in each thread. */
static void find_stack(struct cn_rec_thread *self, const void *high, size_t len)
{
    uintptr_t end = ((uintptr_t)pthread_self() + 2 * CN_REC_PAGE_LEN - 1) &
                    ~(uintptr_t)(CN_REC_PAGE_LEN - 1);

    self->stack_high = (uintptr_t)high;
    self->stack_low = end > len ? end - len : 0;
}

static void *start_thread(void *arg)
{
    struct interpose_start *start = arg;
    void *(*run)(void *) = start->run;
    size_t stack_len = start->stack_len;
    struct cn_rec_thread *self = cn_rec_thread_begin();

    arg = start->arg;
    release_start(start);
    if (self) {
        /* This function may jump to `run`, which then has its stack pointer. */
        find_stack(self, (char *)__builtin_dwarf_cfa() + sizeof(uintptr_t), stack_len);
        (void)pthread_setspecific(real.key, self);
    }
    return run(arg);
}

static size_t stack_len_of(const pthread_attr_t *attr)
{
    pthread_attr_t defaults;
    size_t len = 0;

    if (!attr && pthread_attr_init(&defaults) == 0) {
        (void)pthread_attr_getstacksize(&defaults, &len);
        (void)pthread_attr_destroy(&defaults);
    } else if (attr) {
        (void)pthread_attr_getstacksize(attr, &len);
    }
    return len;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *arg)
{
    struct interpose_start *start = NULL;
    int result;

    if (!real.create)
        find("pthread_create", &real.create);
    if (cn_rec_process.shared)
        start = take_start();
    if (!start)
        return real.create(thread, attr, run, arg);
    start->run = run;
    start->arg = arg;
    start->stack_len = stack_len_of(attr);
    result = real.create(thread, attr, start_thread, start);
    if (result != 0)
        release_start(start);
    return result;
}

/* The next recorded call looks for new libraries. */
static void expect_library(uintptr_t sp)
{
    struct cn_rec_thread *self = cn_rec_self;

    if (self && !self->is_off &&
        (!cn_rec_loader_is_watched() || cn_rec_process.has_nested_libcalls)) {
        self->dlopen_sp = sp;
        cn_rec_thread_complicate(self);
    }
}

/* Calls on the stack of a context are not below those of the function that contains it. */
static void expect_context(const ucontext_t *context)
{
    if (cn_rec_self && cn_rec_thread_is_ours(cn_rec_self))
        cn_rec_thread_add_island(cn_rec_self, (uintptr_t)context->uc_stack.ss_sp,
                                 context->uc_stack.ss_size);
}

/* Stop recording in this process before the kernel forbids system calls, or reading the
 * counter: a violation would end the program. */
static void stop_before(uint64_t number, uint64_t first, uint64_t second)
{
    bool hides_counter =
        number == SYS_prctl && first == PR_SET_TSC && second == PR_TSC_SIGSEGV;

    if (!hides_counter && !cn_rec_restricts(number, first))
        return;
    if (!cn_rec_process.shared || atomic_exchange(&cn_rec_is_sandboxed, true))
        return;
    atomic_fetch_add(&cn_rec_process.shared->sandboxed_count, 1);
    if (cn_rec_self)
        cn_rec_thread_stop(cn_rec_self);
}

uintptr_t cn_rec_forward_begin(uintptr_t sp, uint32_t number, const uint64_t *arguments)
{
    enum { DLOPEN, DLMOPEN, PRCTL, SYSCALL, MAKECONTEXT };

    if (number <= DLMOPEN)
        expect_library(sp);
    else if (number == MAKECONTEXT)
        expect_context((const ucontext_t *)arguments[0]);
    else if (number == PRCTL)
        stop_before(SYS_prctl, arguments[0], arguments[1]);
    else
        stop_before(arguments[0], arguments[1], arguments[2]);
    if (!real.forwards[number] && number == SYSCALL)
        return (uintptr_t)cn_rec_early_syscall; /* the loader may not be ready */
    if (!real.forwards[number])
        find(forward_names[number], &real.forwards[number]);
    return real.forwards[number];
}

/* Disable the profiling of -pg, which would cost time and write gmon.out. */
EXPORT void __monstartup(unsigned long low, unsigned long high);
EXPORT void __monstartup(unsigned long low, unsigned long high)
{
    (void)low;
    (void)high;
}

EXPORT void _mcleanup(void);
EXPORT void _mcleanup(void)
{
}

/* The memory that the recorder maps counts as the program's: unmap what is not used before
 * a limit is set. */
static void prepare_limit(int resource, const struct rlimit *limit)
{
    uint64_t before;

    if (resource != RLIMIT_AS || !limit || limit->rlim_cur == RLIM_INFINITY ||
        !cn_rec_process.shared || cn_rec_is_sandboxed)
        return;
    cn_rec_block_signals(&before);
    cn_rec_memory_limit();
    cn_rec_thread_pool_shrink();
    if (cn_rec_self)
        cn_rec_thread_shrink(cn_rec_self);
    cn_rec_restore_signals(&before);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    prepare_limit((int)resource, limit);
    if (!real.limit)
        find("setrlimit", &real.limit);
    return real.limit((int)resource, limit);
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
                   struct rlimit *before)
{
    if (pid == 0 || (uint32_t)pid == atomic_load(&cn_rec_process.pid))
        prepare_limit((int)resource, limit);
    if (!real.limit_of)
        find("prlimit", &real.limit_of);
    return real.limit_of(pid, (int)resource, limit, before);
}

/* The same functions, for programs built with _FILE_OFFSET_BITS=64. */
EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource,
                     const struct rlimit64 *limit, struct rlimit64 *before)
{
    return prlimit(pid, resource, (const struct rlimit *)limit, (struct rlimit *)before);
}

/* A task that shares memory but has no thread-local storage of its own would use the
 * frames of this thread. From now on each call checks its task. */
EXPORT int clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
    struct cn_rec_thread *self = cn_rec_self;
    va_list rest;
    void *more[3];

    va_start(rest, arg);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(rest, void *);
    va_end(rest);
    if (self && (flags & CLONE_VM) && !(flags & (CLONE_SETTLS | CLONE_VFORK))) {
        self->is_shared = true;
        cn_rec_thread_complicate(self);
    }
    if (!real.clone)
        find("clone", &real.clone);
    return real.clone(run, stack, flags, arg, more[0], more[1], more[2]);
}

/* Copy the addresses without this function and the return stubs. The address after that
 * of a stub was unwound minus 1. */
static int copy_true(void *const *all, int count, void **buffer, int size)
{
    int used = 0;

    for (int i = 1; i < count && used < size; i++) {
        bool is_after_stub = cn_rec_is_return((uintptr_t)all[i - 1]);

        if (!cn_rec_is_return((uintptr_t)all[i]))
            buffer[used++] = (char *)all[i] + is_after_stub;
    }
    return used;
}

/* Backtraces contain the true addresses. */
EXPORT int backtrace(void **buffer, int size);
EXPORT int backtrace(void **buffer, int size)
{
    void **all = NULL;
    int count;

    if (!real.backtrace)
        find("backtrace", &real.backtrace);
    cn_rec_quiet++;
    if (cn_rec_self && size > 0 && size <= BACKTRACE_MAX)
        all = malloc(sizeof(*all) * (2 * (size_t)size + 1));
    cn_rec_quiet--;
    if (!all)
        return real.backtrace(buffer, size);
    count = real.backtrace(all, 2 * size + 1);
    count = copy_true(all, count, buffer, size);
    free(all);
    return count;
}

struct interpose_walk {
    _Unwind_Trace_Fn visit;
    void *arg;
    ip_fn ip;
    bool is_begun, is_after_stub;
};

/* The stack frame that a walk visits after a return stub. */
static __thread const struct _Unwind_Context *after_stub
    __attribute__((tls_model("initial-exec")));

/* Skip the first frame, which is this function, and return stubs. */
static _Unwind_Reason_Code visit_true(struct _Unwind_Context *context, void *arg)
{
    struct interpose_walk *walk = arg;
    const struct _Unwind_Context *outer = after_stub;
    bool is_stub = cn_rec_is_return(walk->ip(context));
    _Unwind_Reason_Code result = _URC_NO_REASON;

    if (walk->is_begun && !is_stub) {
        after_stub = walk->is_after_stub ? context : NULL;
        result = walk->visit(context, walk->arg);
        after_stub = outer;
    }
    walk->is_begun = true;
    walk->is_after_stub = is_stub;
    return result;
}

/* Find a function of the unwinder that `caller` would have called. It may be in a library that
 * was opened later, and is known to the caller alone: then `*known` is not set. */
static void *find_unwind(const char *name, void **known, const void *caller)
{
    void *library, *found = *known;
    Dl_info info;

    if (!found)
        found = *known = dlsym(RTLD_NEXT, name);
    if (!found && (library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD)))
        found = *known = dlsym(library, name);
    if (!found && dladdr(caller, &info) &&
        (library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD))) {
        found = dlsym(library, name);
        (void)dlclose(library);
    }
    return found;
}

static struct {
    void *_Unwind_Backtrace, *_Unwind_GetIP, *_Unwind_GetIPInfo;
} cached;

#define UNWINDER(name, type) \
    ((type)(uintptr_t)find_unwind(#name, &cached.name, __builtin_return_address(0)))

/* Rust and others walk the stack with this. */
EXPORT _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void *arg)
{
    struct interpose_walk walk = {visit, arg, UNWINDER(_Unwind_GetIP, ip_fn), false,
                                  false};
    walk_fn next = UNWINDER(_Unwind_Backtrace, walk_fn);

    return next && walk.ip ? next(visit_true, &walk) : _URC_END_OF_STACK;
}

/* An address after that of a stub was unwound minus 1, as one that a signal interrupted. */
EXPORT _Unwind_Ptr _Unwind_GetIP(struct _Unwind_Context *context)
{
    return UNWINDER(_Unwind_GetIP, ip_fn)(context) + (context == after_stub);
}

EXPORT _Unwind_Ptr _Unwind_GetIPInfo(struct _Unwind_Context *context, int *is_exact)
{
    _Unwind_Ptr ip = UNWINDER(_Unwind_GetIPInfo, ip_info_fn)(context, is_exact);

    if (context != after_stub)
        return ip;
    *is_exact = 0;
    return ip + 1;
}
