/* Runs of made threads with less running time: by hand, and at random beside a second computation that goes
 * through every nanosecond. */

#include "analyze/wakers/what_if.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/frames.h"
#include "analyze/wakers/graph.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/memory.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

enum { THREADS = 4, SPAN = 500, ROUNDS = 300, COMMANDS_MAX = 4 };

/* What a thread does in a nanosecond; waits that follow each other differ in the letter. */
enum { RUNS_FAST = 'f', RUNS_SLOW = 's', WAITS = 'w', PREEMPTED = 'p', GONE = '-' };

struct made_run {
    struct cn_memory_database *memory;
    struct cn_database *db;
    struct cn_frames frames;
    struct cn_wait_graph graph;
    uint32_t fast, slow, wait, mutex, timer;
    uint8_t does[THREADS + 1][SPAN + 1];
    struct cn_wakeup woken_by[THREADS + 1]
                             [SPAN + 1]; /* to 0: none; by the begin of a wait */
};

static uint32_t add_function(struct made_run *m, uint32_t parent, const char *name)
{
    uint32_t function = cn_memory_database_add_function(
        m->memory,
        (struct cn_function){.name = name, .module = CN_NONE, .file = CN_NONE});

    return cn_memory_database_add_context(m->memory, parent,
                                          (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                              .relation = CN_CALL,
                                                              .has_function = true,
                                                              .function = function});
}

static struct made_run *begin(void)
{
    struct made_run *m = cn_alloc(1, sizeof(*m));

    m->memory = cn_memory_database_new("what if", "");
    uint8_t process = cn_memory_database_add_kind(m->memory, "PROCESS");
    uint8_t thread = cn_memory_database_add_kind(m->memory, "THREAD");

    m->fast = add_function(m, 0, "fast");
    m->slow = add_function(m, m->fast, "slow(int)");
    m->wait = add_function(m, m->fast, "wait_for");
    m->mutex = add_function(m, add_function(m, m->fast, "take"), "pthread_mutex_lock");
    m->timer = add_function(
        m, add_function(m, m->fast, "asm_sysvec_apic_timer_interrupt"), "hrtimer_wakeup");
    memset(m->does, GONE, sizeof(m->does));
    for (uint32_t i = 1; i <= THREADS; i++) {
        struct cn_identity_tuple identity = {
            .count = 2,
            .ids = {{.kind = process}, {.kind = thread, .logical = i, .physical = i}}};

        (void)cn_memory_database_add_profile(m->memory, identity);
    }
    return m;
}

/* A thread does this from one time on. */
static uint64_t does(struct made_run *m, uint32_t thread, uint64_t from, int what,
                     uint64_t len)
{
    for (uint64_t t = from; t < from + len && t < SPAN; t++)
        m->does[thread][t] = (uint8_t)what;
    return from + len;
}

static bool runs(const struct made_run *m, uint32_t thread, uint64_t t)
{
    return m->does[thread][t] == RUNS_FAST || m->does[thread][t] == RUNS_SLOW;
}

static uint32_t context_of(const struct made_run *m, uint8_t what)
{
    return what == RUNS_FAST   ? m->fast
           : what == RUNS_SLOW ? m->slow
           : what == PREEMPTED ? m->slow
                               : m->wait;
}

/* A sample wherever something else begins to run. */
static void finish(struct made_run *m)
{
    struct cn_error err = {0};

    for (uint32_t i = 1; i <= THREADS; i++) {
        struct cn_thread_states states = {0};

        for (uint64_t t = 0; t <= SPAN; t++) {
            uint8_t now = m->does[i][t], before = t > 0 ? m->does[i][t - 1] : GONE;
            bool did_run = t > 0 && runs(m, i, t - 1);

            if (runs(m, i, t) && now != before)
                cn_memory_database_add_sample(m->memory, i,
                                              (struct cn_sample){t, context_of(m, now)});
            if (runs(m, i, t) && !did_run)
                cn_thread_states_add(&states, t, CN_TASK_RUNNING, 0);
            else if (!runs(m, i, t) && now != before)
                cn_thread_states_add(&states, t,
                                     now == GONE        ? CN_TASK_UNKNOWN
                                     : now == PREEMPTED ? CN_TASK_PREEMPTED
                                                        : CN_TASK_BLOCKED,
                                     now == GONE ? 0 : context_of(m, now));
            if (m->woken_by[i][t].to != 0)
                cn_memory_database_add_wakeup(m->memory, m->woken_by[i][t]);
        }
        cn_memory_database_add_sample(m->memory, i, (struct cn_sample){SPAN, 0});
        cn_memory_database_take_states(m->memory, i, &states);
    }
    m->db = cn_memory_database_finish(m->memory);
    assert_true(cn_frames_build(&m->frames, m->db, NULL, &err));
    assert_true(cn_wait_graph_build(&m->graph, m->db, &m->frames, &err));
}

static void end(struct made_run *m)
{
    cn_wait_graph_done(&m->graph);
    cn_frames_done(&m->frames);
    cn_database_close(m->db);
    free(m);
}

static void by_thread(struct made_run *m, uint32_t thread, uint64_t begin_ns,
                      uint32_t waker, uint64_t time_ns)
{
    m->woken_by[thread][begin_ns] =
        (struct cn_wakeup){time_ns, waker, thread, m->fast, CN_WOKEN_BY_THREAD};
}

static void by_timer(struct made_run *m, uint32_t thread, uint64_t begin_ns,
                     uint64_t time_ns)
{
    m->woken_by[thread][begin_ns] =
        (struct cn_wakeup){time_ns, 0, thread, m->timer, CN_WOKEN_BY_INTERRUPT};
}

static struct cn_what_if ask(struct made_run *m, uint32_t thread,
                             const char *const *texts, struct cn_text *said)
{
    struct cn_what_if_change changes[COMMANDS_MAX];
    struct cn_what_if answer = {0};
    struct cn_error err = {0};
    size_t count = 0;

    for (; texts[count]; count++)
        assert_true(cn_what_if_parse(texts[count], &changes[count], &err));
    assert_true(cn_what_if_replay(&answer, m->db, &m->graph, &m->frames, changes, count,
                                  thread, &err));
    if (said)
        cn_what_if_print(&answer, changes, count, "t1", said);
    return answer;
}

static uint64_t ask_one(struct made_run *m, const char *text)
{
    struct cn_what_if answer = ask(m, 1, (const char *const[]){text, NULL}, NULL);

    assert_int_equal(answer.least_ns, answer.most_ns);
    return answer.most_ns;
}

/* Thread 1 waits from 10 to 30 for thread 2, which wakes it at 28. */
static struct made_run *one_wait(void)
{
    struct made_run *m = begin();

    does(m, 1, does(m, 1, does(m, 1, 0, RUNS_FAST, 10), WAITS, 20), RUNS_FAST, 10);
    does(m, 2, does(m, 2, 0, RUNS_SLOW, 28), RUNS_FAST, 12);
    return m;
}

static void a_wait_ends_when_its_waker_is_there(void **state)
{
    struct made_run *m = one_wait();
    struct cn_text said = {0};

    (void)state;
    by_thread(m, 1, 10, 2, 28);
    finish(m);
    assert_int_equal(ask_one(m, "slow=100%"), 40);
    assert_int_equal(ask_one(m, "slow=50%"), 26);
    /* The waker is there before the wait begins: neither it nor a processor is waited for. */
    assert_int_equal(ask_one(m, "slow(int)=0%"), 20);
    /* What thread 2 calls in `fast` is below it too. */
    assert_int_equal(ask_one(m, "fast=50%"), 21);
    (void)ask(m, 1, (const char *const[]){"slow=50%", NULL}, &said);
    assert_string_equal(
        cn_text_str(&said),
        "with slow at 50 %, t1 would take 26 ns instead of 40 ns: -35.0 %");
    cn_text_clear(&said);
    (void)ask(m, 1, (const char *const[]){"slow=50%", "fast=0%", NULL}, &said);
    assert_string_equal(cn_text_str(&said), "with slow at 50 %, without fast, t1 would "
                                            "take 2 ns instead of 40 ns: -95.0 %");
    cn_text_done(&said);
    end(m);
}

static void timers_take_as_long(void **state)
{
    struct made_run *m = one_wait();

    (void)state;
    by_timer(m, 1, 10, 29);
    finish(m);
    assert_int_equal(ask_one(m, "slow=0%"), 40);
    assert_int_equal(ask_one(m, "fast=0%"), 20);
    end(m);
}

static void a_missing_wake_up_makes_a_range(void **state)
{
    struct made_run *m = one_wait();
    struct cn_text said = {0};

    (void)state;
    finish(m);
    struct cn_what_if answer = ask(m, 1, (const char *const[]){"fast=0%", NULL}, &said);
    assert_int_equal(answer.recorded_ns, 40);
    assert_int_equal(answer.missing, 1);
    assert_int_equal(answer.most_ns, 30);
    /* Thread 2 may have ended the wait, and takes no time at all. */
    assert_int_equal(answer.least_ns, 0);
    assert_string_equal(cn_text_str(&said),
                        "without fast, t1 would take between 0 s and 30 ns instead of 40 "
                        "ns: -100.0 % to -25.0 %, unknown because wake-ups are missing "
                        "(of 1 wait)");
    /* If it gains nothing, nor does the wait. */
    answer = ask(m, 1, (const char *const[]){"slow=50%", NULL}, NULL);
    assert_int_equal(answer.most_ns, 40);
    assert_int_equal(answer.least_ns, 26);
    assert_int_equal(ask_one(m, "slow=100%"), 40);
    cn_text_done(&said);
    end(m);
}

static void waits_for_locks_are_shorter_without_the_holder(void **state)
{
    struct made_run *m = one_wait();

    (void)state;
    m->wait = m->mutex;
    by_thread(m, 1, 10, 2, 28);
    finish(m);
    assert_int_equal(ask_one(m, "lock:take=0%"), 20);
    assert_int_equal(ask_one(m, "lock:take=50%"), 30);
    assert_int_equal(ask_one(m, "take=0%"), 40);
    end(m);
}

static void a_thread_begins_with_its_creator(void **state)
{
    struct made_run *m = begin();

    (void)state;
    does(m, 2, 0, RUNS_SLOW, 100);
    does(m, 1, 52, RUNS_FAST, 30);
    does(m, 3, does(m, 3, does(m, 3, 0, RUNS_FAST, 10), WAITS, 70), RUNS_FAST, 10);
    m->woken_by[1][50] = (struct cn_wakeup){50, 2, 1, 0, CN_WOKEN_AT_START};
    by_thread(m, 3, 10, 1, 80);
    finish(m);
    /* Its own time is the same. */
    assert_int_equal(ask_one(m, "slow=0%"), 30);
    struct cn_what_if answer = ask(m, 3, (const char *const[]){"slow=0%", NULL}, NULL);
    assert_int_equal(answer.most_ns, 90 - 50);
    end(m);
}

/* Pieces that are too short for samples of their own are like the next one that has some. */
static void short_pieces_are_like_those_with_samples(void **state)
{
    struct made_run *m = begin();
    struct cn_thread_states states = {0};
    struct cn_error err = {0};

    (void)state;
    for (uint64_t t = 0; t < 100; t += 20) {
        bool is_sampled = t == 40;

        cn_thread_states_add(&states, t, CN_TASK_RUNNING, 0);
        cn_memory_database_add_sample(
            m->memory, 1, (struct cn_sample){t, is_sampled ? m->slow : m->wait});
        cn_memory_database_add_sample(m->memory, 1, (struct cn_sample){t + 9, m->wait});
        cn_thread_states_add(&states, t + 10, CN_TASK_BLOCKED, m->wait);
        cn_memory_database_add_wakeup(
            m->memory, (struct cn_wakeup){t + 20, 0, 1, m->timer, CN_WOKEN_BY_INTERRUPT});
    }
    cn_thread_states_add(&states, 100, CN_TASK_UNKNOWN, 0);
    cn_memory_database_take_states(m->memory, 1, &states);
    m->db = cn_memory_database_finish(m->memory);
    assert_true(cn_frames_build(&m->frames, m->db, NULL, &err));
    assert_true(cn_wait_graph_build(&m->graph, m->db, &m->frames, &err));
    assert_int_equal(ask_one(m, "slow=0%"), 50);
    end(m);
}

static void says_what_is_wrong_with_a_change(void **state)
{
    static const char *const wrong[] = {"slow",      "slow=",     "slow=50",
                                        "=50%",      "slow=101%", "slow=-1%",
                                        "slow=nan%", "lock:=50%", "slow=50%x"};
    struct made_run *m = one_wait();
    struct cn_what_if_change change;
    struct cn_what_if answer;
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(cn_what_if_parse(wrong[i], &change, &err));
        assert_int_equal(err.kind, CN_ERR_USAGE);
    }
    finish(m);
    assert_true(cn_what_if_parse("lock::take=5%", &change, &err));
    assert_false(change.is_lock);
    assert_true(cn_what_if_parse("fasd=5%", &change, &err));
    assert_false(
        cn_what_if_replay(&answer, m->db, &m->graph, &m->frames, &change, 1, 1, &err));
    assert_string_equal(err.text, "no function 'fasd' in the data, did you mean 'fast'?");
    assert_true(cn_what_if_parse("lock:slow=5%", &change, &err));
    assert_false(
        cn_what_if_replay(&answer, m->db, &m->graph, &m->frames, &change, 1, 1, &err));
    assert_string_equal(err.text, "slow waits for no lock in the data");
    end(m);
}

/* Threads that run, wait for each other and for timers at random. */
static struct made_run *make_random(void)
{
    struct made_run *m = begin();

    for (uint32_t i = 1; i <= THREADS; i++) {
        uint64_t t = (uint64_t)rand() % 20;

        while (t < SPAN - 60) {
            t = does(m, i, t, rand() % 2 ? RUNS_SLOW : RUNS_FAST,
                     3 + (uint64_t)rand() % 20);
            if (rand() % 2)
                t = does(m, i, t, rand() % 2 ? RUNS_SLOW : RUNS_FAST,
                         3 + (uint64_t)rand() % 20);
            if (rand() % 5 == 0)
                t = does(m, i, t, PREEMPTED, 1 + (uint64_t)rand() % 9);
            else
                t = does(m, i, t, WAITS, 2 + (uint64_t)rand() % 30);
        }
        (void)does(m, i, t, RUNS_FAST, 5);
    }
    for (uint32_t i = 1; i <= THREADS; i++)
        for (uint64_t t = 1; t < SPAN; t++) {
            uint64_t to = t, woken;
            uint32_t waker = 1 + (uint32_t)rand() % THREADS;

            if (m->does[i][t] != WAITS || m->does[i][t - 1] == WAITS)
                continue;
            while (m->does[i][to] == WAITS)
                to++;
            woken = t + 1 + (uint64_t)rand() % (to - t);
            if (waker != i && runs(m, waker, woken) && runs(m, waker, woken - 1))
                by_thread(m, i, t, waker, woken);
            else
                by_timer(m, i, t, woken);
        }
    return m;
}

/* When a thread is at what it did at a time, if slow code takes no time: of all but waits, which end with
 * these. */
static void second_replay(const struct made_run *m, int64_t at[THREADS + 1][SPAN + 1])
{
    uint64_t began[THREADS + 1] = {0};

    memset(at, 0, sizeof(at[0]) * (THREADS + 1));
    for (uint64_t t = 1; t <= SPAN; t++) {
        for (uint32_t i = 1; i <= THREADS; i++) {
            uint8_t did = m->does[i][t - 1];

            if (m->does[i][t] == WAITS && did != WAITS)
                began[i] = t;
            at[i][t] = at[i][t - 1] + (did == GONE || did == RUNS_FAST);
        }
        for (uint32_t i = 1; i <= THREADS; i++) {
            const struct cn_wakeup *wakeup = &m->woken_by[i][began[i]];
            int64_t own = at[i][began[i]], ready;

            if (m->does[i][t - 1] != WAITS || m->does[i][t] == WAITS)
                continue;
            ready = wakeup->source == CN_WOKEN_BY_THREAD
                        ? at[wakeup->from][wakeup->time_ns]
                        : own + (int64_t)(wakeup->time_ns - began[i]);
            at[i][t] = ready < own ? own : ready + (int64_t)(t - wakeup->time_ns);
        }
    }
}

static void random_runs_are_as_long_as_nanosecond_by_nanosecond(void **state)
{
    static int64_t at[THREADS + 1][SPAN + 1];

    (void)state;
    srand(40);
    for (int round = 0; round < ROUNDS; round++) {
        struct made_run *m = make_random();

        finish(m);
        second_replay(m, at);
        for (uint32_t i = 1; i <= THREADS; i++) {
            uint64_t from = 0, to = SPAN;

            while (m->does[i][from] == GONE)
                from++;
            while (m->does[i][to - 1] == GONE)
                to--;
            struct cn_what_if same =
                ask(m, i, (const char *const[]){"slow=100%", NULL}, NULL);
            struct cn_what_if less =
                ask(m, i, (const char *const[]){"slow=0%", NULL}, NULL);
            assert_int_equal(same.recorded_ns, to - from);
            assert_int_equal(same.most_ns, to - from);
            assert_int_equal((int64_t)less.most_ns, at[i][to] - at[i][from]);
        }
        end(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_when_its_waker_is_there),
        cmocka_unit_test(timers_take_as_long),
        cmocka_unit_test(a_missing_wake_up_makes_a_range),
        cmocka_unit_test(waits_for_locks_are_shorter_without_the_holder),
        cmocka_unit_test(a_thread_begins_with_its_creator),
        cmocka_unit_test(short_pieces_are_like_those_with_samples),
        cmocka_unit_test(says_what_is_wrong_with_a_change),
        cmocka_unit_test(random_runs_are_as_long_as_nanosecond_by_nanosecond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
