/* Measurement directories become the databases that hpcprof makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/samples/database.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "open/formats.h"
#include "support/compare.h"
#include "support/compare_measured.h"
#include "support/data.h"
#include "support/scratch.h"

static struct cn_measurements *must_measure(const char *name,
                                            const struct cn_hpc_meas_options *options)
{
    struct cn_measurements *m = NULL;
    struct cn_text data = {0};
    struct cn_error err = {0};
    const char *paths[1];
    char *path;

    cn_text_printf(&data, "hpctoolkit/meas/%s.m", name);
    paths[0] = path = cn_test_data(cn_text_str(&data));
    if (!cn_hpc_meas_open(&m, paths, 1, options, &err))
        fail_msg("%s", err.text);
    cn_text_done(&data);
    free(path);
    return m;
}

static struct cn_database *must_build(struct cn_measurements *m, unsigned workers,
                                      unsigned statistics, bool is_compatible)
{
    struct cn_sampled_options options = {.workers = workers,
                                         .statistics = statistics,
                                         .is_hpcprof_compatible = is_compatible,
                                         .is_strict = true,
                                         .spool_folder = "."};
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_sampled_database_build(&db, m, &options, NULL, &err))
        fail_msg("%s", err.text);
    return db;
}

static struct cn_database *must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_v4_open(&db, path, &err))
        fail_msg("%s", err.text);
    return db;
}

/* Compare before and after writing. */
static void check(const char *name, bool ignore_structs)
{
    struct cn_hpc_meas_options options = {.ignore_structs = ignore_structs,
                                          .is_foreign = true};
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_measurements *m = must_measure(name, &options);
    struct cn_database *db = must_build(m, 2, 0, true), *expected, *written;
    struct cn_write_options write = {.workers = 2};
    struct cn_text data = {0};
    struct cn_error err = {0};
    char *path;

    cn_text_printf(&data, "hpctoolkit/v4/%s%s.d", name,
                   ignore_structs ? ".nostruct" : "");
    path = cn_test_data(cn_text_str(&data));
    expected = must_open(path);
    if (!cn_compare_measured(db, expected, &err))
        fail_msg("%s: %s", path, err.text);
    if (!cn_hpc_v4_write(db, "db", &write, &err))
        fail_msg("%s", err.text);
    written = must_open("db");
    if (!cn_compare_measured(written, expected, &err) ||
        !cn_compare_planes(written, &err))
        fail_msg("%s, written: %s", path, err.text);
    assert_int_equal(written->begin_ns, expected->begin_ns);
    assert_int_equal(written->end_ns, expected->end_ns);
    cn_database_close(written);
    cn_database_close(expected);
    cn_database_close(db);
    cn_measurements_close(m);
    cn_text_done(&data);
    free(path);
    cn_scratch_leave(scratch);
}

static void keeps_the_statistics_asked_for(void **state)
{
    struct cn_hpc_meas_options options = {.is_foreign = true};
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_measurements *m = must_measure("small", &options);
    struct cn_database *db =
        must_build(m, 1, CN_SAMPLED_NORMAL | CN_SAMPLED_EXTREMA, true);
    char *path = cn_test_data("hpctoolkit/v4/gen-small-stats");
    struct cn_database *expected = must_open(path);
    struct cn_error err = {0};

    (void)state;
    if (!cn_compare_measured(db, expected, &err))
        fail_msg("%s: %s", path, err.text);
    cn_database_close(expected);
    cn_database_close(db);
    cn_measurements_close(m);
    free(path);
    cn_scratch_leave(scratch);
}

static void converts_small(void **state)
{
    (void)state;
    check("small", false);
}

static void converts_small_without_structure(void **state)
{
    (void)state;
    check("small", true);
}

static void converts_loops(void **state)
{
    (void)state;
    check("loops-cputime-t", false);
}

static void converts_loops_without_structure(void **state)
{
    (void)state;
    check("loops-cputime-t", true);
}

static void converts_kernel_symbols(void **state)
{
    (void)state;
    check("loops-perf", false);
}

static void converts_gpu_kernels(void **state)
{
    (void)state;
    check("loops-cuda-nvidia-t", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_small),
        cmocka_unit_test(converts_small_without_structure),
        cmocka_unit_test(converts_loops),
        cmocka_unit_test(converts_loops_without_structure),
        cmocka_unit_test(converts_kernel_symbols),
        cmocka_unit_test(converts_gpu_kernels),
        cmocka_unit_test(keeps_the_statistics_asked_for),
    };

    return CN_TEST_ON_DATA(tests);
}
