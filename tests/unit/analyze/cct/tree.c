/* The calling context tree: paths, order, and many children. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cct/tree.h"
#include "base/alloc.h"

static void a_path_has_one_node(void **state)
{
    struct cn_cct tree;
    cn_cct_id a, b;

    (void)state;
    cn_cct_init(&tree);
    a = cn_cct_child(&tree, 0, 7);
    b = cn_cct_child(&tree, a, 7);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(cn_cct_child(&tree, 0, 7), a);
    assert_int_equal(cn_cct_child(&tree, a, 7), b);
    assert_int_equal(cn_cct_child(&tree, 0, 8), 3);
    assert_int_equal(cn_cct_child(&tree, 0, 7), a);
    assert_int_equal(tree.count, 4);
    cn_cct_done(&tree);
}

static void finds_the_nearest_call_of_the_same_function(void **state)
{
    struct cn_cct tree;
    cn_cct_id a, b, c;

    (void)state;
    cn_cct_init(&tree);
    a = cn_cct_child(&tree, 0, 1);
    b = cn_cct_child(&tree, a, 2);
    c = cn_cct_child(&tree, b, 1);
    assert_int_equal(cn_cct_find_above(&tree, c, 1), c);
    assert_int_equal(cn_cct_find_above(&tree, b, 1), a);
    assert_int_equal(cn_cct_find_above(&tree, c, 3), 0);
    cn_cct_done(&tree);
}

enum { WIDTH = 1000 };

static void finds_each_of_many_children(void **state)
{
    struct cn_cct tree, again;
    struct cn_cct_link *links;
    size_t len;

    (void)state;
    cn_cct_init(&tree);
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t key = 0; key < WIDTH; key++)
            assert_int_equal(cn_cct_child(&tree, 0, key * 3), key + 1);
    len = tree.count * sizeof(*links);
    links = cn_realloc(NULL, tree.count, sizeof(*links));
    memcpy(links, tree.links, len);
    cn_cct_restore(&again, links, tree.count);
    for (uint32_t key = 0; key < WIDTH; key++)
        assert_int_equal(cn_cct_child(&again, 0, key * 3), key + 1);
    cn_cct_done(&again);
    cn_cct_done(&tree);
}

static void walks_in_the_order_of_first_calls(void **state)
{
    static const uint32_t expected[] = {10, 11, 12, 13, 20, 14};
    struct cn_cct tree;
    cn_cct_id a, b;
    size_t i = 0;

    (void)state;
    cn_cct_init(&tree);
    a = cn_cct_child(&tree, 0, 10);
    b = cn_cct_child(&tree, 0, 20);
    (void)cn_cct_child(&tree, a, 11);
    (void)cn_cct_child(&tree, b, 14);
    (void)cn_cct_child(&tree, a, 12);
    (void)cn_cct_child(&tree, a, 13);
    cn_cct_sort(&tree);
    for (cn_cct_id at = cn_cct_after(&tree, 0); at != 0; at = cn_cct_after(&tree, at))
        assert_int_equal(tree.links[at].key, expected[i++]);
    assert_int_equal(i, 6);
    cn_cct_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_one_node),
        cmocka_unit_test(finds_the_nearest_call_of_the_same_function),
        cmocka_unit_test(finds_each_of_many_children),
        cmocka_unit_test(walks_in_the_order_of_first_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
