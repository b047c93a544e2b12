/* Two single runs: the calls of each tell changes from noise. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calls/filter.h"
#include "analyze/cct/calls_to_database.h"
#include "analyze/compare/explain.h"
#include "analyze/compare/rows.h"
#include "model/calls/recording_memory.h"
#include "support/scratch.h"

enum { MAIN, LEAVES = 8, FUNCTIONS = 1 + LEAVES, ROUNDS = 200, TRIALS = 100, NONE = 0 };

struct run {
    uint64_t random, now_ns;
    struct cn_memory_recording *memory;
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    struct cn_calls_result result;
    struct cn_database *db;
    uint32_t task;
};

static double draw(struct run *run)
{
    run->random = run->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (double)(run->random >> 11) / 9007199254740992.0;
}

static void put(struct run *run, enum cn_call_kind kind, uint32_t function,
                uint16_t depth)
{
    cn_memory_recording_add_call(run->memory, run->task,
                                 (struct cn_call){.time_ns = run->now_ns,
                                                  .address = 64 * function,
                                                  .function = function,
                                                  .depth = depth,
                                                  .kind = (uint8_t)kind},
                                 (struct cn_bytes){0});
}

static void begin(struct run *run, uint64_t seed)
{
    static const char *const names[FUNCTIONS] = {"main", "f1", "f2", "f3", "f4",
                                                 "f5",   "f6", "f7", "f8"};
    uint32_t module, session;

    *run =
        (struct run){.random = seed, .now_ns = 1000, .memory = cn_memory_recording_new()};
    module = cn_memory_recording_add_module(run->memory, "/bin/program", "");
    session = cn_memory_recording_add_session(run->memory, "1", 1, 0, "program");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        (void)cn_memory_recording_add_function(
            run->memory, (struct cn_call_function){.name = names[i],
                                                   .raw_name = names[i],
                                                   .module = module,
                                                   .type = 'T',
                                                   .offset = 64 * i,
                                                   .size = 64,
                                                   .file = ""});
    cn_memory_recording_add_mapping(run->memory, session,
                                    (struct cn_mapping){0, 4096, 0, module, "r-xp"});
    run->task = cn_memory_recording_add_task(
        run->memory, (struct cn_task){.tid = 1, .pid = 1, .name = "program"});
    cn_memory_recording_add_task_session(run->memory, run->task, 0, session);
}

/* Each function takes its own time, give or take 40 %, and one call in a hundred three times
 * as long; `slow` takes 20 % more. */
static void make_run(struct run *run, uint64_t seed, uint32_t slow)
{
    struct cn_calls_options options = {.workers = 1, .folder = "."};
    struct cn_error err = {0};

    begin(run, seed);
    put(run, CN_CALL_ENTER, MAIN, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 1; i < FUNCTIONS; i++) {
            double took = 1000 * i * (0.6 + 0.8 * draw(run)) * (draw(run) < 0.01 ? 3 : 1);

            put(run, CN_CALL_ENTER, i, 1);
            run->now_ns += (uint64_t)(i == slow ? 1.2 * took : took);
            put(run, CN_CALL_EXIT, i, 1);
        }
    put(run, CN_CALL_EXIT, MAIN, 0);
    run->rec = cn_memory_recording_finish(run->memory);
    cn_call_filter_init(&run->filter, run->rec);
    cn_call_filter_ready(&run->filter);
    run->query = (struct cn_call_query){.rec = run->rec,
                                        .filter = &run->filter,
                                        .range = cn_time_always,
                                        .tasks = &run->task,
                                        .task_count = 1};
    if (!cn_calls_to_database(&run->db, &run->query, 1, &options, &run->result, &err))
        fail_msg("%s", err.text);
}

static void done(struct run *run)
{
    cn_calls_result_done(&run->result);
    cn_database_close(run->db);
    cn_call_filter_done(&run->filter);
    cn_recording_close(run->rec);
}

static void compare(struct cn_comparison *c, struct run *a, struct run *b)
{
    struct run *runs[] = {a, b};
    struct cn_error err = {0};

    cn_comparison_init(c);
    for (int side = 0; side < CN_SIDES; side++)
        if (!cn_comparison_add(c,
                               &(struct cn_compare_run){.side = (enum cn_side)side,
                                                        .db = runs[side]->db,
                                                        .has_durations = true},
                               NULL, &err))
            fail_msg("%s", err.text);
    cn_comparison_finish(c);
    assert_int_equal(cn_comparison_over(c), CN_OVER_CALLS);
}

/* True if the function is the first line, and real. */
static bool is_named_first(const struct cn_comparison *c, uint32_t function)
{
    char name[3] = {'f', (char)('0' + function), '\0'};
    struct cn_explanation e;
    bool found;

    cn_explain(&e, c, 10);
    found = e.shown > 0 && e.list[0].evidence.verdict == CN_VERDICT_REAL &&
            strcmp(c->names.list[e.list[0].name], name) == 0;
    cn_explanation_done(&e);
    return found;
}

static size_t count_real(const struct cn_comparison *c)
{
    struct cn_explanation e;
    struct cn_compare_rows rows;
    size_t count;

    cn_explain(&e, c, 10);
    count = e.real_count;
    cn_explanation_done(&e);
    cn_compare_rows_make(&rows, c, CN_COMPARE_FLAT, false, 1, false);
    for (size_t i = 0; i < rows.count; i++)
        count += rows.list[i].evidence.verdict == CN_VERDICT_REAL;
    cn_compare_rows_done(&rows);
    return count;
}

static void calls_tell_changes_from_noise(void **state)
{
    unsigned named = 0, silent = 0;

    (void)state;
    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        uint32_t slow = 1 + trial % LEAVES;
        struct run a, same, slower;
        struct cn_comparison c;

        make_run(&a, 3 * trial, NONE);
        make_run(&same, 3 * trial + 1, NONE);
        make_run(&slower, 3 * trial + 2, slow);
        compare(&c, &a, &same);
        silent += count_real(&c) == 0;
        cn_comparison_done(&c);
        compare(&c, &a, &slower);
        named += is_named_first(&c, slow);
        cn_comparison_done(&c);
        done(&a);
        done(&same);
        done(&slower);
    }
    printf("named first: %u, nothing real: %u of %d\n", named, silent, TRIALS);
    assert_true(named >= 95);
    assert_true(silent >= 95);
}

/* Calls that did not return, or one call alone, tell nothing. */
static void one_call_tells_nothing(void **state)
{
    struct run a, b;
    struct cn_comparison c;
    struct cn_compare_rows rows;

    (void)state;
    make_run(&a, 1, NONE);
    make_run(&b, 2, 1);
    compare(&c, &a, &b);
    cn_compare_rows_make(&rows, &c, CN_COMPARE_TREE, true, 2, false);
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(c.names.list[c.nodes[rows.list[i].node].name], "main") == 0)
            assert_int_equal(rows.list[i].evidence.verdict, CN_VERDICT_UNKNOWN);
    cn_compare_rows_done(&rows);
    cn_comparison_done(&c);
    done(&a);
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(calls_tell_changes_from_noise),
        CN_SCRATCH_TEST(one_call_tells_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
