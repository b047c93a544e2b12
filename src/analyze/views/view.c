#include "analyze/views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *cn_row_kind_name(enum cn_row_kind kind)
{
    static const char *const names[] = {"entry",       "work",     "language", "module",
                                        "file",        "function", "loop",     "line",
                                        "instruction", "other"};

    return names[kind];
}

enum cn_row_kind cn_row_kind_of(const struct cn_context *context)
{
    switch (context->kind) {
    case CN_CONTEXT_FUNCTION:
        return CN_ROW_FUNCTION;
    case CN_CONTEXT_LOOP:
        return CN_ROW_LOOP;
    case CN_CONTEXT_LINE:
        return CN_ROW_LINE;
    case CN_CONTEXT_INSTRUCTION:
        return CN_ROW_INSTRUCTION;
    case CN_CONTEXT_ENTRY:
        return CN_ROW_ENTRY;
    default:
        return CN_ROW_OTHER;
    }
}

void cn_row_list_begin(struct cn_row_list *list, size_t column_count)
{
    *list = (struct cn_row_list){.column_count = column_count};
}

double *cn_row_list_add(struct cn_row_list *list, struct cn_row row)
{
    size_t had = list->capacity;

    CN_GROW(list->rows, list->count, list->capacity);
    if (list->capacity != had) {
        list->values = cn_realloc(list->values, list->capacity,
                                  list->column_count * sizeof(*list->values));
        for (size_t i = 0; i < list->count; i++)
            list->rows[i].values = list->values + i * list->column_count;
    }
    row.values = list->values + list->count * list->column_count;
    list->rows[list->count++] = row;
    return list->values + (list->count - 1) * list->column_count;
}

void cn_row_list_done(struct cn_row_list *list)
{
    free(list->rows);
    free(list->values);
    *list = (struct cn_row_list){0};
}

bool cn_view_row_has_value(const struct cn_view *view, const struct cn_row *row)
{
    bool knows_below = false;

    for (size_t i = 0; i < view->costs->column_count; i++) {
        const struct cn_cost_column *column = &view->costs->columns[i];

        if (column->is_hidden && view->self_includes_below)
            continue;
        if (!isnan(row->values[i]))
            return true;
        knows_below |= column->side == CN_TOTAL || view->self_includes_below;
    }
    return !knows_below;
}

bool cn_view_weigh(const struct cn_view *view, const struct cn_row_list *list,
                   uint64_t *seen, struct cn_error *err)
{
    if (list->weight > view->weight_limit || *seen > view->weight_limit - list->weight)
        return cn_fail(err, CN_ERR_FORMAT,
                       "lists of contexts overlap or form a cycle: they add up to more "
                       "than the %" PRIu64 " that there is room for",
                       view->weight_limit);
    *seen += list->weight;
    return true;
}

bool cn_view_fail_cycle(const struct cn_row *row, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "lists of contexts form a cycle: context %" PRIu32 " is below itself",
                   row->context);
}

void cn_view_free(struct cn_view *view)
{
    if (view)
        view->ops->free(view);
}

void cn_view_shape_free(struct cn_view_shape *shape)
{
    if (shape)
        shape->free(shape);
}

bool cn_view_of_shape_new(struct cn_view **out, const struct cn_view_shape *shape,
                          struct cn_costs *costs, const struct cn_progress *progress,
                          struct cn_error *err)
{
    return shape->make(shape, out, costs, progress, err);
}

uint64_t cn_view_size(const struct cn_view *view)
{
    return sizeof(*view->costs) + view->ops->size(view);
}

bool cn_location_find(struct cn_database *db, uint32_t function, uint32_t module,
                      uint32_t file, uint32_t line, struct cn_location *out,
                      struct cn_error *err)
{
    struct cn_function f = {.module = CN_NONE, .file = CN_NONE};
    struct cn_module m = {0};
    struct cn_source_file s = {0};

    if (function != CN_NONE && !cn_database_function(db, function, &f, err))
        return false;
    if (file == CN_NONE) {
        file = f.file;
        line = f.line;
    }
    module = module == CN_NONE ? f.module : module;
    if ((module != CN_NONE && !cn_database_module(db, module, &m, err)) ||
        (file != CN_NONE && !cn_database_file(db, file, &s, err)))
        return false;
    *out = (struct cn_location){m.path, s.path, line};
    return true;
}

/* Loops and lines belong to a function, instructions of unknown functions stand for one. */
static bool is_code(enum cn_row_kind kind, const struct cn_context *context)
{
    return kind == CN_ROW_FUNCTION ||
           (kind == CN_ROW_INSTRUCTION && context->relation != CN_LEXICAL);
}

const struct cn_code_class *cn_context_code(const struct cn_codes *codes,
                                            const struct cn_context *context)
{
    return codes && is_code(cn_row_kind_of(context), context)
               ? cn_codes_of(codes, context)
               : NULL;
}

const struct cn_code_class *cn_view_code(const struct cn_view *view,
                                         const struct cn_row *row)
{
    struct cn_database *db = view->costs->db;
    struct cn_function function = {.module = CN_NONE};
    struct cn_context context;
    struct cn_error ignored;

    if (!view->codes || !cn_context_at(db, row->example, &context, &ignored))
        return NULL;
    if (is_code(row->kind, &context))
        return cn_codes_of(view->codes, &context);
    if (row->kind != CN_ROW_MODULE)
        return NULL;
    if (context.has_function &&
        !cn_database_function(db, context.function, &function, &ignored))
        return NULL;
    return cn_codes_find(view->codes, CN_NONE,
                         context.has_function ? function.module
                         : context.has_point  ? context.module
                                              : CN_NONE);
}

struct view_order {
    size_t column, column_count;
    bool is_reversed;
};

static int compare_rows(const void *left, const void *right, void *arg)
{
    const struct cn_row *a = left, *b = right;
    const struct view_order *order = arg;

    /* Rows without a value, as GPU operations have none of CPU time, are sorted by the next column. */
    for (size_t i = order->column; i < order->column_count; i++) {
        double x = a->values[i], y = b->values[i];

        if (isnan(x) != isnan(y))
            return isnan(x) ? 1 : -1;
        if (!isnan(x) && x != y)
            return (x > y) == order->is_reversed ? 1 : -1;
        if (!isnan(x))
            break;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

void cn_row_list_sort(struct cn_row_list *list, size_t column, bool is_reversed)
{
    struct view_order order = {column, list->column_count, is_reversed};

    if (list->count > 1)
        qsort_r(list->rows, list->count, sizeof(*list->rows), compare_rows, &order);
}

/* Remove rows that are not shown. Values stay where they are: rows point at them. */
static void hide_empty(const struct cn_view *view, struct cn_row_list *list)
{
    size_t count = 0;

    for (size_t i = 0; view->hides_empty && i < list->count; i++)
        if (cn_view_row_has_value(view, &list->rows[i]))
            list->rows[count++] = list->rows[i];
    if (view->hides_empty)
        list->count = count;
}

bool cn_view_children(struct cn_view *view, const struct cn_row *parent,
                      size_t sort_column, bool is_reversed, struct cn_row_list *out,
                      struct cn_error *err)
{
    cn_row_list_begin(out, view->costs->column_count);
    bool ok = view->ops->children(view, parent, out, err);
    hide_empty(view, out);
    cn_row_list_sort(out, sort_column, is_reversed);
    return ok;
}

static bool is_inside_function(const struct cn_row *row)
{
    return row->kind == CN_ROW_LOOP || row->kind == CN_ROW_LINE ||
           row->kind == CN_ROW_INSTRUCTION;
}

bool cn_view_functions(struct cn_view *view, const struct cn_row *parent,
                       size_t sort_column, bool is_reversed, struct cn_row_list *out,
                       struct cn_error *err)
{
    size_t size = view->costs->column_count * sizeof(double);
    struct cn_row_list skipped, below;
    uint64_t seen = 0;
    size_t next = 0;
    bool ok = true;

    cn_row_list_begin(out, view->costs->column_count);
    cn_row_list_begin(&skipped, view->costs->column_count);
    do {
        struct cn_row from = next > 0 ? skipped.rows[next - 1] : (struct cn_row){0};

        cn_row_list_begin(&below, view->costs->column_count);
        ok = view->ops->children(view, next > 0 ? &from : parent, &below, err) &&
             cn_view_weigh(view, &below, &seen, err);
        hide_empty(view, &below);
        for (size_t i = 0; ok && i < below.count; i++) {
            const struct cn_row *row = &below.rows[i];

            memcpy(cn_row_list_add(is_inside_function(row) ? &skipped : out, *row),
                   row->values, size);
        }
        cn_row_list_done(&below);
    } while (ok && next++ < skipped.count);
    cn_row_list_done(&skipped);
    cn_row_list_sort(out, sort_column, is_reversed);
    return ok;
}

static bool is_on_path(const struct cn_row_list *path, const struct cn_row *row)
{
    for (size_t i = 0; i < path->count && i < CN_VIEW_LOOK_BACK; i++)
        if (path->rows[path->count - 1 - i].id == row->id)
            return true;
    return false;
}

bool cn_view_hot_path(struct cn_view *view, size_t column, double share,
                      struct cn_row_list *path, struct cn_error *err)
{
    struct cn_row row = {0};
    double above = 0;
    uint64_t seen = 0;
    bool ok = true, goes_on = true;

    for (bool is_top = true; ok && goes_on; is_top = false) {
        struct cn_row_list list;

        ok = cn_view_children(view, is_top ? NULL : &row, column, false, &list, err) &&
             cn_view_weigh(view, &list, &seen, err);
        double hottest = list.count ? list.rows[0].values[column] : NAN;
        goes_on = !isnan(hottest) && hottest > 0 && hottest >= share * above;
        if (goes_on && is_on_path(path, &list.rows[0]))
            ok = goes_on = cn_view_fail_cycle(&list.rows[0], err);
        if (goes_on) {
            row = list.rows[0];
            above = hottest;
            memcpy(cn_row_list_add(path, row), row.values,
                   list.column_count * sizeof(*row.values));
        }
        cn_row_list_done(&list);
    }
    return ok;
}
