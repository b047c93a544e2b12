/* Locks of the recorder (src/record/state/lock.h). Label: threads */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/state/lock.h"

struct cn_rec_process cn_rec_process;
_Atomic bool cn_rec_is_sandboxed;

enum { HELD_US = 400000 };

static _Atomic uint32_t lock;
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

static void begin(void)
{
    atomic_store(&cn_rec_process.pid, cn_rec_pid());
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
    assert_int_equal(atomic_load(&lock), cn_rec_tid());
}

static void takes_the_lock_of_a_parent(void **state)
{
    int status = 0;

    (void)state;
    begin();
    cn_rec_lock(&lock);
    pid_t child = fork();
    if (child == 0) {
        atomic_store(&cn_rec_process.pid, cn_rec_pid());
        cn_rec_lock(&lock);
        _exit(atomic_load(&lock) == cn_rec_tid() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cn_rec_unlock(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_an_owner_that_does_not_run),
        cmocka_unit_test(takes_the_lock_of_a_thread_that_has_ended),
        cmocka_unit_test(takes_the_lock_of_a_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
