/* Every pair of conversions between the generations: what arrives is what was sent, unless the
 * conversion says what it loses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/v4/v4.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "model/contexts/memory.h"
#include "open/formats.h"
#include "support/compare.h"
#include "support/effort.h"
#include "support/random_tree.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/tiny_v4.h"

static const struct cn_format *const generations[] = {
    &cn_format_hpctoolkit_v4, &cn_format_hpctoolkit_proto, &cn_format_hpctoolkit_xml};
enum { BINARY_COUNT = 2, GENERATION_COUNT = 3 }; /* experiment.xml has fewer scopes */

/* The prototype has no room for the first two; a tiny database has no sources. */
static const char *const expected_losses[] = {
    "description of the database",
    "presented metrics: columns are made from the metrics instead",
    "source files missing from the database that was read",
};

static void note_loss(void *arg, const char *what, uint64_t count)
{
    for (size_t i = 0; i < sizeof(expected_losses) / sizeof(*expected_losses); i++)
        if (strcmp(what, expected_losses[i]) == 0)
            return;
    cn_text_printf(arg, "%llu %s\n", (unsigned long long)count, what);
}

/* Write a database and open it again. */
static struct cn_database *pass(struct cn_database *db, const struct cn_format *to,
                                struct cn_text *losses)
{
    static unsigned number;
    struct cn_write_options options = {
        .workers = 2, .on_loss = note_loss, .on_loss_arg = losses};
    struct cn_error err = {0};
    struct cn_database *again;
    char path[32];

    (void)snprintf(path, sizeof(path), "%u.db", number++);
    if (!to->write_database(db, path, &options, &err) ||
        !to->open_database(&again, path, &err))
        fail_msg("%s: %s", to->name, err.text);
    return again;
}

static void expect_same(struct cn_database *a, struct cn_database *b)
{
    struct cn_error err = {0};

    b->description = a->description;
    if (!cn_compare_databases(a, b, false, &err) || !cn_compare_planes(b, &err))
        fail_msg("%s", err.text);
}

/* From each of the first generations to each, without any loss. */
static void expect_pairs(struct cn_database *db, size_t count)
{
    struct cn_text losses = {0};

    for (size_t i = 0; i < count; i++) {
        struct cn_database *from = pass(db, generations[i], &losses);

        expect_same(db, from);
        for (size_t k = 0; k < count; k++) {
            struct cn_database *to = pass(from, generations[k], &losses);

            expect_same(db, to);
            cn_database_close(to);
        }
        cn_database_close(from);
    }
    assert_string_equal(cn_text_str(&losses), "");
    cn_text_done(&losses);
}

/* All pairs of binary databases; and all pairs of what experiment.xml can hold of it. */
static void expect_all_pairs(struct cn_database *db)
{
    struct cn_text ignored = {0};
    struct cn_database *xml = pass(db, &cn_format_hpctoolkit_xml, &ignored);

    expect_pairs(db, BINARY_COUNT);
    expect_pairs(xml, GENERATION_COUNT);
    cn_text_done(&ignored);
    cn_database_close(xml);
}

static void the_sample_arrives(void **state)
{
    struct cn_database *db = cn_sample_database();

    (void)state;
    expect_all_pairs(db);
    cn_database_close(db);
}

static void random_trees_arrive(void **state)
{
    const uint32_t count = cn_test_is_thorough() ? 20 : 3;

    for (uint32_t seed = 1; seed <= count; seed++) {
        struct cn_random_tree tree;

        cn_scratch_leave(*state);
        *state = cn_scratch_enter();
        cn_random_tree_build(&tree, seed);
        expect_all_pairs(tree.db);
        cn_random_tree_done(&tree);
    }
}

/* A program of one function, in one metric. */
static struct cn_memory_database *small(const char *metric, const char *formula,
                                        enum cn_combine combine)
{
    struct cn_memory_database *m = cn_memory_database_new("small", "");
    uint32_t number, entry;

    (void)cn_memory_database_add_kind(m, "SUMMARY");
    (void)cn_memory_database_add_kind(m, "THREAD");
    (void)cn_memory_database_add_scope(m, "function", CN_SCOPE_TRANSITIVE, 0);
    (void)cn_memory_database_add_scope(m, "execution", CN_SCOPE_EXECUTION, 255);
    number = cn_memory_database_add_metric(m, metric);
    cn_memory_database_add_instance(m, number, (struct cn_scope_instance){0, 2});
    cn_memory_database_add_instance(m, number, (struct cn_scope_instance){1, 4});
    cn_memory_database_add_statistic(m, number,
                                     (struct cn_statistic){1, 3, combine, formula});
    entry =
        cn_memory_database_add_context(m, 0,
                                       (struct cn_context){.kind = CN_CONTEXT_ENTRY,
                                                           .entry = CN_ENTRY_MAIN_THREAD,
                                                           .entry_name = "main thread"});
    (void)cn_memory_database_add_function(
        m, (struct cn_function){"main", CN_NONE, 0, CN_NONE, 0});
    (void)cn_memory_database_add_context(
        m, entry, (struct cn_context){.relation = CN_CALL, .has_function = true});
    (void)cn_memory_database_add_profile(
        m, (struct cn_identity_tuple){.count = 1, .ids = {{1, false, 0, 0}}});
    return m;
}

/* The shortest call took no time: a zero that is a value. */
static void zeros_of_minima_arrive(void **state)
{
    struct cn_memory_database *m = small("min time (sec)", "$$", CN_COMBINE_MIN);
    struct cn_database *db;

    (void)state;
    for (uint32_t context = 0; context < 3; context++) {
        cn_memory_database_add_value(m, 1, context, 4, 0);
        cn_memory_database_add_value(m, 0, context, 3, 0);
    }
    db = cn_memory_database_finish(m);
    expect_all_pairs(db);
    cn_database_close(db);
}

static void a_range_wider_than_the_samples_arrives(void **state)
{
    struct cn_memory_database *m = small("time (sec)", "$$", CN_COMBINE_SUM);
    struct cn_database *db;

    (void)state;
    cn_memory_database_add_sample(m, 1, (struct cn_sample){2000, 2});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){3000, 0});
    db = cn_memory_database_finish(m);
    db->begin_ns = 1000;
    db->end_ns = 4000;
    expect_all_pairs(db);
    cn_database_close(db);
}

static void timelines_without_samples_arrive(void **state)
{
    struct cn_memory_database *m = small("time (sec)", "$$", CN_COMBINE_SUM);
    struct cn_database *db = cn_memory_database_finish(m);

    (void)state;
    db->has_timelines = true;
    expect_all_pairs(db);
    cn_database_close(db);
}

/* Functions after those of the program are not taken for those of entry points. */
static void functions_named_like_entry_points_arrive(void **state)
{
    struct cn_memory_database *m = small("time (sec)", "$$", CN_COMBINE_SUM);
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_function(
        m, (struct cn_function){"<thread root>", CN_NONE, 0, CN_NONE, 0});
    (void)cn_memory_database_add_function(
        m, (struct cn_function){"<program root>", CN_NONE, 0, CN_NONE, 0});
    db = cn_memory_database_finish(m);
    expect_pairs(db, BINARY_COUNT);
    cn_database_close(db);
}

/* More values of a context than readers deliver at once, with gaps between their ids. */
static void contexts_of_many_metrics_arrive(void **state)
{
    enum { METRICS = 2500, GAP = 13 };
    struct cn_memory_database *m = small("time (sec)", "$$", CN_COMBINE_SUM);
    struct cn_database *db;

    (void)state;
    for (uint16_t i = 1; i <= METRICS; i++) {
        char name[16];
        uint32_t metric;

        (void)snprintf(name, sizeof(name), "event %u", i);
        metric = cn_memory_database_add_metric(m, name);
        cn_memory_database_add_instance(
            m, metric, (struct cn_scope_instance){0, (uint16_t)(i * GAP)});
        for (uint32_t context = 0; context < 3; context++)
            cn_memory_database_add_value(m, 1, context, (uint16_t)(i * GAP), context + i);
    }
    db = cn_memory_database_finish(m);
    expect_pairs(db, BINARY_COUNT);
    cn_database_close(db);
}

/* Drafts of v4 have functions at the top of the tree. */
static void the_roots_of_a_draft_are_entry_points(void **state)
{
    struct cn_tiny_options options = {.layout = CN_TINY_DRAFT_A,
                                      .function = "<program root>"};
    struct cn_context_cursor cursor;
    struct cn_hpc_v4_files files;
    struct cn_tiny_v4 tiny;
    struct cn_error err = {0};
    struct cn_database *db;
    struct cn_context root;

    (void)state;
    cn_tiny_v4_init(&tiny, &options);
    cn_tiny_v4_files(&tiny, &files);
    if (!cn_hpc_v4_open_bytes(&db, &files, &err))
        fail_msg("%s", err.text);
    assert_true(cn_context_children(db, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(db, &cursor, &root, &err), CN_ITEM);
    assert_int_equal(root.kind, CN_CONTEXT_ENTRY);
    assert_int_equal(root.entry, CN_ENTRY_MAIN_THREAD);
    assert_string_equal(root.entry_name, "main thread");
    assert_int_equal(cn_context_next(db, &cursor, &root, &err), CN_END);
    expect_all_pairs(db);
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(the_sample_arrives),
        CN_SCRATCH_TEST(random_trees_arrive),
        CN_SCRATCH_TEST(zeros_of_minima_arrive),
        CN_SCRATCH_TEST(a_range_wider_than_the_samples_arrives),
        CN_SCRATCH_TEST(timelines_without_samples_arrive),
        CN_SCRATCH_TEST(functions_named_like_entry_points_arrive),
        CN_SCRATCH_TEST(contexts_of_many_metrics_arrive),
        CN_SCRATCH_TEST(the_roots_of_a_draft_are_entry_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
