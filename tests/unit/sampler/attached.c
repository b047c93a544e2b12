/* Records of probes at allocators, as the sampler takes them. */

#include "sampler/attached.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/inside/shared.h"
#include "sampler/kernel/allocations_shared.h"

enum { COPY_LEN = 24 };

struct record {
    struct cn_kernel_alloc alloc;
    uint8_t copy[COPY_LEN];
};

static struct record make_record(void)
{
    struct record record = {
        .alloc = {.head = {.kind = CN_KERNEL_ALLOC, .pid = 7, .tid = 8, .time_ns = 9},
                  .address = 0x1000,
                  .size = 100,
                  .usable_size = 104,
                  .old_size = 40,
                  .copy_len = COPY_LEN},
    };

    record.alloc.registers[CN_KERNEL_PC] = 0x4000;
    memset(record.copy, 5, COPY_LEN);
    return record;
}

static void takes_an_allocation_with_its_stack(void **state)
{
    struct cn_inside_slot *slot = test_calloc(1, sizeof(*slot));
    struct record record = make_record();

    (void)state;
    assert_true(cn_attached_slot(
        (struct cn_bytes){(const uint8_t *)&record, sizeof(record)}, slot));
    assert_int_equal(slot->kind, CN_INSIDE_ALLOC);
    assert_int_equal(slot->tid, 8);
    assert_int_equal(slot->alloc.size, 100);
    assert_int_equal(slot->alloc.usable_size, 104);
    assert_int_equal(slot->alloc.old_size, 40);
    assert_int_equal(slot->alloc.caller, 0x4000);
    assert_int_equal(slot->copy_len, COPY_LEN);
    assert_memory_equal(slot->copy, record.copy, COPY_LEN);
    test_free(slot);
}

static void rejects_every_truncation(void **state)
{
    struct cn_inside_slot *slot = test_calloc(1, sizeof(*slot));
    struct cn_inside_release release;
    struct record record = make_record();
    struct cn_kernel_release freed = {.head = {.kind = CN_KERNEL_RELEASE}};

    (void)state;
    for (size_t len = 0; len < offsetof(struct record, copy) + COPY_LEN; len++)
        assert_false(
            cn_attached_slot((struct cn_bytes){(const uint8_t *)&record, len}, slot));
    for (size_t len = 0; len < sizeof(freed); len++)
        assert_false(cn_attached_release((struct cn_bytes){(const uint8_t *)&freed, len},
                                         &release));
    assert_true(cn_attached_release(
        (struct cn_bytes){(const uint8_t *)&freed, sizeof(freed)}, &release));
    test_free(slot);
}

static void rejects_a_longer_stack_than_there_is_room_for(void **state)
{
    const size_t len = sizeof(struct cn_kernel_alloc) + CN_INSIDE_COPY_MAX + 1;
    struct cn_inside_slot *slot = test_calloc(1, sizeof(*slot));
    uint8_t *bytes = test_calloc(1, len);
    struct record record = make_record();

    (void)state;
    record.alloc.copy_len = CN_INSIDE_COPY_MAX + 1;
    memcpy(bytes, &record.alloc, sizeof(record.alloc));
    assert_false(cn_attached_slot((struct cn_bytes){bytes, len}, slot));
    record.alloc.copy_len = CN_INSIDE_COPY_MAX;
    memcpy(bytes, &record.alloc, sizeof(record.alloc));
    assert_true(cn_attached_slot((struct cn_bytes){bytes, len}, slot));
    test_free(bytes);
    test_free(slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_an_allocation_with_its_stack),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(rejects_a_longer_stack_than_there_is_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
