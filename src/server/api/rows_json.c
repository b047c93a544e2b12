#include "server/api/rows_json.h"

#include <math.h>

#include "analyze/time_base.h"
#include "base/text.h"
#include "server/api/code_json.h"

/* "resolution": values as small as that are smaller. */
static void add_resolution(struct cn_json *json, double resolution)
{
    if (resolution > 0)
        cn_json_add_f64(json, "resolution", resolution);
}

void cn_json_add_base(struct cn_json *json, const struct cn_database *db,
                      const char *metric)
{
    struct cn_time_base base;

    if (cn_time_base_of(db, metric, &base))
        cn_json_add_str(json, "base", cn_time_base_name(base));
}

void cn_json_columns(struct cn_json *json, const struct cn_costs *costs)
{
    cn_json_add_array(json, "columns");
    for (size_t i = 0; i < costs->column_count; i++) {
        const struct cn_cost_column *column = &costs->columns[i];

        cn_json_object(json);
        cn_json_add_str(json, "name", column->name);
        cn_json_add_str(json, "title", column->title);
        cn_json_add_str(json, "metric", column->metric);
        cn_json_add_str(json, "side",
                        column->side == CN_TOTAL ? "inclusive" : "exclusive");
        cn_json_add_bool(json, "isPercentile", column->fraction > 0);
        cn_json_add_f64(json, "total", column->total);
        cn_json_add_bool(json, "hasShare", column->has_percent);
        if (column->fraction > 0) {
            cn_json_add_str(json, "base",
                            cn_time_base_name(cn_time_base_of_durations(costs->db)));
            add_resolution(json, (double)costs->resolution_ns / 1e9);
        } else if (column->stat != CN_STAT_COUNT) {
            cn_json_add_base(json, costs->db, column->metric);
        }
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_json_row(struct cn_json *json, struct cn_view *view, const struct cn_row *row,
                 struct cn_error *err)
{
    return cn_json_row_as(json, view, row, view->ops->is_leaf(view, row), err);
}

bool cn_json_row_as(struct cn_json *json, struct cn_view *view, const struct cn_row *row,
                    bool is_leaf, struct cn_error *err)
{
    struct cn_text label = {0};
    struct cn_location location = {0};
    bool ok = view->ops->label(view, row, &label, err) &&
              view->ops->location(view, row, &location, err);

    if (ok) {
        cn_json_object(json);
        cn_json_add_id(json, "id", row->id);
        cn_json_add_str(json, "kind", cn_row_kind_name(row->kind));
        cn_json_add_str(json, "label", cn_text_str(&label));
        cn_json_add_id(json, "context", row->example);
        cn_json_add_str(json, "module", location.module);
        cn_json_add_str(json, "file", location.file);
        cn_json_add_u64(json, "line", location.line);
        cn_json_add_code(json, cn_view_code(view, row));
        cn_json_add_bool(json, "isLeaf", is_leaf);
        cn_json_add_array(json, "values");
        for (size_t i = 0; i < view->costs->column_count; i++)
            cn_json_f64(json, row->values[i]);
        cn_json_end(json);
        cn_json_end(json);
    }
    cn_text_done(&label);
    return ok;
}

void cn_json_latency(struct cn_json *json, const struct cn_costs *costs,
                     const double seconds[CN_PERCENTILES_SHOWN],
                     struct cn_bucket_calls *buckets, size_t count)
{
    count = cn_buckets_resolve(buckets, count, costs->resolution_ns);
    cn_json_add_object(json, "latency");
    cn_json_add_str(json, "base",
                    cn_time_base_name(cn_time_base_of_durations(costs->db)));
    add_resolution(json, (double)costs->resolution_ns);
    for (size_t i = 0; i < CN_PERCENTILES_SHOWN; i++)
        cn_json_add_f64(json, cn_percentile_names[i], round(seconds[i] * 1e9));
    cn_json_add_array(json, "buckets");
    for (size_t i = 0; i < count; i++) {
        cn_json_array(json);
        cn_json_u64(json, buckets[i].range.low_ns);
        cn_json_u64(json, buckets[i].range.high_ns);
        cn_json_f64(json, buckets[i].calls);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_end(json);
}

void cn_json_path(struct cn_json *json, const struct cn_context_index *index,
                  uint32_t node)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    size_t depth = 0;

    for (; node != CN_NONE && depth < CN_VIEW_LOOK_BACK; node = index->nodes[node].parent)
        path[depth++] = node;
    cn_json_add_array(json, "path");
    while (depth > 0)
        cn_json_id(json, index->nodes[path[--depth]].at);
    cn_json_end(json);
}

bool cn_json_row_begin(struct cn_json *json, struct cn_view *view,
                       const struct cn_context_index *index, const struct cn_row *row,
                       struct cn_error *err)
{
    struct cn_context context;

    cn_json_object(json);
    if (!cn_context_at(view->costs->db, row->example, &context, err))
        return false;
    cn_json_path(json, index, cn_context_index_find(index, context.id));
    cn_json_key(json, "row");
    return cn_json_row(json, view, row, err);
}

bool cn_json_hot_path(struct cn_json *json, const char *name, struct cn_view *view,
                      size_t column, struct cn_error *err)
{
    struct cn_row_list path;
    bool ok;

    cn_row_list_begin(&path, view->costs->column_count);
    ok = cn_view_hot_path(view, column, CN_HOT_SHARE, &path, err);
    cn_json_add_array(json, name);
    for (size_t i = 0; ok && i < path.count; i++)
        ok = cn_json_row(json, view, &path.rows[i], err);
    cn_json_end(json);
    cn_row_list_done(&path);
    return ok;
}
