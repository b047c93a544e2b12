/* Samples the program that this library is preloaded into: where the kernel allows no perf
 * events, a timer of each thread's processor time sends it a signal, whose handler copies
 * registers and stack to shared memory.
 *
 * The program must not notice: the handler calls no function that may lock or allocate,
 * restores errno, and restarts system calls. A program that uses the signal itself is not
 * sampled.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampler/inside/shared.h"

#define EXPORT __attribute__((visibility("default")))

enum { PAGE_LEN = 4096, BELOW_MAX = 9 }; /* signals below SIGRTMAX that are tried */

/* Memory of this process as it is at the moment, through blocks of the slot: what is not there is
 * no fault. */
static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address);
#define CN_FRAME_INLINE                        static inline
#define CN_FRAME_COPY(walk, out, len, address) copy_own(walk, out, len, address)
#include "sampler/languages/frame_steps.h"

static struct cn_inside_shared *shared;
static int signal_number;
static pthread_key_t timer_key;

/* Of this thread. */
static _Thread_local uintptr_t stack_begin, stack_end;
static _Thread_local timer_t timer;
static _Thread_local bool has_timer;
static _Thread_local uint64_t known_state; /* of an interpreter */

static struct cn_inside_slot *take_slot(uint32_t kind)
{
    uint32_t at = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
    struct cn_inside_slot *slot = &shared->slots[at % CN_INSIDE_SLOTS];
    uint32_t state = CN_INSIDE_FREE;
    struct timespec now;

    if (!atomic_compare_exchange_strong(&slot->state, &state, CN_INSIDE_FILLING)) {
        atomic_fetch_add_explicit(&shared->lost_count, 1, memory_order_relaxed);
        return NULL;
    }
    slot->kind = kind;
    slot->pid = (uint32_t)getpid();
    slot->tid = (uint32_t)syscall(SYS_gettid);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    slot->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return slot;
}

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

/* No memory is read outside the stack of the thread; on any other stack, only the page that
 * it points to. */
static size_t copy_len(uintptr_t from)
{
    uintptr_t end =
        from >= stack_begin && from < stack_end ? stack_end : (from | (PAGE_LEN - 1)) + 1;

    return end - from < CN_INSIDE_COPY_MAX ? end - from : CN_INSIDE_COPY_MAX;
}

static const struct cn_inside_block *block_at(struct cn_inside_slot *slot, uint64_t begin)
{
    struct cn_inside_block *block =
        &slot->blocks[begin / CN_INSIDE_BLOCK_LEN % CN_INSIDE_BLOCKS];
    struct iovec to = {block->bytes, sizeof(block->bytes)};
    struct iovec from = {(void *)(uintptr_t)begin, sizeof(block->bytes)};

    if (block->begin == begin)
        return block;
    block->begin = 1;
    if (syscall(SYS_process_vm_readv, (long)slot->pid, &to, 1L, &from, 1L, 0L) !=
        (long)sizeof(block->bytes))
        return NULL;
    block->begin = begin;
    return block;
}

static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address)
{
    struct cn_inside_slot *slot =
        (struct cn_inside_slot *)((uint8_t *)walk -
                                  offsetof(struct cn_inside_slot, walk));
    uint8_t *to = out;

    while (len > 0) {
        size_t off = (size_t)(address % CN_INSIDE_BLOCK_LEN);
        size_t part = CN_INSIDE_BLOCK_LEN - off < len ? CN_INSIDE_BLOCK_LEN - off : len;
        const struct cn_inside_block *block = block_at(slot, address - off);

        if (!block)
            return false;
        memcpy(to, block->bytes + off, part);
        to += part;
        address += part;
        len -= part;
    }
    return true;
}

static const struct cn_frame_table *find_table(uint32_t pid)
{
    for (size_t i = 0; i < CN_INSIDE_TABLES; i++)
        if (atomic_load_explicit(&shared->tables[i].pid, memory_order_acquire) == pid)
            return &shared->tables[i].table;
    return NULL;
}

static bool find_states(struct cn_frame_walk *walk, const struct cn_frame_table *table)
{
    bool is_over = false;

    walk->state_count = 1;
    walk->states[0] = table->root;
    if (table->root_kind == CN_FRAME_AT_ADDRESS)
        return true;
    if (table->root_kind == CN_FRAME_AT_THREAD)
        return cn_frame_walk_variable(walk, table,
                                      (uint64_t)(uintptr_t)__builtin_thread_pointer());
    if (!cn_frame_walk_begin_search(walk, table, known_state, &is_over))
        return false;
    for (size_t i = 0;
         !is_over && i < CN_FRAME_THREADS_MAX && cn_frame_walk_search(walk, table); i++)
        continue;
    known_state = walk->state_count > 0 ? walk->states[0] : 0;
    return true;
}

/* The frames of an interpreter that this thread runs. */
static void read_frames(struct cn_inside_slot *slot)
{
    const struct cn_frame_table *table = find_table(slot->pid);
    struct cn_frame_walk *walk = &slot->walk;

    slot->has_frames = 0;
    if (!table)
        return;
    for (size_t i = 0; i < CN_INSIDE_BLOCKS; i++)
        slot->blocks[i].begin = 1;
    walk->tid = slot->tid;
    walk->has_failed = false;
    if (!find_states(walk, table))
        return;
    for (uint32_t i = 0; i < walk->state_count && i < CN_FRAME_STATES_MAX; i++) {
        walk->state = walk->states[i];
        if (i == 0)
            cn_frame_walk_begin(walk, table);
        if (!(i == 0 ? cn_frame_walk_enter(walk, table)
                     : cn_frame_walk_enter_next(walk, table)))
            return;
        for (size_t k = 0; k < CN_FRAME_STEPS_MAX && cn_frame_walk_step(walk, table); k++)
            continue;
        if (walk->has_failed)
            return;
    }
    slot->has_frames = walk->state_count > 0;
}

static void on_timer(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct cn_inside_slot *slot;

    (void)number;
    if (info->si_code == SI_TIMER && !atomic_load(&shared->is_over) &&
        (slot = take_slot(CN_INSIDE_SAMPLE))) {
        uintptr_t from = read_registers(context, slot->registers);

        slot->period_count = 1 + (uint32_t)info->si_overrun;
        slot->copy_len = (uint32_t)copy_len(from);
        memcpy(slot->copy, (const void *)from, slot->copy_len);
        read_frames(slot);
        atomic_store_explicit(&slot->state, CN_INSIDE_FULL, memory_order_release);
    }
    errno = error;
}

static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signal_number};
    long ns = (long)shared->period_ns;
    struct itimerspec every = {.it_interval = {ns / 1000000000, ns % 1000000000},
                               .it_value = {ns / 1000000000, ns % 1000000000}};

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return;
    has_timer = true;
    (void)pthread_setspecific(timer_key, shared);
    (void)timer_settime(timer, 0, &every, NULL);
}

static void stop_timer(void *ignored)
{
    (void)ignored;
    if (has_timer)
        (void)timer_delete(timer);
    has_timer = false;
}

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *at;
    size_t len;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &at, &len) == 0) {
        stack_begin = (uintptr_t)at;
        stack_end = (uintptr_t)at + len;
    }
    (void)pthread_attr_destroy(&attributes);
}

/* Tell cairn the mappings, before the process may end. */
static void report_mappings(void)
{
    struct cn_inside_slot *slot = take_slot(CN_INSIDE_BEGIN);
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
    atomic_store_explicit(&slot->state, CN_INSIDE_FULL, memory_order_release);
}

/* A forked process has no timers. */
static void after_fork(void)
{
    has_timer = false;
    known_state = 0;
    if (!shared)
        return;
    report_mappings();
    start_timer();
}

struct thread {
    void *(*run)(void *);
    void *arg;
};

static void *run_thread(void *arg)
{
    struct thread thread = *(struct thread *)arg;
    int error = errno;

    (void)munmap(arg, PAGE_LEN);
    find_stack();
    start_timer();
    errno = error;
    return thread.run(thread.arg);
}

EXPORT int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *arg)
{
    static int (*original)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                           void *);
    struct thread *thread;
    void *page = MAP_FAILED;
    int result;

    if (!original) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");

        memcpy(&original, &found, sizeof(original));
    }
    /* Not from malloc(), which may be the program's own. */
    if (shared)
        page = mmap(NULL, PAGE_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    if (page == MAP_FAILED)
        return original(out, attributes, run, arg);
    thread = page;
    *thread = (struct thread){run, arg};
    result = original(out, attributes, run_thread, thread);
    if (result != 0)
        (void)munmap(page, PAGE_LEN);
    return result;
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

static bool map_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    void *at = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof(*shared))
        at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (at == MAP_FAILED)
        return false;
    if (((struct cn_inside_shared *)at)->magic != CN_INSIDE_MAGIC) {
        (void)munmap(at, sizeof(*shared));
        return false;
    }
    shared = at;
    return true;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_timer,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    const char *path = getenv(CN_INSIDE_ENV);
    int error = errno;

    signal_number = path ? choose_signal() : 0;
    if (signal_number > 0 && pthread_key_create(&timer_key, stop_timer) == 0 &&
        map_shared(path)) {
        (void)sigfillset(&action.sa_mask);
        (void)sigaction(signal_number, &action, NULL);
        (void)pthread_atfork(NULL, NULL, after_fork);
        find_stack();
        report_mappings();
        start_timer();
    }
    errno = error;
}
