/* Waits of made threads, and the chain back from an end: each compared with a second computation that
 * looks at every nanosecond by itself. */

#include "analyze/wakers/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lens/code.h"
#include "analyze/views/frames.h"
#include "analyze/wakers/bars.h"
#include "analyze/wakers/causes.h"
#include "analyze/wakers/sums.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/memory.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

enum { THREADS = 5, SPAN = 400, ROUNDS = 300, TIMES = SPAN + 1 };

/* Contexts of every database here: [1] is a function, [2] below it an interrupt of a timer. */
struct made {
    struct cn_memory_database *memory;
    struct cn_database *db;
    struct cn_frames frames;
    struct cn_codes codes;
    struct cn_wait_sites sites;
    uint32_t work, lock, timer, exits;
    /* By thread and time: what the thread does from that time to the next; for the second way. */
    enum cn_task_state state[THREADS + 1][TIMES];
    struct cn_wakeup wakeups[THREADS * SPAN];
    size_t wakeup_count;
};

static uint32_t add_function(struct made *m, uint32_t parent, const char *name)
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

static void begin(struct made *m)
{
    memset(m, 0, sizeof(*m));
    m->memory = cn_memory_database_new("waits", "");
    uint8_t process = cn_memory_database_add_kind(m->memory, "PROCESS");
    uint8_t thread = cn_memory_database_add_kind(m->memory, "THREAD");

    m->work = add_function(m, 0, "work");
    m->lock = add_function(m, m->work, "lock");
    m->timer = add_function(
        m, add_function(m, m->work, "asm_sysvec_apic_timer_interrupt"), "hrtimer_wakeup");
    m->exits = add_function(m, 0, "do_exit");
    for (uint32_t i = 1; i <= THREADS; i++) {
        char name[16];
        struct cn_identity_tuple identity = {
            .count = 2,
            .ids = {{.kind = process, .logical = i > 3, .physical = i > 3},
                    {.kind = thread, .logical = i, .physical = i}}};

        (void)snprintf(name, sizeof(name), "t%u", i);
        cn_memory_database_name_profile(
            m->memory, cn_memory_database_add_profile(m->memory, identity), name);
    }
}

static void finish(struct made *m)
{
    struct cn_error err = {0};

    for (uint32_t i = 1; i <= THREADS; i++) {
        struct cn_thread_states states = {0};

        for (uint64_t t = 0; t < TIMES; t++) {
            enum cn_task_state now = t < SPAN ? m->state[i][t] : CN_TASK_UNKNOWN;
            bool waits = now == CN_TASK_BLOCKED || now == CN_TASK_PREEMPTED;

            if (t == 0 ? now != CN_TASK_UNKNOWN : now != m->state[i][t - 1])
                cn_thread_states_add(&states, t, now, waits ? m->lock : 0);
        }
        cn_memory_database_take_states(m->memory, i, &states);
    }
    for (size_t i = 0; i < m->wakeup_count; i++)
        cn_memory_database_add_wakeup(m->memory, m->wakeups[i]);
    m->db = cn_memory_database_finish(m->memory);
    assert_true(cn_frames_build(&m->frames, m->db, NULL, &err));
    assert_true(cn_codes_build(&m->codes, m->db, NULL, &err));
    cn_wait_sites_init(&m->sites, &m->frames, &m->codes);
}

static void end(struct made *m)
{
    cn_wait_sites_done(&m->sites);
    cn_codes_done(&m->codes);
    cn_frames_done(&m->frames);
    cn_database_close(m->db);
}

/* Threads that run, wait and wake each other at random. Some wake-ups are lost, some are too many. */
static void make_random(struct made *m)
{
    begin(m);
    for (uint32_t i = 1; i <= THREADS; i++) {
        uint64_t t = (uint64_t)rand() % 20, last = SPAN - (uint64_t)rand() % 20;
        enum cn_task_state state = CN_TASK_RUNNING;

        for (uint64_t k = 0; k < TIMES; k++)
            m->state[i][k] = CN_TASK_UNKNOWN;
        while (t < last) {
            uint64_t until = t + 1 + (uint64_t)rand() % 30;

            for (; t < until && t < last; t++)
                m->state[i][t] = state;
            state = state != CN_TASK_RUNNING ? CN_TASK_RUNNING
                    : rand() % 5 == 0        ? CN_TASK_PREEMPTED
                                             : CN_TASK_BLOCKED;
        }
        if (rand() % 2 && i > 1)
            m->wakeups[m->wakeup_count++] =
                (struct cn_wakeup){0, 1, i, 0, CN_WOKEN_AT_START};
    }
    for (uint32_t i = 1; i <= THREADS; i++)
        for (uint64_t t = 1; t < SPAN; t++)
            if (m->state[i][t] == CN_TASK_BLOCKED ? rand() % 8 == 0 : rand() % 40 == 0) {
                uint32_t from = 1 + (uint32_t)rand() % THREADS;
                bool is_timer = rand() % 3 == 0;

                m->wakeups[m->wakeup_count++] = (struct cn_wakeup){
                    t, is_timer ? 0 : from, i, is_timer ? m->timer : m->work,
                    is_timer ? CN_WOKEN_BY_INTERRUPT : CN_WOKEN_BY_THREAD};
            }
    finish(m);
}

/* The wake-up of the wait around a time, or NULL; where the wait begins and ends. */
static const struct cn_wakeup *second_wakeup(const struct made *m, uint32_t thread,
                                             uint64_t t, uint64_t *from, uint64_t *to)
{
    const struct cn_wakeup *best = NULL;

    *from = t;
    *to = t;
    while (*from > 0 && m->state[thread][*from - 1] == m->state[thread][t])
        --*from;
    while (*to < SPAN && m->state[thread][*to] == m->state[thread][t])
        ++*to;
    for (size_t i = 0; i < m->wakeup_count; i++)
        if (m->wakeups[i].to == thread && m->wakeups[i].source != CN_WOKEN_AT_START &&
            m->wakeups[i].time_ns >= *from && m->wakeups[i].time_ns <= *to &&
            (!best || m->wakeups[i].time_ns < best->time_ns))
            best = &m->wakeups[i];
    if (best || *from == 0 || m->state[thread][*from - 1] != CN_TASK_RUNNING ||
        m->state[thread][t] != CN_TASK_BLOCKED)
        return best;
    /* It may have been woken before it had stopped. */
    uint64_t ran = *from;
    while (ran > 0 && m->state[thread][ran - 1] == CN_TASK_RUNNING)
        ran--;
    for (size_t i = 0; i < m->wakeup_count; i++)
        if (m->wakeups[i].to == thread && m->wakeups[i].source != CN_WOKEN_AT_START &&
            m->wakeups[i].time_ns > ran && m->wakeups[i].time_ns < *from)
            best = &m->wakeups[i];
    return best;
}

static bool ends_with_data(const struct made *m, uint32_t thread, uint64_t to)
{
    return to == SPAN || m->state[thread][to] == CN_TASK_UNKNOWN;
}

/* What a thread waits for in the nanosecond from t on. */
static enum cn_wait_kind second_kind(const struct made *m, uint32_t thread, uint64_t t)
{
    uint64_t from, to;
    const struct cn_wakeup *wakeup = second_wakeup(m, thread, t, &from, &to);

    if (m->state[thread][t] == CN_TASK_PREEMPTED)
        return CN_WAIT_BY_PREEMPTION;
    if (!wakeup)
        return ends_with_data(m, thread, to) ? CN_WAIT_FOR_ALWAYS : CN_WAIT_FOR_UNKNOWN;
    if (t >= wakeup->time_ns)
        return CN_WAIT_FOR_PROCESSOR;
    if (wakeup->source == CN_WOKEN_BY_INTERRUPT)
        return CN_WAIT_FOR_TIMER;
    return (thread > 3) == (wakeup->from > 3) ? CN_WAIT_FOR_THREAD : CN_WAIT_FOR_PROCESS;
}

static void all_waits_add_up(const struct made *m, const struct cn_wait_graph *graph)
{
    uint64_t wanted[CN_WAIT_FOR_KINDS] = {0}, found[CN_WAIT_FOR_KINDS] = {0}, all = 0;
    struct cn_wait_sums sums;
    struct cn_error err = {0};

    for (uint32_t i = 1; i <= THREADS; i++)
        for (uint64_t t = 0; t < SPAN; t++)
            if (m->state[i][t] == CN_TASK_BLOCKED ||
                m->state[i][t] == CN_TASK_PREEMPTED) {
                wanted[second_kind(m, i, t)]++;
                all++;
            }
    assert_true(cn_wait_sums_init(&sums, m->db, &m->sites, false, &err));
    for (uint32_t i = 0; i < graph->profile_count; i++) {
        struct cn_waited wait;

        for (size_t k = 0; cn_wait_graph_next(graph, i, &k, &wait);)
            cn_wait_sums_add(&sums, &wait, 0, UINT64_MAX);
    }
    cn_wait_sums_finish(&sums);
    for (size_t i = 0; i < sums.count; i++) {
        assert_true(sums.list[i].kind < CN_WAIT_FOR_KINDS);
        found[sums.list[i].kind] += sums.list[i].time_ns;
        assert_true(i == 0 || sums.list[i - 1].time_ns >= sums.list[i].time_ns);
    }
    for (size_t i = 0; i < CN_WAIT_FOR_KINDS; i++)
        assert_int_equal(found[i], wanted[i]);
    assert_int_equal(sums.total_ns, all);
    assert_int_equal(graph->wait_ns, all);
    cn_wait_sums_done(&sums);
}

/* However wide columns are, bars have all parts, and those of a thread follow each other. */
static void check_bars(const struct cn_wait_chain *chain)
{
    for (uint64_t column_ns = 0; column_ns <= SPAN; column_ns = 4 * column_ns + 1) {
        uint64_t last[THREADS + 1] = {0}, all = 0;
        struct cn_wait_bars bars;
        size_t parts = 0;

        cn_wait_bars_build(&bars, chain, 0, UINT64_MAX, column_ns);
        for (size_t i = 0; i < bars.count; i++) {
            const struct cn_wait_bar *bar = &bars.list[i];

            assert_true(bar->begin_ns >= last[bar->profile]);
            assert_true(bar->begin_ns + bar->path_ns <= bar->end_ns);
            assert_true(bar->parts == 1 || bar->end_ns - bar->begin_ns <=
                                               bar->path_ns + bar->parts * column_ns);
            last[bar->profile] = bar->end_ns;
            all += bar->path_ns;
            parts += bar->parts;
        }
        assert_int_equal(all, chain->end_ns - chain->begin_ns);
        assert_int_equal(parts, chain->count);
        cn_wait_bars_done(&bars);
    }
}

/* The chain, nanosecond by nanosecond: which thread, and what it does. */
static void check_chain(const struct made *m, const struct cn_wait_graph *graph,
                        uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
    struct cn_wait_chain chain;
    size_t at = 0, hops = 0;
    uint64_t t, from, to;
    bool has_ended = false;

    cn_wait_chain_build(&chain, m->db, graph, thread, begin_ns, end_ns);
    t = chain.end_ns;
    /* The range ends in a wait: the chain begins with its end. */
    if (t > chain.begin_ns && m->state[thread][t - 1] == CN_TASK_BLOCKED) {
        const struct cn_wakeup *later = second_wakeup(m, thread, t - 1, &from, &to);

        if (later && later->source == CN_WOKEN_BY_THREAD && later->time_ns > t)
            t = later->time_ns;
    }
    while (t > chain.begin_ns) {
        enum cn_task_state state = m->state[thread][t - 1];
        const struct cn_wakeup *wakeup = second_wakeup(m, thread, t - 1, &from, &to);
        uint32_t kind = CN_CHAIN_RUNS;

        if (state == CN_TASK_BLOCKED || state == CN_TASK_PREEMPTED)
            kind = second_kind(m, thread, t - 1);
        if (!has_ended && state == CN_TASK_BLOCKED && wakeup && wakeup->time_ns == t &&
            wakeup->source == CN_WOKEN_BY_THREAD) {
            /* Where threads wake each other at one time, the chain ends. */
            has_ended = ++hops > THREADS + 1;
            thread = has_ended ? thread : wakeup->from;
            if (!has_ended)
                continue;
        }
        if (state == CN_TASK_UNKNOWN) {
            bool is_later = false, is_earlier = false;
            uint32_t creator = 0;

            for (uint64_t k = 0; k < SPAN; k++) {
                is_later = is_later || (k >= t && m->state[thread][k] != CN_TASK_UNKNOWN);
                is_earlier =
                    is_earlier || (k < t && m->state[thread][k] != CN_TASK_UNKNOWN);
            }
            for (size_t i = 0; i < m->wakeup_count; i++)
                if (m->wakeups[i].source == CN_WOKEN_AT_START &&
                    m->wakeups[i].to == thread)
                    creator = m->wakeups[i].from;
            if (is_earlier && !is_later && hops > 0)
                kind = CN_CHAIN_RUNS; /* its end woke the one before */
            else if (!is_earlier && creator != 0)
                kind = CN_WAIT_FOR_PROCESSOR; /* created, but does not run yet */
            else
                has_ended = true;
        }
        has_ended = has_ended || kind == CN_WAIT_FOR_UNKNOWN;
        if (has_ended)
            kind = CN_WAIT_FOR_UNKNOWN;
        bool is_in_range = t <= chain.end_ns;
        if (is_in_range) {
            assert_true(at < chain.count);
            struct cn_chain_part part = cn_wait_chain_at(&chain, at);

            assert_true(part.begin_ns < t && t <= part.end_ns);
            assert_int_equal(part.kind, kind);
            assert_int_equal(part.profile, thread);
        }
        t--;
        if (state != CN_TASK_UNKNOWN)
            hops = 0;
        at += is_in_range && t == chain.list[at].begin_ns;
    }
    assert_int_equal(at, chain.count);
    check_bars(&chain);
    cn_wait_chain_done(&chain);
}

static void random_threads_have_the_waits_and_chains_of_every_nanosecond(void **state)
{
    struct cn_error err = {0};

    (void)state;
    srand(39);
    for (int round = 0; round < ROUNDS; round++) {
        struct cn_wait_graph graph;
        struct made *m = cn_alloc(1, sizeof(*m));

        make_random(m);
        assert_true(cn_wait_graph_build(&graph, m->db, &m->frames, &err));
        all_waits_add_up(m, &graph);
        for (uint32_t i = 1; i <= THREADS; i++) {
            check_chain(m, &graph, i, 0, UINT64_MAX);
            check_chain(m, &graph, i, 100, 250);
        }
        cn_wait_graph_done(&graph);
        end(m);
        free(m);
    }
}

/* Write over the file as another program would, while it is mapped. */
static void overwrite(const char *path, bool is_random)
{
    FILE *file = fopen(path, "r+");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long len = ftell(file);
    rewind(file);
    for (long i = 0; i < len; i++)
        assert_int_not_equal(fputc(is_random ? rand() & 0xff : 0xff, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void ask_everything(struct made *m, struct cn_database *db,
                           const struct cn_wait_graph *graph)
{
    struct cn_wait_sums sums;
    struct cn_error err = {0};
    struct cn_waited wait;

    assert_true(cn_wait_sums_init(&sums, db, &m->sites, false, &err));
    for (uint32_t i = 0; i < db->profile_count; i++) {
        for (size_t state = 0; cn_wait_graph_next(graph, i, &state, &wait);)
            cn_wait_sums_add(&sums, &wait, 0, UINT64_MAX);
        assert_true(cn_wait_sums_add_chain(&sums, graph, i, 0, UINT64_MAX, &err));
    }
    cn_wait_sums_finish(&sums);
    cn_wait_sums_done(&sums);
}

/* Answers are then wrong, but nothing outside of memory is read, and they end. */
static void a_file_may_be_overwritten_while_it_is_asked(void **state)
{
    struct cn_error err = {0};

    (void)state;
    srand(40);
    for (int round = 0; round < 24; round++) {
        struct made *m = cn_alloc(1, sizeof(*m));
        struct cn_wait_graph graph;
        struct cn_database *db;

        make_random(m);
        cn_scratch_remove("db");
        cn_v4_must_write(m->db, "db", (struct cn_write_options){.workers = 1});
        db = cn_v4_must_open("db");
        assert_non_null(db->states);
        if (round % 3 == 0)
            overwrite("db/states.db", round % 2);
        assert_true(cn_wait_graph_build(&graph, db, &m->frames, &err));
        overwrite("db/states.db", round % 2);
        ask_everything(m, db, &graph);
        cn_wait_graph_done(&graph);
        cn_database_close(db);
        end(m);
        free(m);
    }
}

/* One wait of thread 1, from 10 to 30. */
static struct made *make_wait(struct cn_wakeup wakeup)
{
    struct made *m = cn_alloc(1, sizeof(*m));

    begin(m);
    for (uint32_t i = 1; i <= THREADS; i++)
        for (uint64_t t = 0; t < SPAN; t++)
            m->state[i][t] =
                i == 1 && t >= 10 && t < 30 ? CN_TASK_BLOCKED : CN_TASK_RUNNING;
    m->wakeups[m->wakeup_count++] = wakeup;
    return m;
}

static struct cn_waited only_wait(struct made *m)
{
    struct cn_error err = {0};
    struct cn_wait_graph graph;
    struct cn_waited wait, other;
    size_t state = 0;

    finish(m);
    assert_true(cn_wait_graph_build(&graph, m->db, &m->frames, &err));
    assert_int_equal(graph.count, 1);
    assert_true(cn_wait_graph_next(&graph, 1, &state, &wait));
    assert_int_equal(wait.begin_ns, 10);
    assert_int_equal(cn_wait_graph_after(&graph, 1, 10), state - 1);
    assert_int_equal(cn_wait_graph_after(&graph, 1, 29), state - 1);
    assert_int_equal(cn_wait_graph_after(&graph, 1, 30), state);
    assert_false(cn_wait_graph_next(&graph, 1, &state, &other));
    state = 0;
    assert_false(cn_wait_graph_next(&graph, 2, &state, &other));
    cn_wait_graph_done(&graph);
    end(m);
    free(m);
    return wait;
}

static void a_wake_up_after_the_wait_is_not_its_end(void **state)
{
    struct made *m;

    (void)state;
    m = make_wait((struct cn_wakeup){31, 2, 1, 0, CN_WOKEN_BY_THREAD});
    assert_int_equal(only_wait(m).kind, CN_WAIT_FOR_UNKNOWN);
}

static void a_thread_may_be_woken_before_it_has_stopped(void **state)
{
    struct made *m = make_wait((struct cn_wakeup){9, 2, 1, 0, CN_WOKEN_BY_THREAD});

    (void)state;
    struct cn_waited wait = only_wait(m);
    assert_int_equal(wait.kind, CN_WAIT_FOR_THREAD);
    assert_int_equal(wait.woken_ns, wait.begin_ns);
}

static void a_packet_of_this_machine_is_of_the_thread_that_sent_it(void **state)
{
    struct made *m =
        make_wait((struct cn_wakeup){20, 2, 1, 0, CN_WOKEN_BY_SOFT_INTERRUPT});

    (void)state;
    uint32_t call =
        add_function(m, add_function(m, m->work, "do_syscall_64"), "net_rx_action");
    m->wakeups[0].context = call;
    struct cn_waited wait = only_wait(m);
    assert_int_equal(wait.kind, CN_WAIT_FOR_THREAD);
    assert_int_equal(wait.waker, 2);
    m = make_wait((struct cn_wakeup){20, 2, 1, 0, CN_WOKEN_BY_SOFT_INTERRUPT});
    m->wakeups[0].context =
        add_function(m,
                     add_function(m, add_function(m, m->work, "do_syscall_64"),
                                  "asm_common_interrupt"),
                     "net_rx_action");
    wait = only_wait(m);
    assert_int_equal(wait.kind, CN_WAIT_FOR_NETWORK);
    assert_int_equal(wait.waker, 0);
}

static void the_end_of_a_thread_of_another_process_is_that_of_a_child(void **state)
{
    struct made *m = make_wait((struct cn_wakeup){20, 4, 1, 0, CN_WOKEN_BY_THREAD});

    (void)state;
    m->lock = add_function(m, m->work, "kernel_wait4");
    m->wakeups[0].context = m->exits;
    struct cn_waited wait = only_wait(m);
    assert_int_equal(wait.kind, CN_WAIT_FOR_CHILD);
    assert_true(wait.is_ending);
    assert_int_equal(wait.woken_ns, 20);
}

static void others_are_processes_threads_of_the_kernel_or_the_disk(void **state)
{
    struct made *m = make_wait((struct cn_wakeup){20, 0, 1, 0, CN_WOKEN_BY_OTHER});

    (void)state;
    m->wakeups[0].context = add_function(m, 0, "do_syscall_64");
    assert_int_equal(only_wait(m).kind, CN_WAIT_FOR_PROCESS);
    m = make_wait((struct cn_wakeup){20, 0, 1, 0, CN_WOKEN_BY_OTHER});
    m->wakeups[0].context = add_function(m, 0, "kthread");
    assert_int_equal(only_wait(m).kind, CN_WAIT_FOR_KERNEL);
    m = make_wait((struct cn_wakeup){20, 0, 1, 0, CN_WOKEN_BY_OTHER});
    m->wakeups[0].context = add_function(m, 0, "kthread");
    m->lock = add_function(m, m->work, "io_schedule");
    assert_int_equal(only_wait(m).kind, CN_WAIT_FOR_DISK);
}

static void a_sleep_and_the_disk_are_known_without_their_wake_ups(void **state)
{
    struct made *m = make_wait((struct cn_wakeup){31, 2, 1, 0, CN_WOKEN_BY_THREAD});

    (void)state;
    m->lock = add_function(m, m->work, "do_nanosleep");
    struct cn_waited sleep = only_wait(m);
    assert_int_equal(sleep.kind, CN_WAIT_FOR_TIMER);
    assert_true(sleep.is_inferred && !sleep.is_woken);
    m = make_wait((struct cn_wakeup){31, 2, 1, 0, CN_WOKEN_BY_THREAD});
    m->lock = add_function(m, m->work, "io_schedule");
    struct cn_waited wait = only_wait(m);
    assert_int_equal(wait.kind, CN_WAIT_FOR_DISK);
    assert_int_equal(wait.woken_ns, 30);
    assert_true(wait.is_inferred && !wait.is_woken);
}

static void without_states_it_is_not_known(void **state)
{
    struct cn_error err = {0};
    struct cn_memory_database *memory = cn_memory_database_new("waits", "");
    struct cn_database *db = cn_memory_database_finish(memory);
    struct cn_wait_graph graph;
    struct cn_frames frames;

    (void)state;
    assert_true(cn_frames_build(&frames, db, NULL, &err));
    assert_false(cn_wait_graph_build(&graph, db, &frames, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    cn_frames_done(&frames);
    cn_database_close(db);
}

static void causes_are_said_with_the_most_time_first(void **state)
{
    struct cn_error err = {0};
    struct made *m = make_wait((struct cn_wakeup){28, 2, 1, 0, CN_WOKEN_BY_THREAD});
    struct cn_wait_graph graph;
    struct cn_wait_sums sums;
    struct cn_wait_causes causes;
    struct cn_text text = {0};

    (void)state;
    cn_memory_database_add_sample(m->memory, 2, (struct cn_sample){0, m->work});
    cn_memory_database_add_sample(m->memory, 1, (struct cn_sample){0, m->lock});
    finish(m);
    assert_true(cn_wait_graph_build(&graph, m->db, &m->frames, &err));
    assert_true(cn_wait_sums_init(&sums, m->db, &m->sites, false, &err));
    assert_true(cn_wait_sums_add_chain(&sums, &graph, 1, 10, 30, &err));
    cn_wait_sums_finish(&sums);
    cn_wait_causes_list(&causes, &sums);
    cn_wait_causes_print(&causes, &sums, "t1", 4, &text);
    assert_string_equal(cn_text_str(&text),
                        "t1 took 20 ns: 18 ns t2 in [unknown], 2 ns for a processor");
    cn_text_clear(&text);
    cn_wait_causes_print(&causes, &sums, "t1", 1, &text);
    assert_string_equal(cn_text_str(&text),
                        "t1 took 20 ns: 18 ns t2 in [unknown], 2 ns of other things");
    cn_text_done(&text);
    cn_wait_causes_done(&causes);
    cn_wait_sums_done(&sums);
    cn_wait_graph_done(&graph);
    end(m);
    free(m);
}

static void changes_of_causes_are_said(void **state)
{
    static const struct {
        const char *name;
        int64_t ns;
        const char *said;
    } cases[] = {
        {"worker in compress", 1200000, "waited 1.2 ms longer for worker in compress"},
        {"for the disk", -3000, "waited 3 us shorter for the disk"},
        {"in report", 5, "ran 5 ns longer in report"},
        {"pre-empted", 7, "was pre-empted 7 ns longer"},
        {"unknown (a wake-up is missing)", 7,
         "was unknown (a wake-up is missing) 7 ns longer"},
    };
    struct cn_text text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cn_text_clear(&text);
        cn_wait_cause_print_change(cases[i].name, cases[i].ns, &text);
        assert_string_equal(cn_text_str(&text), cases[i].said);
    }
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_threads_have_the_waits_and_chains_of_every_nanosecond),
        CN_SCRATCH_TEST(a_file_may_be_overwritten_while_it_is_asked),
        cmocka_unit_test(a_wake_up_after_the_wait_is_not_its_end),
        cmocka_unit_test(a_thread_may_be_woken_before_it_has_stopped),
        cmocka_unit_test(a_packet_of_this_machine_is_of_the_thread_that_sent_it),
        cmocka_unit_test(the_end_of_a_thread_of_another_process_is_that_of_a_child),
        cmocka_unit_test(others_are_processes_threads_of_the_kernel_or_the_disk),
        cmocka_unit_test(a_sleep_and_the_disk_are_known_without_their_wake_ups),
        cmocka_unit_test(without_states_it_is_not_known),
        cmocka_unit_test(causes_are_said_with_the_most_time_first),
        cmocka_unit_test(changes_of_causes_are_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
