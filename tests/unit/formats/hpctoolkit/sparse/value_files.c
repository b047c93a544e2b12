#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/sparse/value_files.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/sparse_database.h"

/* A profile.db with a summary and one thread, built by hand; the thread has the
 * given values, `run` of them for each of its contexts 0, 1, ... */
enum {
    FILE_MAX = 64 * 1024,
    TUPLES_OFF = CN_HPC_SPARSE_HEADER_LEN + 2 * cn_hpc_sparse_profile_size,
    TUPLES_LEN = 2 * (cn_hpc_sparse_tuple_size + cn_hpc_sparse_identity_size),
    BLOCK_OFF = TUPLES_OFF + TUPLES_LEN,
};

struct hand_made {
    uint8_t bytes[FILE_MAX];
    size_t len;
};

static void put_tuple(uint8_t *at, uint16_t kind, uint64_t physical, uint64_t logical)
{
    struct cn_hpc_sparse_tuple tuple = {1};
    struct cn_hpc_sparse_identity id = {kind, physical, logical};

    cn_hpc_sparse_tuple_encode(&tuple, at);
    cn_hpc_sparse_identity_encode(&id, at + cn_hpc_sparse_tuple_size);
}

static void make(struct hand_made *f, const struct cn_hpc_sparse_profile_value *values,
                 size_t count, size_t run)
{
    struct cn_hpc_sparse_header head = {
        1, 0, 2, 2, 2 * cn_hpc_sparse_profile_size, CN_HPC_SPARSE_HEADER_LEN};
    struct cn_hpc_sparse_profile_header tuples = {TUPLES_LEN, TUPLES_OFF};
    struct cn_hpc_sparse_profile records[2] = {
        {.tuple_off = TUPLES_OFF, .block_off = BLOCK_OFF},
        {.tuple_off = TUPLES_OFF + TUPLES_LEN / 2,
         .value_count = count,
         .context_count = (uint32_t)(count / run),
         .block_off = BLOCK_OFF},
    };
    uint8_t *at = f->bytes + BLOCK_OFF;

    memset(f->bytes, 0, sizeof(f->bytes));
    cn_hpc_sparse_profile_header_encode(&tuples, f->bytes);
    cn_hpc_sparse_header_encode(&head, f->bytes);
    memcpy(f->bytes, CN_HPC_SPARSE_PROFILE_MAGIC, CN_HPC_SPARSE_MAGIC_LEN);
    for (size_t i = 0; i < 2; i++)
        cn_hpc_sparse_profile_encode(&records[i], f->bytes + CN_HPC_SPARSE_HEADER_LEN +
                                                      i * cn_hpc_sparse_profile_size);
    put_tuple(f->bytes + TUPLES_OFF, 0, 0, 0);
    put_tuple(f->bytes + TUPLES_OFF + TUPLES_LEN / 2, 0xc003, 77, 5);
    for (size_t i = 0; i < count; i++, at += cn_hpc_sparse_profile_value_size)
        cn_hpc_sparse_profile_value_encode(&values[i], at);
    for (size_t i = 0; i <= count / run; i++, at += cn_hpc_sparse_profile_index_size) {
        struct cn_hpc_sparse_profile_index index = {(uint32_t)i, i * run};

        if (i == count / run)
            index.context = CN_HPC_SPARSE_PROFILE_END;
        cn_hpc_sparse_profile_index_encode(&index, at);
    }
    memcpy(at, CN_HPC_SPARSE_PROFILE_FOOTER, CN_HPC_SPARSE_FOOTER_LEN);
    f->len = (size_t)(at - f->bytes) + CN_HPC_SPARSE_FOOTER_LEN;
}

static void must_open(struct cn_hpc_database *db, const struct hand_made *f,
                      const struct cn_hpc_metric_ids *threads)
{
    struct cn_hpc_sparse_files files = {.profile = {f->bytes, f->len}};
    struct cn_hpc_sparse_options options = {.listed_count = 100};
    struct cn_error err = {0};

    if (threads)
        options.threads = *threads;
    if (!cn_sparse_database_open(db, &files, &options, &err))
        fail_msg("%s", err.text);
    /* The summary is empty: contexts of the thread are still to be read. */
    db->base.context_limit = db->values.context_limit = 100;
}

static void must_hold(char *found, const char *expected)
{
    assert_string_equal(found, expected);
    free(found);
}

static const struct cn_hpc_sparse_profile_value unsorted[] = {{1, 7}, {2, 3}, {3, 5},
                                                              {4, 1}, {5, 2}, {6, 9}};

static void metrics_of_a_context_come_out_sorted(void **state)
{
    static struct hand_made f;
    struct cn_hpc_database db;

    (void)state;
    make(&f, unsorted, 6, 3);
    must_open(&db, &f, NULL);
    must_hold(cn_sparse_database_profile(&db, 1),
              "0 3 2\n0 5 3\n0 7 1\n1 1 4\n1 2 5\n1 9 6\n");
    cn_sparse_database_done(&db);
}

static void looks_up_contexts_without_cct_db(void **state)
{
    static struct hand_made f;
    struct cn_hpc_database db;

    (void)state;
    make(&f, unsorted, 6, 3);
    must_open(&db, &f, NULL);
    assert_true(db.base.has_context_values);
    assert_string_equal(db.base.warnings->text,
                        "cct.db does not exist; rebuilt from profile.db");
    must_hold(cn_sparse_database_context(&db, 0), "1 3 2\n1 5 3\n1 7 1\n");
    must_hold(cn_sparse_database_context(&db, 1), "1 1 4\n1 2 5\n1 9 6\n");
    must_hold(cn_sparse_database_context(&db, 2), "");
    cn_sparse_database_done(&db);
}

static void metric_ids_are_translated_or_dropped(void **state)
{
    static const int32_t list[] = {-1, 10, -1, 11, -1, -1, -1, 12};
    struct cn_hpc_metric_ids ids = {list, sizeof(list) / sizeof(*list)};
    static struct hand_made f;
    struct cn_hpc_database db;

    (void)state;
    make(&f, unsorted, 6, 3);
    must_open(&db, &f, &ids);
    must_hold(cn_sparse_database_profile(&db, 1), "0 11 2\n0 12 1\n1 10 4\n");
    must_hold(cn_sparse_database_context(&db, 0), "1 11 2\n1 12 1\n");
    cn_sparse_database_done(&db);
}

/* More values than fit a batch, in falling order with gaps: none lost, all
 * sorted. */
static void long_contexts_are_sorted_too(void **state)
{
    enum { COUNT = 3000 };
    static struct cn_hpc_sparse_profile_value values[COUNT];
    static struct hand_made f;
    struct cn_hpc_database db;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    (void)state;
    for (unsigned plane = 0; plane < 2; plane++) {
        struct cn_value_cursor cursor;
        size_t count = 0;
        int last = -1;

        for (size_t i = 0; i < COUNT; i++)
            values[i] = (struct cn_hpc_sparse_profile_value){
                (double)(i + 1), (uint16_t)((COUNT - i) * 20)};
        make(&f, values, COUNT, COUNT);
        must_open(&db, &f, NULL);
        assert_true(plane ? cn_context_values(&db.base, 0, &cursor, &err)
                          : cn_profile_values(&db.base, 1, 0, UINT32_MAX, &cursor, &err));
        while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++, count++) {
                assert_true(batch.values[i].metric > last);
                last = batch.values[i].metric;
                assert_true(batch.values[i].value == COUNT + 1 - last / 20);
            }
        assert_int_equal(count, COUNT);
        cn_sparse_database_done(&db);
    }
}

static void the_same_metric_twice_is_refused(void **state)
{
    static const struct cn_hpc_sparse_profile_value twice[] = {{1, 4}, {2, 3}, {3, 4}};
    static struct hand_made f;
    struct cn_hpc_database db;

    (void)state;
    make(&f, twice, 3, 3);
    must_open(&db, &f, NULL);
    must_hold(
        cn_sparse_database_profile(&db, 1),
        "profile.db: profile 1: values at 0x110: context 0 has two values for metric "
        "4\n");
    must_hold(cn_sparse_database_context(&db, 0),
              "profile.db: profile 1: context 0 has two values for metric 4\n");
    cn_sparse_database_done(&db);
}

static void the_high_bits_of_a_kind_say_which_number_counts(void **state)
{
    static struct hand_made f;
    struct cn_hpc_database db;
    struct cn_profile profile;
    struct cn_error err = {0};

    (void)state;
    make(&f, unsorted, 6, 3);
    must_open(&db, &f, NULL);
    assert_true(cn_database_profile(&db.base, 1, &profile, &err));
    assert_int_equal(profile.identity.count, 1);
    assert_int_equal(profile.identity.ids[0].kind, 3);
    assert_false(profile.identity.ids[0].is_physical);
    assert_int_equal(profile.identity.ids[0].logical, 5);
    assert_int_equal(profile.identity.ids[0].physical, 5);
    cn_sparse_database_done(&db);
    put_tuple(f.bytes + TUPLES_OFF + TUPLES_LEN / 2, 1, 0x7f0101, 2);
    must_open(&db, &f, NULL);
    assert_true(cn_database_profile(&db.base, 1, &profile, &err));
    assert_true(profile.identity.ids[0].is_physical);
    assert_int_equal(profile.identity.ids[0].physical, 0x7f0101);
    assert_int_equal(profile.identity.ids[0].logical, 2);
    assert_true(cn_database_profile(&db.base, 0, &profile, &err));
    assert_true(profile.is_summary);
    assert_int_equal(profile.identity.count, 0);
    cn_sparse_database_done(&db);
}

static void accepts_early_magics_both_footers_and_versions_1_to_4(void **state)
{
    static struct hand_made f;
    struct cn_hpc_planes profiles;
    struct cn_error err = {0};

    (void)state;
    make(&f, unsorted, 6, 3);
    memcpy(f.bytes, CN_HPC_SPARSE_PROFILE_EARLY_MAGIC, CN_HPC_SPARSE_MAGIC_LEN);
    memcpy(f.bytes + f.len - CN_HPC_SPARSE_FOOTER_LEN,
           CN_HPC_SPARSE_PROFILE_SWAPPED_FOOTER, CN_HPC_SPARSE_FOOTER_LEN);
    for (uint8_t major = 0; major <= 5; major++) {
        f.bytes[CN_HPC_SPARSE_MAGIC_LEN] = major;
        assert_int_equal(
            cn_hpc_sparse_profiles_open(cn_content_of((struct cn_bytes){f.bytes, f.len}),
                                        &profiles, &err),
            major >= 1 && major <= 4);
    }
    assert_string_equal(err.text, "version 5.0, can read 1.x to 4.x");
}

static void blocks_that_share_their_bytes_are_refused(void **state)
{
    static struct hand_made f;
    struct cn_hpc_planes profiles;
    struct cn_error err = {0};

    (void)state;
    make(&f, unsorted, 6, 3);
    /* More values than there is room for two blocks. */
    cn_u64_be_put(f.bytes + CN_HPC_SPARSE_HEADER_LEN + 0x20, 30);
    cn_u64_be_put(f.bytes + CN_HPC_SPARSE_HEADER_LEN + cn_hpc_sparse_profile_size + 0x20,
                  30);
    assert_false(cn_hpc_sparse_profiles_open(
        cn_content_of((struct cn_bytes){f.bytes, f.len}), &profiles, &err));
    assert_non_null(strstr(err.text, "blocks overlap"));
}

struct subject {
    struct cn_file files[3];
    struct cn_hpc_database db;
};

static void open_subject(struct subject *f, const char *name)
{
    static const char *const names[] = {"profile.db", "cct.db", "trace.db"};
    struct cn_hpc_sparse_files files = {.has_cct = true, .has_trace = true};
    struct cn_hpc_sparse_options options = {.listed_count = 1000};
    struct cn_error err = {0};
    char *path = cn_test_data(name);

    *f = (struct subject){0};
    for (size_t i = 0; i < 3; i++)
        if (!cn_file_open_at(&f->files[i], path, names[i], &err))
            fail_msg("%s", err.text);
    files.profile = f->files[0].bytes;
    files.cct = f->files[1].bytes;
    files.trace = f->files[2].bytes;
    if (!cn_sparse_database_open(&f->db, &files, &options, &err))
        fail_msg("%s", err.text);
    free(path);
}

static void close_subject(struct subject *f)
{
    cn_sparse_database_done(&f->db);
    for (size_t i = 0; i < 3; i++)
        cn_file_close(&f->files[i]);
}

static void planes_agree(void **state)
{
    static const char *const names[] = {
        "hpctoolkit/xml/gen-small",
        "hpctoolkit/xml/gen-loops-cputime-t",
        "hpctoolkit/proto/synth-small-7sec",
        "hpctoolkit/xml/viewer-empty-trace",
    };
    struct cn_error err = {0};
    struct subject f;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        open_subject(&f, names[i]);
        if (!cn_compare_planes(&f.db.base, &err))
            fail_msg("%s: %s", names[i], err.text);
        close_subject(&f);
    }
}

static void a_zeroed_cct_db_is_rebuilt_from_profile_db(void **state)
{
    struct subject f;

    (void)state;
    open_subject(&f, "hpctoolkit/xml/viewer-empty-trace");
    assert_false(f.db.values.has_cct);
    assert_true(f.db.base.has_context_values);
    assert_string_equal(f.db.base.warnings->text,
                        "cct.db is zeroed; rebuilt from profile.db");
    close_subject(&f);
}

/* An empty trace points after the end of the file, which has no footer. */
static void an_empty_trace_may_lie_anywhere(void **state)
{
    struct cn_timeline timeline;
    struct cn_error err = {0};
    struct subject f;

    (void)state;
    open_subject(&f, "hpctoolkit/xml/viewer-empty-trace");
    assert_true(f.db.base.has_timelines);
    assert_true(cn_timeline_open(&f.db.base, 1, &timeline, &err));
    assert_int_equal(timeline.count, 0);
    close_subject(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_of_a_context_come_out_sorted),
        cmocka_unit_test(looks_up_contexts_without_cct_db),
        cmocka_unit_test(metric_ids_are_translated_or_dropped),
        cmocka_unit_test(long_contexts_are_sorted_too),
        cmocka_unit_test(the_same_metric_twice_is_refused),
        cmocka_unit_test(the_high_bits_of_a_kind_say_which_number_counts),
        cmocka_unit_test(accepts_early_magics_both_footers_and_versions_1_to_4),
        cmocka_unit_test(blocks_that_share_their_bytes_are_refused),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(planes_agree),
        cmocka_unit_test(a_zeroed_cct_db_is_rebuilt_from_profile_db),
        cmocka_unit_test(an_empty_trace_may_lie_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
