/* Two single runs: the calls of each tell changes from noise. */

#include <math.h>
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
#include "analyze/compare/rules.h"
#include "analyze/waits.h"
#include "base/text.h"
#include "model/calls/recording_memory.h"
#include "support/fake_recording.h"
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
    uint64_t leaf_ns[FUNCTIONS]; /* running time, added up while it is written */
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

static void analyse(struct run *run, struct cn_hook_cost recorder)
{
    struct cn_calls_options options = {.workers = 1, .folder = "."};
    struct cn_error err = {0};

    run->rec = cn_memory_recording_finish(run->memory);
    run->rec->call_cost = recorder;
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

/* Each function takes its own time, give or take 40 %, and one call in a hundred three times
 * as long; `slow` takes 30 % more. */
static void make_run(struct run *run, uint64_t seed, uint32_t slow)
{
    begin(run, seed);
    put(run, CN_CALL_ENTER, MAIN, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 1; i < FUNCTIONS; i++) {
            double took = 1000 * i * (0.6 + 0.8 * draw(run)) * (draw(run) < 0.01 ? 3 : 1);

            put(run, CN_CALL_ENTER, i, 1);
            run->now_ns += (uint64_t)(i == slow ? 1.3 * took : took);
            put(run, CN_CALL_EXIT, i, 1);
        }
    put(run, CN_CALL_EXIT, MAIN, 0);
    analyse(run, (struct cn_hook_cost){0});
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

/* What a test records: main calls leaves in turn, `rounds` times. Times in nanoseconds. */
struct script {
    unsigned rounds;
    uint64_t main_ns;             /* of main before each call */
    uint64_t leaf_ns[LEAVES + 1]; /* 0: it is not called */
    unsigned calls[LEAVES + 1];   /* in each round; 0: one */
    uint64_t preempted_ns;        /* of each seventh call, on average */
    uint64_t call_ns, inner_ns;   /* cost of the recorder, as measured when it starts */
    uint64_t late_ns;             /* by which a call costs more */
};

static void record_leaf(struct run *run, const struct script *script, uint32_t leaf,
                        bool is_preempted)
{
    uint64_t took_ns =
        (uint64_t)((double)script->leaf_ns[leaf] * (0.95 + 0.1 * draw(run)));

    run->now_ns += script->main_ns;
    put(run, CN_CALL_ENTER, leaf, 1);
    run->now_ns += took_ns / 2;
    if (is_preempted) {
        cn_memory_recording_add_call(
            run->memory, run->task,
            (struct cn_call)CN_FAKE_EVENT(run->now_ns, CN_EVENT_SCHED_OUT_PREEMPT),
            (struct cn_bytes){0});
        run->now_ns += (uint64_t)((double)script->preempted_ns * 2 * draw(run));
        cn_memory_recording_add_call(
            run->memory, run->task,
            (struct cn_call)CN_FAKE_EVENT(run->now_ns, CN_EVENT_SCHED_IN),
            (struct cn_bytes){0});
    }
    run->now_ns += took_ns - took_ns / 2 + script->inner_ns;
    put(run, CN_CALL_EXIT, leaf, 1);
    run->now_ns += script->call_ns - script->inner_ns + script->late_ns;
    run->leaf_ns[leaf] += took_ns;
}

static void record(struct run *run, const struct script *script, uint64_t seed)
{
    unsigned number = 0;

    begin(run, seed);
    put(run, CN_CALL_ENTER, MAIN, 0);
    run->now_ns += script->inner_ns;
    for (unsigned round = 0; round < script->rounds; round++)
        for (uint32_t leaf = 1; leaf <= LEAVES; leaf++)
            for (unsigned i = 0; i < (script->calls[leaf] ? script->calls[leaf] : 1); i++)
                if (script->leaf_ns[leaf] > 0)
                    record_leaf(run, script, leaf,
                                script->preempted_ns > 0 && ++number % 7 == 0);
    put(run, CN_CALL_EXIT, MAIN, 0);
    analyse(run, (struct cn_hook_cost){1000 * script->call_ns, 1000 * script->inner_ns});
}

/* Two recordings, compared. */
struct pair {
    struct run runs[CN_SIDES];
    struct cn_comparison c;
    struct cn_explanation e;
    struct cn_text sentence;
};

static void make_pair(struct pair *pair, const struct script *a, const struct script *b)
{
    *pair = (struct pair){0};
    record(&pair->runs[CN_SIDE_A], a, 1);
    record(&pair->runs[CN_SIDE_B], b, 2);
    compare(&pair->c, &pair->runs[CN_SIDE_A], &pair->runs[CN_SIDE_B]);
    cn_explain(&pair->e, &pair->c, 10);
    cn_explanation_sentence_add(&pair->sentence, &pair->c, &pair->e);
}

static void free_pair(struct pair *pair)
{
    cn_text_done(&pair->sentence);
    cn_explanation_done(&pair->e);
    cn_comparison_done(&pair->c);
    done(&pair->runs[CN_SIDE_A]);
    done(&pair->runs[CN_SIDE_B]);
}

static const struct cn_change *change_of(const struct pair *pair, const char *name)
{
    for (size_t i = 0; i < pair->e.count; i++)
        if (strcmp(pair->c.names.list[pair->e.list[i].name], name) == 0)
            return &pair->e.list[i];
    fail_msg("%s is not compared", name);
    return NULL;
}

static const struct script usual = {
    .rounds = 50, .leaf_ns = {0, 10000, 20000, 30000, 40000, 10000, 20000, 30000, 40000}};

/* The cost that is compared has no waiting in it, and so has its error. */
static void preemption_is_no_change(void **state)
{
    struct script calm = usual, busy = usual, slower = usual;
    const struct cn_change *change;
    struct pair pair;

    (void)state;
    calm.preempted_ns = 1000;
    busy.preempted_ns = 5000000;
    make_pair(&pair, &calm, &busy);
    assert_string_equal(pair.c.metric, CN_CPU_TIME_NAME);
    assert_int_equal(pair.e.real_count + pair.e.unknown_count, 0);
    change = change_of(&pair, "f2");
    for (int side = 0; side < CN_SIDES; side++)
        assert_true(fabs(change->value[side] -
                         1e-9 * (double)pair.runs[side].leaf_ns[2]) < 1e-12);
    assert_true(change->evidence.difference.half_width < 0.2 * change->value[CN_SIDE_A]);
    free_pair(&pair);

    slower.preempted_ns = 5000000;
    slower.leaf_ns[2] = 30000;
    make_pair(&pair, &busy, &slower);
    assert_int_equal(pair.e.real_count, 1);
    assert_string_equal(pair.c.names.list[pair.e.list[0].name], "f2");
    free_pair(&pair);
}

/* Numbers of calls have no error, however few and however different the calls are. */
static void numbers_of_calls_are_certain(void **state)
{
    static const struct {
        const char *name;
        enum cn_change_kind kind;
    } expected[] = {
        {"f3", CN_CHANGE_GONE}, {"f4", CN_CHANGE_NEW}, {"f5", CN_CHANGE_SELF}};
    struct script a = usual, b = usual;
    struct pair pair;

    (void)state;
    a.rounds = b.rounds = 2;
    a.preempted_ns = b.preempted_ns = 5000000;
    a.leaf_ns[4] = b.leaf_ns[3] = 0;
    b.calls[5] = 2;
    make_pair(&pair, &a, &b);
    assert_int_equal(pair.e.real_count, 3);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        const struct cn_change *change = change_of(&pair, expected[i].name);

        assert_int_equal(change->evidence.verdict, CN_VERDICT_REAL);
        assert_int_equal(change->kind, expected[i].kind);
    }
    free_pair(&pair);

    /* Also where a change of time hides what a few calls more cost. */
    b = a;
    b.calls[5] = 2;
    b.leaf_ns[5] = 5000;
    make_pair(&pair, &a, &b);
    assert_int_not_equal(change_of(&pair, "f5")->evidence.verdict, CN_VERDICT_NOISE);
    free_pair(&pair);
}

/* The recorder takes two nanoseconds more than it measured: 4 % of its cost, and half of what main
 * itself takes. */
static void an_error_of_the_correction_is_no_change(void **state)
{
    struct script a = {.rounds = 2000, .main_ns = 4, .leaf_ns = {0, 100, 100}};
    double least;
    struct pair pair;
    struct script b;

    (void)state;
    a.call_ns = 50;
    a.inner_ns = 20;
    a.calls[1] = 20;
    b = a;
    b.late_ns = 2;
    make_pair(&pair, &a, &b);
    assert_int_equal(pair.e.real_count, 0);
    /* 30 of 50 ns of each call are subtracted from main: of both sides, to a quarter. */
    least = 1.96 * sqrt(2) * 0.25 * 30e-9 * 2000 * 21;
    assert_true(pair.e.whole.evidence.difference.half_width > least);
    free_pair(&pair);
}

/* The noise of one call is unknown. */
static void one_call_tells_nothing(void **state)
{
    struct script a = usual, b = usual;
    struct cn_compare_rows rows;
    struct pair pair;
    size_t found = 0;

    (void)state;
    a.main_ns = 10000;
    b.main_ns = 12000;
    make_pair(&pair, &a, &b);
    assert_int_equal(change_of(&pair, "main")->evidence.verdict, CN_VERDICT_UNKNOWN);
    cn_compare_rows_make(&rows, &pair.c, CN_COMPARE_TREE, false, 2, false);
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(pair.c.names.list[pair.c.nodes[rows.list[i].node].name], "main") ==
            0) {
            assert_int_equal(rows.list[i].evidence.verdict, CN_VERDICT_UNKNOWN);
            found++;
        }
    assert_int_equal(found, 1);
    cn_compare_rows_done(&rows);
    free_pair(&pair);
}

/* Everything between the two runs is a tenth slower: that is the machine, not one function. */
static void the_speed_of_a_run_is_no_change(void **state)
{
    struct script slower = usual;
    struct pair pair;

    (void)state;
    for (size_t i = 1; i <= LEAVES; i++)
        slower.leaf_ns[i] = usual.leaf_ns[i] * 11 / 10;
    make_pair(&pair, &usual, &slower);
    assert_int_equal(pair.e.real_count + pair.e.unknown_count, 0);
    assert_memory_equal(pair.sentence.chars,
                        "A and B differ by no more than noise: ", 38);
    free_pair(&pair);
}

/* A slower machine takes longer for calls of the recorder as well. That error of the correction must
 * not hide from the functions that are recorded most how much the speeds differ. */
static void the_speed_of_a_run_shows_in_the_correction(void **state)
{
    struct script fast = {.rounds = 12, .leaf_ns = {0, 5, 5, 5, 200000}}, slow = fast;
    struct pair pair;

    (void)state;
    fast.call_ns = slow.call_ns = 50;
    fast.inner_ns = slow.inner_ns = 20;
    for (size_t i = 1; i <= 3; i++) {
        fast.calls[i] = slow.calls[i] = 1500;
        slow.leaf_ns[i] = fast.leaf_ns[i] * 3 / 2;
    }
    slow.late_ns = 10;
    slow.leaf_ns[4] = fast.leaf_ns[4] * 8 / 5;
    make_pair(&pair, &fast, &slow);
    assert_int_equal(pair.e.real_count, 0);
    free_pair(&pair);
}

static void assert_sentence(const struct script *a, const struct script *b,
                            const char *begin_of_it, const char *part)
{
    struct pair pair;

    make_pair(&pair, a, b);
    if (strncmp(pair.sentence.chars, begin_of_it, strlen(begin_of_it)) != 0 ||
        !strstr(pair.sentence.chars, part))
        fail_msg("'%s' is not '%s...%s...'", pair.sentence.chars, begin_of_it, part);
    free_pair(&pair);
}

static void the_answer_is_a_sentence(void **state)
{
    struct script other = usual;

    (void)state;
    other.leaf_ns[2] = 500000;
    assert_sentence(&usual, &other, "B is 2",
                    " ms slower: f2, 50 calls as before from main, +2");
    assert_sentence(&other, &usual, "B is 2",
                    " ms faster: f2, 50 calls as before from main, -2");
    other.leaf_ns[4] = 800000;
    assert_sentence(&usual, &other, "B is ", " and 1 more change");
}

/* A tenth of the whole may be the machine. A change that is real and explains it is not. */
static void real_changes_make_the_whole_differ(void **state)
{
    struct script other = usual, another;
    struct pair pair;

    (void)state;
    other.leaf_ns[2] = 0;
    make_pair(&pair, &other, &usual);
    assert_int_equal(pair.e.whole.evidence.verdict, CN_VERDICT_REAL);
    assert_true(pair.e.whole.evidence.difference.half_width >
                pair.e.whole.evidence.difference.difference / 2);
    free_pair(&pair);
    assert_sentence(&other, &usual, "B is ", " slower: f2, new, 50 calls from main, +");
    assert_sentence(&usual, &other, "B is ", " faster: f2, gone, 50 calls from main, -");
    other = usual;
    other.calls[2] = 2;
    assert_sentence(&usual, &other, "B is ",
                    " slower: f2, called 100 times instead of 50 from main, +");
    other.calls[2] = 24;
    assert_sentence(&usual, &other, "B is ",
                    " slower: f2, called 1,200 times instead of 50 from main, +");
    assert_sentence(&other, &usual, "B is ",
                    " faster: f2, called 50 times instead of 1,200 from main, -");
    other = usual;
    other.leaf_ns[2] = 30000;
    assert_sentence(&usual, &other, "B is ",
                    " slower: f2, 50 calls as before from main, +");
    /* Two that cancel each other, to less than their error. */
    other = another = usual;
    other.calls[2] = another.calls[6] = 2;
    make_pair(&pair, &other, &another);
    assert_int_equal(pair.e.real_count, 2);
    assert_int_equal(pair.e.whole.evidence.verdict, CN_VERDICT_NOISE);
    free_pair(&pair);
}

/* The machine is so much faster, or slower, that the change is the smaller part of the difference. */
static void a_whole_that_changes_do_not_explain_is_noise(void **state)
{
    static const char noise[] = "; the whole differs by no more than noise: ";
    struct script without = usual, faster = usual, slower = usual;

    (void)state;
    without.leaf_ns[2] = 0;
    for (size_t i = 1; i <= LEAVES; i++) {
        faster.leaf_ns[i] = usual.leaf_ns[i] * 8 / 10;
        slower.leaf_ns[i] = usual.leaf_ns[i] * 12 / 10;
    }
    assert_sentence(&without, &faster, "f2, new, 50 calls from main, +", noise);
    assert_sentence(&without, &slower, "f2, new, 50 calls from main, +", noise);
    assert_sentence(&slower, &without, "f2, gone, 50 calls from main, -", noise);
}

/* The noise of the whole is unknown where a function that is called once has much of it. That calls which
 * one side alone makes cost something is certain, also of one call. */
static void a_new_call_tells_where_noise_is_unknown(void **state)
{
    struct script a = {.rounds = 1, .main_ns = 10000, .leaf_ns = {0, 10000}}, b = a;
    struct pair pair;

    (void)state;
    b.leaf_ns[2] = 300000;
    for (unsigned calls = 1; calls <= 12; calls += 11) {
        b.calls[2] = calls;
        make_pair(&pair, &a, &b);
        assert_true(isnan(pair.e.whole.evidence.difference.half_width));
        assert_int_equal(pair.e.whole.evidence.verdict, CN_VERDICT_REAL);
        assert_memory_equal(pair.sentence.chars, "B is ", 5);
        free_pair(&pair);
    }
    /* Calls that both sides make, and of which one more costs as much, are not. */
    a.leaf_ns[2] = 300000;
    b.calls[2] = 2;
    make_pair(&pair, &a, &b);
    assert_int_equal(pair.e.whole.evidence.verdict, CN_VERDICT_UNKNOWN);
    free_pair(&pair);
}

/* Two functions tell that a run is ten times slower. No speed makes a cost of nothing. */
static void a_slow_machine_makes_nothing_new(void **state)
{
    struct script a = {.rounds = 20, .leaf_ns = {0, 10000, 20000}}, b = a;
    struct cn_rule_result result;
    struct cn_rule rule;
    struct cn_error err = {0};
    struct pair pair;

    (void)state;
    b.leaf_ns[1] *= 10;
    b.leaf_ns[2] *= 10;
    b.leaf_ns[3] = 1000000;
    make_pair(&pair, &a, &b);
    assert_true(pair.c.speed_variance > 1);
    assert_int_equal(pair.e.real_count, 1);
    assert_int_equal(pair.e.whole.evidence.verdict, CN_VERDICT_REAL);
    assert_memory_equal(pair.sentence.chars, "B is ", 5);
    assert_true(cn_rule_parse(&rule, "total(f3) <= 0ns", &err));
    assert_true(cn_rule_check(&rule, &pair.c, NULL, &result, &err));
    cn_rules_judge(&result, 1);
    assert_int_equal(result.verdict, CN_RULE_BROKEN);
    cn_rule_result_done(&result);
    cn_rule_done(&rule);
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(calls_tell_changes_from_noise),
        CN_SCRATCH_TEST(preemption_is_no_change),
        CN_SCRATCH_TEST(numbers_of_calls_are_certain),
        CN_SCRATCH_TEST(an_error_of_the_correction_is_no_change),
        CN_SCRATCH_TEST(one_call_tells_nothing),
        CN_SCRATCH_TEST(the_speed_of_a_run_is_no_change),
        CN_SCRATCH_TEST(the_speed_of_a_run_shows_in_the_correction),
        CN_SCRATCH_TEST(the_answer_is_a_sentence),
        CN_SCRATCH_TEST(real_changes_make_the_whole_differ),
        CN_SCRATCH_TEST(a_whole_that_changes_do_not_explain_is_noise),
        CN_SCRATCH_TEST(a_new_call_tells_where_noise_is_unknown),
        CN_SCRATCH_TEST(a_slow_machine_makes_nothing_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
