/* Comparisons as tables. */

#include <stdlib.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/line.h"
#include "analyze/compare/rows.h"
#include "base/alloc.h"
#include "lib/frame.h"
#include "lib/lib.h"

enum { CALLERS_DEPTH = 5 };

struct cairn_diff {
    struct cn_comparison c;
    bool is_finished, is_broken;
};

struct cairn_diff *cairn_diff_new(void)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, NULL);
    struct cairn_diff *diff = cn_alloc(1, sizeof(*diff));

    cn_comparison_init(&diff->c);
    return diff;
}

void cairn_diff_free(struct cairn_diff *diff)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!diff)
        return;
    if (!diff->is_broken)
        cn_comparison_done(&diff->c);
    free(diff);
}

bool cairn_diff_add(struct cairn_diff *diff, int side, struct cairn_data *data,
                    const char *metric, const char *threads, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&diff->is_broken, data, err, false, diff, data);
    struct cn_compare_run run = {
        .side = side == 0 ? CN_SIDE_A : CN_SIDE_B,
        .db = data->db,
        .metric = metric,
        .threads = &threads,
        .threads_count = threads != NULL,
        .is_of_traces = data->opened.is_of_traces,
    };

    if (side != 0 && side != 1)
        return cn_fail(e, CN_ERR_USAGE, "no side %d; there are 0 and 1", side);
    if (diff->is_finished)
        return cn_fail(e, CN_ERR_USAGE, "the comparison is finished");
    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return false;
    if (run.side == CN_SIDE_A && diff->c.side_runs[CN_SIDE_B] > 0)
        return cn_fail(e, CN_ERR_USAGE, "runs of side 0 must be added before those of 1");
    /* They tell changes from noise only while each side has one run. */
    run.has_durations = diff->c.side_runs[run.side] == 0;
    return cn_comparison_add(&diff->c, &run, NULL, e) || cn_fail_in(e, "%s", data->path);
}

static bool finish(struct cairn_diff *diff, struct cn_error *err)
{
    if (diff->c.side_runs[CN_SIDE_A] == 0 || diff->c.side_runs[CN_SIDE_B] == 0)
        return cn_fail(err, CN_ERR_USAGE, "side %d has no run",
                       diff->c.side_runs[CN_SIDE_A] == 0 ? 0 : 1);
    if (!diff->is_finished)
        cn_comparison_finish(&diff->c);
    diff->is_finished = true;
    return true;
}

static void add_line_columns(struct cairn_table *table)
{
    static const char *const numbers[] = {"a",     "b",          "difference",
                                          "ratio", "plus_minus", "share_percent"};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        (void)cn_frame_add(table, numbers[i], CAIRN_F64);
    (void)cn_frame_add(table, "verdict", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "p", CAIRN_F64);
    (void)cn_frame_add(table, "calls_a", CAIRN_F64);
    (void)cn_frame_add(table, "calls_b", CAIRN_F64);
}

static void add_number(struct cairn_table *table, size_t column, double value)
{
    cn_column_f64(cn_frame_column(table, column), isfinite(value) ? value : (double)NAN);
}

static void add_line(struct cairn_table *table, size_t at,
                     const struct cn_compare_line *line)
{
    add_number(table, at++, line->value[CN_SIDE_A]);
    add_number(table, at++, line->value[CN_SIDE_B]);
    add_number(table, at++, line->difference);
    add_number(table, at++, line->ratio);
    add_number(table, at++, line->half_width);
    add_number(table, at++, line->share_percent);
    cn_column_text(cn_frame_column(table, at++), cn_verdict_name(line->verdict));
    add_number(table, at++, line->p);
    add_number(table, at++, line->calls[CN_SIDE_A]);
    add_number(table, at++, line->calls[CN_SIDE_B]);
}

static void add_change(struct cairn_table *table, const struct cn_comparison *c,
                       const struct cn_change *change, double gross, struct cn_text *text)
{
    struct cn_compare_line line = cn_compare_line_of_change(c, change, gross);

    cn_column_text(cn_frame_column(table, 0), cn_change_kind_name(change->kind));
    cn_text_clear(text);
    cn_comparison_label_add(text, c, change->node);
    cn_column_text(cn_frame_column(table, 1), cn_text_str(text));
    cn_text_clear(text);
    cn_comparison_path_add(text, c, change->node);
    cn_column_text(cn_frame_column(table, 2),
                   cn_change_has_path(change) ? cn_text_str(text) : NULL);
    add_line(table, 3, &line);
}

struct cairn_table *cairn_diff_changes(struct cairn_diff *diff, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&diff->is_broken, NULL, err, NULL, diff);
    struct cn_explanation explanation;
    struct cn_text text = {0};

    if (!finish(diff, e))
        return NULL;
    cn_explain(&explanation, &diff->c, SIZE_MAX);
    struct cairn_table *table = cn_frame_new();
    (void)cn_frame_add(table, "kind", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "name", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "path", CAIRN_CATEGORY);
    add_line_columns(table);
    for (size_t i = 0; i < explanation.count; i++)
        if (explanation.list[i].gross != 0)
            add_change(table, &diff->c, &explanation.list[i], explanation.gross, &text);
    cn_frame_finish(table);
    cn_explanation_done(&explanation);
    cn_text_done(&text);
    return table;
}

static void add_row(struct cairn_table *table, const struct cn_comparison *c,
                    const struct cn_compare_row *row, uint32_t depth, double gross,
                    struct cn_text *text)
{
    struct cn_compare_line line = cn_compare_line_of_row(c, row, gross);

    cn_column_u32(cn_frame_column(table, 0), depth);
    cn_text_clear(text);
    cn_comparison_label_add(text, c, row->node);
    cn_column_text(cn_frame_column(table, 1), cn_text_str(text));
    add_line(table, 2, &line);
}

/* Parents first, siblings by the size of their change; rows without a change are left out. */
static void add_rows(struct cairn_table *table, const struct cn_comparison *c,
                     struct cn_compare_rows *rows, double gross)
{
    uint32_t *next = NULL; /* by level: the row to add next */
    size_t depth = 0, capacity = 0;
    struct cn_text text = {0};

    CN_PUSH(next, depth, capacity, cn_compare_rows_sort(rows, CN_NONE));
    while (depth > 0) {
        uint32_t at = next[depth - 1];

        if (at == CN_NONE) {
            depth--;
            continue;
        }
        const struct cn_compare_row *row = &rows->list[at];
        next[depth - 1] = row->next_sibling;
        if (row->gross == 0 && row->value[CN_SIDE_A] == row->value[CN_SIDE_B])
            continue;
        add_row(table, c, row, (uint32_t)(depth - 1), gross, &text);
        CN_PUSH(next, depth, capacity, cn_compare_rows_sort(rows, at));
    }
    free(next);
    cn_text_done(&text);
}

struct cairn_table *cairn_diff_rows(struct cairn_diff *diff, enum cairn_view view,
                                    struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&diff->is_broken, NULL, err, NULL, diff);
    struct cn_explanation explanation;
    struct cn_compare_rows rows;

    if ((unsigned)view > CAIRN_CALLERS) {
        (void)cn_fail(e, CN_ERR_USAGE, "no view %d", (int)view);
        return NULL;
    }
    if (!finish(diff, e))
        return NULL;
    cn_explain(&explanation, &diff->c, SIZE_MAX);
    cn_compare_rows_make(&rows, &diff->c, (enum cn_compare_view)view, view == CAIRN_TREE,
                         view == CAIRN_CALLERS ? CALLERS_DEPTH : SIZE_MAX, false);
    struct cairn_table *table = cn_frame_new();
    (void)cn_frame_add(table, "depth", CAIRN_U32);
    (void)cn_frame_add(table, "name", CAIRN_CATEGORY);
    add_line_columns(table);
    add_rows(table, &diff->c, &rows, explanation.gross);
    cn_frame_finish(table);
    cn_compare_rows_done(&rows);
    cn_explanation_done(&explanation);
    return table;
}
