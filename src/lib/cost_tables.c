/* Contexts and views with their costs as tables. */

#include <stdlib.h>

#include "analyze/views/context_index.h"
#include "analyze/views/visit.h"
#include "base/alloc.h"
#include "base/list.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/labels/context.h"

enum { CALLERS_DEPTH = 5 };

static const char *const stat_names[] = {
    [CN_STAT_SUM] = "sum", [CN_STAT_MEAN] = "mean",     [CN_STAT_MIN] = "min",
    [CN_STAT_MAX] = "max", [CN_STAT_STDDEV] = "stddev", [CN_STAT_COUNT] = "count",
};

static bool find_stat(const char *name, enum cn_cost_stat *out, struct cn_error *err)
{
    size_t at =
        name ? cn_list_find(stat_names, CN_COUNT_OF(stat_names), name) : CN_STAT_SUM;

    *out = (enum cn_cost_stat)at;
    return at < CN_COUNT_OF(stat_names) ||
           cn_fail(err, CN_ERR_USAGE,
                   "no statistic '%s'; there are: sum, mean, min, max, stddev, "
                   "count",
                   name);
}

/* Add total and self of a metric, which may lack one of the two. */
static bool add_metric(struct cn_costs *costs, const char *metric, enum cn_cost_stat stat,
                       struct cn_error *err)
{
    size_t before = costs->column_count;

    for (int side = CN_TOTAL; side <= CN_SELF; side++) {
        struct cn_cost_request request = {
            .metric = metric,
            .side = (enum cn_cost_side)side,
            .stat = stat,
            .profile = CN_NONE,
        };

        if (!cn_costs_add(costs, &request, err) && side == CN_SELF &&
            costs->column_count == before)
            return false;
    }
    return true;
}

static bool add_all(struct cn_costs *costs, enum cn_cost_stat stat, struct cn_error *err)
{
    const struct cn_presented_metric *metric;
    struct cn_error later;

    /* A category has children, but no values of its own. */
    for (size_t i = 0; (metric = cn_costs_metric_at(costs->db, i)); i++)
        (void)add_metric(costs, metric->name, stat, &later);
    return costs->column_count > 0 ||
           cn_fail(err, CN_ERR_NOT_FOUND, "the database has no metrics");
}

static bool open_costs(struct cn_costs *costs, struct cn_database *db,
                       const struct cairn_cost_options *options, struct cn_error *err)
{
    const char *defaults[CN_COST_DEFAULT_MAX];
    enum cn_cost_stat stat;
    size_t count;

    cn_costs_init(costs, db);
    costs->counts_waits = options->counts_waits;
    if (!find_stat(options->statistic, &stat, err) ||
        (options->threads && !cn_costs_select(costs, options->threads, err)))
        return false;
    if (options->has_all_metrics && !add_all(costs, stat, err))
        return false;
    for (size_t i = 0; !options->has_all_metrics && i < options->metric_count; i++) {
        if (!options->metrics || !options->metrics[i])
            return cn_fail(err, CN_ERR_USAGE, "options.metrics is NULL, or has NULL");
        if (!add_metric(costs, options->metrics[i], stat, err))
            return false;
    }
    if (costs->column_count == 0) {
        count = cn_costs_default_metrics(costs, defaults);
        for (size_t i = 0; i < count; i++)
            if (!add_metric(costs, defaults[i], stat, err))
                return false;
    }
    return cn_costs_ready(costs, err);
}

/* A column of texts that are known by index, each looked up once. */
struct codes {
    size_t column;
    int32_t *list; /* CN_CODE_UNSET: not looked up */
    size_t count;
};

static void codes_init(struct codes *codes, size_t column, size_t count)
{
    codes->column = column;
    codes->count = count;
    codes->list = cn_alloc(count, sizeof(*codes->list));
    for (size_t i = 0; i < count; i++)
        codes->list[i] = CN_CODE_UNSET;
}

struct cost_filling {
    struct cairn_table *table;
    struct cn_database *db;
    struct codes names, modules, files;
    struct cn_codes codes;
    bool has_codes;
    size_t first_cost;
    struct cn_text text;
    uint32_t *depths; /* by node */
};

static bool module_code(struct cost_filling *f, uint32_t module, int32_t *out,
                        struct cn_error *err)
{
    struct cn_module found;

    *out = CN_CODE_NONE;
    if (module >= f->modules.count)
        return true;
    if (f->modules.list[module] == CN_CODE_UNSET) {
        if (!cn_database_module(f->db, module, &found, err))
            return false;
        f->modules.list[module] =
            cn_column_code(cn_frame_column(f->table, f->modules.column), found.path);
    }
    *out = f->modules.list[module];
    return true;
}

static bool file_code(struct cost_filling *f, uint32_t file, int32_t *out,
                      struct cn_error *err)
{
    struct cn_source_file found;

    *out = CN_CODE_NONE;
    if (file >= f->files.count)
        return true;
    if (f->files.list[file] == CN_CODE_UNSET) {
        if (!cn_database_file(f->db, file, &found, err))
            return false;
        f->files.list[file] =
            cn_column_code(cn_frame_column(f->table, f->files.column), found.path);
    }
    *out = f->files.list[file];
    return true;
}

/* The label that views show. That of a function depends on the function and on whether it is
 * inlined. */
static bool name_code(struct cost_filling *f, const struct cn_context *context,
                      int32_t *out, struct cn_error *err)
{
    bool is_function = context->kind == CN_CONTEXT_FUNCTION && context->has_function &&
                       context->function < f->names.count / 2;
    int32_t *known = is_function ? &f->names.list[2 * (size_t)context->function +
                                                  (context->relation == CN_INLINED_CALL)]
                                 : NULL;

    if (known && *known != CN_CODE_UNSET) {
        *out = *known;
        return true;
    }
    cn_text_clear(&f->text);
    if (!cn_label_context(f->db, context, &f->text, err))
        return false;
    *out =
        cn_column_code(cn_frame_column(f->table, f->names.column), cn_text_str(&f->text));
    if (known)
        *known = *out;
    return true;
}

enum {
    COLUMN_ID,
    COLUMN_PARENT,
    COLUMN_DEPTH,
    COLUMN_KIND,
    COLUMN_RELATION,
    COLUMN_NAME,
    COLUMN_FUNCTION,
    COLUMN_MODULE,
    COLUMN_FILE,
    COLUMN_LINE,
    COLUMN_OFFSET,
    COLUMN_COUNT
};

static const struct {
    const char *name;
    enum cairn_type type;
} context_columns[] = {
    [COLUMN_ID] = {"id", CAIRN_U32},
    [COLUMN_PARENT] = {"parent", CAIRN_U32},
    [COLUMN_DEPTH] = {"depth", CAIRN_U32},
    [COLUMN_KIND] = {"kind", CAIRN_CATEGORY},
    [COLUMN_RELATION] = {"relation", CAIRN_CATEGORY},
    [COLUMN_NAME] = {"name", CAIRN_CATEGORY},
    [COLUMN_FUNCTION] = {"function", CAIRN_U32},
    [COLUMN_MODULE] = {"module", CAIRN_CATEGORY},
    [COLUMN_FILE] = {"file", CAIRN_CATEGORY},
    [COLUMN_LINE] = {"line", CAIRN_U32},
    [COLUMN_OFFSET] = {"offset", CAIRN_U64},
};

/* Columns that were added to the tables later are after the costs: callers may know the place of
 * those before. */
static void add_costs(struct cost_filling *f, const struct cn_costs *costs)
{
    f->first_cost = f->table->column_count;
    for (size_t i = 0; i < costs->column_count; i++)
        (void)cn_frame_add(f->table, costs->columns[i].name, CAIRN_F64);
    (void)cn_frame_add(f->table, "language", CAIRN_CATEGORY);
    (void)cn_frame_add(f->table, "code", CAIRN_CATEGORY);
}

/* The costs of a row, the language of its function, and whose it is. */
static void add_values(struct cost_filling *f, const struct cn_costs *costs,
                       const double *values, const struct cn_code_class *code)
{
    size_t end = f->first_cost + costs->column_count;

    for (size_t i = 0; i < costs->column_count; i++)
        cn_column_f64(cn_frame_column(f->table, f->first_cost + i), values[i]);
    cn_column_text(cn_frame_column(f->table, end),
                   code ? cn_code_language_name(code->language) : NULL);
    cn_column_text(cn_frame_column(f->table, end + 1),
                   code ? cn_code_kind_name(code->kind) : NULL);
}

static const char *relation_name(unsigned relation)
{
    static const char *const names[] = {
        [CN_LEXICAL] = "lexical", [CN_CALL] = "call", [CN_INLINED_CALL] = "inlined call"};

    return relation < sizeof(names) / sizeof(*names) ? names[relation] : "other";
}

static bool add_context(struct cost_filling *f, const struct cn_context_index *index,
                        size_t node, const struct cn_costs *costs, const double *values,
                        struct cn_error *err)
{
    const struct cn_context_node *at = &index->nodes[node];
    struct cairn_table *table = f->table;
    struct cn_context context;
    int32_t name, module, file;

    if (!cn_context_at(f->db, at->at, &context, err) ||
        !name_code(f, &context, &name, err) ||
        !module_code(f, context.has_point ? context.module : CN_NONE, &module, err) ||
        !file_code(f, context.has_source ? context.file : CN_NONE, &file, err))
        return false;
    f->depths[node] = at->parent == CN_NONE ? 0 : f->depths[at->parent] + 1;
    cn_column_u32(cn_frame_column(table, COLUMN_ID), at->id);
    cn_column_u32_or(cn_frame_column(table, COLUMN_PARENT),
                     at->parent == CN_NONE ? 0 : index->nodes[at->parent].id, 0);
    cn_column_u32(cn_frame_column(table, COLUMN_DEPTH), f->depths[node]);
    cn_column_text(cn_frame_column(table, COLUMN_KIND),
                   cn_row_kind_name(cn_row_kind_of(&context)));
    cn_column_text(cn_frame_column(table, COLUMN_RELATION),
                   relation_name(context.relation));
    cn_column_category(cn_frame_column(table, COLUMN_NAME), name);
    cn_column_u32_or(cn_frame_column(table, COLUMN_FUNCTION),
                     context.has_function ? context.function : CN_NONE, CN_NONE);
    cn_column_category(cn_frame_column(table, COLUMN_MODULE), module);
    cn_column_category(cn_frame_column(table, COLUMN_FILE), file);
    cn_column_u32_or(cn_frame_column(table, COLUMN_LINE),
                     context.has_source ? context.line : 0, 0);
    if (context.has_point)
        cn_column_u64(cn_frame_column(table, COLUMN_OFFSET), context.offset);
    else
        cn_column_u64_null(cn_frame_column(table, COLUMN_OFFSET));
    add_values(f, costs, values,
               cn_context_code(f->has_codes ? &f->codes : NULL, &context));
    return true;
}

static bool fill_contexts(struct cost_filling *f, struct cn_costs *costs,
                          const struct cn_context_index *index, struct cn_error *err)
{
    const struct cn_cost_targets own_rows = {0};
    double *values = cn_alloc(costs->column_count, sizeof(*values));
    struct cn_cost_rows rows = {0};
    bool ok;

    f->depths = cn_alloc(index->count, sizeof(*f->depths));
    ok = cn_costs_fill(costs, index, &own_rows, index->count, NULL, &rows, err);
    for (size_t i = 0; ok && i < index->count; i++) {
        cn_cost_rows_values(costs, &rows, i, values);
        ok = add_context(f, index, i, costs, values, err);
    }
    cn_cost_rows_done(&rows);
    free(f->depths);
    free(values);
    return ok;
}

/* Without codes, whose functions cannot be read, their columns are null. */
static void filling_init(struct cost_filling *f, struct cairn_table *table,
                         struct cn_database *db)
{
    struct cn_error ignored = {0};

    *f = (struct cost_filling){.table = table, .db = db};
    f->has_codes = cn_codes_build(&f->codes, db, NULL, &ignored);
}

static void filling_done(struct cost_filling *f)
{
    if (f->has_codes)
        cn_codes_done(&f->codes);
    free(f->names.list);
    free(f->modules.list);
    free(f->files.list);
    cn_text_done(&f->text);
}

static bool contexts_table(struct cairn_table *table, struct cn_database *db,
                           struct cn_costs *costs, struct cn_error *err)
{
    struct cost_filling f;
    struct cn_context_index index = {0};

    filling_init(&f, table, db);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        (void)cn_frame_add(table, context_columns[i].name, context_columns[i].type);
    add_costs(&f, costs);
    codes_init(&f.names, COLUMN_NAME, 2 * (size_t)db->function_count);
    codes_init(&f.modules, COLUMN_MODULE, db->module_count);
    codes_init(&f.files, COLUMN_FILE, db->file_count);
    bool ok =
        cn_context_index_build(&index, db, err) && fill_contexts(&f, costs, &index, err);
    cn_context_index_done(&index);
    filling_done(&f);
    cn_database_forget(db);
    return ok;
}

/* Makes one of the tables. */
struct cost_making {
    struct cairn_cost_options options;
    bool is_view;
    enum cairn_view view;
};

static bool view_new(struct cn_view **out, struct cn_costs *costs,
                     const struct cost_making *making, struct cn_error *err)
{
    uint32_t depth = making->options.depth_max;

    switch (making->view) {
    case CAIRN_TREE:
        *out = cn_view_top_down_new(costs);
        return true;
    case CAIRN_FLAT:
        return cn_view_flat_new(out, costs, NULL, err);
    case CAIRN_CALLERS:
        return cn_view_bottom_up_new(out, costs, depth ? depth : CALLERS_DEPTH, NULL,
                                     err);
    }
    return cn_fail(err, CN_ERR_USAGE, "no view %d", (int)making->view);
}

static const struct {
    const char *name;
    enum cairn_type type;
} view_columns[] = {
    {"depth", CAIRN_U32},     {"kind", CAIRN_CATEGORY},   {"context", CAIRN_U32},
    {"name", CAIRN_CATEGORY}, {"module", CAIRN_CATEGORY}, {"file", CAIRN_CATEGORY},
    {"line", CAIRN_U32},
};

static bool add_row(void *arg, const struct cn_view_visit *visit,
                    const struct cn_row *row, struct cn_error *err)
{
    struct cost_filling *f = arg;
    struct cn_view *view = visit->view;
    struct cairn_table *table = f->table;
    struct cn_location location;

    cn_text_clear(&f->text);
    if (!view->ops->label(view, row, &f->text, err) ||
        !view->ops->location(view, row, &location, err))
        return false;
    cn_column_u32(cn_frame_column(table, 0), (uint32_t)(visit->depth - 1));
    cn_column_text(cn_frame_column(table, 1), cn_row_kind_name(row->kind));
    cn_column_u32_or(cn_frame_column(table, 2), row->context, CN_NONE);
    cn_column_text(cn_frame_column(table, 3), cn_text_str(&f->text));
    cn_column_text(cn_frame_column(table, 4), location.module);
    cn_column_text(cn_frame_column(table, 5), location.file);
    cn_column_u32_or(cn_frame_column(table, 6), location.line, 0);
    add_values(f, view->costs, row->values, cn_view_code(view, row));
    return true;
}

static bool view_table(struct cairn_table *table, struct cn_database *db,
                       struct cn_costs *costs, const struct cost_making *making,
                       struct cn_error *err)
{
    struct cost_filling f;
    struct cn_view *view = NULL;
    struct cn_view_visit visit;
    bool ok;

    filling_init(&f, table, db);
    for (size_t i = 0; i < sizeof(view_columns) / sizeof(*view_columns); i++)
        (void)cn_frame_add(table, view_columns[i].name, view_columns[i].type);
    add_costs(&f, costs);
    ok = view_new(&view, costs, making, err);
    if (ok) {
        view->codes = f.has_codes ? &f.codes : NULL;
        cn_view_visit_init(&visit, view);
        if (making->options.depth_max > 0)
            visit.depth_max = making->options.depth_max;
        else if (making->view == CAIRN_CALLERS)
            visit.depth_max = CALLERS_DEPTH;
        visit.min_percent = making->options.percent_min;
        ok = cn_view_visit(&visit, add_row, &f, err);
    }
    cn_view_free(view);
    filling_done(&f);
    return ok;
}

static struct cairn_table *make(struct cairn_data *data, struct cost_making *making,
                                const struct cairn_cost_options *options,
                                struct cn_error *err)
{
    if (!cn_lib_needs(data, CAIRN_DATABASE, err))
        return NULL;
    cn_lib_options(&making->options, sizeof(making->options), options);
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cairn_table *table = cn_frame_new();
    bool ok = open_costs(costs, data->db, &making->options, err) &&
              (making->is_view ? view_table(table, data->db, costs, making, err)
                               : contexts_table(table, data->db, costs, err));
    cn_costs_done(costs);
    free(costs);
    if (ok) {
        cn_frame_finish(table);
        return table;
    }
    (void)cn_fail_in(err, "%s", data->path);
    cairn_table_free(table);
    return NULL;
}

struct cairn_table *cairn_database_contexts(struct cairn_data *data,
                                            const struct cairn_cost_options *options,
                                            struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    return make(data, &(struct cost_making){0}, options, e);
}

struct cairn_table *cairn_database_view(struct cairn_data *data, enum cairn_view view,
                                        const struct cairn_cost_options *options,
                                        struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    return make(data, &(struct cost_making){.is_view = true, .view = view}, options, e);
}
