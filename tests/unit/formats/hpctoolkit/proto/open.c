#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "formats/hpctoolkit/proto/format.h"
#include "formats/hpctoolkit/proto/open.h"
#include "model/contexts/walk.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/effort.h"
#include "support/proto_files.h"
#include "support/read_everything.h"
#include "support/sample.h"

static struct cn_database *open_view(const struct cn_hpc_proto_files *view)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_proto_open_bytes(&db, view, &err))
        fail_msg("%s", err.text);
    return db;
}

static struct cn_database *open_files(const struct cn_proto_files *files)
{
    struct cn_hpc_proto_files view = cn_proto_files_view(files);

    return open_view(&view);
}

static void must_fail(const struct cn_proto_files *files, const char *message)
{
    struct cn_hpc_proto_files view = cn_proto_files_view(files);
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    assert_false(cn_hpc_proto_open_bytes(&db, &view, &err));
    assert_string_equal(err.text, message);
}

static void must_read(struct cn_database *db, struct cn_read_totals *totals)
{
    struct cn_error err = {0};

    *totals = (struct cn_read_totals){0};
    cn_read_everything(db, 100000, totals, &err);
    if (totals->failures > 0)
        fail_msg("%s", err.text);
}

static void reads_all_of_a_complete_database(void **state)
{
    struct cn_proto_files files;
    struct cn_database *db, *sample = cn_sample_database();
    struct cn_read_totals totals;
    struct cn_error err = {0};

    (void)state;
    cn_proto_files_init(&files);
    db = open_files(&files);
    must_read(db, &totals);
    assert_null(db->warnings);
    db->description = sample->description; /* the layout has none */
    if (!cn_compare_databases(sample, db, false, &err) || !cn_compare_planes(db, &err))
        fail_msg("%s", err.text);
    cn_database_close(db);
    cn_database_close(sample);
    cn_proto_files_done(&files);
}

/* Roots named after entry points are entry points; their functions are not
 * listed. */
static void recognises_entry_points_by_their_names(void **state)
{
    struct cn_proto_files files;
    struct cn_database *db, *sample = cn_sample_database();
    struct cn_context_cursor cursor;
    struct cn_context root;
    struct cn_error err = {0};

    (void)state;
    cn_proto_files_init(&files);
    db = open_files(&files);
    assert_int_equal(db->function_count, sample->function_count);
    assert_true(cn_context_children(db, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(db, &cursor, &root, &err), CN_ITEM);
    assert_int_equal(root.kind, CN_CONTEXT_ENTRY);
    assert_int_equal(root.entry, CN_ENTRY_MAIN_THREAD);
    assert_string_equal(root.entry_name, "main thread");
    cn_database_close(db);
    cn_database_close(sample);
    cn_proto_files_done(&files);
}

/* Leave bytes on the stack that the next function finds in what it does not initialise. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile uint8_t bytes[8192];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0xaa;
}

static void files_have_no_origin_outside_the_database(void **state)
{
    struct cn_proto_files files;
    struct cn_database *db;

    (void)state;
    cn_proto_files_init(&files);
    db = open_files(&files);
    assert_true(db->file_count > 0);
    for (uint32_t i = 0; i < db->file_count; i++) {
        struct cn_source_file file;
        struct cn_error err = {0};

        dirty_the_stack();
        assert_true(cn_database_file(db, i, &file, &err));
        assert_null(file.origin);
    }
    cn_database_close(db);
    cn_proto_files_done(&files);
}

static void every_truncation_fails_or_warns(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    for (unsigned file = 0; file < CN_PROTO_FILE_COUNT; file++) {
        for (size_t len = 0; len < files.len[file]; len++) {
            uint8_t *copy = cn_alloc(len + 1, 1);

            memcpy(copy, files.bytes[file], len);
            assert_false(cn_proto_files_read(&files, file, (struct cn_bytes){copy, len}));
            free(copy);
        }
        assert_true(cn_proto_files_read(
            &files, file, (struct cn_bytes){files.bytes[file], files.len[file]}));
    }
    cn_proto_files_done(&files);
}

static void survives_flipped_bits(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    for (unsigned file = 0; file < CN_PROTO_FILE_COUNT; file++)
        for (size_t i = 0; i < files.len[file] * 8; i += cn_test_bit_step()) {
            struct cn_bytes bytes = {files.bytes[file], files.len[file]};

            files.bytes[file][i / 8] ^= (uint8_t)(1u << i % 8);
            (void)cn_proto_files_read(&files, file, bytes);
            files.bytes[file][i / 8] ^= (uint8_t)(1u << i % 8);
        }
    cn_proto_files_done(&files);
}

static void refuses_other_versions_and_section_counts(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    files.bytes[CN_PROTO_META][0x10] = 5;
    must_fail(&files, "meta.db: version 5.0, can read 4.x");
    files.bytes[CN_PROTO_META][0x10] = 4;
    files.bytes[CN_PROTO_META][0x13] = 9;
    must_fail(&files, "meta.db: 9 sections, can read 7 or 8");
    files.bytes[CN_PROTO_META][0x13] = 7;
    files.bytes[CN_PROTO_META][0] = 'X';
    must_fail(&files, "meta.db: not a prototype's meta.db: does not start with "
                      "HPCTOOLKIT_expmt");
    cn_proto_files_done(&files);
}

/* Where the header says a section is: word `word` of section `i` of the seven. */
static uint8_t *section_word(struct cn_proto_files *files, size_t i, size_t word)
{
    return files->bytes[CN_PROTO_META] + cn_hpc_proto_header_size +
           i * cn_hpc_proto_section_size + word * 8;
}

static void a_context_below_itself_ends_the_walk(void **state)
{
    enum { CONTEXTS = 2 };
    struct cn_proto_files files;
    struct cn_read_totals totals = {0};
    struct cn_error err = {0};
    struct cn_database *db;
    uint8_t *roots;
    uint64_t roots_off;

    (void)state;
    cn_proto_files_init(&files);
    roots_off = cn_u64_be_get(section_word(&files, CONTEXTS, 1)) + 8;
    roots = files.bytes[CN_PROTO_META] + roots_off;
    cn_u64_be_put(roots + 4, roots_off);
    cn_u64_be_put(roots + 12, cn_u64_be_get(roots - 8));
    db = open_files(&files);
    cn_read_everything(db, 1000, &totals, &err);
    assert_true(totals.failures > 0);
    assert_non_null(strstr(err.text, "overlap"));
    cn_database_close(db);
    cn_proto_files_done(&files);
}

static void absurd_counts_are_refused(void **state)
{
    enum { METRICS = 1, FUNCTIONS = 6 };
    struct cn_proto_files files;
    uint8_t *at;
    uint32_t count;

    (void)state;
    cn_proto_files_init(&files);
    at = files.bytes[CN_PROTO_META] + cn_u64_be_get(section_word(&files, METRICS, 1));
    count = cn_u32_be_get(at);
    cn_u32_be_put(at, UINT32_MAX);
    assert_false(cn_proto_files_try(
        &files, CN_PROTO_META,
        (struct cn_bytes){files.bytes[CN_PROTO_META], files.len[CN_PROTO_META]}));
    cn_u32_be_put(at, count);
    at = files.bytes[CN_PROTO_META] + cn_u64_be_get(section_word(&files, FUNCTIONS, 1));
    cn_u32_be_put(at, UINT32_MAX);
    assert_false(cn_proto_files_try(
        &files, CN_PROTO_META,
        (struct cn_bytes){files.bytes[CN_PROTO_META], files.len[CN_PROTO_META]}));
    cn_proto_files_done(&files);
}

/* Specifications may grow: bytes after the known fields are skipped. */
static void surplus_bytes_of_specifications_are_skipped(void **state)
{
    enum { CONTEXTS = 2, LEXICAL = 11, GROWN = 5 };
    struct cn_proto_files files;
    struct cn_hpc_proto_files view;
    struct cn_context_cursor cursor;
    struct cn_context root;
    struct cn_error err = {0};
    struct cn_database *db;
    uint8_t *grown, *node;
    uint64_t section_off, off;
    size_t len;

    (void)state;
    cn_proto_files_init(&files);
    /* A tree of one root at the end of the file, its lexical specification grown. */
    len = files.len[CN_PROTO_META];
    section_off = cn_u64_be_get(section_word(&files, CONTEXTS, 1));
    off = len - CN_HPC_PROTO_FOOTER_LEN;
    grown = cn_alloc(len + 64, 1);
    memcpy(grown, files.bytes[CN_PROTO_META], off);
    node = grown + off + 8;
    memcpy(node, grown + section_off + 8, cn_hpc_proto_context_size + LEXICAL);
    assert_int_equal(node[0x15], LEXICAL);
    memset(node + 4, 0, 16);
    node[0x15] = LEXICAL + GROWN;
    cn_u64_be_put(grown + off, cn_hpc_proto_context_size + LEXICAL + GROWN);
    memcpy(node + cn_hpc_proto_context_size + LEXICAL + GROWN, CN_HPC_PROTO_FOOTER,
           CN_HPC_PROTO_FOOTER_LEN);
    cn_u64_be_put(grown +
                      (section_word(&files, CONTEXTS, 0) - files.bytes[CN_PROTO_META]),
                  8 + cn_hpc_proto_context_size + LEXICAL + GROWN);
    cn_u64_be_put(
        grown + (section_word(&files, CONTEXTS, 1) - files.bytes[CN_PROTO_META]), off);
    view = cn_proto_files_view(&files);
    view.meta = (struct cn_bytes){grown, off + 8 + cn_hpc_proto_context_size + LEXICAL +
                                             GROWN + 8};
    db = open_view(&view);
    assert_true(cn_context_children(db, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(db, &cursor, &root, &err), CN_ITEM);
    assert_string_equal(root.entry_name, "main thread");
    assert_int_equal(cn_context_next(db, &cursor, &root, &err), CN_END);
    cn_database_close(db);
    free(grown);
    cn_proto_files_done(&files);
}

static struct cn_database *open_data(const char *name)
{
    char *path = cn_test_data(name);
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    assert_true(cn_hpc_proto_probe(path));
    if (!cn_hpc_proto_open(&db, path, &err))
        fail_msg("%s", err.text);
    free(path);
    return db;
}

static void opens_a_complete_database(void **state)
{
    struct cn_database *db = open_data("hpctoolkit/proto/synth-small-7sec");
    uint64_t expected[] = {12, 13, 2, 58, 29};
    struct cn_read_totals totals;
    struct cn_error err = {0};

    (void)state;
    must_read(db, &totals);
    if (!cn_test_data_is_real())
        cn_test_facts("hpctoolkit", "proto/synth-small-7sec", expected, 5);
    assert_int_equal(totals.contexts, expected[0]);
    assert_int_equal(totals.entries, 1);
    assert_int_equal(totals.values, expected[3]);
    assert_int_equal(totals.context_values, expected[4]);
    assert_int_equal(totals.samples, expected[1]);
    assert_string_equal(db->title, cn_test_data_is_real() ? "testmeas-small" : "small");
    assert_int_equal(db->function_count, 3);
    assert_null(db->warnings);
    assert_true(cn_compare_planes(db, &err));
    cn_database_close(db);
}

static void a_file_that_stops_after_the_metrics_keeps_its_values(void **state)
{
    struct cn_database *db = open_data("hpctoolkit/proto/unfinished-small");
    uint64_t expected[] = {0, 13, 2, 27 + 34, 34};
    struct cn_read_totals totals;
    struct cn_error err = {0};

    (void)state;
    must_read(db, &totals);
    if (!cn_test_data_is_real())
        cn_test_facts("hpctoolkit", "proto/unfinished-small", expected, 5);
    assert_int_equal(totals.contexts, 0);
    assert_int_equal(totals.values, expected[3]);
    assert_int_equal(totals.context_values, expected[4]);
    assert_int_equal(totals.samples, expected[1]);
    assert_string_equal(db->description, "TODO database description");
    assert_int_equal(db->kinds.count, 8);
    assert_int_equal(db->metrics.scope_count, 3);
    assert_string_equal(
        db->warnings->text,
        "meta.db stops after the metrics: contexts are known by their ids "
        "only");
    assert_true(cn_compare_planes(db, &err));
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_of_a_complete_database),
        cmocka_unit_test(recognises_entry_points_by_their_names),
        cmocka_unit_test(files_have_no_origin_outside_the_database),
        cmocka_unit_test(every_truncation_fails_or_warns),
        cmocka_unit_test(survives_flipped_bits),
        cmocka_unit_test(refuses_other_versions_and_section_counts),
        cmocka_unit_test(a_context_below_itself_ends_the_walk),
        cmocka_unit_test(absurd_counts_are_refused),
        cmocka_unit_test(surplus_bytes_of_specifications_are_skipped),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(opens_a_complete_database),
        cmocka_unit_test(a_file_that_stops_after_the_metrics_keeps_its_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
