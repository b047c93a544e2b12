#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/served/span_pairs.h"

struct seen {
    unsigned count;
    uint64_t caller, callee;
};

static void note(void *arg, const struct cn_paired_span *caller,
                 const struct cn_paired_span *callee)
{
    struct seen *seen = arg;

    seen->count++;
    seen->caller = caller->id;
    seen->callee = callee->id;
}

static void add(struct cn_span_pairs *pairs, uint64_t trace, uint64_t id, uint64_t parent,
                struct seen *seen)
{
    struct cn_paired_span span = {.trace_low = trace, .id = id, .parent_id = parent};

    cn_span_pairs_add(pairs, &span, note, seen);
}

static void joins_spans_in_either_order(void **state)
{
    struct cn_span_pairs pairs = {0};
    struct seen seen = {0};

    (void)state;
    add(&pairs, 1, 10, 0, &seen);
    assert_int_equal(seen.count, 0);
    add(&pairs, 1, 11, 10, &seen); /* after its caller */
    assert_int_equal(seen.count, 1);
    add(&pairs, 1, 12, 13, &seen); /* before it, as another one */
    add(&pairs, 1, 14, 13, &seen);
    add(&pairs, 2, 15, 13, &seen); /* of another trace */
    assert_int_equal(seen.count, 1);
    add(&pairs, 1, 13, 10, &seen);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.caller, 13);
    add(&pairs, 1, 0, 10, &seen); /* without an id, nothing can be joined to it */
    assert_int_equal(seen.count, 4);
    cn_span_pairs_done(&pairs);
}

static void forgets_what_is_far_away(void **state)
{
    struct cn_span_pairs pairs = {0};
    struct seen seen = {0};

    (void)state;
    add(&pairs, 1, 1, 0, &seen);
    for (uint64_t i = 0; i < 60000; i++)
        add(&pairs, 2, 100 + i, 0, &seen);
    add(&pairs, 1, 2, 1, &seen);
    assert_int_equal(seen.count, 1);
    for (uint64_t i = 0; i < 140000; i++)
        add(&pairs, 3, 100 + i, 0, &seen);
    add(&pairs, 1, 3, 1, &seen);
    assert_int_equal(seen.count, 1);
    assert_true(pairs.known[0].count <= 65536 && pairs.known[1].count <= 65536);
    cn_span_pairs_done(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_spans_in_either_order),
        cmocka_unit_test(forgets_what_is_far_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
