#include "support/same_views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/calls/graph.h"
#include "analyze/calls/report.h"
#include "analyze/why/why.h"

static void assert_same_damages(const struct cn_call_damages *a,
                                const struct cn_call_damages *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->list[i].task, b->list[i].task);
        assert_string_equal(a->list[i].err.text, b->list[i].err.text);
    }
}

static void assert_same_times(const struct cn_histogram *a, const struct cn_histogram *b)
{
    static struct cn_bucket_calls x[CN_BUCKET_COUNT], y[CN_BUCKET_COUNT];
    size_t count = cn_histogram_list(a, x);

    assert_int_equal(count, cn_histogram_list(b, y));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(x[i].range.low_ns, y[i].range.low_ns);
        assert_true(x[i].calls == y[i].calls);
    }
}

static void assert_same_rows(const struct cn_call_row *a, const struct cn_call_row *b,
                             uint32_t function_count)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->last_ns, b->last_ns);
    assert_memory_equal(&a->cost, &b->cost, sizeof(a->cost));
    /* Addresses outside all functions are numbered in any order. */
    if (a->function < function_count || b->function < function_count)
        assert_int_equal(a->function, b->function);
    assert_same_times(a->totals, b->totals);
    assert_same_times(a->selfs, b->selfs);
}

static void check_report(const struct cn_call_query *query, unsigned workers,
                         uint64_t part_len)
{
    struct cn_call_report_options options = {.with_squares = true,
                                             .with_histograms = true};
    struct cn_call_report whole, parted;
    struct cn_error err;

    assert_true(cn_call_report_build(&whole, query, 1, options, &err));
    options.part_len = part_len;
    assert_true(cn_call_report_build(&parted, query, workers, options, &err));
    assert_int_equal(whole.call_count, parted.call_count);
    assert_int_equal(whole.lost_count, parted.lost_count);
    assert_int_equal(whole.row_count, parted.row_count);
    for (size_t i = 0; i < whole.row_count; i++)
        assert_same_rows(&whole.rows[i], &parted.rows[i], query->rec->function_count);
    assert_same_damages(&whole.damages, &parted.damages);
    cn_call_report_done(&whole);
    cn_call_report_done(&parted);
}

static void assert_same_trees(const struct cn_call_tree *a, const struct cn_call_tree *b)
{
    uint32_t i = 0, k = 0;

    assert_int_equal(a->paths.count, b->paths.count);
    do {
        const struct cn_graph_node *x = &a->nodes[i], *y = &b->nodes[k];
        char x_name[CN_CALL_NAME_MAX], y_name[CN_CALL_NAME_MAX];

        assert_string_equal(cn_call_tree_name(a, i, x_name),
                            cn_call_tree_name(b, k, y_name));
        assert_int_equal(x->address, y->address);
        assert_int_equal(x->calls, y->calls);
        assert_int_equal(x->total_ns, y->total_ns);
        assert_int_equal(x->self_ns, y->self_ns);
        i = cn_tree_after(&a->paths, 0, i, false);
        k = cn_tree_after(&b->paths, 0, k, false);
    } while (i != 0 && k != 0);
    assert_int_equal(i, k);
}

static void check_graph(const struct cn_call_query *query, unsigned workers,
                        uint64_t part_len, bool is_apart)
{
    struct cn_call_graph_options options = {.is_apart = is_apart};
    struct cn_call_graph whole, parted;
    struct cn_error err;

    assert_true(cn_call_graph_build(&whole, query, 1, options, &err));
    options.part_len = part_len;
    assert_true(cn_call_graph_build(&parted, query, workers, options, &err));
    assert_same_trees(&whole.tree, &parted.tree);
    assert_same_damages(&whole.damages, &parted.damages);
    cn_call_graph_done(&whole);
    cn_call_graph_done(&parted);
}

static void assert_same_calls(const struct cn_why_call *a, const struct cn_why_call *b)
{
    assert_int_equal(a->begin_ns, b->begin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->function, b->function);
}

static void assert_same_groups(const struct cn_why_calls *a, const struct cn_why_calls *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->shortest_ns, b->shortest_ns);
    assert_int_equal(a->longest_ns, b->longest_ns);
    assert_same_calls(&a->example, &b->example);
    assert_int_equal(a->sample_count, b->sample_count);
    for (size_t i = 0; i < a->sample_count; i++)
        assert_same_calls(&a->samples[i], &b->samples[i]);
}

static void check_why(const struct cn_call_query *query, const char *name,
                      unsigned workers, uint64_t part_len)
{
    struct cn_why_options options = {
        .slowest = 0.2, .typical_from = 0, .typical_to = 0.6};
    struct cn_why whole, parted;
    struct cn_error err;

    assert_true(cn_why_build(&whole, query, name, 1, &options, &err));
    options.part_len = part_len;
    assert_true(cn_why_build(&parted, query, name, workers, &options, &err));
    assert_int_equal(whole.call_count, parted.call_count);
    assert_int_equal(whole.open_count, parted.open_count);
    assert_int_equal(whole.lost_count, parted.lost_count);
    assert_int_equal(whole.begin_ns, parted.begin_ns);
    assert_int_equal(whole.end_ns, parted.end_ns);
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        assert_same_groups(&whole.groups[i], &parted.groups[i]);
    assert_int_equal(whole.context_count, parted.context_count);
    for (size_t i = 0; i < whole.context_count; i++) {
        const struct cn_why_context *x = &whole.contexts[i], *y = &parted.contexts[i];

        assert_int_equal(x->parent, y->parent);
        assert_string_equal(x->name ? x->name : "", y->name ? y->name : "");
        assert_memory_equal(x->costs, y->costs, sizeof(x->costs));
    }
    assert_same_damages(&whole.damages, &parted.damages);
    cn_why_done(&whole);
    cn_why_done(&parted);
}

void cn_assert_same_views(const struct cn_call_query *query, unsigned workers,
                          uint64_t part_len)
{
    check_report(query, workers, part_len);
    check_graph(query, workers, part_len, false);
    check_graph(query, workers, part_len, true);
    check_why(query,
              query->rec->functions[part_len / 16 % query->rec->function_count].name,
              workers, part_len);
}
