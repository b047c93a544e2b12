#include "server/api/rows_json.h"

#include "base/text.h"

void cn_json_columns(struct cn_json *json, const struct cn_costs *costs)
{
    cn_json_key(json, "columns");
    cn_json_array(json);
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
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_json_row(struct cn_json *json, struct cn_view *view, const struct cn_row *row,
                 struct cn_error *err)
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
        cn_json_add_bool(json, "isLeaf", view->ops->is_leaf(view, row));
        cn_json_key(json, "values");
        cn_json_array(json);
        for (size_t i = 0; i < view->costs->column_count; i++)
            cn_json_f64(json, row->values[i]);
        cn_json_end(json);
        cn_json_end(json);
    }
    cn_text_done(&label);
    return ok;
}

void cn_json_path(struct cn_json *json, const struct cn_context_index *index,
                  uint32_t node)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    size_t depth = 0;

    for (; node != CN_NONE && depth < CN_VIEW_LOOK_BACK; node = index->nodes[node].parent)
        path[depth++] = node;
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, index->nodes[path[--depth]].at);
    cn_json_end(json);
}
