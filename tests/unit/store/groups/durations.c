/* The largest groups and their durations are those of all members. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "store/groups/durations.h"
#include "support/effort.h"

enum { MEMBERS = 60000, VALUES = 300 };

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (seed >> 33) % limit;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The members, as they were added: the durations of the first half do not all fit into 32 bits. */
static struct cn_group_member expected[MEMBERS];

static void check_group(uint32_t word, const struct cn_group *group)
{
    uint64_t *durations = cn_alloc(MEMBERS, sizeof(*durations)), total = 0;
    size_t count = 0;

    for (size_t i = 0; i < MEMBERS; i++) {
        if (expected[i].group == word) {
            durations[count++] = expected[i].duration_ns;
            total += expected[i].duration_ns;
        }
    }
    qsort(durations, count, sizeof(*durations), compare_u64);
    assert_int_equal(group->count, count);
    assert_int_equal(group->total_ns, total);
    assert_int_equal(group->p50_ns, durations[(count * 50 + 99) / 100 - 1]);
    assert_int_equal(group->p90_ns, durations[(count * 90 + 99) / 100 - 1]);
    assert_int_equal(group->p99_ns, durations[(count * 99 + 99) / 100 - 1]);
    assert_int_equal(group->max_ns, durations[count - 1]);
    free(durations);
}

/* A few groups have most of the members, so that each way to sum up is taken. */
static void make_members(struct cn_group_members *members)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        char value[16];

        (void)snprintf(value, sizeof(value), "value %u", i);
        (void)cn_words_add_str(&members->values, CN_WORD_TEXT, value);
    }
    cn_group_members_reserve(members);
    for (size_t i = 0; i < MEMBERS; i++) {
        uint32_t group =
            (uint32_t)(random_below(3) ? random_below(3) : random_below(VALUES));
        uint64_t duration = random_below(5) ? random_below(1 << 20) : random_below(3);

        expected[i] = (struct cn_group_member){
            i % 1000 || i > MEMBERS / 2 ? duration : UINT64_MAX >> 20, group + 1,
            i % 10 == 0};
        cn_group_members_add(members, expected[i].group, expected[i].duration_ns,
                             expected[i].has_errors);
    }
}

static void groups_are_those_of_all_members(void **state)
{
    static const size_t limits[] = {1, 20, 1000, SIZE_MAX};
    struct cn_group_members members = {0};
    struct cn_groups all, some;

    (void)state;
    make_members(&members);
    cn_group_members_rank(&members, SIZE_MAX, &all);
    assert_int_equal(all.count, VALUES);
    for (size_t i = 0; i < all.count; i++) {
        uint32_t word = cn_words_find(&members.values, CN_WORD_TEXT,
                                      cn_word_bytes(&all.values, all.list[i].value));

        check_group(word, &all.list[i]);
        assert_true(i == 0 || all.list[i - 1].count >= all.list[i].count);
    }
    for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
        cn_group_members_rank(&members, limits[l], &some);
        assert_int_equal(some.all_count, VALUES);
        assert_int_equal(some.count, limits[l] < VALUES ? limits[l] : VALUES);
        for (size_t i = 0; i < some.count; i++) {
            assert_int_equal(some.list[i].count, all.list[i].count);
            assert_int_equal(some.list[i].p99_ns, all.list[i].p99_ns);
            assert_memory_equal(cn_word_bytes(&some.values, some.list[i].value).ptr,
                                cn_word_bytes(&all.values, all.list[i].value).ptr,
                                cn_word_bytes(&all.values, all.list[i].value).len);
        }
        cn_groups_done(&some);
    }
    cn_groups_done(&all);
    cn_group_members_done(&members);
}

static void no_members_are_no_groups(void **state)
{
    struct cn_group_members members = {0};
    struct cn_groups groups;

    (void)state;
    cn_group_members_rank(&members, 20, &groups);
    assert_int_equal(groups.count, 0);
    assert_int_equal(groups.all_count, 0);
    cn_groups_done(&groups);
    cn_group_members_done(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_those_of_all_members),
        cmocka_unit_test(no_members_are_no_groups),
    };

    seed = cn_test_seed(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
