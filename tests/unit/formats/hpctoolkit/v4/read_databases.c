/* Databases of hpcprof: everything in them is found, as those count it who made the data, or an
 * independent checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "open/open.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/open_database.h"
#include "support/read_everything.h"

struct expected {
    const char *name;
    uint64_t contexts, max_id, entries;
    uint32_t metrics, modules, files, functions;
    uint32_t profiles;
    uint64_t values;
    uint32_t context_limit;
    uint64_t context_values;
    bool has_timelines;
    uint64_t empty_timelines, samples;
};

/* The drafts also list <no activity>, which only says that a thread does not run. */
/* clang-format off */
static const struct expected real[] = {
    {"v4/gen-small-stats", 13, 22, 1, 1, 1, 1, 3, 2, 315, 24, 47, true, 0, 13},
    {"v4/loops-cputime-t.d", 118, 252, 2, 1, 4, 4, 13, 5, 2073, 254, 1306, true, 0, 668},
    {"v4/loops-cputime-t.nostruct.d", 138, 139, 2, 1, 4, 0, 1, 5, 1277, 140, 803, true, 0, 668},
    {"v4/loops-cuda-nvidia-t.d", 18, 23, 1, 53, 2, 4, 8, 3, 378, 24, 189, true, 1, 200},
    {"v4/loops-perf.d", 120, 243, 2, 2, 5, 4, 18, 5, 2489, 244, 1527, false, 0, 0},
    {"v4/small.d", 13, 22, 1, 1, 1, 1, 3, 2, 94, 24, 47, true, 0, 13},
    {"v4/small.nostruct.d", 11, 11, 1, 1, 1, 0, 0, 2, 50, 12, 25, true, 0, 13},
    {"v4/viewer-d.foo", 51, 89, 2, 1, 3, 2, 21, 2, 266, 90, 133, true, 0, 44},
    {"v4/viewer-d.x", 19, 39, 2, 2, 2, 1, 2, 2, 128, 40, 64, true, 1, 0},
    {"v4/viewer-derived-metrics.db", 225, 291, 3, 78, 11, 13, 31, 41, 9739, 292, 9160, true, 4, 416},
    {"v4/viewer-inline.meta.db", 78, 147, 3, 2, 5, 11, 22, 9, 1953, 150, 1488, true, 0, 9845},
    {"v4/viewer-issue-233", 7477, 14997, 2, 1, 16, 58, 472, 136, 231963, 15003, 205466, true, 54, 106197},
    {"v4/viewer-loop-fork-cycles", 39, 64, 2, 1, 2, 3, 9, 3, 194, 66, 100, true, 0, 183},
    {"v4-draft/viewer-loop-inline", 37, 69, 2, 1, 5, 5, 11, 2, 268, 71, 134, true, 0, 838},
    {"v4-draft/viewer-multithread", 219, 446, 3, 2, 3, 3, 9, 4, 608, 448, 307, true, 0, 1281},
};
/* clang-format on */

static void compare(struct cn_database *db, const struct cn_read_totals *totals,
                    const struct expected *expected)
{
    assert_int_equal(totals->contexts, expected->contexts);
    assert_int_equal(totals->max_id, expected->max_id);
    assert_int_equal(totals->entries, expected->entries);
    assert_int_equal(db->metrics.count, expected->metrics);
    assert_int_equal(db->module_count, expected->modules);
    assert_int_equal(db->file_count, expected->files);
    assert_int_equal(db->function_count, expected->functions);
    assert_int_equal(db->kinds.count, 8);
    assert_int_equal(db->profile_count, expected->profiles);
    assert_int_equal(totals->values, expected->values);
    assert_int_equal(db->context_limit, expected->context_limit);
    assert_int_equal(totals->context_values, expected->context_values);
    assert_int_equal(db->has_timelines, expected->has_timelines);
    assert_int_equal(totals->empty_timelines, expected->empty_timelines);
    assert_int_equal(totals->samples, expected->samples);
}

static bool count_item(void *arg, const struct cn_dump_item *item)
{
    uint64_t *count = arg;

    assert_true(item->bytes.len >= item->layout->size);
    (*count)++;
    return true;
}

/* A dump has at least a structure for every value and sample. */
static void check_dump(const char *path, const struct expected *expected)
{
    struct cn_opened opened;
    struct cn_error err = {0};
    uint64_t count = 0;

    if (!cn_open(&opened, path, 0, NULL, &err) ||
        !opened.format->dump(path, count_item, &count, &err))
        fail_msg("%s", err.text);
    cn_opened_close(&opened);
    assert_true(count > expected->values + expected->context_values + expected->samples +
                            expected->contexts + expected->context_limit);
}

static void check_database(const struct expected *expected)
{
    struct cn_text name = {0};
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;
    char *path;

    cn_text_printf(&name, "hpctoolkit/%s", expected->name);
    path = cn_test_data(name.chars);
    if (!cn_open_database(path, &db, &err))
        fail_msg("%s", err.text);
    if (db->warnings)
        fail_msg("%s", db->warnings->text);
    cn_read_everything(db, UINT64_MAX, &totals, &err);
    if (totals.failures > 0)
        fail_msg("%s: %s", path, err.text);
    compare(db, &totals, expected);
    cn_database_close(db);
    check_dump(path, expected);
    free(path);
    cn_text_done(&name);
}

/* What the generator knows about a database that it wrote. */
static struct expected made(const char *folder, const char *name, struct cn_text *path)
{
    struct expected e = {0};
    uint64_t n[14];

    cn_text_clear(path);
    cn_text_printf(path, "%s/%s", folder, name);
    cn_test_facts("hpctoolkit", cn_text_str(path), n, sizeof(n) / sizeof(n[0]));
    e = (struct expected){
        cn_text_str(path), n[0],           n[1],           n[2],           (uint32_t)n[3],
        (uint32_t)n[4],    (uint32_t)n[5], (uint32_t)n[6], (uint32_t)n[7], n[8],
        (uint32_t)n[9],    n[10],          n[11] != 0,     n[12],          n[13]};
    return e;
}

static void check_made(const char *folder)
{
    struct cn_text path = {0};
    struct cn_listing databases;
    char *found;

    cn_text_printf(&path, "hpctoolkit/%s", folder);
    found = cn_test_data(cn_text_str(&path));
    databases = cn_listing_of(found);
    assert_true(databases.count > 0);
    for (size_t i = 0; i < databases.count; i++) {
        struct expected expected = made(folder, databases.names[i], &path);

        check_database(&expected);
    }
    cn_listing_done(&databases);
    free(found);
    cn_text_done(&path);
}

static void finds_everything_in_databases_of_hpcprof(void **state)
{
    (void)state;
    if (!cn_test_data_is_real()) {
        check_made("v4");
        check_made("v4-draft");
        return;
    }
    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
        check_database(&real[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_everything_in_databases_of_hpcprof),
    };

    return CN_TEST_ON_DATA(tests);
}
