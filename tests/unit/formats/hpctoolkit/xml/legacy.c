/* experiment.xml 2.x: values in matrices, samples with ids of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/verify/verify.h"
#include "model/contexts/database.h"
#include "support/read_everything.h"
#include "support/xml_legacy.h"

static struct cn_database *open_good(struct cn_xml_legacy *legacy)
{
    struct cn_error err = {0};
    struct cn_database *db;

    cn_xml_legacy_init(legacy);
    if (!cn_hpc_legacy_open_bytes(&db, &legacy->files, &err))
        fail_msg("%s", err.text);
    return db;
}

static double value_of(struct cn_database *db, uint32_t profile, uint32_t context,
                       uint16_t metric)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    assert_true(cn_profile_values(db, profile, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == metric)
                return batch.values[i].value;
    assert_int_equal(err.kind, CN_ERR_NONE);
    return 0;
}

static void reads_values_of_threads_and_summary(void **state)
{
    struct cn_xml_legacy legacy;
    struct cn_database *db = open_good(&legacy);

    (void)state;
    assert_int_equal(db->profile_count, 3);
    assert_string_equal(db->metrics.list[0].name, "time");
    /* The summary, from the document: the root, main, its callee. */
    assert_true(value_of(db, 0, 0, 2) == 90);
    assert_true(value_of(db, 0, 3, 2) == 90);
    assert_true(value_of(db, 0, 6, 3) == 50);
    /* Thread p: p * 100 + its id where it has values. */
    assert_true(value_of(db, 1, 0, 0) == 101);
    assert_true(value_of(db, 2, 3, 0) == 203);
    /* The line of the call: its own cost and that of its callee. */
    assert_true(value_of(db, 1, 4, 1) == 1004);
    assert_true(value_of(db, 1, 4, 0) == 1004 + 106);
    assert_true(value_of(db, 0, 4, 2) == 10 + 50);
    cn_database_close(db);
    cn_xml_legacy_done(&legacy);
}

static void reads_samples_by_their_own_ids(void **state)
{
    struct cn_xml_legacy legacy;
    struct cn_database *db = open_good(&legacy);
    struct cn_timeline timeline;
    struct cn_sample samples[3];
    struct cn_error err = {0};

    (void)state;
    assert_true(db->has_timelines);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_int_equal(timeline.count, 3);
    assert_true(cn_timeline_read(db, &timeline, 0, 3, samples, &err));
    assert_int_equal(samples[0].context, 0);
    assert_int_equal(samples[1].context, 4);
    assert_true(samples[2].context < db->context_limit);
    assert_int_equal(samples[1].time_ns, 2000);
    assert_true(cn_timeline_open(db, 2, &timeline, &err));
    assert_int_equal(timeline.count, 0);
    assert_int_equal(db->begin_ns, 1000);
    assert_int_equal(db->end_ns, 3000);
    cn_database_close(db);
    cn_xml_legacy_done(&legacy);
}

static void names_contain_the_identity_of_a_thread(void **state)
{
    struct cn_xml_legacy legacy;
    struct cn_hpc_legacy_file files[2];
    struct cn_text text = {0};
    struct cn_error err = {0};
    struct cn_profile profile;
    struct cn_database *db;

    (void)state;
    cn_xml_legacy_init(&legacy);
    files[0] = (struct cn_hpc_legacy_file){"a-b-000003-001-a8c00270-160443-0.metric-db",
                                           cn_xml_legacy_values(&legacy, 1)};
    files[1] =
        (struct cn_hpc_legacy_file){"odd.metric-db", cn_xml_legacy_values(&legacy, 2)};
    legacy.files.values = files;
    legacy.files.value_count = 2;
    legacy.files.packed.name = NULL;
    legacy.files.traces.name = NULL;
    assert_true(cn_hpc_legacy_open_bytes(&db, &legacy.files, &err));
    assert_true(cn_database_profile(db, 1, &profile, &err));
    cn_identity_print(&profile.identity, &db->kinds, &text);
    assert_string_equal(cn_text_str(&text), "NODE 0xa8c00270 RANK 3 THREAD 1");
    assert_true(cn_database_profile(db, 2, &profile, &err));
    assert_int_equal(profile.identity.count, 0);
    assert_true(value_of(db, 2, 3, 0) == 203);
    cn_text_done(&text);
    cn_database_close(db);
    cn_xml_legacy_done(&legacy);
}

static void read_all(const struct cn_hpc_legacy_files *files)
{
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;

    if (!cn_hpc_legacy_open_bytes(&db, files, &err)) {
        assert_true(err.kind != CN_ERR_NONE);
        return;
    }
    cn_read_everything(db, 100000, &totals, &err);
    cn_database_close(db);
}

/* A truncated file of threads does not affect the rest. */
static void survives_every_truncation(void **state)
{
    struct cn_xml_legacy legacy;
    struct cn_hpc_legacy_file good;

    (void)state;
    cn_xml_legacy_init(&legacy);
    good = legacy.files.packed;
    for (size_t len = 0; len < good.bytes.len; len++) {
        legacy.files.packed.bytes.len = len;
        read_all(&legacy.files);
    }
    legacy.files.packed = good;
    good = legacy.files.traces;
    for (size_t len = 0; len < good.bytes.len; len++) {
        legacy.files.traces.bytes.len = len;
        read_all(&legacy.files);
    }
    cn_xml_legacy_done(&legacy);
}

static void flip_bits(struct cn_text *text, const struct cn_hpc_legacy_files *files)
{
    for (size_t i = 0; i < text->len * 8; i++) {
        text->chars[i / 8] = (char)(text->chars[i / 8] ^ (1 << i % 8));
        read_all(files);
        text->chars[i / 8] = (char)(text->chars[i / 8] ^ (1 << i % 8));
    }
}

static void survives_every_flip_of_a_bit(void **state)
{
    struct cn_xml_legacy legacy;

    (void)state;
    cn_xml_legacy_init(&legacy);
    flip_bits(&legacy.packed, &legacy.files);
    flip_bits(&legacy.traces, &legacy.files);
    cn_xml_legacy_done(&legacy);
}

static void add_finding(void *arg, const struct cn_finding *finding)
{
    cn_text_printf(arg, "%s %s 0x%llx %s: %s\n", finding->is_error ? "error" : "warning",
                   finding->file, (unsigned long long)finding->off, finding->rule,
                   finding->text);
}

static void expect_findings(struct cn_xml_legacy *legacy, const char *expected)
{
    struct cn_text text = {0};

    assert_true(cn_hpc_legacy_verify_bytes(&legacy->files, add_finding, &text));
    if (!strstr(cn_text_str(&text), expected) || (expected[0] == '\0' && text.len > 0))
        fail_msg("\"%s\" is not in:\n%s", expected, cn_text_str(&text));
    cn_text_done(&text);
}

static void verifies_files_of_threads(void **state)
{
    struct cn_xml_legacy legacy;
    uint8_t *bytes;

    (void)state;
    cn_xml_legacy_init(&legacy);
    /* The last sample is of no context: a warning. */
    expect_findings(&legacy,
                    "warning experiment.mt 0x60 sample-id: sample id 77 is of no "
                    "context\n");
    bytes = (uint8_t *)legacy.traces.chars;
    cn_u64_be_put(bytes + 0x54, 0);
    expect_findings(&legacy, "error experiment.mt 0x54 time-order: time 0 after 1\n");
    bytes = (uint8_t *)legacy.packed.chars;
    bytes[0x28] = 'X';
    expect_findings(&legacy, "error experiment-1.mdb 0x0 values: thread 0 at 0x28: does "
                             "not start with HPCPROF-metricdb__\n");
    cn_xml_legacy_done(&legacy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values_of_threads_and_summary),
        cmocka_unit_test(reads_samples_by_their_own_ids),
        cmocka_unit_test(names_contain_the_identity_of_a_thread),
        cmocka_unit_test(survives_every_truncation),
        cmocka_unit_test(survives_every_flip_of_a_bit),
        cmocka_unit_test(verifies_files_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
