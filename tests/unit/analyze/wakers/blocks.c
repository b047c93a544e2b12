/* Waits of ranges of time, added up one by one and from blocks: the same rows. */

#include "analyze/wakers/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/wakers/study.h"
#include "model/contexts/database.h"
#include "model/contexts/memory.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

enum { THREADS = 4, FUNCTIONS = 5, LOCKS = 3, STATES = 40000, DIFFERENT = 2 };

struct made {
    struct cn_memory_database *memory;
    uint32_t contexts[STATES]; /* the first few, or, of one thread, each another one */
};

static uint32_t add_function(struct made *m, const char *name)
{
    uint32_t function = cn_memory_database_add_function(
        m->memory,
        (struct cn_function){.name = name, .module = CN_NONE, .file = CN_NONE});

    return cn_memory_database_add_context(m->memory, 0,
                                          (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                              .relation = CN_CALL,
                                                              .has_function = true,
                                                              .function = function});
}

/* A thread that waits, at random, where few or many functions do, for locks and other threads. */
static void add_thread(struct made *m, uint32_t profile)
{
    struct cn_thread_states states = {0};
    uint64_t time_ns = 100 * profile;

    for (unsigned i = 0; i < STATES * profile / 2; i++) {
        unsigned function = profile == DIFFERENT ? i : (unsigned)rand() % FUNCTIONS;

        cn_thread_states_add(&states, time_ns,
                             i % 2 == 0        ? CN_TASK_RUNNING
                             : rand() % 4 == 0 ? CN_TASK_PREEMPTED
                                               : CN_TASK_BLOCKED,
                             m->contexts[function % STATES]);
        if (rand() % 3 == 0)
            cn_memory_database_add_lock_wait(
                m->memory,
                (struct cn_lock_wait){time_ns, profile, (uint32_t)rand() % LOCKS});
        time_ns += 1 + (uint64_t)rand() % 50;
        if (rand() % 3 != 0)
            cn_memory_database_add_wakeup(
                m->memory, (struct cn_wakeup){.time_ns = time_ns - (uint64_t)rand() % 3,
                                              .from = 1 + (uint32_t)rand() % THREADS,
                                              .to = profile,
                                              .context = m->contexts[rand() % FUNCTIONS],
                                              .source = CN_WOKEN_BY_THREAD});
    }
    cn_thread_states_add(&states, time_ns, CN_TASK_UNKNOWN, 0);
    cn_memory_database_take_states(m->memory, profile, &states);
}

static struct cn_database *make(void)
{
    static const char *const locks[LOCKS] = {"first", "second", "first"};
    static struct made m;
    char name[32];

    m.memory = cn_memory_database_new("blocks", "");
    uint8_t thread = cn_memory_database_add_kind(m.memory, "THREAD");
    for (unsigned i = 0; i < STATES; i++) {
        (void)snprintf(name, sizeof(name), "f%u", i);
        m.contexts[i] = add_function(&m, name);
    }
    for (uint64_t i = 0; i < LOCKS; i++)
        (void)cn_memory_database_add_lock(
            m.memory, (struct cn_waited_lock){.address = 16 * i, .variable = locks[i]});
    for (uint32_t i = 1; i <= THREADS; i++) {
        struct cn_identity_tuple identity = {
            .count = 1, .ids = {{.kind = thread, .logical = i, .physical = i}}};

        assert_int_equal(cn_memory_database_add_profile(m.memory, identity), i);
        cn_memory_database_name_profile(m.memory, i, i < 3 ? "twin" : "other");
    }
    for (uint32_t i = 1; i <= THREADS; i++)
        add_thread(&m, i);
    return cn_memory_database_finish(m.memory);
}

static void assert_same(const struct cn_wait_sums *a, const struct cn_wait_sums *b)
{
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct cn_wait_row *x = &a->list[i], *y = &b->list[i];

        assert_true(x->kind == y->kind && x->is_ending == y->is_ending &&
                    x->is_inferred == y->is_inferred && x->time_ns == y->time_ns &&
                    x->longest_ns == y->longest_ns && x->count == y->count &&
                    x->longest_at_ns == y->longest_at_ns && x->context == y->context &&
                    x->by_context == y->by_context && x->profile == y->profile &&
                    x->name == y->name && x->by_name == y->by_name);
        assert_string_equal(x->lock == CN_NONE ? "" : a->names.list[x->lock],
                            y->lock == CN_NONE ? "" : b->names.list[y->lock]);
    }
}

static void check(const struct cn_wait_study *plain, const struct cn_wait_study *indexed,
                  uint64_t begin_ns, uint64_t end_ns)
{
    const bool is_chosen[THREADS + 1] = {false, true, false, true, true};
    struct cn_wait_sums a, b;
    struct cn_error err;

    for (unsigned all = 0; all < 2; all++) {
        assert_true(cn_wait_study_waits(plain, all ? NULL : is_chosen, begin_ns, end_ns,
                                        &a, &err));
        assert_true(cn_wait_study_waits(indexed, all ? NULL : is_chosen, begin_ns, end_ns,
                                        &b, &err));
        assert_same(&a, &b);
        cn_wait_sums_done(&a);
        cn_wait_sums_done(&b);
    }
}

static void blocks_and_single_waits_add_up_to_the_same_rows(void **state)
{
    struct cn_wait_source plain, indexed;
    struct cn_database *db;
    struct cn_error err;
    size_t known = 0;

    (void)state;
    srand(39);
    db = make();
    assert_true(cn_wait_source_build(&plain, db, &err));
    assert_true(cn_wait_source_build(&indexed, db, &err));
    assert_true(cn_wait_study_index(&indexed.study, &err));
    const struct cn_wait_blocks *blocks = &indexed.study.blocks;
    for (size_t i = 0; i < blocks->first_of[THREADS + 1]; i++)
        known += blocks->list[i].rows != NULL;
    /* Those of the thread whose waits all differ are left out. */
    assert_int_equal(known,
                     blocks->first_of[THREADS + 1] -
                         (blocks->first_of[DIFFERENT + 1] - blocks->first_of[DIFFERENT]));
    assert_true(known >= 5);
    check(&plain.study, &indexed.study, 0, UINT64_MAX);
    for (uint32_t i = 1; i <= THREADS; i++)
        for (size_t at = 0; at < db->states[i].count; at += 1 << 15)
            for (uint64_t early = 0; early < 3; early++) {
                uint64_t time_ns = cn_thread_states_at(&db->states[i], at).time_ns;

                check(&plain.study, &indexed.study, time_ns + 1 - early, UINT64_MAX);
                check(&plain.study, &indexed.study, 0, time_ns + 1 - early);
            }
    for (unsigned round = 0; round < 20; round++) {
        uint64_t begin_ns = (uint64_t)rand() % 2000000;

        check(&plain.study, &indexed.study, begin_ns,
              begin_ns + (uint64_t)rand() % 2000000);
    }
    cn_wait_source_done(&plain);
    cn_wait_source_done(&indexed);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_single_waits_add_up_to_the_same_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
