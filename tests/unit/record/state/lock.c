/* Locks of the recorder (src/record/state/lock.h). Label: threads */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/state/lock.h"

struct cn_rec_process cn_rec_process;
_Atomic bool cn_rec_is_sandboxed;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_TSAN true
#endif
#endif
#ifndef IS_TSAN
#define IS_TSAN false
#endif

enum { HELD_US = 200000, STACK_LEN = 256 << 10, THREADS = 4, COUNT = 2000 };

static struct cn_rec_lock lock;
static _Atomic bool is_held;

static void *hold(void *arg)
{
    (void)arg;
    cn_rec_lock(&lock);
    atomic_store(&is_held, true);
    usleep(HELD_US);
    atomic_store(&is_held, false);
    cn_rec_unlock(&lock);
    return NULL;
}

static void *keep(void *arg)
{
    (void)arg;
    cn_rec_lock(&lock);
    return NULL;
}

/* As the recorder sets it up. */
static void begin(void)
{
    if (!cn_rec_process.image) {
        cn_rec_process.image = cn_rec_map(CN_REC_PAGE_LEN);
        assert_int_equal(madvise(cn_rec_process.image, CN_REC_PAGE_LEN, MADV_WIPEONFORK),
                         0);
    }
    cn_rec_unlock(&lock);
}

static void waits_for_an_owner_that_does_not_run(void **state)
{
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
    while (!atomic_load(&is_held))
        usleep(100);
    cn_rec_lock(&lock);
    assert_false(atomic_load(&is_held));
    cn_rec_unlock(&lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void takes_the_lock_of_a_thread_that_has_ended(void **state)
{
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(pthread_create(&thread, NULL, keep, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    cn_rec_lock(&lock);
    assert_int_equal((uint32_t)atomic_load(&lock.owner), cn_rec_tid());
}

/* The child of a fork has a copy of the lock, whose owner is in the parent. */
static void takes_the_lock_of_a_parent(void **state)
{
    int status = 0;

    (void)state;
    begin();
    cn_rec_lock(&lock);
    pid_t child = fork();
    if (child == 0) {
        cn_rec_lock(&lock);
        _exit((uint32_t)atomic_load(&lock.owner) == cn_rec_tid() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cn_rec_unlock(&lock);
}

static int lock_and_look(void *arg)
{
    (void)arg;
    cn_rec_lock(&lock);
    bool is_early = atomic_load(&is_held);
    cn_rec_unlock(&lock);
    return is_early ? 1 : 0;
}

/* A process that shares the memory has another number, but the owner exists. */
static void waits_for_an_owner_in_another_process(void **state)
{
    static char stack[STACK_LEN];
    int status = 0;

    (void)state;
    if (IS_TSAN) {
        print_message(
            "skipped: ThreadSanitizer does not know processes that share memory\n");
        skip();
    }
    begin();
    cn_rec_lock(&lock);
    atomic_store(&is_held, true);
    pid_t child = clone(lock_and_look, stack + STACK_LEN, CLONE_VM | SIGCHLD, NULL);
    assert_true(child > 0);
    usleep(HELD_US);
    atomic_store(&is_held, false);
    cn_rec_unlock(&lock);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int counted;

static void *count(void *arg)
{
    (void)arg;
    for (int i = 0; i < COUNT; i++) {
        cn_rec_lock(&lock);
        counted++;
        cn_rec_unlock(&lock);
    }
    return NULL;
}

/* Without system calls, all threads seem to have the same number. */
static void excludes_others_in_a_sandbox(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    begin();
    (void)cn_rec_image();
    atomic_store(&cn_rec_is_sandboxed, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    atomic_store(&cn_rec_is_sandboxed, false);
    assert_int_equal(counted, THREADS * COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_an_owner_that_does_not_run),
        cmocka_unit_test(takes_the_lock_of_a_thread_that_has_ended),
        cmocka_unit_test(takes_the_lock_of_a_parent),
        cmocka_unit_test(waits_for_an_owner_in_another_process),
        cmocka_unit_test(excludes_others_in_a_sandbox),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
