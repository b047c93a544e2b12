/* Samples with every field, and the call chains that are made of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "formats/exchange/perf/read.h"
#include "formats/exchange/perf/stack.h"

enum { PID = 7, ID = 100, OTHER_ID = 101 };

static struct cn_perf_record record_of(const struct cn_text *text)
{
    return (struct cn_perf_record){.head = {.type = CN_PERF_SAMPLE},
                                   .body = cn_wire_view(text)};
}

static void add_ids(struct cn_perf_file *file)
{
    file->event_count = 2;
    *cn_map_at(&file->event_of, ID, 0) = 0;
    *cn_map_at(&file->event_of, OTHER_ID, 0) = 1;
}

static void put_chain(struct cn_text *text)
{
    cn_wire_u64(text, 4);
    cn_wire_u64(text, CN_PERF_CONTEXT_KERNEL);
    cn_wire_u64(text, 0xffffffff81000010);
    cn_wire_u64(text, CN_PERF_CONTEXT_USER);
    cn_wire_u64(text, 0x1010);
}

/* All fields up to the copy of the stack; a group of two counters. */
static void put_sample(struct cn_text *text)
{
    cn_wire_u64(text, ID);     /* identifier */
    cn_wire_u64(text, 0x1010); /* instruction */
    cn_wire_u64(text, PID | (uint64_t)8 << 32);
    cn_wire_u64(text, 55);     /* time */
    cn_wire_u64(text, 0x2000); /* address */
    cn_wire_u64(text, ID);
    cn_wire_u64(text, 1); /* stream */
    cn_wire_u64(text, 3); /* processor */
    cn_wire_u64(text, 250);
    cn_wire_u64(text, 2); /* counters: their number, times */
    cn_wire_u64(text, 11);
    cn_wire_u64(text, 12);
    cn_wire_u64(text, 1000);
    cn_wire_u64(text, ID);
    cn_wire_u64(text, 0);
    cn_wire_u64(text, 30);
    cn_wire_u64(text, OTHER_ID);
    cn_wire_u64(text, 0);
    put_chain(text);
    cn_wire_u32(text, 4); /* raw */
    cn_wire_u32(text, 0xabcd);
    cn_wire_u64(text, 1); /* branches, with an index */
    cn_wire_u64(text, 0);
    cn_wire_u64(text, 0x1100);
    cn_wire_u64(text, 0x1200);
    cn_wire_u64(text, 0);
    cn_wire_u64(text, CN_PERF_ABI_64);
    cn_wire_u64(text, 0x7000); /* SP, IP */
    cn_wire_u64(text, 0x1010);
    cn_wire_u64(text, 16); /* stack: room, and what is filled */
    cn_wire_u64(text, 0xaaaa);
    cn_wire_u64(text, 0xbbbb);
    cn_wire_u64(text, 8);
    cn_wire_u64(text, 77); /* weight: skipped */
}

static const struct cn_perf_attr all_fields = {
    .sample_type =
        CN_PERF_HAS_IDENTIFIER | (CN_PERF_HAS_USER_STACK * 2 - 1) | UINT64_C(1) << 14,
    .read_format = CN_PERF_READ_GROUP | CN_PERF_READ_ENABLED | CN_PERF_READ_RUNNING |
                   CN_PERF_READ_ID | CN_PERF_READ_LOST,
    .branch_sample_type = CN_PERF_BRANCH_HW_INDEX,
    .sample_regs_user = 1 << 7 | 1 << 8,
};

static void every_field_is_found(void **state)
{
    struct cn_perf_file file = {.events = {{.attr = all_fields}, {.attr = all_fields}}};
    struct cn_text text = {0};
    struct cn_perf_sample sample;
    struct cn_perf_record record;
    struct cn_error err = {0};

    (void)state;
    add_ids(&file);
    put_sample(&text);
    record = record_of(&text);
    assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
    assert_int_equal(sample.event, 0);
    assert_int_equal(sample.ip, 0x1010);
    assert_int_equal(sample.pid, PID);
    assert_int_equal(sample.tid, 8);
    assert_int_equal(sample.time_ns, 55);
    assert_int_equal(sample.cpu, 3);
    assert_int_equal(sample.period, 250);
    assert_int_equal(sample.chain.len, 32);
    assert_int_equal(sample.raw.len, 4);
    assert_int_equal(sample.branches.len, 24);
    assert_int_equal(cn_u64_get(sample.branches.ptr), 0x1100);
    assert_int_equal(sample.user_registers.len, 16);
    assert_int_equal(cn_u64_get(sample.user_registers.ptr), 0x7000);
    assert_int_equal(sample.user_stack.len, 8);
    assert_int_equal(cn_u64_get(sample.user_stack.ptr), 0xaaaa);
    /* Cut before the end of the last field. */
    for (size_t len = 0; len < text.len - 8; len++) {
        record.body.len = len;
        assert_false(cn_perf_sample_decode(&file, &record, &sample, &err));
    }
    cn_text_done(&text);
    cn_map_done(&file.event_of);
}

static void counters_are_those_since_the_sample_before(void **state)
{
    struct cn_perf_file file = {.events = {{.attr = all_fields}, {.attr = all_fields}}};
    struct cn_perf_counters counters = {0};
    struct cn_perf_counted counted;
    struct cn_text text = {0};
    struct cn_perf_sample sample;
    struct cn_perf_record record;
    struct cn_error err = {0};

    (void)state;
    add_ids(&file);
    put_sample(&text);
    record = record_of(&text);
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
        assert_true(cn_perf_read_next(&counters, &file, &sample, &counted));
        assert_int_equal(counted.event, 0);
        assert_int_equal(counted.value, i ? 0 : 1000);
        assert_true(cn_perf_read_next(&counters, &file, &sample, &counted));
        assert_int_equal(counted.event, 1);
        assert_int_equal(counted.value, i ? 0 : 30);
        assert_false(cn_perf_read_next(&counters, &file, &sample, &counted));
    }
    /* One counter: value, times, id. */
    file.events[0].attr.sample_type = CN_PERF_HAS_IDENTIFIER | CN_PERF_HAS_READ;
    file.events[0].attr.read_format =
        CN_PERF_READ_ENABLED | CN_PERF_READ_RUNNING | CN_PERF_READ_ID;
    cn_text_clear(&text);
    cn_wire_u64(&text, ID);
    cn_wire_u64(&text, 1005);
    cn_wire_u64(&text, 1);
    cn_wire_u64(&text, 1);
    cn_wire_u64(&text, ID);
    record = record_of(&text);
    assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
    assert_true(cn_perf_read_next(&counters, &file, &sample, &counted));
    assert_int_equal(counted.value, 5);
    assert_false(cn_perf_read_next(&counters, &file, &sample, &counted));
    cn_perf_counters_done(&counters);
    cn_text_done(&text);
    cn_map_done(&file.event_of);
}

static void check_chain(const struct cn_perf_sample *sample, const uint64_t *expected,
                        size_t count)
{
    assert_int_equal(sample->chain.len, 8 * count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cn_u64_get(sample->chain.ptr + 8 * i), expected[i]);
}

/* The kernel's part, then calls by address after the call. */
static void calls_of_the_processor_replace_the_users_part(void **state)
{
    const uint64_t in_kernel[] = {CN_PERF_CONTEXT_KERNEL, 0xffffffff81000010,
                                  CN_PERF_CONTEXT_USER, 0x1200, 0x1101};
    const uint64_t in_user[] = {CN_PERF_CONTEXT_USER, 0x1010, 0x1101};
    struct cn_perf_file file = {
        .event_count = 1,
        .events = {{.attr = {.sample_type = CN_PERF_HAS_IP | CN_PERF_HAS_CALLCHAIN |
                                            CN_PERF_HAS_BRANCH_STACK,
                             .branch_sample_type = CN_PERF_BRANCH_CALL_STACK}}}};
    struct cn_perf_stacks stacks = {0};
    struct cn_perf_spaces spaces = {0};
    struct cn_text text = {0};
    struct cn_perf_sample sample;
    struct cn_perf_record record;
    struct cn_error err = {0};

    (void)state;
    for (unsigned is_kernel = 0; is_kernel < 2; is_kernel++) {
        cn_text_clear(&text);
        cn_wire_u64(&text, 0x1010);
        if (is_kernel)
            put_chain(&text);
        else
            cn_wire_u64(&text, 0);
        cn_wire_u64(&text, 1);
        cn_wire_u64(&text, 0x1100);
        cn_wire_u64(&text, 0x1200);
        cn_wire_u64(&text, 0);
        record = record_of(&text);
        assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
        cn_perf_stack_complete(&stacks, &file, &spaces, &sample);
        check_chain(&sample, is_kernel ? in_kernel : in_user, is_kernel ? 5 : 3);
    }
    /* Branches that are not calls leave the chain as it is. */
    file.events[0].attr.branch_sample_type = 0;
    assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
    cn_perf_stack_complete(&stacks, &file, &spaces, &sample);
    assert_int_equal(cn_u64_get(sample.chain.ptr + 24), 0x1010);
    cn_perf_stacks_done(&stacks);
    cn_perf_spaces_done(&spaces);
    cn_text_done(&text);
}

/* Frame pointers in code without a file; a kernel thread has no registers. */
static void copies_of_stacks_are_unwound(void **state)
{
    const uint64_t expected[] = {CN_PERF_CONTEXT_USER, 0x1010, 0x1020};
    struct cn_perf_file file = {
        .event_count = 1,
        .origin = {.machine = "x86_64"},
        .events = {{.attr = {.sample_type = CN_PERF_HAS_TID | CN_PERF_HAS_USER_REGS |
                                            CN_PERF_HAS_USER_STACK,
                             .sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8}}}};
    struct cn_perf_stacks stacks = {0};
    struct cn_perf_spaces spaces = {0};
    struct cn_text text = {0};
    struct cn_perf_sample sample;
    struct cn_perf_record record;
    struct cn_error err = {0};

    (void)state;
    cn_unwind_space_map(cn_perf_process_at(&spaces, PID)->space, 0x1000, 0x2000, 0,
                        "//anon", "");
    cn_wire_u64(&text, PID);
    cn_wire_u64(&text, CN_PERF_ABI_64);
    cn_wire_u64(&text, 0x7000); /* BP, SP, IP */
    cn_wire_u64(&text, 0x7000);
    cn_wire_u64(&text, 0x1010);
    cn_wire_u64(&text, 16);
    cn_wire_u64(&text, 0);
    cn_wire_u64(&text, 0x1020);
    cn_wire_u64(&text, 16);
    record = record_of(&text);
    assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
    cn_perf_stack_complete(&stacks, &file, &spaces, &sample);
    check_chain(&sample, expected, 3);
    assert_int_equal(stacks.unwound_count, 1);
    assert_int_equal(stacks.end_count[CN_UNWIND_WHOLE], 1);
    cn_text_clear(&text);
    cn_wire_u64(&text, PID);
    cn_wire_u64(&text, CN_PERF_ABI_NONE);
    cn_wire_u64(&text, 0);
    record = record_of(&text);
    assert_true(cn_perf_sample_decode(&file, &record, &sample, &err));
    cn_perf_stack_complete(&stacks, &file, &spaces, &sample);
    assert_int_equal(sample.chain.len, 0);
    assert_int_equal(stacks.unwound_count, 1);
    cn_perf_stacks_done(&stacks);
    cn_perf_spaces_done(&spaces);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_found),
        cmocka_unit_test(counters_are_those_since_the_sample_before),
        cmocka_unit_test(calls_of_the_processor_replace_the_users_part),
        cmocka_unit_test(copies_of_stacks_are_unwound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
