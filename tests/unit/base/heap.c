#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"

static bool is_smaller(const void *data, uint32_t a, uint32_t b)
{
    const int *values = data;

    return values[a] < values[b];
}

static void takes_numbers_in_order(void **state)
{
    enum { MAX = 40 };
    int values[MAX];

    (void)state;
    for (uint32_t count = 0; count < MAX; count++) {
        uint32_t heap[MAX], left = count;
        int last = -1;

        for (uint32_t i = 0; i < count; i++) {
            heap[i] = i;
            values[i] = (int)(i * 7919 % 31);
        }
        cn_heap_build(heap, count, is_smaller, values);
        while (left > 0) {
            assert_true(values[heap[0]] >= last);
            last = values[heap[0]];
            heap[0] = heap[--left];
            cn_heap_sink(heap, left, 0, is_smaller, values);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_numbers_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
