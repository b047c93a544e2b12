/* Trees that go from one process to another arrive as they were; what is damaged on the
 * way is refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cct/ranks.h"
#include "base/bytes/wire.h"
#include "support/rank_group.h"

/* main -> (line 7) -> name -> inlined twice, with times. */
static void build(struct cn_cct_merged *merged, const char *name, enum cn_entry entry)
{
    struct cn_cct_names *names = &merged->names;
    uint32_t module = cn_cct_names_module(
        names, &(struct cn_call_module){.path = "/bin/prog", .build_id = "12ab"});
    uint32_t file = cn_cct_names_file(names, "prog.c");
    uint32_t main_number =
        cn_cct_names_known(names, &(struct cn_function){"main", module, 0x40, file, 3});
    uint32_t line = cn_cct_names_line(names, file, 7);
    cn_cct_id node = cn_tree_child(&merged->tree, 0, entry);

    node = cn_tree_child(&merged->tree, node, main_number);
    cn_cct_merged_weigh_node(merged, node, 500);
    node = cn_tree_child(&merged->tree, node, CN_CCT_KEY_LINE | line);
    node = cn_tree_child(&merged->tree, node, cn_cct_names_other(names, name));
    node = cn_tree_child(&merged->tree, node,
                         CN_CCT_KEY_INLINED | cn_cct_names_other(names, "twice"));
    cn_cct_merged_weigh_node(merged, node, 40);
    merged->has_waits = true;
}

static void make_message(struct cn_text *message)
{
    struct cn_cct_merged merged;

    cn_cct_merged_init(&merged, NULL);
    build(&merged, "work", CN_ENTRY_MAIN_THREAD);
    build(&merged, "rest", CN_ENTRY_APPLICATION_THREAD);
    cn_cct_merged_encode(&merged, message);
    cn_cct_merged_done(&merged);
}

static bool decode(struct cn_cct_merged *merged, struct cn_bytes message)
{
    struct cn_error err;
    uint32_t *nodes = NULL;
    size_t count;
    bool ok = cn_cct_merged_decode(merged, message, &nodes, &count, &err);

    free(nodes);
    return ok;
}

static void a_tree_arrives_as_it_was(void **state)
{
    struct cn_text message = {0}, again = {0};
    struct cn_cct_merged merged;

    (void)state;
    make_message(&message);
    cn_cct_merged_init(&merged, NULL);
    assert_true(decode(&merged, cn_wire_view(&message)));
    cn_cct_merged_encode(&merged, &again);
    assert_int_equal(again.len, message.len);
    assert_memory_equal(again.chars, message.chars, message.len);
    cn_cct_merged_done(&merged);
    cn_text_done(&message);
    cn_text_done(&again);
}

static void the_same_tree_adds_only_time(void **state)
{
    struct cn_text message = {0};
    struct cn_cct_merged merged;

    (void)state;
    make_message(&message);
    cn_cct_merged_init(&merged, NULL);
    build(&merged, "work", CN_ENTRY_MAIN_THREAD);
    build(&merged, "rest", CN_ENTRY_APPLICATION_THREAD);
    assert_int_equal(merged.tree.count, 11);
    assert_true(decode(&merged, cn_wire_view(&message)));
    assert_int_equal(merged.tree.count, 11);
    assert_int_equal(merged.names.function_keys.count, 4);
    assert_int_equal(merged.self_ns[2], 1000);
    cn_cct_merged_done(&merged);
    cn_text_done(&message);
}

static void rejects_every_truncation(void **state)
{
    struct cn_text message = {0};

    (void)state;
    make_message(&message);
    for (size_t len = 0; len < message.len; len++) {
        struct cn_cct_merged merged;
        char *copy = malloc(len + 1);

        memcpy(copy, message.chars, len);
        cn_cct_merged_init(&merged, NULL);
        assert_false(decode(&merged, (struct cn_bytes){(uint8_t *)copy, len}));
        cn_cct_merged_done(&merged);
        free(copy);
    }
    cn_text_done(&message);
}

/* Some are other trees; none may lead outside. */
static void survives_every_flipped_bit(void **state)
{
    struct cn_text message = {0};

    (void)state;
    make_message(&message);
    for (size_t i = 0; i < message.len * 8; i++) {
        struct cn_cct_merged merged;
        bool ok;

        message.chars[i / 8] = (char)(message.chars[i / 8] ^ 1 << i % 8);
        cn_cct_merged_init(&merged, NULL);
        ok = decode(&merged, cn_wire_view(&message));
        if (ok)
            cn_cct_merged_number(&merged, 1);
        cn_cct_merged_done(&merged);
        message.chars[i / 8] = (char)(message.chars[i / 8] ^ 1 << i % 8);
    }
    cn_text_done(&message);
}

enum { RANKS = 5 };

struct numbers {
    uint32_t context_count[RANKS];
    uint32_t ids[RANKS][6]; /* of the six nodes of build() */
    bool ok[RANKS];
};

static const char *const names[RANKS] = {"b", "a", "b", "d", "a"};

static void number(struct cn_ranks *ranks, void *arg)
{
    struct numbers *numbers = arg;
    struct cn_cct_merged merged;
    struct cn_error err;
    unsigned rank = ranks->rank;

    cn_cct_merged_init(&merged, NULL);
    build(&merged, names[rank], CN_ENTRY_MAIN_THREAD);
    numbers->ok[rank] = cn_cct_merged_number_together(&merged, ranks, 0, &err);
    numbers->context_count[rank] = merged.context_count;
    if (numbers->ok[rank])
        memcpy(numbers->ids[rank], merged.ids, sizeof(numbers->ids[rank]));
    cn_cct_merged_done(&merged);
}

/* Entry, main and line are the same; below them b, a, d with "twice" each. */
static void ranks_agree_on_ids(void **state)
{
    static const uint32_t expected[RANKS][6] = {{0, 1, 2, 3, 4, 5},
                                                {0, 1, 2, 3, 6, 7},
                                                {0, 1, 2, 3, 4, 5},
                                                {0, 1, 2, 3, 8, 9},
                                                {0, 1, 2, 3, 6, 7}};
    struct numbers numbers = {0};

    (void)state;
    cn_rank_group_run(RANKS, number, &numbers);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(numbers.ok[i]);
        assert_int_equal(numbers.context_count[i], 10);
        assert_memory_equal(numbers.ids[i], expected[i], sizeof(expected[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_arrives_as_it_was),
        cmocka_unit_test(the_same_tree_adds_only_time),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(survives_every_flipped_bit),
        cmocka_unit_test(ranks_agree_on_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
