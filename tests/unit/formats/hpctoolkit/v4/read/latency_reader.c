/* latency.db: written beside the files of HPCToolkit, read back, and damaged. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/blocks.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "model/contexts/bucket.h"
#include "model/contexts/memory.h"
#include "support/read_everything.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

enum { THREADS = 2, BUCKETS = 3, CONTEXTS = 3, FIRST_PROP = 40, FIRST_STAT = 300 };

/* Calls of a thread in a context; 0 in some. */
static double calls_of(uint32_t thread, uint32_t context, unsigned bucket)
{
    return (context + bucket + thread) % 3 == 0 ? 0
                                                : thread * 100 + context * 10 + bucket;
}

/* One usual metric, and three buckets that are listed from the longest to the shortest, with
 * ids that leave gaps. */
static struct cn_database *made(void)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    static const char *const names[BUCKETS] = {"latency 300..399 ns", "latency 20..29 ns",
                                               "latency 7..7 ns"};
    uint32_t parent = 0;

    (void)cn_memory_database_add_kind(m, "SUMMARY");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    for (unsigned b = 0; b < BUCKETS; b++) {
        uint32_t metric = cn_memory_database_add_metric(m, names[b]);

        cn_memory_database_add_instance(
            m, metric, (struct cn_scope_instance){0, (uint16_t)(FIRST_PROP + b)});
        cn_memory_database_add_statistic(
            m, metric,
            (struct cn_statistic){0, (uint16_t)(FIRST_STAT + b), CN_COMBINE_SUM, "$$"});
    }
    for (uint32_t c = 0; c < CONTEXTS; c++)
        parent = cn_memory_database_add_context(
            m, parent,
            (struct cn_context){
                .kind = c == 0 ? CN_CONTEXT_ENTRY : CN_CONTEXT_FUNCTION,
                .entry = CN_ENTRY_MAIN_THREAD,
                .entry_name = "main thread",
                .function = CN_NONE,
                .file = CN_NONE,
                .module = CN_NONE,
            });
    for (uint32_t p = 1; p <= THREADS; p++) {
        (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
        for (uint32_t c = 1; c <= CONTEXTS; c++) {
            cn_memory_database_add_value(m, p, c, 0, c);
            for (unsigned b = 0; b < BUCKETS; b++) {
                double calls = calls_of(p, c, b);

                if (calls > 0)
                    cn_memory_database_add_value(m, p, c, (uint16_t)(FIRST_PROP + b),
                                                 calls);
            }
        }
    }
    for (uint32_t c = 1; c <= CONTEXTS; c++)
        for (unsigned b = 0; b < BUCKETS; b++) {
            double calls = calls_of(1, c, b) + calls_of(2, c, b);

            if (calls > 0)
                cn_memory_database_add_value(m, 0, c, (uint16_t)(FIRST_STAT + b), calls);
        }
    return cn_memory_database_finish(m);
}

/* The calls of a profile in a context, by the lower bound of the bucket. */
static double read_calls(struct cn_database *db, uint32_t profile, uint32_t context,
                         uint64_t low_ns)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    double calls = 0;
    uint32_t last = 0;

    assert_true(cn_profile_values(db, profile, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM) {
        for (size_t v = 0; v < batch.count; v++) {
            assert_int_equal(batch.values[v].key, context);
            assert_true(v == 0 || batch.values[v].metric > last);
            last = batch.values[v].metric;
            for (size_t i = 0; i < db->metrics.count; i++) {
                const struct cn_metric *metric = &db->metrics.list[i];
                struct cn_bucket_range range;

                if (cn_metric_bucket(metric, &range) && range.low_ns == low_ns &&
                    last == (profile == 0 ? metric->statistics[0].stat_id
                                          : metric->instances[0].prop_id))
                    calls += batch.values[v].value;
            }
        }
    }
    return calls;
}

static void the_other_files_do_not_have_these_metrics(void **state)
{
    static const uint64_t lows[BUCKETS] = {300, 20, 7};
    struct cn_database *from = made(), *plain, *to;
    struct cn_error err = {0};

    (void)state;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 2});
    assert_true(cn_hpc_v4_open_plain(&plain, "db", &err));
    assert_int_equal(plain->metrics.count, 1);
    /* hpcviewer numbers its own metrics after the statistics. */
    for (size_t i = 0; i < plain->metrics.list[0].statistic_count; i++)
        assert_true(plain->metrics.list[0].statistics[i].stat_id <
                    plain->metrics.list[0].statistic_count);
    to = cn_v4_must_open("db");
    assert_int_equal(to->metrics.count, 1 + BUCKETS);
    for (uint32_t c = 1; c <= CONTEXTS; c++)
        for (unsigned b = 0; b < BUCKETS; b++) {
            double one = calls_of(1, c, b), two = calls_of(2, c, b);

            assert_true(read_calls(to, 1, c, lows[b]) == one);
            assert_true(read_calls(to, 2, c, lows[b]) == two);
            assert_true(read_calls(to, 0, c, lows[b]) == one + two);
        }
    cn_database_close(plain);
    cn_database_close(to);
    cn_database_close(from);
}

static void count_finding(void *arg, const struct cn_finding *finding)
{
    if (strcmp(finding->file, "latency.db") == 0)
        ++*(unsigned *)arg;
}

/* Whether reading every value fails or the database says that it has no percentiles. */
static bool is_noticed(const char *path)
{
    struct cn_database *db = cn_v4_must_open(path);
    struct cn_read_totals totals;
    struct cn_error err = {0};
    bool has_buckets = db->metrics.count > 1;

    cn_read_everything(db, UINT64_MAX, &totals, &err);
    cn_database_close(db);
    return !has_buckets || totals.failures > 0;
}

static void every_flipped_byte_and_truncation_is_noticed(void **state)
{
    struct cn_database *from = made();
    struct cn_file file = {0};
    struct cn_error err = {0};
    unsigned findings = 0;
    uint8_t *copy;
    size_t len;

    (void)state;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    assert_true(cn_hpc_v4_verify("db", NULL, count_finding, &findings, &err));
    assert_int_equal(findings, 0);
    assert_false(is_noticed("db"));
    assert_true(cn_file_open_at(&file, "db", "latency.db", &err));
    len = file.bytes.len;
    copy = cn_alloc(len, 1);
    for (size_t i = 0; i < len; i++) {
        struct cn_hpc_latency latency;
        struct cn_bytes bytes = {copy, len};
        bool is_open;

        memcpy(copy, file.bytes.ptr, len);
        copy[i] ^= 0x10;
        is_open = cn_hpc_latency_open(&latency, bytes, &err);
        if (is_open) {
            assert_false(cn_block_file_check(&latency.file, latency.file.blocks, &err));
            cn_hpc_latency_close(&latency);
        }
        memcpy(copy, file.bytes.ptr, len);
        bytes.len = i;
        assert_false(cn_hpc_latency_open(&latency, bytes, &err));
    }
    memcpy(copy, file.bytes.ptr, len);
    copy[len / 3] ^= 1;
    cn_scratch_write("db/latency.db", copy, len);
    findings = 0;
    assert_true(cn_hpc_v4_verify("db", NULL, count_finding, &findings, &err));
    assert_true(findings > 0);
    assert_true(is_noticed("db"));
    free(copy);
    cn_file_close(&file);
    cn_database_close(from);
}

static void a_second_conversion_gives_the_same_bytes(void **state)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "latency.db"};
    struct cn_database *from = made(), *again;
    struct cn_error err = {0};

    (void)state;
    cn_v4_must_write(from, "one", (struct cn_write_options){.workers = 1});
    again = cn_v4_must_open("one");
    cn_v4_must_write(again, "two", (struct cn_write_options){.workers = 3});
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct cn_file a = {0}, b = {0};

        assert_true(cn_file_open_at(&a, "one", names[i], &err));
        assert_true(cn_file_open_at(&b, "two", names[i], &err));
        assert_int_equal(a.bytes.len, b.bytes.len);
        assert_memory_equal(a.bytes.ptr, b.bytes.ptr, a.bytes.len);
        cn_file_close(&a);
        cn_file_close(&b);
    }
    cn_database_close(again);
    cn_database_close(from);
}

enum { DATA_LEN = 200000, MAGIC = 7 };

/* Write DATA_LEN bytes in parts of `len` bytes; of those after the first, only the checksums are
 * known to the writer, as when other processes write them. */
static void write_in_parts(const char *name, const uint8_t *data, size_t len)
{
    struct cn_block_writer writer;
    struct cn_error err;
    struct cn_text crcs = {0}, path = {0};

    cn_text_printf(&path, "%s" CN_BLOCK_WRITER_ENDING, name);
    assert_true(cn_block_writer_open(&writer, &cn_disk_files, ".", name, MAGIC, 1, &err));
    assert_true(cn_block_writer_section(&writer, 1, &err));
    assert_true(cn_block_writer_add(&writer, data, len, &err));
    for (size_t at = len; at < DATA_LEN; at += len) {
        struct cn_bytes part = {data + at, DATA_LEN - at < len ? DATA_LEN - at : len};
        struct cn_bytes halves[2] = {{part.ptr, part.len / 3},
                                     {part.ptr + part.len / 3, part.len - part.len / 3}};
        uint64_t off = writer.end_off;
        struct cn_out out = {0};

        assert_true(cn_out_join_at(&out, ".", cn_text_str(&path), &err));
        assert_true(cn_out_write_at(&out, off, part.ptr, part.len, &err));
        cn_out_abandon(&out);
        cn_text_clear(&crcs);
        cn_block_checksums_add(off, off, halves[0], &crcs);
        cn_block_checksums_add(off, off + halves[0].len, halves[1], &crcs);
        assert_true(cn_block_writer_add_written(
            &writer, (struct cn_bytes){(const uint8_t *)crcs.chars, crcs.len}, part.len,
            &err));
    }
    assert_true(cn_block_writer_section(&writer, 2, &err));
    assert_true(cn_block_writer_add(&writer, data, 11, &err));
    assert_true(cn_block_writer_commit(&writer, &err));
    cn_text_done(&crcs);
    cn_text_done(&path);
}

static void bytes_that_others_write_give_the_same_file(void **state)
{
    static const size_t lens[] = {1000, 65536, 65520, 70001};
    uint8_t *data = cn_alloc(DATA_LEN, 1);
    struct cn_file whole = {0}, parts = {0};
    struct cn_error err;

    (void)state;
    for (size_t i = 0; i < DATA_LEN; i++)
        data[i] = (uint8_t)(i * i >> 3);
    write_in_parts("whole", data, DATA_LEN);
    assert_true(cn_file_open(&whole, "whole", &err));
    for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
        write_in_parts("parts", data, lens[i]);
        assert_true(cn_file_open(&parts, "parts", &err));
        assert_int_equal(parts.bytes.len, whole.bytes.len);
        assert_memory_equal(parts.bytes.ptr, whole.bytes.ptr, whole.bytes.len);
        cn_file_close(&parts);
    }
    cn_file_close(&whole);
    free(data);
}

/* Checksums of another process that do not fit its bytes are refused. */
static void checksums_must_fit_the_bytes(void **state)
{
    static const uint8_t crcs[8];
    struct cn_block_writer writer;
    struct cn_error err;

    (void)state;
    for (size_t len = 0; len <= sizeof(crcs); len += sizeof(crcs)) {
        assert_true(
            cn_block_writer_open(&writer, &cn_disk_files, ".", "few", MAGIC, 1, &err));
        assert_false(cn_block_writer_add_written(&writer, (struct cn_bytes){crcs, len},
                                                 100, &err));
        cn_block_writer_abandon(&writer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(the_other_files_do_not_have_these_metrics),
        CN_SCRATCH_TEST(every_flipped_byte_and_truncation_is_noticed),
        CN_SCRATCH_TEST(a_second_conversion_gives_the_same_bytes),
        CN_SCRATCH_TEST(bytes_that_others_write_give_the_same_file),
        CN_SCRATCH_TEST(checksums_must_fit_the_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
