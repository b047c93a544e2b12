/* What the reader of HPCToolkit v4 databases finds in files of every layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/contexts/database.h"
#include "model/contexts/walk.h"
#include "support/open_database.h"
#include "support/read_everything.h"
#include "support/scratch.h"
#include "support/tiny_v4.h"

static const struct cn_tiny_options layouts[] = {
    {.layout = CN_TINY_FINAL},
    {.grow = 8},
    {.minor = 7},
    {.has_garbage = true},
    {.grow = 24, .minor = 255, .has_garbage = true},
    {.layout = CN_TINY_DRAFT_A},
    {.layout = CN_TINY_DRAFT_B},
};
enum { LAYOUT_COUNT = sizeof(layouts) / sizeof(layouts[0]) };

static struct cn_database *open_files(const struct cn_hpc_v4_files *files)
{
    struct cn_error err = {0};
    struct cn_database *db;

    if (!cn_hpc_v4_open_bytes(&db, files, &err))
        fail_msg("%s", err.text);
    return db;
}

/* Run a check on a database of each layout. */
static void for_each_layout(void (*check)(struct cn_database *db,
                                          const struct cn_tiny_options *options))
{
    for (size_t i = 0; i < LAYOUT_COUNT; i++) {
        struct cn_hpc_v4_files files;
        struct cn_database *db;
        struct cn_tiny_v4 tiny;

        cn_tiny_v4_init(&tiny, &layouts[i]);
        cn_tiny_v4_files(&tiny, &files);
        db = open_files(&files);
        assert_null(db->warnings);
        check(db, &layouts[i]);
        cn_database_close(db);
        cn_tiny_v4_done(&tiny);
    }
}

static void check_tables(struct cn_database *db, const struct cn_tiny_options *options)
{
    struct cn_error err = {0};
    struct cn_module module;
    struct cn_source_file file;
    struct cn_function function;

    (void)options;
    assert_string_equal(db->title, "tiny");
    assert_string_equal(db->description, "one of everything");
    assert_int_equal(db->kinds.count, 4);
    assert_string_equal(db->kinds.list[3], "THREAD");
    assert_int_equal(db->module_count, 2);
    assert_true(cn_database_module(db, 1, &module, &err));
    assert_string_equal(module.path, "/lib/libc.so.6");
    assert_int_equal(db->file_count, 1);
    assert_true(cn_database_file(db, 0, &file, &err));
    assert_string_equal(file.path, "src/app.c");
    assert_true(file.is_copied);
    assert_true(cn_database_function(db, 0, &function, &err));
    assert_string_equal(function.name, "main");
    assert_int_equal(function.module, 0);
    assert_int_equal(function.offset, 0x1100);
    assert_int_equal(function.file, 0);
    assert_int_equal(function.line, 10);
    assert_true(cn_database_function(db, 1, &function, &err));
    assert_string_equal(function.name, "");
    assert_int_equal(function.module, 1);
    assert_int_equal(function.file, CN_NONE);
    assert_false(cn_database_function(db, 2, &function, &err));
    assert_string_equal(err.text, "function 2 does not exist: there are 2");
}

static void reads_tables(void **state)
{
    (void)state;
    for_each_layout(check_tables);
}

static void check_metrics(struct cn_database *db, const struct cn_tiny_options *options)
{
    bool is_draft = options->layout == CN_TINY_DRAFT_A;
    const struct cn_metric *metric = &db->metrics.list[0];
    int function = cn_metrics_find_scope(&db->metrics, "function");
    int execution = cn_metrics_find_scope(&db->metrics, "execution");

    assert_int_equal(db->metrics.count, 1);
    assert_int_equal(db->metrics.scope_count, is_draft ? 2 : 4);
    assert_string_equal(metric->name, "CPUTIME (sec)");
    assert_int_equal(db->metrics.scopes[function].type, CN_SCOPE_TRANSITIVE);
    assert_int_equal(db->metrics.scopes[function].propagation, 0);
    assert_int_equal(db->metrics.scopes[execution].type, CN_SCOPE_EXECUTION);
    assert_int_equal(metric->instance_count, 2);
    assert_int_equal(cn_metric_prop_id(metric, (unsigned)function), 1);
    assert_int_equal(cn_metric_prop_id(metric, (unsigned)execution), 3);
    assert_int_equal(metric->statistic_count, 2);
    assert_int_equal(cn_metric_stat_id(metric, (unsigned)execution, "$$", CN_COMBINE_SUM),
                     3);
    assert_int_equal(cn_metric_stat_id(metric, (unsigned)function, "1", CN_COMBINE_SUM),
                     CN_NO_ID);
    assert_int_equal(db->taxonomy.root_count, 1);
    assert_string_equal(db->taxonomy.roots[0].name, "CPUTIME (sec)");
}

static void reads_metrics(void **state)
{
    (void)state;
    for_each_layout(check_metrics);
}

/* Every context as "id:kind/relation/propagation function file:line module+offset". */
static void print_context(struct cn_text *text, const struct cn_context *context)
{
    cn_text_printf(text, "%u:%u/%u/%u", context->id, context->kind, context->relation,
                   context->propagation);
    if (context->has_function)
        cn_text_printf(text, " f%u", context->function);
    if (context->has_source)
        cn_text_printf(text, " %u:%u", context->file, context->line);
    if (context->has_point)
        cn_text_printf(text, " %u+0x%x", context->module, (unsigned)context->offset);
    if (context->kind == CN_CONTEXT_ENTRY)
        cn_text_printf(text, " %s(%u)", context->entry_name, context->entry);
}

static void check_contexts(struct cn_database *db, const struct cn_tiny_options *options)
{
    static const char below_entry[] = "<2:0/1/0 f0<3:1/0/1 0:11 0+0x1120<5:2/0/1 0:13>>"
                                      "<4:2/0/1 0:12<6:3/0/1 0+0x1144<7:0/1/0 f1>>>>";
    bool is_draft = options->layout == CN_TINY_DRAFT_A;
    struct cn_text found = {0}, expected = {0};
    const struct cn_context *context;
    struct cn_error err = {0};
    enum cn_walk_event event;
    struct cn_walk walk;
    enum cn_step step;

    assert_true(cn_walk_begin(&walk, db, &err));
    while ((step = cn_walk_next(&walk, &event, &context, &err)) == CN_ITEM) {
        cn_text_char(&found, event == CN_WALK_ENTER ? '<' : '>');
        if (event == CN_WALK_ENTER)
            print_context(&found, context);
    }
    assert_int_equal(step, CN_END);
    cn_walk_done(&walk);
    cn_text_printf(&expected, is_draft ? "%s" : "<1:4/0/0 main thread(1)%s>",
                   below_entry);
    assert_string_equal(cn_text_str(&found), cn_text_str(&expected));
    cn_text_done(&expected);
    cn_text_done(&found);
}

static void reads_the_context_tree(void **state)
{
    (void)state;
    for_each_layout(check_contexts);
}

static void check_profiles(struct cn_database *db, const struct cn_tiny_options *options)
{
    struct cn_error err = {0};
    struct cn_profile profile;

    (void)options;
    assert_int_equal(db->profile_count, CN_TINY_PROFILES);
    assert_true(cn_database_profile(db, 0, &profile, &err));
    assert_true(profile.is_summary);
    assert_int_equal(profile.identity.count, 0);
    assert_true(cn_database_profile(db, 2, &profile, &err));
    assert_false(profile.is_summary);
    assert_int_equal(profile.value_count, 11);
    assert_int_equal(profile.context_count, 6);
    assert_int_equal(profile.identity.count, 2);
    assert_int_equal(profile.identity.ids[0].kind, 1);
    assert_true(profile.identity.ids[0].is_physical);
    assert_int_equal(profile.identity.ids[0].physical, 0x7f0101);
    assert_int_equal(profile.identity.ids[1].kind, 3);
    assert_false(profile.identity.ids[1].is_physical);
    assert_int_equal(profile.identity.ids[1].logical, 1);
}

static void reads_profiles(void **state)
{
    (void)state;
    for_each_layout(check_profiles);
}

/* The values of a profile with contexts from first to last are those of the tiny
 * database, in order. */
/* Values as they come from a cursor, one at a time. */
struct stream {
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    size_t at;
};

static void expect_next(struct stream *stream, uint32_t key, uint16_t metric,
                        double value)
{
    const struct cn_value *next;
    struct cn_error err = {0};

    if (stream->at == stream->batch.count) {
        assert_int_equal(cn_values_next(&stream->cursor, &stream->batch, &err), CN_ITEM);
        stream->at = 0;
    }
    next = &stream->batch.values[stream->at++];
    assert_int_equal(next->key, key);
    assert_int_equal(next->metric, metric);
    assert_true(next->value == value);
}

static void expect_end(struct stream *stream)
{
    struct cn_error err = {0};

    assert_int_equal(stream->at, stream->batch.count);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cn_values_next(&stream->cursor, &stream->batch, &err), CN_END);
}

static void check_plane(struct cn_database *db, uint32_t profile, uint32_t first,
                        uint32_t last)
{
    static const uint16_t ids[] = {1, 3};
    struct stream stream = {0};
    struct cn_error err = {0};

    assert_true(cn_profile_values(db, profile, first, last, &stream.cursor, &err));
    for (uint32_t c = first; c <= last && c < CN_TINY_CONTEXTS; c++)
        for (size_t i = 0; i < 2; i++)
            if (cn_tiny_v4_has(profile, c, ids[i]))
                expect_next(&stream, c, ids[i], cn_tiny_v4_value(profile, c, ids[i]));
    expect_end(&stream);
}

static void check_values(struct cn_database *db, const struct cn_tiny_options *options)
{
    (void)options;
    assert_int_equal(db->context_limit, CN_TINY_CONTEXTS);
    for (uint32_t p = 0; p < CN_TINY_PROFILES; p++) {
        check_plane(db, p, 0, UINT32_MAX);
        for (uint32_t first = 0; first <= CN_TINY_CONTEXTS; first++)
            for (uint32_t last = first; last <= CN_TINY_CONTEXTS; last++)
                check_plane(db, p, first, last);
    }
}

static void reads_any_range_of_a_profile(void **state)
{
    (void)state;
    for_each_layout(check_values);
}

static void check_context_plane(struct cn_database *db, uint32_t context)
{
    static const uint16_t ids[] = {1, 3};
    struct stream stream = {0};
    struct cn_error err = {0};

    assert_true(cn_context_values(db, context, &stream.cursor, &err));
    for (size_t i = 0; i < 2; i++)
        for (uint32_t p = 1; p < CN_TINY_PROFILES; p++)
            if (cn_tiny_v4_has(p, context, ids[i]))
                expect_next(&stream, p, ids[i], cn_tiny_v4_value(p, context, ids[i]));
    expect_end(&stream);
}

static void check_context_values(struct cn_database *db,
                                 const struct cn_tiny_options *options)
{
    (void)options;
    assert_true(db->has_context_values);
    for (uint32_t c = 0; c < CN_TINY_CONTEXTS; c++)
        check_context_plane(db, c);
}

static void reads_values_by_context(void **state)
{
    (void)state;
    for_each_layout(check_context_values);
}

static void check_timelines(struct cn_database *db, const struct cn_tiny_options *options)
{
    struct cn_sample samples[CN_TINY_SAMPLES];
    struct cn_error err = {0};
    struct cn_timeline timeline;

    (void)options;
    assert_true(db->has_timelines);
    assert_int_equal(db->begin_ns, 1000);
    assert_int_equal(db->end_ns, 3000);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_int_equal(timeline.count, CN_TINY_SAMPLES);
    assert_true(cn_timeline_read(db, &timeline, 1, 2, samples, &err));
    assert_int_equal(samples[0].time_ns, 2000);
    assert_int_equal(samples[0].context, 0);
    assert_int_equal(samples[1].time_ns, 3000);
    assert_int_equal(samples[1].context, 3);
    assert_true(cn_timeline_open(db, 2, &timeline, &err));
    assert_int_equal(timeline.count, 0);
    assert_true(cn_timeline_open(db, 0, &timeline, &err));
    assert_int_equal(timeline.count, 0);
}

static void reads_timelines(void **state)
{
    (void)state;
    for_each_layout(check_timelines);
}

static void finds_timelines_in_any_order(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_timeline timeline;
    struct cn_error err = {0};
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_set(&tiny.trace, &cn_hpc_trace_layout, tiny.trace_off[0], "profile", 2);
    cn_tiny_v4_set(&tiny.trace, &cn_hpc_trace_layout, tiny.trace_off[1], "profile", 1);
    cn_tiny_v4_files(&tiny, &files);
    db = open_files(&files);
    assert_true(cn_timeline_open(db, 2, &timeline, &err));
    assert_int_equal(timeline.count, CN_TINY_SAMPLES);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_int_equal(timeline.count, 0);
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

static void does_without_cct_db(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    files.has_cct = false;
    db = open_files(&files);
    assert_false(db->has_context_values);
    assert_string_equal(db->warnings->text,
                        "cct.db: does not exist; no values by context");
    check_values(db, &layouts[0]);
    cn_database_close(db);
    files.has_cct = true;
    files.cct.len--;
    db = open_files(&files);
    assert_false(db->has_context_values);
    assert_string_equal(
        db->warnings->text,
        "cct.db: file is incomplete: no footer at 0x307; no values by context");
    check_values(db, &layouts[0]);
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

static void does_without_trace_db(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_timeline timeline;
    struct cn_error err = {0};
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    files.has_trace = false;
    db = open_files(&files);
    assert_false(db->has_timelines);
    assert_null(db->warnings);
    cn_database_close(db);
    files.has_trace = true;
    files.trace.len--;
    db = open_files(&files);
    assert_string_equal(db->warnings->text,
                        "trace.db: file is incomplete: no footer at 0x97; no timelines");
    assert_false(cn_timeline_open(db, 1, &timeline, &err));
    assert_string_equal(err.text, "trace.db: file is incomplete: no footer at 0x97");
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

static void makes_columns_when_yaml_is_missing_or_broken(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    files.yaml[0].text = (struct cn_bytes){(const uint8_t *)"roots: [", 8};
    db = open_files(&files);
    assert_memory_equal(db->warnings->text, "metrics/default.yaml: ", 22);
    assert_int_equal(db->taxonomy.root_count, 1);
    cn_database_close(db);
    files.yaml[0].text = (struct cn_bytes){(const uint8_t *)"roots: []", 9};
    db = open_files(&files);
    assert_string_equal(
        db->warnings->text,
        "metrics/default.yaml: has no metrics; columns made from meta.db");
    assert_int_equal(db->taxonomy.root_count, 1);
    cn_database_close(db);
    files.yaml_count = 0;
    db = open_files(&files);
    assert_string_equal(db->warnings->text,
                        "metrics/default.yaml: not readable; columns made from meta.db");
    assert_string_equal(db->taxonomy.roots[0].name, "CPUTIME (sec)");
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

static void appends_further_yaml_files(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    files.yaml[1] = files.yaml[0];
    files.yaml[1].name = "more.yaml";
    files.yaml[2] =
        (struct cn_hpc_v4_yaml){"worse.yaml", {(const uint8_t *)"roots: [", 8}};
    files.yaml_count = 3;
    db = open_files(&files);
    assert_int_equal(db->taxonomy.root_count, 2);
    assert_memory_equal(db->warnings->text, "metrics/worse.yaml: ", 20);
    assert_null(db->warnings->next);
    cn_database_close(db);
    cn_tiny_v4_done(&tiny);
}

static void write_directory(const struct cn_hpc_v4_files *files)
{
    assert_int_equal(mkdir("db", 0777), 0);
    assert_int_equal(mkdir("db/metrics", 0777), 0);
    cn_scratch_write("db/meta.db", files->meta.ptr, files->meta.len);
    cn_scratch_write("db/profile.db", files->profile.ptr, files->profile.len);
    cn_scratch_write("db/cct.db", files->cct.ptr, files->cct.len);
    cn_scratch_write("db/trace.db", files->trace.ptr, files->trace.len);
    cn_scratch_write("db/metrics/a.yaml", files->yaml[0].text.ptr,
                     files->yaml[0].text.len);
    cn_scratch_write("db/metrics/default.yaml", files->yaml[0].text.ptr,
                     files->yaml[0].text.len);
    cn_scratch_write("db/metrics/default.yaml.license", "x", 1);
}

static void opens_a_directory_or_one_of_its_files(void **state)
{
    static const char *const paths[] = {
        "db", "db/", "./db", "db/meta.db", "db/profile.db", "db/cct.db", "db/trace.db"};
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_hpc_v4_files files;
    struct cn_read_totals totals;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    write_directory(&files);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct cn_error err = {0};
        struct cn_database *db;

        if (!cn_open_database(paths[i], &db, &err))
            fail_msg("%s", err.text);
        assert_null(db->warnings);
        assert_int_equal(db->taxonomy.root_count, 2);
        cn_read_everything(db, UINT64_MAX, &totals, &err);
        assert_int_equal(totals.failures, 0);
        assert_int_equal(totals.contexts, CN_TINY_LISTED);
        cn_database_close(db);
    }
    cn_tiny_v4_done(&tiny);
    cn_scratch_leave(scratch);
}

/* Only the start of the message: it goes on about other formats. */
static void expect_no_database(const char *path, enum cn_error_kind kind,
                               const char *text)
{
    struct cn_error err = {0};
    struct cn_database *db;

    assert_false(cn_open_database(path, &db, &err));
    assert_memory_equal(err.text, text, strlen(text));
    assert_int_equal(err.kind, kind);
}

static void names_the_path_it_cannot_open(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_hpc_v4_files files;
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &layouts[0]);
    cn_tiny_v4_files(&tiny, &files);
    write_directory(&files);
    cn_scratch_write("notes", "HPCTOOLKITmetaX", 15);
    expect_no_database("nowhere", CN_ERR_NOT_FOUND, "nowhere: no such file or directory");
    expect_no_database("notes", CN_ERR_FORMAT,
                       "notes: not a format cairn can read; it reads: hpctoolkit-v4");
    expect_no_database(
        "db/metrics", CN_ERR_FORMAT,
        "db/metrics: not a format cairn can read; it reads: hpctoolkit-v4");
    cn_scratch_write("db/profile.db", files.profile.ptr, files.profile.len - 1);
    expect_no_database("db", CN_ERR_FORMAT,
                       "db: profile.db: file is incomplete: no footer at 0x3a7");
    assert_int_equal(remove("db/profile.db"), 0);
    expect_no_database("db", CN_ERR_NOT_FOUND,
                       "db/profile.db: No such file or directory");
    cn_tiny_v4_done(&tiny);
    cn_scratch_leave(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(reads_metrics),
        cmocka_unit_test(reads_the_context_tree),
        cmocka_unit_test(reads_profiles),
        cmocka_unit_test(reads_any_range_of_a_profile),
        cmocka_unit_test(reads_values_by_context),
        cmocka_unit_test(reads_timelines),
        cmocka_unit_test(finds_timelines_in_any_order),
        cmocka_unit_test(does_without_cct_db),
        cmocka_unit_test(does_without_trace_db),
        cmocka_unit_test(makes_columns_when_yaml_is_missing_or_broken),
        cmocka_unit_test(appends_further_yaml_files),
        cmocka_unit_test(opens_a_directory_or_one_of_its_files),
        cmocka_unit_test(names_the_path_it_cannot_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
