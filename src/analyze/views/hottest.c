#include "analyze/views/hottest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/best.h"
#include "model/labels/context.h"

/* Whether the context at a node is asked for. */
static bool takes_part(const struct cn_hottest *hottest, struct cn_database *db,
                       const struct cn_hottest_request *request, uint32_t node,
                       struct cn_text *label, bool *out, struct cn_error *err)
{
    struct cn_context context;

    if (!cn_context_at(db, hottest->index.nodes[node].at, &context, err))
        return false;
    *out = (request->kinds >> cn_row_kind_of(&context) & 1) != 0;
    if (!*out || request->filter->count == 0)
        return true;
    cn_text_clear(label);
    if (!cn_label_context(db, &context, label, err))
        return false;
    *out = cn_name_filter_matches(request->filter, cn_text_str(label));
    return true;
}

/* Only contexts that may be among the best are looked at in the database. */
static bool choose(struct cn_hottest *hottest, struct cn_costs *costs,
                   const struct cn_hottest_request *request, struct cn_best *best,
                   struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];
    struct cn_text label = {0};
    bool ok = true;

    for (size_t node = 0; ok && node < hottest->index.count; node++) {
        struct cn_best_item item;
        bool is_asked_for = false;

        cn_cost_rows_values(costs, &hottest->rows, node, values);
        double value = values[request->column];
        item = cn_best_of_value(request->is_reversed ? -value : value, (uint32_t)node);
        if (isnan(value) || !cn_best_takes(best, &item))
            continue;
        ok = takes_part(hottest, costs->db, request, (uint32_t)node, &label,
                        &is_asked_for, err);
        if (ok && is_asked_for)
            cn_best_offer(best, &item);
    }
    cn_text_done(&label);
    return ok;
}

bool cn_hottest_find(struct cn_hottest *out, struct cn_costs *costs,
                     const struct cn_hottest_request *request,
                     const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_cost_targets every_node_is_a_row = {0};
    struct cn_best best;
    struct cn_error later;
    bool ok;

    *out = (struct cn_hottest){0};
    ok = cn_context_index_build(&out->index, costs->db, err);
    cn_database_forget(costs->db);
    ok = cn_costs_fill(costs, &out->index, &every_node_is_a_row, out->index.count,
                       progress, &out->rows, ok ? err : &later) &&
         ok;
    cn_best_init(&best, request->count);
    ok = choose(out, costs, request, &best, ok ? err : &later) && ok;
    cn_best_sort(&best, 0);
    out->count = best.count;
    out->nodes = cn_alloc(best.count, sizeof(*out->nodes));
    for (size_t i = 0; i < best.count; i++)
        out->nodes[i] = cn_best_number(&best.list[i]);
    cn_best_done(&best);
    return ok;
}

void cn_hottest_done(struct cn_hottest *hottest)
{
    cn_context_index_done(&hottest->index);
    cn_cost_rows_done(&hottest->rows);
    free(hottest->nodes);
    *hottest = (struct cn_hottest){0};
}

enum { PATH_SHOWN = 8 }; /* calls of a path that are written out */

/* The calls above and including a node, innermost first, up to `max`; returns how many there
 * are in all. */
static bool collect_calls(const struct cn_hottest *hottest, struct cn_database *db,
                          uint32_t node, struct cn_context *calls, size_t max,
                          size_t *count, struct cn_error *err)
{
    *count = 0;
    for (; node != CN_NONE; node = hottest->index.nodes[node].parent) {
        struct cn_context context;

        if (!cn_context_at(db, hottest->index.nodes[node].at, &context, err))
            return false;
        if (context.kind != CN_CONTEXT_FUNCTION &&
            (context.kind == CN_CONTEXT_ENTRY || context.relation == CN_LEXICAL))
            continue;
        if (*count < max)
            calls[*count] = context;
        else /* keep the outermost one in the last place */
            calls[max - 1] = context;
        ++*count;
    }
    return true;
}

bool cn_hottest_path(const struct cn_hottest *hottest, struct cn_database *db,
                     uint32_t node, struct cn_text *text, struct cn_error *err)
{
    struct cn_context calls[PATH_SHOWN];
    size_t count;

    if (!collect_calls(hottest, db, node, calls, PATH_SHOWN, &count, err))
        return false;
    size_t shown = count < PATH_SHOWN ? count : PATH_SHOWN;
    for (size_t i = shown; i-- > 0;) {
        if (!cn_label_context(db, &calls[i], text, err))
            return false;
        if (i == shown - 1 && count > shown)
            cn_text_printf(text, " > (%zu more)", count - shown);
        if (i > 0)
            cn_text_str_add(text, " > ");
    }
    return true;
}
