#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/record.h"
#include "base/text.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/v4/open.h"
#include "formats/hpctoolkit/v4/writer.h"
#include "model/memory.h"
#include "support/compare.h"
#include "support/sample.h"
#include "support/scratch.h"

static const char *const files[] = {
    "meta.db",    "profile.db",           "cct.db",
    "trace.db",   "metrics/default.yaml", "metrics/METRICS.yaml.ex",
    "FORMATS.md",
};
enum { FILE_COUNT = sizeof(files) / sizeof(*files) };

static int enter(void **state)
{
    *state = cn_scratch_enter();
    return 0;
}

static int leave(void **state)
{
    cn_scratch_leave(*state);
    return 0;
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static struct cn_database *must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_v4_open(&db, path, &err))
        fail_msg("%s", err.text);
    return db;
}

static void must_write(struct cn_database *db, const char *path,
                       struct cn_write_options options)
{
    struct cn_error err = {0};

    if (!cn_hpc_v4_write(db, path, &options, &err))
        fail_msg("%s", err.text);
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

static void must_be_equal(const char *a, const char *b)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct cn_file left = {0}, right = {0};
        struct cn_error err = {0};

        if (!cn_file_open_at(&left, a, files[i], &err) ||
            !cn_file_open_at(&right, b, files[i], &err))
            fail_msg("%s", err.text);
        assert_int_equal(left.bytes.len, right.bytes.len);
        assert_memory_equal(left.bytes.ptr, right.bytes.ptr, left.bytes.len);
        cn_file_close(&left);
        cn_file_close(&right);
    }
}

static void must_hold_the_same(struct cn_database *a, struct cn_database *b)
{
    struct cn_error err = {0};

    if (!cn_compare_databases(a, b, false, &err) || !cn_compare_planes(b, &err))
        fail_msg("%s", err.text);
}

static void reads_back_what_was_written(void **state)
{
    struct cn_database *sample = cn_sample_database();
    struct cn_database *db;

    (void)state;
    must_write(sample, "db", (struct cn_write_options){.workers = 2});
    db = must_open("db");
    must_hold_the_same(sample, db);
    assert_null(db->warnings);
    assert_int_equal(db->begin_ns, sample->begin_ns);
    assert_int_equal(db->end_ns, sample->end_ns);
    assert_int_equal(db->taxonomy.root_count, sample->taxonomy.root_count);
    assert_int_equal(db->taxonomy.input_count, sample->taxonomy.input_count);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct cn_text path = {0};

        cn_text_printf(&path, "db/%s", files[i]);
        assert_true(exists(path.chars));
        cn_text_done(&path);
    }
    cn_database_close(db);
    cn_database_close(sample);
}

static void writing_what_was_read_gives_the_same_bytes(void **state)
{
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    assert_true(cn_sample_write("first", &err));
    db = must_open("first");
    must_write(db, "second", (struct cn_write_options){.workers = 1});
    must_be_equal("first", "second");
    cn_database_close(db);
}

static void bytes_do_not_depend_on_workers_or_memory(void **state)
{
    static const unsigned workers[] = {1, 2, 5};
    static const size_t memory_lens[] = {0, 1, 1000, 5000};
    struct cn_database *sample = cn_sample_database();

    (void)state;
    must_write(sample, "expected", (struct cn_write_options){.workers = 1});
    for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
        for (size_t k = 0; k < sizeof(memory_lens) / sizeof(*memory_lens); k++) {
            must_write(sample, "db",
                       (struct cn_write_options){
                           .replace = true,
                           .workers = workers[i],
                           .memory_len = memory_lens[k],
                       });
            must_be_equal("expected", "db");
        }
    assert_int_equal(cn_scratch_count("."), 2);
    cn_database_close(sample);
}

static void replaces_only_when_asked(void **state)
{
    struct cn_write_options options = {0};
    struct cn_database *sample = cn_sample_database();
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("db", "x", 1);
    assert_false(cn_hpc_v4_write(sample, "db", &options, &err));
    assert_string_equal(err.text, "db: exists already");
    assert_true(cn_scratch_holds("db", "x", 1));
    assert_int_equal(unlink("db"), 0);
    must_write(sample, "db", options);
    assert_false(cn_hpc_v4_write(sample, "db", &options, &err));
    options.replace = true;
    must_write(sample, "db", options);
    assert_int_equal(cn_scratch_count("."), 1);
    cn_database_close(sample);
}

/* Whatever file cannot be written, and wherever: an error, and no trace of the attempt. */
static void a_failing_disk_leaves_nothing_behind(void **state)
{
    struct cn_database *sample = cn_sample_database();
    struct rlimit old, limit;
    size_t failed = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t len = 1; len < 16384; len += 97) {
        struct cn_write_options options = {.workers = 2};
        struct cn_error err = {0};
        bool ok;

        limit = old;
        limit.rlim_cur = len;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        ok = cn_hpc_v4_write(sample, "db", &options, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        if (ok)
            break;
        failed++;
        assert_int_equal(err.kind, CN_ERR_IO);
        assert_non_null(strstr(err.text, "File too large"));
        assert_int_equal(cn_scratch_count("."), 0);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_true(failed > 100);
    assert_true(exists("db"));
    cn_database_close(sample);
}

static bool stop_at(void *arg, const char *what, uint64_t done, uint64_t total,
                    const char *unit)
{
    int *left = arg;

    (void)what;
    (void)unit;
    assert_true(done <= total);
    return --*left > 0;
}

static void an_interruption_leaves_nothing_behind(void **state)
{
    struct cn_database *sample = cn_sample_database();
    int reports = 0;

    (void)state;
    for (;; reports++) {
        int left = reports + 1;
        struct cn_progress progress = {.report = stop_at, .arg = &left};
        struct cn_write_options options = {.workers = 2, .progress = &progress};
        struct cn_error err = {0};

        if (cn_hpc_v4_write(sample, "db", &options, &err))
            break;
        assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
        assert_int_equal(cn_scratch_count("."), 0);
    }
    assert_true(reports > 8);
    cn_database_close(sample);
}

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
    must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = must_open("db");
    assert_true(cn_database_profile(to, 1, &profile, &err));
    assert_int_equal(profile.value_count, 1);
    assert_int_equal(profile.context_count, 1);
    must_hold_the_same(from, to);
    cn_database_close(to);
    cn_database_close(from);
}

static void refuses_two_values_for_one_place(void **state)
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
    must_refuse(db, "profile 1: time runs backwards: 25 after 99");
    cn_database_close(db);
}

static void refuses_ids_that_readers_do_not_know(void **state)
{
    struct cn_memory_database *m = small();
    struct cn_database *db;

    (void)state;
    cn_memory_database_add_instance(m, 0, (struct cn_scope_instance){0, 32768});
    db = cn_memory_database_finish(m);
    must_refuse(db, "metric time: metric id 32768, readers know ids up to 32767");
    cn_database_close(db);

    m = small();
    cn_memory_database_add_value(m, 1, 1, 40000, 1);
    db = cn_memory_database_finish(m);
    must_refuse(db, "profile 1: a metric id above 32767, which readers do not know");
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
    must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = must_open("db");
    assert_int_equal(to->context_limit, 61);
    must_hold_the_same(from, to);
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
    must_write(from, "db", options);
    assert_int_equal(losses.count, 2);
    to = must_open("db");
    assert_true(cn_timeline_open(to, 1, &timeline, &err));
    assert_int_equal(timeline.count, 3);
    assert_true(cn_timeline_read(to, &timeline, 0, 3, read, &err));
    assert_int_equal(read[0].time_ns, 10);
    assert_int_equal(read[1].context, 1);
    assert_int_equal(read[2].time_ns, 30);
    assert_int_equal(to->begin_ns, 10);
    assert_int_equal(to->end_ns, 30);
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
    struct cn_sample read[2];
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_sample(m, 1, (struct cn_sample){10, 1});
    cn_memory_database_add_sample(m, 1, (struct cn_sample){20, hidden});
    from = cn_memory_database_finish(m);
    must_write(from, "db", options);
    assert_int_equal(losses.count, 1);
    assert_string_equal(losses.text,
                        "samples of contexts that are not described, shown as idle");
    to = must_open("db");
    assert_true(cn_timeline_open(to, 1, &timeline, &err));
    assert_int_equal(timeline.count, 2);
    assert_true(cn_timeline_read(to, &timeline, 0, 2, read, &err));
    assert_int_equal(read[0].context, 1);
    assert_int_equal(read[1].context, 0);
    cn_database_close(to);
    cn_database_close(from);
}

static void no_samples_no_trace_db(void **state)
{
    struct cn_database *db = cn_memory_database_finish(small());
    struct cn_database *sample = cn_sample_database();

    (void)state;
    must_write(db, "without", (struct cn_write_options){.workers = 1});
    assert_false(exists("without/trace.db"));
    must_write(sample, "asked", (struct cn_write_options){.without_timelines = true});
    assert_false(exists("asked/trace.db"));
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
    must_write(from, "db", (struct cn_write_options){.workers = 1});
    to = must_open("db");
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
    must_write(db, "db", (struct cn_write_options){.workers = 1});
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

/* A database whose planes come in the wrong order. */
static const struct cn_database_ops *sorted_ops;

static enum cn_step next_reversed(struct cn_value_cursor *cursor,
                                  struct cn_value_batch *out, struct cn_error *err)
{
    enum cn_step step = sorted_ops->values_next(cursor, out, err);

    if (step != CN_ITEM)
        return step;
    for (size_t i = 0; i < out->count; i++)
        cursor->batch[i] = out->values[out->count - 1 - i];
    out->values = cursor->batch;
    return CN_ITEM;
}

static void sorts_planes_that_are_not(void **state)
{
    struct cn_database *sample = cn_sample_database();
    struct cn_database_ops ops = *sample->ops;

    (void)state;
    must_write(sample, "sorted", (struct cn_write_options){.workers = 2});
    sorted_ops = sample->ops;
    ops.values_next = next_reversed;
    sample->ops = &ops;
    must_write(sample, "reversed", (struct cn_write_options){.workers = 2});
    must_be_equal("sorted", "reversed");
    sample->ops = sorted_ops;
    cn_database_close(sample);
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
    must_write(from, "db", (struct cn_write_options){.workers = 2, .memory_len = 1});
    to = must_open("db");
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
    must_write(db, "to", options);
    assert_true(cn_scratch_holds("to/src/a/good.c", "int x;\n", 7));
    assert_int_equal(losses.count, 8);
    assert_string_equal(losses.text,
                        "source files missing from the database that was read");
    assert_true(cn_scratch_holds("to/src/empty.c", "", 0));
    assert_int_equal(cn_scratch_count("to/src"), 2);
    assert_int_equal(cn_scratch_count("."), 3);
    to = must_open("to");
    assert_true(cn_database_file(to, 2, &file, &err));
    assert_true(file.is_copied);
    cn_database_close(to);

    options.without_sources = true;
    must_write(db, "bare", options);
    assert_false(exists("bare/src"));
    to = must_open("bare");
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
    must_write(db, "db", options);
    assert_int_equal(losses.count, 1);
    to = must_open("db");
    assert_null(to->warnings);
    assert_int_equal(to->taxonomy.input_count, input_count - 1);
    cn_database_close(to);
    cn_database_close(db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(reads_back_what_was_written),
        TEST(writing_what_was_read_gives_the_same_bytes),
        TEST(bytes_do_not_depend_on_workers_or_memory),
        TEST(replaces_only_when_asked),
        TEST(a_failing_disk_leaves_nothing_behind),
        TEST(an_interruption_leaves_nothing_behind),
        TEST(leaves_zeros_out),
        TEST(refuses_two_values_for_one_place),
        TEST(refuses_time_that_runs_backwards),
        TEST(refuses_ids_that_readers_do_not_know),
        TEST(refuses_absurd_context_ids),
        TEST(keeps_ids_of_contexts_without_values),
        TEST(merges_pauses_and_says_so),
        TEST(samples_of_contexts_without_a_record_are_idle),
        TEST(no_samples_no_trace_db),
        TEST(names_of_any_encoding_are_written_as_utf8),
        TEST(an_empty_tree_lies_in_its_section),
        TEST(sorts_planes_that_are_not),
        TEST(puts_bare_roots_below_an_unknown_entry),
        TEST(copies_sources_from_inside_only),
        TEST(drops_formulas_over_missing_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
