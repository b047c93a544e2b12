/* System calls in perf.data: what they are about, how long they took, and what is not known of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/exchange/perf/perf.h"
#include "model/contexts/database.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"
#include "support/effort.h"
#include "support/imported.h"
#include "support/perf_inputs.h"

struct expected {
    const char *call, *target;
    uint64_t begin_ns, end_ns;
    int64_t result;
    int32_t descriptor;
};

static const struct expected all[] = {
    {"openat", "/home/notes", 20, 30, 3, -1},
    {"read", "/home/notes", 40, 70, 500, 3},
    {"disk read", "/home/notes", 45, 60, 4096, -1},
    {"disk write", "disk 253:0", 72, 0, 512, -1},
    {"page fault", "/lib/data", 74, 75, 4096, -1},
    {"write", "/dev/pts/0", 80, 85, -32, 1},
    {"read", "/home/notes", 100, 110, 7, 5}, /* of the copy */
    {"read", "[unknown descriptor]", 120, 0, 0, 3},
    {"write", "/dev/pts/0", 130, 140, 10, 1},
    {"write", "pipe", 143, 144, 10, 9},
    {"newfstatat", "pipe", 145, 147, 0, -1}, /* fstat() */
    {"accept4", ":80 from 10.0.0.9", 155, 157, 10, 6},
    {"read", ":80 from 10.0.0.9", 160, 170, 70, 10},
    {"minor page fault", "/none/work", 171, 171, 1000, -1},
    {"page fault", "/none/work", 172, 173, 4096, -1},
    {"major page fault", "/none/work", 174, 174, 1000, -1},
    {"minor page fault", "/none/work", 177, 177, 1000, -1}, /* moved there */
    {"minor page fault", "[unknown mapping]", 178, 178, 1000, -1},
    {"read", "/home/notes", 180, 0, 0, 5},
};

enum { COUNT = sizeof(all) / sizeof(all[0]), DISK_COUNT = 4, FAULT_COUNT = 4 };

static struct cn_database *made(void)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_io(&len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});

    free(bytes);
    return db;
}

static double value_of(struct cn_database *db, const char *path, const char *metric)
{
    for (uint32_t i = 0; i < db->metrics.count; i++)
        if (strcmp(db->metrics.list[i].name, metric) == 0)
            return cn_imported_value(db, path, i);
    fail_msg("no metric %s", metric);
    return 0;
}

static void calls_have_times_results_and_files(void **state)
{
    struct cn_database *db = made();

    (void)state;
    assert_non_null(db->io);
    assert_int_equal(db->io->count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const struct cn_io_call *call = &db->io->list[i];

        assert_string_equal(cn_system_call(call->call)->name, all[i].call);
        assert_true(call->target < db->io->target_count);
        assert_string_equal(db->io->targets[call->target], all[i].target);
        assert_int_equal(call->begin_ns, all[i].begin_ns);
        assert_int_equal(call->end_ns, all[i].end_ns);
        assert_int_equal(call->result, all[i].result);
        assert_int_equal(call->descriptor, all[i].descriptor);
        assert_int_equal(call->profile, 1);
    }
    cn_database_close(db);
}

static void metrics_are_the_sums_of_the_calls(void **state)
{
    static const char work[] = "[unknown] [work];";
    struct cn_database *db = made();
    char path[128];

    (void)state;
    assert_float_equal(value_of(db, "", "io calls"), COUNT - DISK_COUNT - FAULT_COUNT, 0);
    assert_float_equal(value_of(db, "", "io read (B)"), 577, 0);
    assert_float_equal(value_of(db, "", "io written (B)"), 20, 0);
    assert_float_equal(value_of(db, "", "io time (sec)"), 80e-9, 1e-18);
    assert_float_equal(value_of(db, "", "disk requests"), DISK_COUNT, 0);
    assert_float_equal(value_of(db, "", "disk read (B)"), 12288, 0);
    assert_float_equal(value_of(db, "", "disk time (sec)"), 17e-9, 1e-18);
    assert_float_equal(value_of(db, "", "minor page faults"), 3000, 0);
    assert_float_equal(value_of(db, "", "major page faults"), 1000, 0);
    (void)snprintf(path, sizeof(path), "%sread;/home/notes", work);
    assert_float_equal(value_of(db, path, "io calls"), 3, 0);
    assert_float_equal(value_of(db, path, "io time (sec)"), 40e-9, 1e-18);
    (void)snprintf(path, sizeof(path), "%sread;[unknown descriptor]", work);
    assert_float_equal(value_of(db, path, "io calls"), 1, 0);
    cn_database_close(db);
}

/* What is read of a damaged file is consistent, whatever it is. */
static void check_consistent(const struct cn_database *db)
{
    const struct cn_io_calls *io = db->io;

    for (size_t i = 0; io && i < io->count; i++) {
        const struct cn_io_call *call = &io->list[i];

        assert_true(call->end_ns == 0 || call->end_ns >= call->begin_ns);
        assert_true(i == 0 || call->begin_ns >= io->list[i - 1].begin_ns);
        assert_true(call->profile > 0 && call->profile < db->profile_count);
        assert_true(call->target == CN_NONE || call->target < io->target_count);
        assert_true(call->call < cn_system_call_count());
    }
}

static void read_damaged(const uint8_t *bytes, size_t len)
{
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_error err = {0};
    struct cn_database *db;

    if (!cn_perf_read(import, (struct cn_bytes){bytes, len}, &err)) {
        assert_true(err.text[0] != '\0');
        cn_import_free(import);
        return;
    }
    assert_true(cn_import_finish(import, &db, &err));
    check_consistent(db);
    cn_database_close(db);
}

static void damaged_calls_stay_consistent(void **state)
{
    size_t len, step = cn_test_is_thorough() ? 1 : 7;
    uint8_t *bytes = cn_test_perf_io(&len);

    (void)state;
    for (size_t i = 0; i < len; i += step) {
        read_damaged(bytes, i);
        bytes[i] ^= 0x11;
        read_damaged(bytes, len);
        bytes[i] ^= 0x11;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_times_results_and_files),
        cmocka_unit_test(metrics_are_the_sums_of_the_calls),
        cmocka_unit_test(damaged_calls_stay_consistent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
