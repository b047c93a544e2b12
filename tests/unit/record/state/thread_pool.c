/* Structures of threads (src/record/state/thread_pool.h) have one owner, and none is lost, in every
 * order of the steps of several threads: each atomic operation of the code is a step, and all
 * orders are tried, by running the threads again and again.
 *
 * The same search with a lock that gives up, as there was before, must find two owners: the search
 * can fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "record/state/memory.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

enum {
    THREADS_MAX = 3,
    STEPS_MAX = 64,
    BLOCKS_MAX = 8,
    STACK_LEN = 32 << 10,
    TAKEN_MAX = 32,
};

static void step(void);
static void *take_block(uint64_t len);

struct cn_rec_process cn_rec_process;
_Atomic bool cn_rec_is_sandboxed;

uint64_t cn_rec_memory_limit_len(void)
{
    return UINT64_MAX;
}

#undef atomic_load
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#define atomic_load(at)            (step(), __atomic_load_n(at, 5))
#define atomic_exchange(at, value) (step(), __atomic_exchange_n(at, value, 5))
#define atomic_compare_exchange_strong(at, old, value) \
    (step(), __atomic_compare_exchange_n(at, old, value, false, 5, 5))
#define cn_rec_map(len)                  take_block(len)
#define cn_rec_syscall3(number, a, b, c) ((void)(a), (void)(b), (void)(c), 0L)
#include "record/state/thread_pool.c"

/* One run of all threads in one order. */
static struct {
    ucontext_t main, threads[THREADS_MAX];
    int current, thread_count;
    bool is_done[THREADS_MAX];
    uint8_t choices[STEPS_MAX],
        options[STEPS_MAX]; /* which of the threads that are left, of how many */
    int step_count;
    struct cn_rec_thread *seen[TAKEN_MAX]; /* all structures that were taken */
    int owners[TAKEN_MAX], seen_count;
    bool is_wrong;
} run;

static char stacks[THREADS_MAX][STACK_LEN];
static char *blocks;
static uint64_t block_len, blocks_used;
static void (*work)(void);

/* A block that is cleared where it is used: at its structures. The first ones have BLOCK_MIN, later
 * ones up to four times as many. */
static void *take_block(uint64_t len)
{
    uint32_t count = choose_block_len(UINT64_MAX);

    if (!blocks) {
        block_len = 4 * len;
        blocks = mmap(NULL, BLOCKS_MAX * block_len, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(blocks != MAP_FAILED);
    }
    assert_true(blocks_used < BLOCKS_MAX && len <= block_len);
    char *block = blocks + blocks_used++ * block_len;
    for (uint32_t i = 0; i < count; i++)
        memset(block + len - CN_REC_T_LIMIT - (count - i) * CN_REC_PAGE_LEN, 0,
               sizeof(struct cn_rec_thread));
    return block;
}

static void step(void)
{
    if (run.current >= 0)
        swapcontext(&run.threads[run.current], &run.main);
}

/* The thread has, or no longer has, a structure. */
static void count_owner(struct cn_rec_thread *thread, int change)
{
    int at = 0;

    while (at < run.seen_count && run.seen[at] != thread)
        at++;
    assert_true(at < TAKEN_MAX);
    run.seen_count += at == run.seen_count;
    run.seen[at] = thread;
    run.owners[at] += change;
    run.is_wrong |= run.owners[at] > 1 || run.owners[at] < 0;
}

static void run_thread(void)
{
    work();
    run.is_done[run.current] = true;
    swapcontext(&run.threads[run.current], &run.main);
}

static int left(int which)
{
    for (int i = 0; i < run.thread_count; i++)
        if (!run.is_done[i] && which-- == 0)
            return i;
    return -1;
}

static void begin_thread(ucontext_t *thread, char *stack)
{
    assert_int_equal(getcontext(thread), 0);
    thread->uc_stack.ss_sp = stack;
    thread->uc_stack.ss_size = STACK_LEN;
    makecontext(thread, run_thread, 0);
}

/* Run in the order of `choices`, and from its end on the first thread that is left first. */
static void run_once(int known)
{
    run.step_count = run.seen_count = 0;
    memset(run.owners, 0, sizeof(run.owners));
    memset(run.is_done, 0, sizeof(run.is_done));
    for (int i = 0; i < run.thread_count; i++)
        begin_thread(&run.threads[i], stacks[i]);
    for (int count; (count = left(1) >= 0 ? left(2) >= 0 ? 3 : 2 : left(0) >= 0) > 0;
         run.step_count++) {
        assert_true(run.step_count < STEPS_MAX);
        if (run.step_count >= known)
            run.choices[run.step_count] = 0;
        run.options[run.step_count] = (uint8_t)count;
        run.current = left(run.choices[run.step_count]);
        swapcontext(&run.main, &run.threads[run.current]);
    }
    run.current = -1;
}

/* Try all orders; returns how many. `check` looks at the result of each. */
static uint64_t run_all(int thread_count, void (*what)(void), void (*prepare)(void),
                        void (*check)(void))
{
    uint64_t count = 0;
    int known = 0;

    run.thread_count = thread_count;
    run.is_wrong = false;
    work = what;
    do {
        prepare();
        run_once(known);
        check();
        count++;
        for (known = run.step_count; known > 0; known--) {
            if (run.choices[known - 1] + 1 < run.options[known - 1])
                break;
        }
        if (known > 0)
            run.choices[known - 1]++;
    } while (known > 0 && !run.is_wrong);
    return count;
}

/* The owner gives it up before the structure is in the list. */
static void use_one(void)
{
    struct cn_rec_thread *thread = cn_rec_thread_pool_take();

    count_owner(thread, 1);
    count_owner(thread, -1);
    cn_rec_thread_pool_add(thread);
}

static void keep_one(void)
{
    count_owner(cn_rec_thread_pool_take(), 1);
}

static void use_and_keep(void)
{
    use_one();
    keep_one();
}

/* The first thread has one from the start. */
static struct cn_rec_thread *held;

static void release_or_keep(void)
{
    if (run.current == 0)
        cn_rec_thread_pool_add(held);
    else
        keep_one();
}

static void clear_pool(void)
{
    unused = NULL;
    mapped_count = 0;
    blocks_used = 0;
}

/* With a list of structures from the start. */
static void fill_pool(void)
{
    clear_pool();
    run.current = -1;
    cn_rec_thread_pool_add(cn_rec_thread_pool_take());
}

static void hold_one(void)
{
    fill_pool();
    held = cn_rec_thread_pool_take();
}

/* All structures that were mapped are in the list, once. */
static void check_pool(void)
{
    uint64_t count = 0;

    for (struct cn_rec_thread *thread = unused; thread; thread = thread->next_unused)
        run.is_wrong |= ++count > mapped_count;
    for (int i = 0; i < run.seen_count; i++)
        count += (uint64_t)run.owners[i];
    run.is_wrong |= count != mapped_count;
}

static void gives_each_structure_to_one_thread(void **state)
{
    (void)state;
    assert_in_range(run_all(3, keep_one, clear_pool, check_pool), 100, 1000000);
    assert_false(run.is_wrong);
    assert_in_range(run_all(3, keep_one, fill_pool, check_pool), 100, 1000000);
    assert_false(run.is_wrong);
}

static void loses_none_while_others_release_theirs(void **state)
{
    (void)state;
    assert_in_range(run_all(3, release_or_keep, hold_one, check_pool), 1000, 10000000);
    assert_false(run.is_wrong);
    assert_in_range(run_all(2, use_and_keep, fill_pool, check_pool), 1000, 10000000);
    assert_false(run.is_wrong);
}

/* What was before: a lock that gives up while its owner does not run. */
static uintptr_t lock, next_index;

static void use_lock_that_gives_up(void)
{
    for (int i = 0; i < 2 && atomic_exchange(&lock, 1); i++)
        continue;
    step();
    uintptr_t index = next_index;
    step();
    next_index = index + 1;
    count_owner((struct cn_rec_thread *)(index + 1), 1);
    step();
    lock = 0;
}

static void clear_lock(void)
{
    lock = next_index = 0;
}

static void check_nothing(void)
{
}

static void finds_two_owners_where_a_lock_gives_up(void **state)
{
    (void)state;
    (void)run_all(2, use_lock_that_gives_up, clear_lock, check_nothing);
    assert_true(run.is_wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_each_structure_to_one_thread),
        cmocka_unit_test(loses_none_while_others_release_theirs),
        cmocka_unit_test(finds_two_owners_where_a_lock_gives_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
