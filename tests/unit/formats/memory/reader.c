#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/memory/format.h"
#include "formats/memory/reader.h"

enum { PID = 77, RECORDS = 8, LEN = RECORDS * cn_memory_record_size };

static void put(uint8_t *file, unsigned number, uint64_t time_ns, uint64_t kind,
                uint64_t address, uint64_t size, uint64_t usable_size)
{
    struct cn_memory_record record = {
        .time_ns = time_ns,
        .place = kind << CN_MEMORY_KIND_AT | address,
        .size = size,
        .usable_size = usable_size,
    };

    (void)cn_memory_record_encode(&record, file + (size_t)number * cn_memory_record_size);
}

static void write_good_file(uint8_t file[LEN])
{
    put(file, 0, 1000, CN_MEMORY_BEGIN, PID, 0, 5 << 10);
    put(file, 1, 1010, CN_MEMORY_ALLOC, 0x1000, 20, 24);
    put(file, 2, 1020, CN_MEMORY_NOTHING, 0, 0, 0);
    put(file, 3, 1030, CN_MEMORY_MOVED, 0x1000, 0, 24);
    put(file, 4, 1040, CN_MEMORY_GROWN, 0x2000, 100, 104);
    put(file, 5, 1039, CN_MEMORY_FREE, 0x2000, 0, 0);
    put(file, 6, 1050, CN_MEMORY_LOST, 0, 3, 0);
    put(file, 7, 1060, CN_MEMORY_UNMAP, 0x9000, 4096, 0);
}

/* How many events there are before the end or damage, which is the result. */
static enum cn_step read_all(const uint8_t *file, size_t len, size_t *count,
                             struct cn_error *err)
{
    struct cn_heap_log log = {.name = "77.mem", .file = {file, len}};
    struct cn_heap_event event;
    enum cn_step step;

    for (*count = 0; (step = cn_memory_log_next(&log, &event, err)) == CN_ITEM;)
        ++*count;
    return step;
}

static void assert_damaged(const uint8_t *file, size_t before, const char *text)
{
    struct cn_error err = {0};
    size_t count;

    assert_int_equal(read_all(file, LEN, &count, &err), CN_FAIL);
    assert_int_equal(count, before);
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_string_equal(err.text, text);
}

static void events_have_what_was_recorded(void **state)
{
    static const struct cn_heap_event expected[] = {
        {CN_HEAP_EVENT_ALLOC, 1010, 0, 0x1000, 20, 24, 0, false},
        {CN_HEAP_EVENT_RELEASE, 1030, 0, 0x1000, 0, 24, 0, false},
        {CN_HEAP_EVENT_ALLOC, 1040, 0, 0x2000, 100, 104, 24, false},
        {CN_HEAP_EVENT_RELEASE, 1040, 0, 0x2000, 0, 0, 0, false},
        {CN_HEAP_EVENT_LOST, 1050, 0, 0, 3, 0, 0, false},
        {CN_HEAP_EVENT_UNMAP, 1060, 0, 0x9000, 4096, 0, 0, false},
    };
    uint8_t file[LEN];
    struct cn_heap_log log = {.name = "77.mem", .file = {file, LEN}};
    struct cn_heap_event event;
    struct cn_error err = {0};

    (void)state;
    write_good_file(file);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(cn_memory_log_next(&log, &event, &err), CN_ITEM);
        assert_int_equal(event.kind, expected[i].kind);
        assert_int_equal(event.time_ns, expected[i].time_ns);
        assert_int_equal(event.process, (uint64_t)PID << 32 | 5);
        assert_int_equal(event.address, expected[i].address);
        assert_int_equal(event.size, expected[i].size);
        assert_int_equal(event.usable_size, expected[i].usable_size);
        assert_int_equal(event.old_size, expected[i].old_size);
    }
    assert_int_equal(cn_memory_log_next(&log, &event, &err), CN_END);
}

static void a_truncated_file_has_the_events_before(void **state)
{
    uint8_t file[LEN];
    size_t count, whole;

    (void)state;
    write_good_file(file);
    for (size_t len = 0; len < LEN; len++) {
        struct cn_error err = {0};
        bool is_whole = len % cn_memory_record_size == 0;

        assert_int_equal(read_all(file, len, &count, &err), is_whole ? CN_END : CN_FAIL);
        (void)read_all(file, len - len % cn_memory_record_size, &whole, &err);
        assert_int_equal(count, whole);
    }
}

static void every_bit_may_be_another(void **state)
{
    uint8_t file[LEN];

    (void)state;
    for (size_t bit = 0; bit < LEN * 8; bit++) {
        struct cn_error err = {0};
        size_t count;

        write_good_file(file);
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (read_all(file, LEN, &count, &err) == CN_FAIL)
            assert_int_equal(err.kind, CN_ERR_FORMAT);
    }
}

static void damage_is_named_with_its_place(void **state)
{
    uint8_t file[LEN];

    (void)state;
    write_good_file(file);
    put(file, 4, 1040, 0x4d, 0x2000, 100, 104);
    assert_damaged(file, 2, "77.mem: record 4 at 0x80: unknown kind 77");
    write_good_file(file);
    put(file, 4, 10, CN_MEMORY_GROWN, 0x2000, 100, 104);
    put(file, 3, 2000000, CN_MEMORY_MOVED, 0x1000, 0, 24);
    assert_damaged(file, 2,
                   "77.mem: record 4 at 0x80: time runs backwards: 10 after 2000000");
    write_good_file(file);
    put(file, 1, 1010, CN_MEMORY_ALLOC, 0x1000, UINT64_C(1) << 60, 24);
    assert_damaged(file, 0,
                   "77.mem: record 1 at 0x20: 24 bytes, of which 1152921504606846976 are "
                   "requested: more than an address space has");
    write_good_file(file);
    put(file, 0, 1000, CN_MEMORY_ALLOC, PID, 0, 0);
    assert_damaged(file, 0,
                   "77.mem: record 0 at 0x0: the first record has kind 2, not 1: it does "
                   "not begin a program");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_what_was_recorded),
        cmocka_unit_test(a_truncated_file_has_the_events_before),
        cmocka_unit_test(every_bit_may_be_another),
        cmocka_unit_test(damage_is_named_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
