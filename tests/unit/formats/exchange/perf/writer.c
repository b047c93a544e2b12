/* Files that are written are read: finished, killed in the middle, and in place of others. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "base/files/file.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/writer.h"
#include "support/scratch.h"

enum { ATTR_LEN = 128, SAMPLES = 5000 };

static uint8_t attrs[2][ATTR_LEN];
static struct cn_perf_writer_event events[2];

static struct cn_perf_writer_facts facts_of(int level)
{
    static const char *const command[] = {"cairn", "sample", NULL};
    static const uint8_t id[] = {1, 2, 3, 4};

    for (uint32_t i = 0; i < 2; i++) {
        struct cn_perf_attr attr = {
            .type = 1,
            .size = ATTR_LEN,
            .config = i,
            .sample_type = CN_PERF_HAS_IDENTIFIER | CN_PERF_HAS_IP | CN_PERF_HAS_TID |
                           CN_PERF_HAS_TIME | CN_PERF_HAS_CPU | CN_PERF_HAS_PERIOD |
                           CN_PERF_HAS_CALLCHAIN,
            .flags = CN_PERF_FLAG_SAMPLE_ID_ALL,
        };

        cn_perf_attr_encode(&attr, attrs[i]);
        cn_u32_put(attrs[i] + 4, ATTR_LEN);
        events[i] =
            (struct cn_perf_writer_event){{attrs[i], ATTR_LEN}, i ? "second" : "first"};
    }
    return (struct cn_perf_writer_facts){
        .events = events,
        .event_count = 2,
        .command = command,
        .kernel_build_id = {id, sizeof(id)},
        .compression_level = level,
    };
}

static void add_samples(struct cn_perf_writer *writer, uint64_t first, uint64_t count)
{
    struct cn_error err = {0};

    for (uint64_t i = first; i < first + count; i++) {
        struct cn_text text = {0};

        cn_wire_u32(&text, CN_PERF_SAMPLE);
        cn_wire_u32(&text, 80 << 16);
        cn_wire_u64(&text, 1 + i % 2);
        cn_wire_u64(&text, 0x1000 + i);
        cn_wire_u64(&text, 7 | UINT64_C(8) << 32);
        cn_wire_u64(&text, 100 + i);
        cn_wire_u64(&text, 0);
        cn_wire_u64(&text, i * i);
        cn_wire_u64(&text, 2);
        cn_wire_u64(&text, CN_PERF_CONTEXT_USER);
        cn_wire_u64(&text, 0x1000 + i);
        assert_int_equal(text.len, 80);
        assert_true(cn_perf_writer_add(writer, cn_wire_view(&text), &err));
        cn_perf_writer_count_sample(writer, 100 + i);
        cn_text_done(&text);
    }
}

/* All samples of the file, from the first on. */
static void expect_samples(const char *path, uint64_t expected)
{
    struct cn_file file = {0};
    struct cn_perf_file perf;
    struct cn_perf_record record;
    struct cn_error err = {0};
    uint64_t count = 0;

    assert_true(cn_file_open(&file, path, &err));
    assert_true(cn_perf_file_open(&perf, file.bytes, NULL, 0, &err));
    assert_int_equal(perf.event_count, 2);
    assert_string_equal(perf.events[0].name, "first");
    assert_string_equal(perf.events[1].name, "second");
    while (cn_perf_next(&perf, &record, &err) == CN_ITEM) {
        struct cn_perf_sample sample;

        assert_true(cn_perf_sample_decode(&perf, &record, &sample, &err));
        assert_int_equal(sample.event, count % 2);
        assert_int_equal(sample.ip, 0x1000 + count);
        assert_int_equal(sample.period, count * count);
        count++;
    }
    assert_int_equal(count, expected);
    cn_perf_file_close(&perf);
    cn_file_close(&file);
}

static void what_is_written_is_read(void **state)
{
    for (int level = 0; level <= 1; level++) {
        struct cn_perf_writer_facts facts = facts_of(level);
        const char *path = "perf.data";
        struct cn_perf_writer writer;
        struct cn_error err = {0};

        assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
        expect_samples(path, 0);
        add_samples(&writer, 0, SAMPLES);
        assert_true(cn_perf_writer_flush(&writer, &err));
        assert_int_equal(writer.sample_count, SAMPLES);
        expect_samples(path, SAMPLES); /* a writer that is killed now */
        add_samples(&writer, SAMPLES, 10);
        assert_true(cn_perf_writer_close(&writer, &err));
        expect_samples(path, SAMPLES + 10);
        cn_scratch_remove(path);
    }
    (void)state;
}

static void expect_origin(const char *path, const char *stacks, uint64_t stack_count)
{
    struct cn_file file = {0};
    struct cn_perf_file perf;
    struct cn_error err = {0};

    assert_true(cn_file_open(&file, path, &err));
    assert_true(cn_perf_file_open(&perf, file.bytes, NULL, 0, &err));
    assert_string_equal(perf.origin.command, "cairn sample");
    assert_string_equal(perf.origin.processor, "a processor");
    assert_string_equal(perf.origin.writer, "cairn " CN_VERSION);
    assert_true(perf.origin.start_ns > 0 && perf.origin.memory_bytes > 0);
    assert_string_equal(perf.origin.stacks, stacks);
    assert_int_equal(perf.origin.stack_count, stack_count);
    cn_perf_file_close(&perf);
    cn_file_close(&file);
}

static void the_origin_is_known_also_if_the_writer_is_killed(void **state)
{
    static const char before[] = "stacks=kernel\n";
    static const char after[] = "stacks=copies\nstack_count=7\n";
    struct cn_perf_writer_facts facts = facts_of(1);
    struct cn_perf_writer writer;
    struct cn_error err = {0};

    (void)state;
    facts.processor = "a processor";
    facts.origin = (struct cn_bytes){(const uint8_t *)before, strlen(before)};
    assert_true(cn_perf_writer_open(&writer, "perf.data", &facts, &err));
    add_samples(&writer, 0, 1);
    assert_true(cn_perf_writer_flush(&writer, &err));
    expect_origin("perf.data", "kernel", 0);
    cn_perf_writer_add_section(&writer, CN_PERF_FEATURE_ORIGIN,
                               (struct cn_bytes){(const uint8_t *)after, strlen(after)});
    assert_true(cn_perf_writer_close(&writer, &err));
    expect_origin("perf.data", "copies", 7);
}

static void half_a_record_at_the_end_is_left_out(void **state)
{
    struct cn_perf_writer_facts facts = facts_of(1);
    const char *path = "perf.data";
    struct cn_perf_writer writer;
    struct cn_error err = {0};
    uint64_t whole;

    assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
    add_samples(&writer, 0, 100);
    assert_true(cn_perf_writer_flush(&writer, &err));
    whole = writer.end_off;
    add_samples(&writer, 100, 100);
    assert_true(cn_perf_writer_flush(&writer, &err));
    for (uint64_t end = whole; end < writer.end_off; end++) {
        assert_int_equal(truncate(path, (off_t)(writer.end_off + whole - 1 - end)), 0);
        expect_samples(path, 100);
    }
    (void)!cn_perf_writer_close(&writer, &err);
    (void)state;
}

static void damage_does_not_hide_the_records_before_it(void **state)
{
    struct cn_perf_writer_facts facts = facts_of(0);
    const char *path = "perf.data";
    const char nothing[8] = {0};
    struct cn_file file = {0};
    struct cn_perf_file perf;
    struct cn_perf_writer writer;
    struct cn_error err = {0};
    uint64_t damaged_off;
    FILE *out;

    assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
    add_samples(&writer, 0, 60);
    assert_true(cn_perf_writer_flush(&writer, &err));
    damaged_off = writer.end_off;
    add_samples(&writer, 60, 40);
    assert_true(cn_perf_writer_close(&writer, &err));
    out = fopen(path, "r+");
    assert_non_null(out);
    assert_int_equal(fseek(out, (long)damaged_off, SEEK_SET), 0);
    assert_int_equal(fwrite(nothing, sizeof(nothing), 1, out), 1);
    assert_int_equal(fclose(out), 0);
    expect_samples(path, 60);
    assert_true(cn_file_open(&file, path, &err));
    assert_true(cn_perf_file_open(&perf, file.bytes, NULL, 0, &err));
    assert_int_equal(perf.damage.kind, CN_ERR_FORMAT);
    cn_perf_file_close(&perf);
    cn_file_close(&file);
    (void)state;
}

/* What the file's end had: names of functions, and who wrote it. */
static void a_cut_in_the_features_is_said(void **state)
{
    static const char origin[] = "stacks=kernel\n";
    struct cn_perf_writer_facts facts = facts_of(1);
    const char *path = "perf.data";
    struct cn_perf_writer writer;
    struct cn_error err = {0};
    struct cn_file file = {0};
    uint64_t records_end;

    assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
    add_samples(&writer, 0, 20);
    assert_true(cn_perf_writer_flush(&writer, &err));
    records_end = writer.end_off;
    cn_perf_writer_add_section(&writer, CN_PERF_FEATURE_ORIGIN, cn_bytes_of(origin));
    assert_true(cn_perf_writer_close(&writer, &err));
    assert_true(cn_file_open(&file, path, &err));
    for (size_t len = records_end; len <= file.bytes.len; len++) {
        struct cn_bytes cut = {file.bytes.ptr, len};
        struct cn_perf_file perf;

        assert_true(cn_perf_file_open(&perf, cut, NULL, 0, &err));
        assert_int_equal(perf.order_count, 20);
        assert_int_equal(perf.damage.kind, CN_ERR_NONE);
        if (len == file.bytes.len)
            assert_int_equal(perf.bad_feature.kind, CN_ERR_NONE);
        else if (len + strlen(origin) / 2 < file.bytes.len)
            assert_int_equal(perf.bad_feature.kind, CN_ERR_FORMAT);
        cn_perf_file_close(&perf);
    }
    cn_file_close(&file);
    (void)state;
}

static void names_that_are_damaged_are_said(void **state)
{
    struct cn_perf_writer_facts facts = facts_of(1);
    const char *path = "perf.data";
    struct cn_perf_writer writer;
    struct cn_perf_file perf;
    struct cn_error err = {0};
    struct cn_file file = {0};

    assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
    add_samples(&writer, 0, 20);
    cn_perf_writer_add_section(&writer, CN_PERF_FEATURE_SYMBOLS, cn_bytes_of("no table"));
    assert_true(cn_perf_writer_close(&writer, &err));
    assert_true(cn_file_open(&file, path, &err));
    assert_true(cn_perf_file_open(&perf, file.bytes, NULL, 0, &err));
    assert_int_equal(perf.order_count, 20);
    assert_non_null(strstr(perf.bad_feature.text, "feature 250 (names of functions), "));
    cn_perf_file_close(&perf);
    cn_file_close(&file);
    (void)state;
}

static void an_earlier_file_is_kept(void **state)
{
    struct cn_perf_writer_facts facts = facts_of(1);
    const char *path = "perf.data";
    struct cn_perf_writer writer;
    struct cn_error err = {0};

    for (uint64_t i = 1; i <= 2; i++) {
        assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
        add_samples(&writer, 0, i);
        assert_true(cn_perf_writer_close(&writer, &err));
    }
    expect_samples(path, 2);
    expect_samples("perf.data.old", 1);
    assert_true(cn_perf_writer_open(&writer, path, &facts, &err));
    cn_perf_writer_discard(&writer);
    expect_samples(path, 2);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(mkdir("dir.old", 0700), 0);
    cn_scratch_write("dir.old/file", "", 0);
    assert_false(cn_perf_writer_open(&writer, "dir", &facts, &err));
    assert_non_null(strstr(err.text, "move dir.old away: dir cannot be renamed to it"));
    assert_false(cn_perf_writer_open(&writer, "nosuch/perf.data", &facts, &err));
    assert_non_null(strstr(err.text, "nosuch/perf.data"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(what_is_written_is_read),
        CN_SCRATCH_TEST(the_origin_is_known_also_if_the_writer_is_killed),
        CN_SCRATCH_TEST(half_a_record_at_the_end_is_left_out),
        CN_SCRATCH_TEST(damage_does_not_hide_the_records_before_it),
        CN_SCRATCH_TEST(a_cut_in_the_features_is_said),
        CN_SCRATCH_TEST(names_that_are_damaged_are_said),
        CN_SCRATCH_TEST(an_earlier_file_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
