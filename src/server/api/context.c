/* One context in detail: its path, the durations of its calls, its cost on each
 * thread. */
#include <math.h>
#include <stdlib.h>

#include "analyze/views/thread_costs.h"
#include "base/alloc.h"
#include "model/labels/context.h"
#include "server/api/api.h"
#include "server/api/code_json.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

static bool add_latency(struct cn_json *json, struct cn_database *db, uint32_t context,
                        struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    double seconds[CN_PERCENTILES_SHOWN] = {NAN, NAN, NAN};
    struct cn_bucket_calls *buckets = NULL;
    size_t count = 0;
    bool ok;

    cn_costs_init(costs, db);
    ok = cn_costs_add_percentiles(costs, err);
    if (ok) {
        buckets = cn_alloc(costs->latency_count, sizeof(*buckets));
        ok = cn_costs_ready(costs, err) &&
             cn_costs_of_context(costs, context, seconds, err) &&
             cn_costs_latencies(costs, context, buckets, &count, err);
    } else if (err->kind == CN_ERR_NOT_FOUND) {
        ok = true;
    }
    cn_json_latency(json, costs, seconds, buckets, count);
    free(buckets);
    cn_costs_done(costs);
    free(costs);
    return ok;
}

/* "threads": [profile, value] of the threads that have a value. */
static bool add_threads(struct cn_json *json, struct cn_database *db, uint32_t context,
                        const char *metric, struct cn_error *err)
{
    int wanted = cn_thread_cost_id(db, metric);
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    cn_json_add_array(json, "threads");
    if (wanted == CN_NO_ID || !db->has_context_values) {
        cn_json_end(json);
        return true;
    }
    if (!cn_context_values(db, context, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            if (batch.values[i].metric != (unsigned)wanted)
                continue;
            cn_json_array(json);
            cn_json_u64(json, batch.values[i].key);
            cn_json_f64(json, batch.values[i].value);
            cn_json_end(json);
        }
    cn_json_end(json);
    return step == CN_END;
}

/* "path": the contexts above, outermost first. */
static bool add_path(struct cn_json *json, struct cn_database *db,
                     const struct cn_context_index *index, uint32_t context,
                     struct cn_error *err)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    uint32_t node = cn_context_index_find(index, context);
    size_t depth = 0;
    bool ok = true;

    for (; node != CN_NONE && depth < CN_VIEW_LOOK_BACK; node = index->nodes[node].parent)
        path[depth++] = node;
    cn_json_add_array(json, "path");
    while (ok && depth > 0) {
        const struct cn_context_node *at = &index->nodes[path[--depth]];
        struct cn_text label = {0};
        struct cn_context c;

        ok = cn_context_at(db, at->at, &c, err) && cn_label_context(db, &c, &label, err);
        cn_json_object(json);
        cn_json_add_id(json, "id", at->at);
        cn_json_add_str(json, "label", cn_text_str(&label));
        cn_json_end(json);
        cn_text_done(&label);
    }
    cn_json_end(json);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    double values[CN_COST_COLUMN_MAX];
    struct cn_row row = {.values = values};
    struct cn_context context;

    if (!cn_request_context(request, served->db, &row.id, &context, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_costs_of_context(&view->costs, context.id, values, err))
        return false;
    row.kind = cn_row_kind_of(&context);
    row.context = context.id;
    row.example = row.id;
    cn_json_columns(json, &view->costs);
    cn_json_key(json, "row");
    if (!cn_json_row(json, view->view, &row, err))
        return false;
    cn_json_add_code_reason(json, cn_view_code(view->view, &row));
    if (!add_path(json, served->db, &served->structure.frames.index, context.id, err) ||
        !add_latency(json, served->db, context.id, err) ||
        !add_threads(json, served->db, context.id, view->costs.columns[0].metric, err))
        return false;
    return true;
}

bool cn_api_context(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err)
{
    struct cn_view_question question;

    if (!cn_request_view(request, &question, err))
        return false;
    if (question.kind != CN_VIEW_TOP_DOWN)
        return cn_fail(err, CN_ERR_USAGE, "contexts are rows of the top-down view");
    return cn_api_with_view(served, &question, request, answer, err);
}
