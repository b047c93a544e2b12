#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/protobuf.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"
#include "support/exchange_inputs.h"
#include "support/imported.h"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static double value_of(struct cn_database *db, const char *path, const char *metric)
{
    for (uint32_t i = 0; i < db->metrics.count; i++)
        if (strcmp(db->metrics.list[i].name, metric) == 0)
            return cn_imported_value(db, path, i);
    fail_msg("no metric %s", metric);
    return 0;
}

static void heaptrack_has_what_is_allocated_live_and_temporary(void **state)
{
    static const char copy[] = "main;parse;copy", all[] = "";
    struct cn_database *db = cn_imported(cn_heaptrack_read, bytes_of(cn_test_heaptrack));

    (void)state;
    assert_int_equal(value_of(db, all, "allocated (B)"), 218);
    assert_int_equal(value_of(db, all, "allocations"), 5);
    assert_int_equal(value_of(db, all, "live at end (B)"), 88);
    assert_int_equal(value_of(db, all, "live at end"), 3);
    assert_int_equal(value_of(db, all, "live at peak (B)"), 180);
    assert_int_equal(value_of(db, all, "temporary allocations"), 1);
    assert_int_equal(value_of(db, copy, "allocated (B)"), 150);
    assert_int_equal(value_of(db, copy, "live at peak (B)"), 150);
    assert_int_equal(value_of(db, "main", "live at end (B)"), 80);
    assert_int_equal(value_of(db, "0x7f00", "allocations"), 1);
    cn_database_close(db);
}

static void massif_has_the_peak_and_the_end(void **state)
{
    struct cn_database *db = cn_imported(cn_massif_read, bytes_of(cn_test_massif));

    (void)state;
    assert_int_equal(db->metrics.count, 2);
    assert_int_equal(value_of(db, "", "live at peak (B)"), 1000);
    assert_int_equal(value_of(db, "", "live at end (B)"), 90);
    assert_int_equal(value_of(db, "main", "live at peak (B)"), 690);
    assert_int_equal(value_of(db, "main;parse", "live at peak (B)"), 400);
    assert_int_equal(value_of(db, "[unknown];parse", "live at peak (B)"), 300);
    assert_int_equal(value_of(db, "<below massif's threshold>", "live at peak (B)"), 10);
    assert_int_equal(value_of(db, "main", "live at end (B)"), 90);
    cn_database_close(db);
}

static void heapprofd_has_the_last_sums_of_each_stack(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_heapprofd(&len);
    struct cn_database *db =
        cn_imported(cn_heapprofd_read, (struct cn_bytes){bytes, len});

    (void)state;
    assert_int_equal(value_of(db, "", "allocated (B)"), 1310);
    assert_int_equal(value_of(db, "", "allocations"), 12);
    assert_int_equal(value_of(db, "", "live at end (B)"), 1160);
    assert_int_equal(value_of(db, "", "live at end"), 6);
    assert_int_equal(value_of(db, "main;parse;copy", "allocated (B)"), 1300);
    assert_int_equal(value_of(db, "main;libx.so+0x123", "allocated (B)"), 10);
    assert_int_equal(value_of(db, "main;libx.so+0x123", "live at end (B)"), 0);
    assert_int_equal(db->profile_count, 3); /* of both heaps, and the sum */
    cn_database_close(db);
    free(bytes);
}

static void heapprofd_shows_what_is_before_damage(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_heapprofd(&len);

    (void)state;
    for (size_t end = 0; end < len; end++) {
        struct cn_import *import = cn_import_new("", "");
        struct cn_error err = {0};
        struct cn_database *db;

        if (!cn_heapprofd_read(import, (struct cn_bytes){bytes, end}, &err)) {
            assert_int_equal(err.kind, CN_ERR_FORMAT);
            cn_import_free(import);
            continue;
        }
        assert_true(cn_import_finish(import, &db, &err));
        assert_true(value_of(db, "", "allocated (B)") >= 110);
        cn_database_close(db);
    }
    free(bytes);
}

/* Begin a message that has a number in its first field. */
static size_t open_entry(struct cn_pb *pb, uint32_t field, uint64_t first)
{
    size_t entry = cn_pb_open(pb, field);

    cn_pb_u64(pb, 1, first);
    return entry;
}

/* A stack of one frame, in a file whose path has the same long string in each part. */
static void put_long_path(struct cn_pb *pb, const char *part)
{
    enum { PARTS = 64 };
    size_t entry = open_entry(pb, 17, 1);

    cn_pb_str(pb, 2, part);
    cn_pb_close(pb, entry);
    entry = open_entry(pb, 19, 1);
    for (unsigned i = 0; i < PARTS; i++)
        cn_pb_u64(pb, 7, 1);
    cn_pb_close(pb, entry);
    entry = open_entry(pb, 6, 1);
    cn_pb_u64(pb, 3, 1);
    cn_pb_close(pb, entry);
    entry = open_entry(pb, 7, 1);
    cn_pb_u64(pb, 2, 1);
    cn_pb_close(pb, entry);
}

static void heapprofd_bounds_paths_of_many_long_parts(void **state)
{
    enum { PART_LEN = 60000, PATH_MAX_LEN = 8200 };
    struct cn_pb pb = {0};
    size_t packet = cn_pb_open(&pb, 1), inner, dump, sample;
    char *part = cn_alloc(PART_LEN + 1, 1);
    struct cn_error err = {0};
    struct cn_module module;
    size_t longest = 0;

    (void)state;
    memset(part, 'a', PART_LEN);
    inner = cn_pb_open(&pb, 12);
    put_long_path(&pb, part);
    cn_pb_close(&pb, inner);
    inner = cn_pb_open(&pb, 37);
    dump = open_entry(&pb, 5, 7);
    sample = open_entry(&pb, 2, 1);
    cn_pb_u64(&pb, 2, 5);
    cn_pb_close(&pb, sample);
    cn_pb_close(&pb, dump);
    cn_pb_close(&pb, inner);
    cn_pb_close(&pb, packet);
    struct cn_database *db =
        cn_imported(cn_heapprofd_read, (struct cn_bytes){pb.bytes, pb.len});
    assert_int_equal(value_of(db, "", "allocated (B)"), 5);
    for (uint32_t i = 0; i < db->module_count; i++) {
        assert_true(cn_database_module(db, i, &module, &err));
        longest = strlen(module.path) > longest ? strlen(module.path) : longest;
    }
    assert_in_range(longest, 1000, PATH_MAX_LEN);
    cn_database_close(db);
    cn_pb_done(&pb);
    free(part);
}

/* What is before the damage is read, and a warning names the line. */
static void damage_is_named_by_its_line(void **state)
{
    static const struct {
        bool (*read)(struct cn_import *, struct cn_bytes, struct cn_error *);
        const char *text, *problem;
    } bad[] = {
        {cn_heaptrack_read, "v 10400 3\na 10 0\n+ 0\n+ 1\n", "line 4: allocation 1 of 1"},
        {cn_heaptrack_read, "v 10400 3\na 10 1\n", "line 2: trace 1 of 0"},
        {cn_heaptrack_read, "v 10400 3\ns 9 short\n", "line 2: a string that is not as"},
        {cn_heaptrack_read, "v 10400 3\na 10 0\n+ 0\n- ", "line 4: it is cut off"},
        {cn_heaptrack_read, "v 10400 4\n", "format 4 of heaptrack, can read 1 to 3"},
        {cn_heaptrack_read, "a 10 0\n", "line 1: not the version"},
        {cn_heaptrack_read, "v 10400 3\nm 1 -\n",
         "line 2: raw data of 'heaptrack --raw'"},
        {cn_massif_read,
         "desc: x\nsnapshot=0\nheap_tree=peak\nn1: 9 (x)\n n0: 9 0x1: f (a.c:1)\n"
         "snapshot=1\nheap_tree=peak\nn1: 9 (x)\n   n0: 9 0x1: f (a.c:1)\n",
         "line 9: a heap tree goes from depth 0 to 3"},
        {cn_massif_read, "desc: x\nsnapshot=0\nheap_tree=empty\n", "none of 1 snapshots"},
        {cn_massif_read, "desc: x\n", "no snapshots"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct cn_import *import = cn_import_new("t", "d");
        struct cn_database *db = NULL;
        struct cn_error err = {0};

        if (!bad[i].read(import, bytes_of(bad[i].text), &err)) {
            assert_non_null(strstr(err.text, bad[i].problem));
            cn_import_free(import);
            continue;
        }
        assert_true(cn_import_finish(import, &db, &err));
        assert_non_null(db->warnings);
        assert_non_null(strstr(db->warnings->text, bad[i].problem));
        cn_database_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaptrack_has_what_is_allocated_live_and_temporary),
        cmocka_unit_test(massif_has_the_peak_and_the_end),
        cmocka_unit_test(heapprofd_has_the_last_sums_of_each_stack),
        cmocka_unit_test(heapprofd_shows_what_is_before_damage),
        cmocka_unit_test(heapprofd_bounds_paths_of_many_long_parts),
        cmocka_unit_test(damage_is_named_by_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
