#include "sampler/timers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sampler/inside/shared.h"

/* What a program does for a sample, in the next slot of those in use. */
static void fill(struct cn_timers *timers, uint64_t time_ns)
{
    struct cn_inside_shared *shared = timers->shared;
    uint32_t at = atomic_fetch_add(&shared->next, 1);
    struct cn_inside_slot *slot = &shared->slots[at % cn_inside_slot_count(shared)];

    assert_int_equal(slot->state, CN_INSIDE_FREE);
    slot->kind = CN_INSIDE_ALLOC;
    slot->time_ns = time_ns;
    slot->state = CN_INSIDE_FULL;
}

static void add_up(void *arg, const struct cn_inside_slot *slot)
{
    uint64_t *sum = arg;

    *sum += slot->time_ns;
}

static struct cn_timers opened(void)
{
    struct cn_timers timers;
    struct cn_error err = {0};

    assert_true(cn_timers_open(&timers, 0, 0, &err));
    return timers;
}

static void delivers_all_slots_while_more_of_them_are_used(void **state)
{
    struct cn_timers timers = opened();
    uint64_t sum = 0, expected = 0;

    (void)state;
    for (uint32_t count = CN_INSIDE_FIRST_SLOTS; count <= CN_INSIDE_SLOTS; count *= 2) {
        timers.shared->slot_count = count;
        for (uint32_t i = 0; i < count; i++) {
            fill(&timers, i + 1);
            expected += i + 1;
            if (i % 50 == 49)
                cn_timers_move(&timers, add_up, &sum);
        }
        cn_timers_move(&timers, add_up, &sum);
        assert_int_equal(sum, expected);
    }
    cn_timers_close(&timers);
}

static void believes_no_number_of_slots(void **state)
{
    const uint32_t counts[] = {0, CN_INSIDE_SLOTS + 1, UINT32_MAX};
    struct cn_timers timers = opened();
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        timers.shared->slot_count = counts[i];
        fill(&timers, 1);
        cn_timers_move(&timers, add_up, &sum);
        assert_int_equal(sum, i + 1);
    }
    cn_timers_close(&timers);
}

static void looks_more_often_at_slots_that_fill_quickly(void **state)
{
    struct cn_timers timers = opened();
    uint64_t sum = 0;

    (void)state;
    assert_int_equal(timers.wait_ms, CN_TIMERS_WAIT_MIN_MS);
    cn_timers_move(&timers, add_up, &sum);
    assert_int_equal(timers.wait_ms, CN_TIMERS_WAIT_MAX_MS);
    timers.shared->slot_count = CN_INSIDE_SLOTS;
    /* On a busy machine, other programs may run meanwhile. */
    for (int k = 0; k < 100 && timers.wait_ms == CN_TIMERS_WAIT_MAX_MS; k++) {
        for (uint32_t i = 0; i < CN_INSIDE_SLOTS; i++)
            fill(&timers, 1);
        cn_timers_move(&timers, add_up, &sum);
        assert_int_equal(sum, (k + 1) * CN_INSIDE_SLOTS);
    }
    assert_in_range(timers.wait_ms, CN_TIMERS_WAIT_MIN_MS, CN_TIMERS_WAIT_MAX_MS - 1);
    cn_timers_close(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delivers_all_slots_while_more_of_them_are_used),
        cmocka_unit_test(believes_no_number_of_slots),
        cmocka_unit_test(looks_more_often_at_slots_that_fill_quickly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
