/* Databases written as experiment.xml 4.0: round trips through v4.0, and reported losses.
 * Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "formats/hpctoolkit/xml/verify/verify.h"
#include "formats/hpctoolkit/xml/write/writer.h"
#include "model/contexts/database.h"
#include "model/contexts/memory.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/open_database.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/xml_files.h"

typedef bool (*write_fn)(struct cn_database *db, const char *path,
                         const struct cn_write_options *options, struct cn_error *err);

static void add_loss(void *arg, const char *what, uint64_t count)
{
    cn_text_printf(arg, "%llu %s\n", (unsigned long long)count, what);
}

/* Write and open again. */
static struct cn_database *pass(struct cn_database *db, write_fn write, const char *path,
                                struct cn_text *losses)
{
    struct cn_write_options options = {
        .workers = 2, .on_loss = add_loss, .on_loss_arg = losses};
    struct cn_error err = {0};
    struct cn_database *again;

    if (!write(db, path, &options, &err))
        fail_msg("%s: %s", path, err.text);
    if (!cn_open_database(path, &again, &err))
        fail_msg("%s", err.text);
    return again;
}

static void add_finding(void *arg, const struct cn_finding *finding)
{
    if (finding->is_error)
        cn_text_printf(arg, "%s: %s: %s\n", finding->file, finding->rule, finding->text);
}

static void expect_valid(const char *path)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    assert_true(cn_hpc_xml_verify(path, NULL, add_finding, &text, &err));
    assert_string_equal(cn_text_str(&text), "");
    cn_text_done(&text);
}

static void expect_same(struct cn_database *a, struct cn_database *b)
{
    struct cn_error err = {0};

    if (!cn_compare_databases(a, b, false, &err))
        fail_msg("%s", err.text);
}

/* xml -> v4 -> xml -> v4, after a first conversion that has losses. */
static void expect_round_trips(struct cn_database *db, struct cn_text *losses)
{
    struct cn_text none = {0};
    struct cn_database *xml = pass(db, cn_hpc_xml_write, "1.xml.db", losses);
    struct cn_database *v4 = pass(xml, cn_hpc_v4_write, "1.v4.db", &none);
    struct cn_database *xml_again = pass(v4, cn_hpc_xml_write, "2.xml.db", &none);
    struct cn_database *v4_again = pass(xml_again, cn_hpc_v4_write, "2.v4.db", &none);
    struct cn_error err = {0};

    expect_valid("1.xml.db");
    expect_valid("2.xml.db");
    expect_same(xml, v4);
    expect_same(v4, xml_again);
    expect_same(v4, v4_again);
    if (!cn_compare_planes(xml, &err))
        fail_msg("%s", err.text);
    assert_null(strstr(cn_text_str(&none), "values"));
    cn_text_done(&none);
    cn_database_close(xml);
    cn_database_close(v4);
    cn_database_close(xml_again);
    cn_database_close(v4_again);
}

static void the_sample_comes_back(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_text losses = {0};

    (void)state;
    expect_round_trips(db, &losses);
    cn_text_done(&losses);
    cn_database_close(db);
}

static void losses_are_reported_one_by_one(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_text losses = {0};

    (void)state;
    cn_database_close(pass(db, cn_hpc_xml_write, "out", &losses));
    assert_non_null(strstr(cn_text_str(&losses), " values of the point scope\n"));
    assert_non_null(strstr(cn_text_str(&losses), " values of the lex_aware scope\n"));
    assert_non_null(
        strstr(cn_text_str(&losses), " values of the lex_aware scope in the summary\n"));
    assert_null(strstr(cn_text_str(&losses), "values of the execution scope"));
    assert_null(strstr(cn_text_str(&losses), "values of the function scope"));
    assert_non_null(
        strstr(cn_text_str(&losses), "names with characters that XML cannot hold\n"));
    cn_text_done(&losses);
    cn_database_close(db);
}

/* All databases of a folder, but for the one that takes long. */
static void expect_all_come_back(const char *folder, void **state)
{
    char *path = cn_test_data(folder);
    struct cn_listing databases = cn_listing_of(path);

    for (size_t i = 0; i < databases.count; i++) {
        struct cn_text name = {0}, losses = {0};
        struct cn_error err = {0};
        struct cn_database *db;

        if (strcmp(databases.names[i], "viewer-issue-233") == 0)
            continue;
        cn_text_printf(&name, "%s/%s", path, databases.names[i]);
        if (!cn_open_database(cn_text_str(&name), &db, &err))
            fail_msg("%s", err.text);
        cn_scratch_leave(*state);
        *state = cn_scratch_enter();
        print_message("%s\n", databases.names[i]);
        expect_round_trips(db, &losses);
        cn_database_close(db);
        cn_text_done(&losses);
        cn_text_done(&name);
    }
    assert_true(databases.count > 0);
    cn_listing_done(&databases);
    free(path);
}

static void databases_of_hpcprof_come_back(void **state)
{
    expect_all_come_back("hpctoolkit/v4", state);
    expect_all_come_back("hpctoolkit/v4-draft", state);
    expect_all_come_back("hpctoolkit/xml", state);
    expect_all_come_back("hpctoolkit/xml-legacy", state);
}

/* The location of an <S> survives although its calls are written beside it. */
static void lines_keep_their_calls(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "");
    struct cn_text losses = {0};
    struct cn_database *db, *again;
    uint32_t file, function, entry, caller, line;

    (void)state;
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    file = cn_memory_database_add_file(m, "a.c", false);
    function = cn_memory_database_add_function(
        m, (struct cn_function){"f", CN_NONE, 0, file, 1});
    entry =
        cn_memory_database_add_context(m, 0,
                                       (struct cn_context){.kind = CN_CONTEXT_ENTRY,
                                                           .entry = CN_ENTRY_MAIN_THREAD,
                                                           .entry_name = "main thread"});
    caller = cn_memory_database_add_context(m, entry,
                                            (struct cn_context){.relation = CN_CALL,
                                                                .has_function = true,
                                                                .function = function});
    for (unsigned i = 0; i < 2; i++) {
        line = cn_memory_database_add_context(m, caller,
                                              (struct cn_context){.kind = CN_CONTEXT_LINE,
                                                                  .propagation = 1,
                                                                  .has_source = true,
                                                                  .file = file,
                                                                  .line = 7 + i});
        for (unsigned k = 0; k < 3; k++)
            (void)cn_memory_database_add_context(
                m, line,
                (struct cn_context){.relation = k == 1 ? CN_INLINED_CALL : CN_CALL,
                                    .has_function = true,
                                    .function = function});
    }
    db = cn_memory_database_finish(m);
    again = pass(db, cn_hpc_xml_write, "lines", &losses);
    assert_string_equal(cn_text_str(&losses), "");
    assert_int_equal(again->function_count, 1);
    expect_round_trips(again, &losses);
    cn_text_done(&losses);
    cn_database_close(again);
    cn_database_close(db);
}

static void an_existing_target_stays(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_write_options options = {0};
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("out", "x", 1);
    assert_false(cn_hpc_xml_write(db, "out", &options, &err));
    assert_true(cn_scratch_holds("out", "x", 1));
    assert_int_equal(cn_scratch_count("."), 1);
    cn_database_close(db);
}

static void the_same_bytes_on_any_number_of_threads(void **state)
{
    static const char *const names[] = {"experiment.xml", "profile.db", "cct.db",
                                        "trace.db"};
    struct cn_database *db = cn_sample_database();
    struct cn_xml_files one;
    struct cn_error err = {0};

    (void)state;
    assert_true(
        cn_hpc_xml_write(db, "one", &(struct cn_write_options){.workers = 1}, &err));
    assert_true(
        cn_hpc_xml_write(db, "four", &(struct cn_write_options){.workers = 4}, &err));
    cn_xml_files_open(&one, "one");
    for (size_t i = 0; i < 4; i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "four/%s", names[i]);
        assert_true(
            cn_scratch_holds(path, one.mapped[i].bytes.ptr, one.mapped[i].bytes.len));
    }
    cn_xml_files_close(&one);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(the_sample_comes_back),
        CN_SCRATCH_TEST(losses_are_reported_one_by_one),
        CN_SCRATCH_TEST(lines_keep_their_calls),
        CN_SCRATCH_TEST(an_existing_target_stays),
        CN_SCRATCH_TEST(the_same_bytes_on_any_number_of_threads),
    };
    const struct CMUnitTest on_data[] = {
        CN_SCRATCH_TEST(databases_of_hpcprof_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
