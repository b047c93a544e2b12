/* Writing a database gives the same bytes each time, or no database at all.
 * Label: threads. */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/database.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

static const char *const files[] = {
    "meta.db",    "profile.db",           "cct.db",
    "trace.db",   "metrics/default.yaml", "metrics/METRICS.yaml.ex",
    "FORMATS.md",
};
enum { FILE_COUNT = sizeof(files) / sizeof(*files) };

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

static void reads_back_what_was_written(void **state)
{
    struct cn_database *sample = cn_sample_database();
    struct cn_database *db;

    (void)state;
    cn_v4_must_write(sample, "db", (struct cn_write_options){.workers = 2});
    db = cn_v4_must_open("db");
    cn_v4_must_hold_the_same(sample, db);
    assert_null(db->warnings);
    assert_int_equal(db->begin_ns, sample->begin_ns);
    assert_int_equal(db->end_ns, sample->end_ns);
    assert_int_equal(db->taxonomy.root_count, sample->taxonomy.root_count);
    assert_int_equal(db->taxonomy.input_count, sample->taxonomy.input_count);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct cn_text path = {0};

        cn_text_printf(&path, "db/%s", files[i]);
        assert_true(cn_scratch_exists(path.chars));
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
    db = cn_v4_must_open("first");
    cn_v4_must_write(db, "second", (struct cn_write_options){.workers = 1});
    must_be_equal("first", "second");
    cn_database_close(db);
}

static void bytes_do_not_depend_on_workers_or_memory(void **state)
{
    static const unsigned workers[] = {1, 2, 5};
    static const size_t memory_lens[] = {0, 1, 1000, 5000};
    struct cn_database *sample = cn_sample_database();

    (void)state;
    cn_v4_must_write(sample, "expected", (struct cn_write_options){.workers = 1});
    for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
        for (size_t k = 0; k < sizeof(memory_lens) / sizeof(*memory_lens); k++) {
            cn_v4_must_write(sample, "db",
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
    cn_v4_must_write(sample, "db", options);
    assert_false(cn_hpc_v4_write(sample, "db", &options, &err));
    options.replace = true;
    cn_v4_must_write(sample, "db", options);
    assert_int_equal(cn_scratch_count("."), 1);
    cn_database_close(sample);
}

/* Writing fails at any byte of any file: an error, and nothing is left. */
static void a_failing_disk_leaves_nothing(void **state)
{
    struct cn_database *sample = cn_sample_database();
    struct rlimit old, limit;
    size_t failed = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t len = 1; len < 65536; len += 97) {
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
    assert_true(cn_scratch_exists("db"));
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

/* How many reports there are, after an interruption at each of them. */
static int interrupt(struct cn_database *sample, unsigned workers)
{
    for (int reports = 0;; reports++) {
        int left = reports + 1;
        struct cn_progress progress = {.report = stop_at, .arg = &left};
        struct cn_write_options options = {
            .replace = true, .workers = workers, .progress = &progress};
        struct cn_error err = {0};

        if (cn_hpc_v4_write(sample, "db", &options, &err))
            return reports;
        assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
        assert_int_equal(cn_scratch_count("."), workers - 1);
    }
}

static void an_interruption_leaves_nothing(void **state)
{
    struct cn_database *sample = cn_sample_database();

    (void)state;
    assert_true(interrupt(sample, 1) >= 8);
    /* Several files at once: those that do not report are not asked. */
    assert_true(interrupt(sample, 2) > 2);
    cn_database_close(sample);
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
    cn_v4_must_write(sample, "sorted", (struct cn_write_options){.workers = 2});
    sorted_ops = sample->ops;
    ops.values_next = next_reversed;
    sample->ops = &ops;
    cn_v4_must_write(sample, "reversed", (struct cn_write_options){.workers = 2});
    must_be_equal("sorted", "reversed");
    sample->ops = sorted_ops;
    cn_database_close(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(reads_back_what_was_written),
        CN_SCRATCH_TEST(writing_what_was_read_gives_the_same_bytes),
        CN_SCRATCH_TEST(bytes_do_not_depend_on_workers_or_memory),
        CN_SCRATCH_TEST(replaces_only_when_asked),
        CN_SCRATCH_TEST(a_failing_disk_leaves_nothing),
        CN_SCRATCH_TEST(an_interruption_leaves_nothing),
        CN_SCRATCH_TEST(sorts_planes_that_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
