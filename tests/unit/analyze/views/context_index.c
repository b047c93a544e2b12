#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/context_index.h"
#include "model/contexts/memory.h"
#include "support/sample.h"

static uint32_t add(struct cn_memory_database *m, uint32_t parent, uint32_t id)
{
    return cn_memory_database_add_context(
        m, parent,
        (struct cn_context){.id = id,
                            .kind = parent ? CN_CONTEXT_LINE : CN_CONTEXT_ENTRY,
                            .entry_name = "main thread"});
}

static void knows_the_parents_of_sparse_ids(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("sparse", "");
    uint32_t top = add(m, 0, 7), child = add(m, top, 4000), leaf = add(m, child, 12),
             second = add(m, top, 9);
    struct cn_database *db = cn_memory_database_finish(m);
    struct cn_context_index index;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_context_index_build(&index, db, &err));
    assert_int_equal(index.count, 4);
    for (size_t i = 0; i < index.count; i++)
        assert_int_equal(cn_context_index_find(&index, index.nodes[i].id), i);
    assert_int_equal(index.nodes[cn_context_index_find(&index, top)].parent, CN_NONE);
    assert_int_equal(index.nodes[cn_context_index_find(&index, leaf)].parent,
                     cn_context_index_find(&index, child));
    assert_int_equal(index.nodes[cn_context_index_find(&index, second)].parent,
                     cn_context_index_find(&index, top));
    assert_int_equal(cn_context_index_find(&index, 0), CN_NONE);
    assert_int_equal(cn_context_index_find(&index, 8), CN_NONE);
    assert_int_equal(cn_context_index_find(&index, 4001), CN_NONE);
    assert_int_equal(cn_context_index_find(&index, UINT32_MAX), CN_NONE);
    cn_context_index_done(&index);
    cn_database_close(db);
}

static void numbers_parents_before_children(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_context_index index;
    struct cn_context context;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_context_index_build(&index, db, &err));
    assert_true(index.count > 20);
    for (size_t i = 0; i < index.count; i++) {
        assert_true(index.nodes[i].parent == CN_NONE || index.nodes[i].parent < i);
        assert_true(cn_context_at(db, index.nodes[i].at, &context, &err));
        assert_int_equal(context.id, index.nodes[i].id);
    }
    cn_context_index_done(&index);
    cn_database_close(db);
}

static void an_empty_tree_has_no_nodes(void **state)
{
    struct cn_database *db = cn_memory_database_finish(cn_memory_database_new("", ""));
    struct cn_context_index index;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_context_index_build(&index, db, &err));
    assert_int_equal(index.count, 0);
    assert_int_equal(cn_context_index_find(&index, 0), CN_NONE);
    cn_context_index_done(&index);
    cn_database_close(db);
}

/* Ids out of proportion, at and beyond the limit for one context. */
static void refuses_absurd_ids(void **state)
{
    static const uint32_t limit = CN_CONTEXT_ID_SPREAD + CN_CONTEXT_ID_SLACK;

    (void)state;
    for (uint32_t id = limit - 1; id <= limit; id++) {
        struct cn_memory_database *m = cn_memory_database_new("absurd", "");
        struct cn_database *db;
        struct cn_context_index index;
        struct cn_error err = {0};

        (void)add(m, 0, id);
        db = cn_memory_database_finish(m);
        assert_int_equal(cn_context_index_build(&index, db, &err), id < limit);
        assert_int_equal(index.count, 1);
        if (id == limit) {
            assert_int_equal(err.kind, CN_ERR_LIMIT);
            assert_string_equal(err.text,
                                "context id 65600 is out of proportion to 1 contexts");
        }
        assert_int_equal(cn_context_index_find(&index, id), id < limit ? 0 : CN_NONE);
        cn_context_index_done(&index);
        cn_database_close(db);
    }
}

/* Operations of a database in memory, with one of them damaged. */
static const struct cn_database_ops *sound;
static int left;

static enum cn_step repeat_an_id(struct cn_database *db, struct cn_context_cursor *cursor,
                                 struct cn_context *out, struct cn_error *err)
{
    enum cn_step step = sound->child_next(db, cursor, out, err);

    if (step == CN_ITEM && out->id == 12)
        out->id = 9;
    return step;
}

static enum cn_step fail_after_a_while(struct cn_database *db,
                                       struct cn_context_cursor *cursor,
                                       struct cn_context *out, struct cn_error *err)
{
    if (left-- == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the bytes end here");
    return sound->child_next(db, cursor, out, err);
}

/* Below every context the list of entry points begins again. */
static bool go_in_circles(struct cn_database *db, const struct cn_context *parent,
                          struct cn_context_cursor *out, struct cn_error *err)
{
    (void)parent;
    return sound->children(db, NULL, out, err);
}

static struct cn_database *build_small(void)
{
    struct cn_memory_database *m = cn_memory_database_new("small", "");
    uint32_t top = add(m, 0, 1);

    (void)add(m, top, 9);
    (void)add(m, top, 12);
    (void)add(m, top, 13);
    return cn_memory_database_finish(m);
}

static void the_first_of_two_with_the_same_id_counts(void **state)
{
    struct cn_database *db = build_small();
    struct cn_database_ops ops = *db->ops;
    struct cn_context_index index;
    struct cn_error err = {0};

    (void)state;
    sound = db->ops;
    ops.child_next = repeat_an_id;
    db->ops = &ops;
    assert_false(cn_context_index_build(&index, db, &err));
    assert_string_equal(err.text, "context id 9 occurs twice");
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_int_equal(index.count, 4);
    assert_int_equal(cn_context_index_find(&index, 9), 1);
    assert_int_equal(cn_context_index_find(&index, 13), 3);
    db->ops = sound;
    cn_context_index_done(&index);
    cn_database_close(db);
}

static void holds_what_lies_before_the_damage(void **state)
{
    enum { CALLS = 8 }; /* four contexts, and the ends of four lists */

    (void)state;
    for (int until = 0; until < CALLS; until++) {
        struct cn_database *db = build_small();
        struct cn_database_ops ops = *db->ops;
        struct cn_context_index index;
        struct cn_error err = {0};

        sound = db->ops;
        ops.child_next = fail_after_a_while;
        db->ops = &ops;
        left = until;
        assert_false(cn_context_index_build(&index, db, &err));
        assert_string_equal(err.text, "the bytes end here");
        assert_true(index.count <= (size_t)until);
        assert_true(index.count * 2 >= (size_t)until);
        for (size_t i = 0; i < index.count; i++)
            assert_int_equal(cn_context_index_find(&index, index.nodes[i].id), i);
        db->ops = sound;
        cn_context_index_done(&index);
        cn_database_close(db);
    }
}

static void a_cycle_ends_with_a_message(void **state)
{
    struct cn_database *db = build_small();
    struct cn_database_ops ops = *db->ops;
    struct cn_context_index index;
    struct cn_error err = {0};

    (void)state;
    sound = db->ops;
    ops.children = go_in_circles;
    db->ops = &ops;
    assert_false(cn_context_index_build(&index, db, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "overlap or form a cycle"));
    assert_true(index.count <= db->context_weight);
    db->ops = sound;
    cn_context_index_done(&index);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_parents_of_sparse_ids),
        cmocka_unit_test(numbers_parents_before_children),
        cmocka_unit_test(an_empty_tree_has_no_nodes),
        cmocka_unit_test(refuses_absurd_ids),
        cmocka_unit_test(the_first_of_two_with_the_same_id_counts),
        cmocka_unit_test(holds_what_lies_before_the_damage),
        cmocka_unit_test(a_cycle_ends_with_a_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
