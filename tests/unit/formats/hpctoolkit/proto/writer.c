/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/proto/open.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/memory.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/open_database.h"
#include "support/sample.h"
#include "support/scratch.h"

static const char *const files[] = {"meta.db", "profile.db", "cct.db", "trace.db"};

static struct cn_database *must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_open_database(path, &db, &err))
        fail_msg("%s", err.text);
    return db;
}

static void note_loss(void *arg, const char *what, uint64_t count)
{
    cn_text_printf(arg, "%llu %s\n", (unsigned long long)count, what);
}

static void must_write(struct cn_database *db, const char *path, unsigned workers,
                       struct cn_text *losses)
{
    struct cn_write_options options = {.workers = workers};
    struct cn_error err = {0};

    if (losses) {
        options.on_loss = note_loss;
        options.on_loss_arg = losses;
    }
    if (!cn_hpc_proto_write(db, path, &options, &err))
        fail_msg("%s", err.text);
}

/* The layout has no description: what is compared is the rest. */
static void must_hold_the_same(struct cn_database *a, struct cn_database *b)
{
    struct cn_error err = {0};

    b->description = a->description;
    if (!cn_compare_databases(a, b, false, &err) || !cn_compare_planes(b, &err))
        fail_msg("%s", err.text);
}

static void on_finding(void *arg, const struct cn_finding *finding)
{
    if (finding->is_error)
        cn_text_printf(arg, "%s 0x%llx %s: %s\n", finding->file,
                       (unsigned long long)finding->off, finding->rule, finding->text);
}

static void must_verify(const char *path)
{
    struct cn_text found = {0};
    struct cn_error err = {0};

    assert_true(cn_hpc_proto_verify(path, NULL, on_finding, &found, &err));
    assert_string_equal(cn_text_str(&found), "");
    cn_text_done(&found);
}

static void must_be_equal(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
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

static void reads_back_what_was_written(void **state)
{
    struct cn_database *sample = cn_sample_database(), *db;
    struct cn_text losses = {0};

    (void)state;
    must_write(sample, "db", 2, &losses);
    db = must_open("db");
    must_hold_the_same(sample, db);
    assert_null(db->warnings);
    assert_int_equal(db->begin_ns, sample->begin_ns);
    assert_int_equal(db->end_ns, sample->end_ns);
    assert_string_equal(cn_text_str(&losses), "1 description of the database\n");
    must_verify("db");
    cn_text_done(&losses);
    cn_database_close(db);
    cn_database_close(sample);
}

static void the_bytes_do_not_depend_on_the_workers(void **state)
{
    struct cn_database *sample = cn_sample_database();

    (void)state;
    must_write(sample, "one", 1, NULL);
    must_write(sample, "five", 5, NULL);
    must_be_equal("one", "five");
    cn_database_close(sample);
}

static void writing_what_was_read_gives_the_same_bytes(void **state)
{
    struct cn_database *sample = cn_sample_database(), *db;

    (void)state;
    must_write(sample, "first", 2, NULL);
    db = must_open("first");
    must_write(db, "second", 2, NULL);
    must_be_equal("first", "second");
    cn_database_close(db);
    cn_database_close(sample);
}

static void goes_to_version_4_and_back(void **state)
{
    struct cn_database *sample = cn_sample_database(), *db, *again;
    struct cn_write_options options = {.workers = 2};
    struct cn_error err = {0};

    (void)state;
    must_write(sample, "proto", 2, NULL);
    db = must_open("proto");
    assert_true(cn_hpc_v4_write(db, "v4", &options, &err));
    again = must_open("v4");
    must_hold_the_same(sample, again);
    cn_database_close(again);
    cn_database_close(db);
    cn_database_close(sample);
}

static void databases_of_hpcprof_keep_their_contents(void **state)
{
    static const char *const names[] = {"small.d", "loops-cputime-t.d"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct cn_database *db, *proto;
        char name[64];
        char *path;

        (void)snprintf(name, sizeof(name), "hpctoolkit/v4/%s", names[i]);
        path = cn_test_data(name);
        db = must_open(path);
        must_write(db, names[i], 2, NULL);
        proto = must_open(names[i]);
        must_hold_the_same(db, proto);
        must_verify(names[i]);
        cn_database_close(proto);
        cn_database_close(db);
        free(path);
    }
}

/* An entry point with a name of its own, a scope of an unknown type, a mask of its
 * own. */
static void tells_what_cannot_be_kept(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("odd", "");
    struct cn_text losses = {0};
    struct cn_database *db;
    uint16_t scope;
    uint32_t metric, root;

    (void)state;
    scope = cn_memory_database_add_scope(m, "everything", CN_SCOPE_EXECUTION, 255);
    metric = cn_memory_database_add_metric(m, "time");
    cn_memory_database_add_instance(m, metric, (struct cn_scope_instance){scope, 0});
    root = cn_memory_database_add_context(m, 0,
                                          (struct cn_context){.kind = CN_CONTEXT_ENTRY,
                                                              .entry = 7,
                                                              .entry_name = "own entry"});
    (void)cn_memory_database_add_context(m, root,
                                         (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                             .relation = CN_CALL,
                                                             .function = CN_NONE,
                                                             .propagation = 6});
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    db = cn_memory_database_finish(m);
    must_write(db, "db", 1, &losses);
    assert_string_equal(cn_text_str(&losses),
                        "1 scopes whose type does not follow from their name\n"
                        "1 propagation masks that differ from the relation of a context\n"
                        "1 entry points of other kinds or names: written as functions\n");
    cn_text_done(&losses);
    cn_database_close(db);
}

static void copied_sources_come_along(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("sources", "");
    struct cn_database *db, *proto;
    struct cn_source_file file;
    struct cn_error err = {0};

    (void)state;
    (void)cn_memory_database_add_file(m, "src/home/a.c", true);
    (void)cn_memory_database_add_file(m, "/home/b.c", false);
    db = cn_memory_database_finish(m);
    db->path = "from";
    assert_int_equal(mkdir("from", 0777), 0);
    assert_int_equal(mkdir("from/src", 0777), 0);
    assert_int_equal(mkdir("from/src/home", 0777), 0);
    cn_scratch_write("from/src/home/a.c", "int a;", 6);
    must_write(db, "to", 1, NULL);
    assert_true(cn_scratch_holds("to/src/home/a.c", "int a;", 6));
    proto = must_open("to");
    assert_true(cn_database_file(proto, 0, &file, &err));
    assert_string_equal(file.path, "src/home/a.c");
    assert_true(file.is_copied);
    assert_true(cn_database_file(proto, 1, &file, &err));
    assert_string_equal(file.path, "/home/b.c");
    assert_false(file.is_copied);
    cn_database_close(proto);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(reads_back_what_was_written),
        CN_SCRATCH_TEST(the_bytes_do_not_depend_on_the_workers),
        CN_SCRATCH_TEST(writing_what_was_read_gives_the_same_bytes),
        CN_SCRATCH_TEST(goes_to_version_4_and_back),
        CN_SCRATCH_TEST(tells_what_cannot_be_kept),
        CN_SCRATCH_TEST(copied_sources_come_along),
    };
    const struct CMUnitTest on_data[] = {
        CN_SCRATCH_TEST(databases_of_hpcprof_keep_their_contents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
