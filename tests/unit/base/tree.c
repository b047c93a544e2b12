/* Trees of parents and keys: paths, order, and many children. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/tree.h"
#include "support/effort.h"

static void a_path_has_one_node(void **state)
{
    struct cn_tree tree;
    uint32_t a, b;

    (void)state;
    cn_tree_init(&tree);
    a = cn_tree_child(&tree, 0, 7);
    b = cn_tree_child(&tree, a, 7);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(cn_tree_child(&tree, 0, 7), a);
    assert_int_equal(cn_tree_child(&tree, a, 7), b);
    assert_int_equal(cn_tree_child(&tree, 0, 8), 3);
    assert_int_equal(cn_tree_child(&tree, 0, 7), a);
    assert_int_equal(tree.count, 4);
    cn_tree_done(&tree);
}

static void finds_the_nearest_call_of_the_same_function(void **state)
{
    struct cn_tree tree;
    uint32_t a, b, c;

    (void)state;
    cn_tree_init(&tree);
    a = cn_tree_child(&tree, 0, 1);
    b = cn_tree_child(&tree, a, 2);
    c = cn_tree_child(&tree, b, 1);
    assert_int_equal(cn_tree_find_above(&tree, c, 1), c);
    assert_int_equal(cn_tree_find_above(&tree, b, 1), a);
    assert_int_equal(cn_tree_find_above(&tree, c, 3), 0);
    cn_tree_done(&tree);
}

enum { WIDTH = 1000 };

static void finds_each_of_many_children(void **state)
{
    struct cn_tree tree, again;
    struct cn_tree_link *links;
    size_t len;

    (void)state;
    cn_tree_init(&tree);
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t key = 0; key < WIDTH; key++)
            assert_int_equal(cn_tree_child(&tree, 0, key * 3), key + 1);
    len = tree.count * sizeof(*links);
    links = cn_realloc(NULL, tree.count, sizeof(*links));
    memcpy(links, tree.links, len);
    cn_tree_restore(&again, links, tree.count);
    for (uint32_t key = 0; key < WIDTH; key++)
        assert_int_equal(cn_tree_child(&again, 0, key * 3), key + 1);
    cn_tree_done(&again);
    cn_tree_done(&tree);
}

static void walks_in_the_order_of_first_calls(void **state)
{
    static const uint32_t expected[] = {10, 11, 12, 13, 20, 14};
    struct cn_tree tree;
    uint32_t a, b;
    size_t i = 0;

    (void)state;
    cn_tree_init(&tree);
    a = cn_tree_child(&tree, 0, 10);
    b = cn_tree_child(&tree, 0, 20);
    (void)cn_tree_child(&tree, a, 11);
    (void)cn_tree_child(&tree, b, 14);
    (void)cn_tree_child(&tree, a, 12);
    (void)cn_tree_child(&tree, a, 13);
    cn_tree_sort(&tree);
    for (uint32_t at = cn_tree_after(&tree, 0, 0, false); at != 0;
         at = cn_tree_after(&tree, 0, at, false))
        assert_int_equal(tree.links[at].key, expected[i++]);
    assert_int_equal(i, 6);
    cn_tree_done(&tree);
}

/* Against a plain list of (parent, key). */
static void finds_what_was_added(void **state)
{
    enum { NODES = 400, KEYS = 40 };
    struct cn_tree tree;
    uint64_t seed = cn_test_seed(1);

    (void)state;
    cn_tree_init(&tree);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t parent, key, at = 1;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        parent = (uint32_t)((seed >> 33) % tree.count);
        key = (uint32_t)((seed >> 20) % KEYS);
        while (at < tree.count &&
               (tree.links[at].parent != parent || tree.links[at].key != key))
            at++;
        assert_int_equal(cn_tree_find(&tree, parent, key), at < tree.count ? at : 0);
        if (tree.count < NODES || at < tree.count)
            assert_int_equal(cn_tree_child(&tree, parent, key), at);
    }
    cn_tree_done(&tree);
}

static void skips_what_is_below_a_node(void **state)
{
    struct cn_tree tree;
    uint32_t a, b, c;

    (void)state;
    cn_tree_init(&tree);
    a = cn_tree_child(&tree, 0, 1);
    b = cn_tree_child(&tree, a, 2);
    c = cn_tree_child(&tree, a, 3);
    (void)cn_tree_child(&tree, b, 4);
    (void)cn_tree_child(&tree, 0, 5);
    cn_tree_sort(&tree);
    assert_int_equal(cn_tree_after(&tree, a, b, true), c);
    assert_int_equal(cn_tree_after(&tree, a, c, false), 0);
    cn_tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_one_node),
        cmocka_unit_test(finds_the_nearest_call_of_the_same_function),
        cmocka_unit_test(finds_each_of_many_children),
        cmocka_unit_test(walks_in_the_order_of_first_calls),
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(skips_what_is_below_a_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
