/* Records of rings are delivered in the order of time, wherever they wait, and copies of stacks
 * without what was not copied.
 *
 * Label: threads
 */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "sampler/rings.h"

enum { DATA_LEN = 1 << 12, REGISTERS = 2, FIELDS_LEN = 36, RINGS = 2, MANY = 20000 };

/* Rings as the kernel would fill them. */
struct fake {
    struct cn_rings rings;
    struct perf_event_mmap_page pages[RINGS];
    uint8_t data[RINGS][DATA_LEN];
};

/* Samples of the first event have copies of stacks, those of the second fields of a tracepoint as well,
 * those of the third neither. */
static struct cn_sample_event event_list[] = {
    {.attr.sample_type = PERF_SAMPLE_STACK_USER},
    {.attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW},
    {.attr.sample_type = PERF_SAMPLE_RAW},
};
static const struct cn_sample_events all_events = {event_list, 3, 3};

static struct fake *fake_new(void)
{
    struct fake *fake = cn_alloc(1, sizeof(*fake));
    struct cn_rings *rings = &fake->rings;

    *rings = (struct cn_rings){
        .list = cn_alloc(RINGS, sizeof(*rings->list)),
        .count = RINGS,
        .events = &all_events,
        .register_len = 8 * REGISTERS,
        .joined = cn_alloc(1, 1 << 16),
        .taken = cn_alloc(RINGS + 1, sizeof(*rings->taken)),
        .held = cn_alloc(RINGS + 1, sizeof(*rings->held)),
        .kept = cn_alloc(RINGS + 1, sizeof(*rings->kept)),
    };
    cn_lock_init(&rings->lock);
    for (uint32_t i = 0; i < all_events.count; i++)
        *cn_map_at(&rings->event_of, i, 0) = i;
    for (size_t i = 0; i < RINGS; i++)
        rings->list[i] = (struct cn_ring){.map = &fake->pages[i],
                                          .data = fake->data[i],
                                          .data_len = DATA_LEN,
                                          .fd = -1};
    return fake;
}

static void fake_free(struct fake *fake)
{
    for (size_t i = 0; i < RINGS; i++)
        fake->rings.list[i].map = NULL; /* it was not mapped */
    cn_rings_close(&fake->rings);
    free(fake);
}

/* False if there is no room. */
static bool put(struct fake *fake, size_t ring, const uint8_t *record, size_t len)
{
    struct perf_event_mmap_page *page = &fake->pages[ring];
    uint64_t head = page->data_head;

    if (head + len - __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) > DATA_LEN)
        return false;
    for (size_t i = 0; i < len; i++)
        fake->data[ring][(head + i) % DATA_LEN] = record[i];
    __atomic_store_n(&page->data_head, head + len, __ATOMIC_RELEASE);
    return true;
}

/* A record that is no sample: its head, a number, and what ends such records. */
static bool put_other(struct fake *fake, size_t ring, uint64_t number, uint64_t time_ns)
{
    uint8_t record[48] = {0};

    cn_u32_put(record, PERF_RECORD_SWITCH);
    cn_u16_put(record + 6, sizeof(record));
    cn_u64_put(record + 8, number);
    cn_u64_put(record + sizeof(record) - CN_RING_TIME_FROM_END, time_ns);
    return put(fake, ring, record, sizeof(record));
}

/* A sample of an event with `used` bytes of a stack, of `room`. */
static bool put_sample_of(struct fake *fake, uint64_t event, size_t ring,
                          uint64_t time_ns, uint64_t room, uint64_t used)
{
    size_t at = CN_RING_SAMPLE_CHAIN_OFF;
    uint8_t record[1024] = {0};

    cn_u32_put(record, PERF_RECORD_SAMPLE);
    cn_u64_put(record + CN_RING_SAMPLE_ID_OFF, event);
    cn_u64_put(record + CN_RING_SAMPLE_TIME_OFF, time_ns);
    cn_u64_put(record + at, 1); /* the chain */
    cn_u64_put(record + at + 8, 0x1234);
    at += 16;
    if (event_list[event].attr.sample_type & PERF_SAMPLE_RAW) {
        cn_u32_put(record + at, FIELDS_LEN);
        at += 4 + FIELDS_LEN;
    }
    cn_u64_put(record + at, PERF_SAMPLE_REGS_ABI_64);
    at += 8 + 8 * REGISTERS;
    cn_u64_put(record + at, room);
    at += 8;
    if (room > 0) {
        for (uint64_t i = 0; i < room; i++)
            record[at + i] = i < used ? (uint8_t)(i * 7) : 0xee;
        cn_u64_put(record + at + room, used);
        at += room + 8;
    }
    cn_u16_put(record + 6, (uint16_t)at);
    return put(fake, ring, record, at);
}

static bool put_sample(struct fake *fake, size_t ring, uint64_t time_ns, uint64_t room,
                       uint64_t used)
{
    return put_sample_of(fake, 0, ring, time_ns, room, used);
}

struct seen {
    uint64_t times[16];
    size_t lens[16];
    uint8_t last[1024];
    size_t count;
};

static bool see(void *arg, const uint8_t *record, size_t len, uint64_t time_ns,
                struct cn_error *err)
{
    struct seen *seen = arg;

    (void)err;
    assert_in_range(seen->count, 0, 15);
    seen->times[seen->count] = time_ns;
    seen->lens[seen->count++] = len;
    memcpy(seen->last, record, len);
    return true;
}

static void delivers_in_the_order_of_time(void **state)
{
    const uint8_t added[] = "a record";
    struct fake *fake = fake_new();
    struct cn_error err = {0};
    struct seen seen = {0};

    (void)state;
    assert_true(put_other(fake, 0, 1, 10));
    assert_true(put_other(fake, 0, 1, 40));
    assert_true(put_other(fake, 1, 1, 20));
    cn_rings_add(&fake->rings, added, sizeof(added), 30);
    cn_rings_add(&fake->rings, added, sizeof(added), 15);
    assert_true(cn_rings_read(&fake->rings, 25, see, &seen, &err));
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.times[0], 10);
    assert_int_equal(seen.times[1], 15);
    assert_int_equal(seen.lens[1], sizeof(added));
    assert_int_equal(seen.times[2], 20);
    /* What waits is delivered later, before what is newer. */
    cn_rings_empty(&fake->rings);
    assert_true(put_other(fake, 1, 1, 35));
    assert_true(cn_rings_read(&fake->rings, 100, see, &seen, &err));
    assert_int_equal(seen.count, 6);
    assert_int_equal(seen.times[3], 30);
    assert_int_equal(seen.times[4], 35);
    assert_int_equal(seen.times[5], 40);
    fake_free(fake);
}

static void leaves_out_what_was_not_copied(void **state)
{
    const size_t off = CN_RING_SAMPLE_CHAIN_OFF + 24 + 8 * REGISTERS;
    struct cn_error err = {0};

    (void)state;
    for (uint64_t used = 0; used <= 64; used++) {
        struct fake *fake = fake_new();
        struct seen seen = {0};
        uint64_t rounded = (used + 7) / 8 * 8;

        assert_true(put_sample(fake, 0, 5, 64, used));
        assert_true(cn_rings_read(&fake->rings, 100, see, &seen, &err));
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.lens[0], off + 8 + (used > 0 ? rounded + 8 : 0));
        assert_int_equal(cn_u16_get(seen.last + 6), seen.lens[0]);
        assert_int_equal(cn_u64_get(seen.last + off), rounded);
        for (uint64_t i = 0; i < used; i++)
            assert_int_equal(seen.last[off + 8 + i], (uint8_t)(i * 7));
        if (used > 0)
            assert_int_equal(cn_u64_get(seen.last + off + 8 + rounded), used);
        fake_free(fake);
    }
}

/* The copy is after the fields; of an event without copies nothing is left out. */
static void finds_the_copy_after_the_fields_of_a_tracepoint(void **state)
{
    const size_t off = CN_RING_SAMPLE_CHAIN_OFF + 24 + 4 + FIELDS_LEN + 8 * REGISTERS;
    struct cn_error err = {0};

    (void)state;
    for (uint64_t event = 1; event <= 2; event++) {
        struct fake *fake = fake_new();
        struct seen seen = {0};

        assert_true(put_sample_of(fake, event, 0, 5, 64, 16));
        assert_true(cn_rings_read(&fake->rings, 100, see, &seen, &err));
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.lens[0], off + 8 + (event == 1 ? 16 : 64) + 8);
        assert_int_equal(cn_u64_get(seen.last + off), event == 1 ? 16 : 64);
        fake_free(fake);
    }
}

/* A sample whose numbers are wrong is delivered as it is. */
static void numbers_of_samples_are_not_trusted(void **state)
{
    const size_t off = CN_RING_SAMPLE_CHAIN_OFF;
    const uint64_t wrong[] = {UINT64_MAX, UINT64_MAX / 8, 1 << 16, 100, 63, 65};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        for (size_t at = off; at < off + 48; at += 8) {
            struct fake *fake = fake_new();
            struct seen seen = {0};

            assert_true(put_sample(fake, 0, 5, 64, 16));
            cn_u64_put(fake->data[0] + at, wrong[i]);
            assert_true(cn_rings_read(&fake->rings, 100, see, &seen, &err));
            assert_int_equal(seen.count, 1);
            fake_free(fake);
        }
}

struct order {
    uint64_t next[RINGS];
    uint64_t count;
};

static bool check(void *arg, const uint8_t *record, size_t len, uint64_t time_ns,
                  struct cn_error *err)
{
    struct order *order = arg;
    uint64_t number = cn_u64_get(record + 8);
    size_t ring = (size_t)(time_ns % RINGS);

    (void)len;
    (void)err;
    assert_int_equal(number, order->next[ring]);
    order->next[ring]++;
    order->count++;
    return true;
}

static void *fill(void *arg)
{
    struct fake *fake = arg;

    for (uint64_t i = 0; i < MANY; i++)
        for (size_t ring = 0; ring < RINGS; ring++)
            while (!put_other(fake, ring, i, RINGS * i + ring))
                continue;
    return NULL;
}

static void *empty(void *arg)
{
    struct fake *fake = arg;

    for (size_t i = 0; i < MANY; i++)
        cn_rings_empty(&fake->rings);
    return NULL;
}

static void two_threads_may_empty_the_rings(void **state)
{
    struct fake *fake = fake_new();
    struct order order = {0};
    struct cn_error err = {0};
    pthread_t filler, emptier;

    (void)state;
    assert_int_equal(pthread_create(&filler, NULL, fill, fake), 0);
    assert_int_equal(pthread_create(&emptier, NULL, empty, fake), 0);
    while (order.count < (uint64_t)RINGS * MANY)
        assert_true(cn_rings_read(&fake->rings, UINT64_MAX, check, &order, &err));
    (void)pthread_join(filler, NULL);
    (void)pthread_join(emptier, NULL);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delivers_in_the_order_of_time),
        cmocka_unit_test(leaves_out_what_was_not_copied),
        cmocka_unit_test(finds_the_copy_after_the_fields_of_a_tracepoint),
        cmocka_unit_test(numbers_of_samples_are_not_trusted),
        cmocka_unit_test(two_threads_may_empty_the_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
