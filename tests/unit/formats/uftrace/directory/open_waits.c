/* Waits of a task: the kernel's events "out" and "in" come into the gap of its records,
 * even if the two clocks differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/uftrace/directory/open.h"
#include "formats/uftrace/format.h"
#include "support/scratch.h"

enum { TID = 100, FIRST_NS = 1000000 };

struct wait {
    uint64_t out_ns, in_ns;
};

static void write_info(void)
{
    struct cn_uft_info_header head = {
        .version = CN_UFT_VERSION,
        .header_len = cn_uft_info_header_size,
        .byte_order = 1,
        .word_class = 2,
        .features = CN_FEATURE_TASK_SESSION | CN_FEATURE_PERF_EVENT,
        .max_stack = 10,
    };
    uint8_t bytes[cn_uft_info_header_size];
    static const char tasks[] =
        "SESS timestamp=0.000000001 pid=100 sid=0123456789abcdef exename=\"/p\"\n"
        "TASK timestamp=0.000000002 tid=100 pid=100\n";

    cn_uft_info_header_encode(&head, bytes);
    memcpy(bytes, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    assert_int_equal(mkdir("d", 0777), 0);
    cn_scratch_write("d/info", bytes, sizeof(bytes));
    cn_scratch_write("d/task.txt", tasks, sizeof(tasks) - 1);
    cn_scratch_write("d/sid-0123456789abcdef.map", "", 0);
}

/* Entries and exits of one function at these times. */
static void write_records(const uint64_t *times, size_t count)
{
    struct cn_text all = {0};

    for (size_t i = 0; i < count; i++) {
        struct cn_uft_record record = {
            .time_ns = FIRST_NS + times[i],
            .word = CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT | i % 2 |
                    UINT64_C(0x1000) << CN_UFT_ADDRESS_AT,
        };
        uint8_t bytes[cn_uft_record_size];

        cn_uft_record_encode(&record, bytes);
        cn_text_add(&all, (const char *)bytes, sizeof(bytes));
    }
    cn_scratch_write("d/100.dat", all.chars, all.len);
    cn_text_done(&all);
}

static void add_switch(struct cn_text *all, bool is_out, uint64_t time_ns)
{
    struct cn_uft_perf_header head = {
        .type = CN_UFT_PERF_SWITCH,
        .misc = is_out ? CN_UFT_PERF_MISC_OUT | CN_UFT_PERF_MISC_PREEMPT : 0,
        .size = cn_uft_perf_header_size + cn_uft_perf_sample_size,
    };
    struct cn_uft_perf_sample sample = {TID, TID, FIRST_NS + time_ns};
    uint8_t bytes[cn_uft_perf_header_size + cn_uft_perf_sample_size];

    cn_uft_perf_header_encode(&head, bytes);
    cn_uft_perf_sample_encode(&sample, bytes + cn_uft_perf_header_size);
    cn_text_add(all, (const char *)bytes, sizeof(bytes));
}

static void write_waits(const struct wait *waits, size_t count)
{
    struct cn_text all = {0};

    for (size_t i = 0; i < count; i++) {
        add_switch(&all, true, waits[i].out_ns);
        add_switch(&all, false, waits[i].in_ns);
    }
    cn_scratch_write("d/perf-cpu0.dat", all.chars, all.len);
    cn_text_done(&all);
}

static void print_stream(struct cn_call_stream *stream, struct cn_text *text)
{
    struct cn_call_batch batch;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];
            bool is_in = call->address == CN_EVENT_SCHED_IN;

            cn_text_printf(text, "%s%lu ",
                           call->kind != CN_CALL_EVENT ? ""
                           : is_in                     ? "in:"
                                                       : "out:",
                           (unsigned long)(call->time_ns - FIRST_NS));
        }
    }
    assert_int_equal(step, CN_END);
    cn_call_stream_close(stream);
}

static struct cn_recording *open_it(void)
{
    struct cn_recording_options options = {0};
    struct cn_recording *rec;
    struct cn_error err = {0};

    assert_true(cn_uft_open(&rec, "d", &options, &err));
    assert_int_equal(rec->task_count, 1);
    return rec;
}

static void expect(const uint64_t *times, size_t count, struct wait wait,
                   const char *expected)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_call_stream *stream;
    struct cn_text text = {0};
    struct cn_recording *rec;
    struct cn_error err = {0};

    write_info();
    write_records(times, count);
    write_waits(&wait, 1);
    rec = open_it();
    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    print_stream(stream, &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
    cn_recording_close(rec);
    cn_scratch_leave(scratch);
}

#define EXPECT(times, out_ns, in_ns, expected)                                      \
    expect(times, sizeof(times) / sizeof((times)[0]), (struct wait){out_ns, in_ns}, \
           expected)

static void a_wait_without_records_keeps_its_times(void **state)
{
    static const uint64_t times[] = {10, 20, 1030, 1040};

    (void)state;
    EXPECT(times, 22, 1027, "10 20 out:22 in:1027 1030 1040 ");
    EXPECT(times, 20, 1029, "10 20 out:20 in:1029 1030 1040 ");
}

static void a_wait_before_its_gap_is_delayed(void **state)
{
    static const uint64_t times[] = {10, 20, 30, 40, 1070, 1080};

    (void)state;
    EXPECT(times, 8, 1008, "10 20 30 40 out:40 in:1040 1070 1080 ");
    EXPECT(times, 8, 1068, "10 20 30 40 out:40 in:1069 1070 1080 ");
}

static void a_wait_after_its_gap_is_moved_forward(void **state)
{
    static const uint64_t times[] = {10, 20, 1030, 1040, 1050, 1060};

    (void)state;
    EXPECT(times, 55, 1055, "10 20 out:29 in:1029 1030 1040 1050 1060 ");
    EXPECT(times, 55, 1095, "10 20 out:20 in:1029 1030 1040 1050 1060 ");
}

static void a_wait_at_the_end_has_no_next_record(void **state)
{
    static const uint64_t times[] = {10, 20};

    (void)state;
    EXPECT(times, 25, 1000, "10 20 out:25 in:1000 ");
    EXPECT(times, 15, 1000, "10 20 out:20 in:1005 ");
}

static void waits_are_the_same_in_parts(void **state)
{
    enum { COUNT = 20000, EVERY = 50, WAITS = COUNT / EVERY, LATE_NS = 25 };
    static uint64_t times[COUNT];
    static struct wait waits[WAITS];
    struct cn_text whole = {0}, parts = {0};
    struct cn_call_stream *stream;
    struct cn_recording *rec;
    struct cn_error err = {0};

    (void)state;
    /* The records are late: each wait contains those of the 25 ns before its gap. */
    for (size_t i = 0; i < COUNT; i++) {
        times[i] = 1000 * (i / EVERY + 1) + 10 * (i % EVERY);
        if (i % EVERY == EVERY - 1)
            waits[i / EVERY] =
                (struct wait){times[i] + 2 - LATE_NS, times[i] + 500 - LATE_NS};
    }
    write_info();
    write_records(times, COUNT);
    write_waits(waits, WAITS);
    rec = open_it();
    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    print_stream(stream, &whole);
    for (uint64_t len = 4096; len < 30000; len += 1001) {
        struct cn_call_part *list = NULL;
        size_t count = rec->ops->parts(rec, 0, len, &list);

        assert_true(count > 5);
        cn_text_clear(&parts);
        for (size_t i = 0; i < count; i++) {
            assert_true(cn_recording_part_open(rec, 0, &list[i], &stream, &err));
            print_stream(stream, &parts);
        }
        assert_string_equal(cn_text_str(&parts), cn_text_str(&whole));
        free(list);
    }
    assert_non_null(strstr(cn_text_str(&whole), "1490 out:1490 in:1988 2000 "));
    cn_text_done(&whole);
    cn_text_done(&parts);
    cn_recording_close(rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_without_records_keeps_its_times),
        cmocka_unit_test(a_wait_before_its_gap_is_delayed),
        cmocka_unit_test(a_wait_after_its_gap_is_moved_forward),
        cmocka_unit_test(a_wait_at_the_end_has_no_next_record),
        CN_SCRATCH_TEST(waits_are_the_same_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
