/* What the writer makes of content that is odd, and what it refuses.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/memory.h"
#include "support/compare.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

/* A database with one thread and one context, to be spoiled by the test. */
static struct cn_memory_database *small(void)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");

    (void)cn_memory_database_add_kind(m, "SUMMARY");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    (void)cn_memory_database_add_context(m, 0,
                                         (struct cn_context){
                                             .kind = CN_CONTEXT_ENTRY,
                                             .entry = CN_ENTRY_MAIN_THREAD,
                                             .entry_name = "main thread",
                                         });
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    return m;
}

/* Fails, with this message, and leaves nothing in the folder. */
static void must_refuse(struct cn_database *db, const char *message)
{
    struct cn_write_options options = {.workers = 2};
    struct cn_error err = {0};

    assert_false(cn_hpc_v4_write(db, "refused", &options, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(cn_scratch_count("."), 0);
}

static void leaves_zeros_out(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *from, *to;
    struct cn_profile profile;
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_value(m, 1, 1, 0, 0.0);
    cn_memory_database_add_value(m, 1, 1, 1, 2.0);
    cn_memory_database_add_value(m, 1, 2, 1, -0.0);
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    assert_true(cn_database_profile(to, 1, &profile, &err));
    assert_int_equal(profile.value_count, 1);
    assert_int_equal(profile.context_count, 1);
    cn_v4_must_hold_the_same(from, to);
    cn_database_close(to);
    cn_database_close(from);
}

static void refuses_two_values_for_one_context_and_metric(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *db;

    (void)state;
    cn_memory_database_add_value(m, 1, 1, 3, 1);
    cn_memory_database_add_value(m, 1, 1, 3, 1);
    db = cn_memory_database_finish(m);
    must_refuse(db, "profile 1: context 1 has two values for metric 3");
    cn_database_close(db);
}

static void refuses_time_that_runs_backwards(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *db;

    (void)state;
    cn_memory_database_add_sample(m, 1, (struct cn_sample){99, 1});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){25, 1});
    db = cn_memory_database_finish(m);
    must_refuse(db, "timeline of profile 1: time runs backwards: 25 after 99");
    cn_database_close(db);
}

static void refuses_ids_that_readers_do_not_know(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *db;

    (void)state;
    cn_memory_database_add_instance(m, 0, (struct cn_scope_instance){0, 32768});
    db = cn_memory_database_finish(m);
    must_refuse(db, "metric time: metric id 32768, readers accept ids up to 32767");
    cn_database_close(db);

    m = small();
    cn_memory_database_add_value(m, 1, 1, 40000, 1);
    db = cn_memory_database_finish(m);
    must_refuse(db, "profile 1: a metric id above 32767, which readers do not accept");
    cn_database_close(db);
}

static void refuses_absurd_context_ids(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_context(
        m, 1, (struct cn_context){.id = 1000000, .relation = CN_CALL});
    db = cn_memory_database_finish(m);
    must_refuse(db, "context ids up to 1000000 for 2 contexts");
    cn_database_close(db);
}

static void keeps_ids_of_contexts_without_values(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *from, *to;

    (void)state;
    (void)cn_memory_database_add_context(
        m, 1, (struct cn_context){.id = 60, .relation = CN_CALL});
    cn_memory_database_add_value(m, 1, 1, 1, 5);
    from = cn_memory_database_finish(m);
    from->context_limit = 2; /* the larger id has no values */
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    assert_int_equal(to->context_limit, 61);
    cn_v4_must_hold_the_same(from, to);
    cn_database_close(to);
    from->context_limit = 61;
    cn_database_close(from);
}

struct losses {
    uint64_t count;
    char text[200];
};

static void note_loss(void *arg, const char *what, uint64_t count)
{
    struct losses *losses = arg;

    losses->count += count;
    (void)snprintf(losses->text, sizeof(losses->text), "%s", what);
}

static void merges_pauses_and_says_so(void **state)
{
    static const struct cn_sample samples[] = {
        {10, 0}, {20, 0}, {30, 1}, {30, 0}, {45, 0}};
    struct cn_memory_database *m = small();
    struct losses losses = {0};
    struct cn_write_options options = {.on_loss = note_loss, .on_loss_arg = &losses};
    struct cn_database *from, *to;
    struct cn_timeline timeline;
    struct cn_sample read[3];
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        cn_memory_database_add_sample(m, 1, samples[i]);
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db", options);
    assert_int_equal(losses.count, 2);
    to = cn_v4_must_open("db");
    assert_true(cn_timeline_open(to, 1, &timeline, &err));
    assert_int_equal(timeline.count, 3);
    assert_true(cn_timeline_read(to, &timeline, 0, 3, read, &err));
    assert_int_equal(read[0].time_ns, 10);
    assert_int_equal(read[1].context, 1);
    assert_int_equal(read[2].time_ns, 30);
    assert_int_equal(to->begin_ns, 10);
    assert_int_equal(to->end_ns, 45); /* as the source says */
    cn_database_close(to);
    cn_database_close(from);
}

static void samples_of_contexts_without_a_record_are_idle(void **state)
{
    struct cn_memory_database *m = small();
    uint32_t hidden = cn_memory_database_add_hidden(m, 1);
    struct losses losses = {0};
    struct cn_write_options options = {.on_loss = note_loss, .on_loss_arg = &losses};
    struct cn_database *from, *to;
    struct cn_timeline timeline;
    struct cn_sample read[4];
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_sample(m, 1, (struct cn_sample){10, 1});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){20, hidden});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){25, 1});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){30, 99}); /* an unknown id */
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db", options);
    assert_int_equal(losses.count, 2);
    assert_string_equal(
        losses.text, "samples of contexts that are not listed, written as not running");
    to = cn_v4_must_open("db");
    assert_true(cn_timeline_open(to, 1, &timeline, &err));
    assert_int_equal(timeline.count, 4);
    assert_true(cn_timeline_read(to, &timeline, 0, 4, read, &err));
    assert_int_equal(read[0].context, 1);
    assert_int_equal(read[1].context, 0);
    assert_int_equal(read[3].context, 0);
    cn_database_close(to);
    cn_database_close(from);
}

/* hpcviewer gives numbers after the count of statistics to formulas. */
static void numbers_statistics_without_gaps(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *from, *to;
    const struct cn_metric *metric;
    uint32_t sparse = cn_memory_database_add_metric(m, "sparse");
    double value = 0;
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_instance(m, sparse, (struct cn_scope_instance){1, 100});
    cn_memory_database_add_statistic(m, sparse,
                                     (struct cn_statistic){1, 512, CN_COMBINE_SUM, "$$"});
    cn_memory_database_add_value(m, 0, 1, 512, 7);
    cn_memory_database_add_value(m, 1, 1, 100, 7);
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    metric = &to->metrics.list[sparse];
    assert_int_equal(metric->instances[0].prop_id, 100);
    assert_true(metric->statistics[0].stat_id <=
                to->metrics.list[0].statistic_count + metric->statistic_count);
    assert_true(cn_profile_values(to, 0, 0, UINT32_MAX, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == metric->statistics[0].stat_id)
                value += batch.values[i].value;
    assert_true(value == 7);
    cn_database_close(to);
    cn_database_close(from);
}

static void no_samples_no_trace_db(void **state)
{
    struct cn_database *db = cn_memory_database_finish(small());
    struct cn_database *sample = cn_sample_database();

    (void)state;
    cn_v4_must_write(db, "without", (struct cn_write_options){.workers = 1});
    assert_false(cn_scratch_exists("without/trace.db"));
    cn_v4_must_write(sample, "asked",
                     (struct cn_write_options){.without_timelines = true});
    assert_false(cn_scratch_exists("asked/trace.db"));
    cn_database_close(sample);
    cn_database_close(db);
}

static void names_of_any_encoding_are_written_as_utf8(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *from, *to;
    struct cn_source_file file;
    struct cn_module module;
    struct cn_error err = {0};

    (void)state;
    (void)cn_memory_database_add_module(m, "/opt/caf\xe9/prog");
    (void)cn_memory_database_add_file(m, "/opt/caf\xc3\xa9/prog.c", false);
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    assert_true(cn_database_module(to, 0, &module, &err));
    assert_string_equal(module.path, "/opt/caf\\xe9/prog");
    assert_true(cn_database_file(to, 0, &file, &err));
    assert_string_equal(file.path, "/opt/caf\xc3\xa9/prog.c");
    cn_database_close(to);
    cn_database_close(from);
}

/* Readers look for a table inside its section, however short it is. */
static void an_empty_tree_lies_in_its_section(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    struct cn_database *db;
    struct cn_hpc_section section;
    struct cn_hpc_contexts_header header;
    struct cn_file file = {0};
    struct cn_bytes bytes;
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    db = cn_memory_database_finish(m);
    cn_v4_must_write(db, "db", (struct cn_write_options){.workers = 1});
    assert_true(cn_file_open(&file, "db/meta.db", &err));
    assert_true(cn_bytes_slice(
        file.bytes, cn_hpc_file_header_size + CN_HPC_CONTEXTS * cn_hpc_section_size,
        cn_hpc_section_size, &bytes));
    assert_true(cn_hpc_section_decode(bytes, &section));
    assert_true(cn_bytes_slice(file.bytes, section.off, section.len, &bytes));
    assert_true(cn_hpc_contexts_header_decode(bytes, &header));
    assert_int_equal(header.entry_count, 0);
    assert_in_range(header.entries_off, section.off, section.off + section.len);
    cn_file_close(&file);
    cn_database_close(db);
}

/* Roots that are no entry points, as in the first draft of the format. */
static void puts_bare_roots_below_an_unknown_entry(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    struct cn_context_cursor cursor;
    struct cn_database *from, *to;
    struct cn_context entry, root;
    struct cn_error err = {0};
    uint32_t id;

    (void)state;
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    for (unsigned i = 0; i < 2; i++) {
        (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
        id = cn_memory_database_add_context(m, 0,
                                            (struct cn_context){.relation = CN_CALL});
        cn_memory_database_add_value(m, i + 1, id, 0, 3 + i);
    }
    assert_true(cn_memory_database_propagate(m, &err));
    from = cn_memory_database_finish(m);
    cn_v4_must_write(from, "db",
                     (struct cn_write_options){.workers = 2, .memory_len = 1});
    to = cn_v4_must_open("db");
    assert_true(cn_context_children(to, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(to, &cursor, &entry, &err), CN_ITEM);
    assert_int_equal(entry.kind, CN_CONTEXT_ENTRY);
    assert_string_equal(entry.entry_name, "unknown entry");
    assert_int_equal(entry.id, id + 1);
    assert_true(cn_context_children(to, &entry, &cursor, &err));
    assert_int_equal(cn_context_next(to, &cursor, &root, &err), CN_ITEM);
    assert_int_equal(root.id, 1);
    for (uint32_t profile = 0; profile < 3; profile++) {
        struct cn_value_cursor global, own;
        struct cn_value_batch left, right;

        assert_true(cn_profile_values(to, profile, 0, 0, &global, &err));
        assert_true(cn_profile_values(to, profile, entry.id, entry.id, &own, &err));
        assert_int_equal(cn_values_next(&global, &left, &err), CN_ITEM);
        assert_int_equal(cn_values_next(&own, &right, &err), CN_ITEM);
        assert_int_equal(left.count, right.count);
        for (size_t i = 0; i < left.count; i++) {
            assert_int_equal(left.values[i].metric, right.values[i].metric);
            assert_float_equal(left.values[i].value, right.values[i].value, 0);
        }
    }
    assert_true(cn_compare_databases(from, to, true, &err));
    assert_true(cn_compare_planes(to, &err));
    cn_database_close(to);
    cn_database_close(from);
}

/* A database on disk whose files claim to be copied; only src/a/good.c and src/empty.c may be
 * taken. */
static struct cn_database *with_sources(void)
{
    static const char *const paths[] = {
        "src/a/good.c", "src/a/good.c",  "src/missing.c", "src/../secret", "/etc/passwd",
        "src/link",     "src/directory", "meta.db",       "src//a/good.c", "src/",
    };
    struct cn_memory_database *m = small();
    struct cn_database *db;

    assert_int_equal(mkdir("from", 0777), 0);
    assert_int_equal(mkdir("from/src", 0777), 0);
    assert_int_equal(mkdir("from/src/a", 0777), 0);
    assert_int_equal(mkdir("from/src/directory", 0777), 0);
    cn_scratch_write("from/src/a/good.c", "int x;\n", 7);
    cn_scratch_write("from/src/empty.c", "", 0);
    cn_scratch_write("from/secret", "no", 2);
    cn_scratch_write("from/meta.db", "no", 2);
    cn_scratch_write("outside", "no", 2);
    assert_int_equal(symlink("../../outside", "from/src/link"), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        (void)cn_memory_database_add_file(m, paths[i], true);
    (void)cn_memory_database_add_file(m, "src/empty.c", true);
    (void)cn_memory_database_add_file(m, "src/not-copied.c", false);
    db = cn_memory_database_finish(m);
    db->path = "from";
    return db;
}

static void copies_sources_from_inside_only(void **state)
{
    struct losses losses = {0};
    struct cn_write_options options = {.on_loss = note_loss, .on_loss_arg = &losses};
    struct cn_database *db = with_sources();
    struct cn_source_file file;
    struct cn_error err = {0};
    struct cn_database *to;

    (void)state;
    cn_v4_must_write(db, "to", options);
    assert_true(cn_scratch_holds("to/src/a/good.c", "int x;\n", 7));
    assert_int_equal(losses.count, 8);
    assert_string_equal(losses.text,
                        "source files missing from the database that was read");
    assert_true(cn_scratch_holds("to/src/empty.c", "", 0));
    assert_int_equal(cn_scratch_count("to/src"), 2);
    assert_int_equal(cn_scratch_count("."), 3);
    to = cn_v4_must_open("to");
    assert_true(cn_database_file(to, 2, &file, &err));
    assert_true(file.is_copied);
    cn_database_close(to);

    options.without_sources = true;
    cn_v4_must_write(db, "bare", options);
    assert_false(cn_scratch_exists("bare/src"));
    to = cn_v4_must_open("bare");
    assert_true(cn_database_file(to, 0, &file, &err));
    assert_false(file.is_copied);
    cn_database_close(to);
    cn_database_close(db);
}

/* An input that names no statistic would make readers refuse the whole taxonomy. */
static void drops_formulas_over_missing_statistics(void **state)
{
    struct losses losses = {0};
    struct cn_write_options options = {.on_loss = note_loss, .on_loss_arg = &losses};
    struct cn_memory_database *m = small();
    struct cn_database *db, *to;
    size_t input_count;

    (void)state;
    db = cn_memory_database_finish(m);
    input_count = db->taxonomy.input_count;
    db->metrics.list = &(struct cn_metric){
        .name = "time",
        .instances = db->metrics.list[0].instances,
        .instance_count = db->metrics.list[0].instance_count,
        .statistics = db->metrics.list[0].statistics,
        .statistic_count = db->metrics.list[0].statistic_count - 1, /* execution's max */
    };
    cn_v4_must_write(db, "db", options);
    assert_int_equal(losses.count, 1);
    to = cn_v4_must_open("db");
    assert_null(to->warnings);
    assert_int_equal(to->taxonomy.input_count, input_count - 1);
    cn_database_close(to);
    cn_database_close(db);
}

/* hpcviewer asks for the variants of a category, and Hatchet for those of a root. */
static void keeps_the_variants_of_a_category(void **state)
{
    struct cn_database *from = cn_memory_database_finish(small()), *to;
    struct cn_variant hidden = {.name = "Sum", .render = CN_RENDER_HIDDEN};
    struct cn_presented_metric category = {
        .name = "category",
        .is_visible = true,
        .variants = &hidden,
        .variant_count = 1,
        .children = from->taxonomy.roots,
        .child_count = from->taxonomy.root_count,
    };

    (void)state;
    assert_int_equal(from->taxonomy.root_count, 1);
    from->taxonomy.roots = &category;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    assert_int_equal(to->taxonomy.root_count, 1);
    assert_int_equal(to->taxonomy.roots[0].variant_count, 1);
    assert_int_equal(to->taxonomy.roots[0].variants[0].render, CN_RENDER_HIDDEN);
    assert_int_equal(to->taxonomy.roots[0].child_count, 1);
    cn_database_close(to);
    cn_database_close(from);
}

static void keeps_a_trace_db_without_samples_and_its_range(void **state)
{
    struct cn_database *from = cn_memory_database_finish(small()), *to;

    (void)state;
    from->has_timelines = true;
    from->begin_ns = 1000;
    from->end_ns = 5000;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = cn_v4_must_open("db");
    assert_true(to->has_timelines);
    assert_int_equal(to->begin_ns, 1000);
    assert_int_equal(to->end_ns, 5000);
    cn_database_close(to);
    cn_database_close(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(leaves_zeros_out),
        CN_SCRATCH_TEST(refuses_two_values_for_one_context_and_metric),
        CN_SCRATCH_TEST(refuses_time_that_runs_backwards),
        CN_SCRATCH_TEST(refuses_ids_that_readers_do_not_know),
        CN_SCRATCH_TEST(refuses_absurd_context_ids),
        CN_SCRATCH_TEST(keeps_ids_of_contexts_without_values),
        CN_SCRATCH_TEST(merges_pauses_and_says_so),
        CN_SCRATCH_TEST(samples_of_contexts_without_a_record_are_idle),
        CN_SCRATCH_TEST(numbers_statistics_without_gaps),
        CN_SCRATCH_TEST(no_samples_no_trace_db),
        CN_SCRATCH_TEST(names_of_any_encoding_are_written_as_utf8),
        CN_SCRATCH_TEST(an_empty_tree_lies_in_its_section),
        CN_SCRATCH_TEST(puts_bare_roots_below_an_unknown_entry),
        CN_SCRATCH_TEST(copies_sources_from_inside_only),
        CN_SCRATCH_TEST(drops_formulas_over_missing_statistics),
        CN_SCRATCH_TEST(keeps_the_variants_of_a_category),
        CN_SCRATCH_TEST(keeps_a_trace_db_without_samples_and_its_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
