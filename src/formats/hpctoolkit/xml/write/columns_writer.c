#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/format.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/write/writing.h"

/* Ids as hpcprof assigns them: first id of the metric + this + the scope. */
enum { FIRST_SCOPE = 1 };

static const struct {
    const char *formula;
    enum cn_combine combine;
} partials[CN_HPC_XML_PARTIAL_COUNT] = {
    [CN_HPC_XML_SUM] = {"$$", CN_COMBINE_SUM},
    [CN_HPC_XML_COUNT] = {"1", CN_COMBINE_SUM},
    [CN_HPC_XML_SQUARES] = {"($$^2)", CN_COMBINE_SUM},
    [CN_HPC_XML_MIN] = {"$$", CN_COMBINE_MIN},
    [CN_HPC_XML_MAX] = {"$$", CN_COMBINE_MAX},
};

/* Find the ids of a metric in the model. */
static void find_ids(const struct cn_metrics *metrics, struct cn_hpc_xml_column *column)
{
    int32_t(*ids)[CN_HPC_XML_SCOPE_COUNT] = column->summary_id;
    int scopes[CN_HPC_XML_SCOPE_COUNT] = {
        [CN_HPC_XML_FUNCTION] = cn_metrics_find_scope_type(metrics, CN_SCOPE_TRANSITIVE),
        [CN_HPC_XML_EXECUTION] = cn_metrics_find_scope_type(metrics, CN_SCOPE_EXECUTION),
    };

    for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++) {
        column->thread_id[s] =
            scopes[s] == CN_NO_ID
                ? CN_NO_ID
                : cn_metric_prop_id(column->metric, (unsigned)scopes[s]);
        for (size_t p = 0; p < CN_HPC_XML_PARTIAL_COUNT; p++)
            ids[p][s] = scopes[s] == CN_NO_ID
                            ? CN_NO_ID
                            : cn_metric_stat_id(column->metric, (unsigned)scopes[s],
                                                partials[p].formula, partials[p].combine);
        /* Readers identify a sum by the columns that use it: the mean needs the sum and
         * identifies the count, the deviation needs the count and identifies the
         * squares. */
        if (ids[CN_HPC_XML_SUM][s] == CN_NO_ID)
            ids[CN_HPC_XML_COUNT][s] = CN_NO_ID;
        if (ids[CN_HPC_XML_COUNT][s] == CN_NO_ID)
            ids[CN_HPC_XML_SQUARES][s] = CN_NO_ID;
    }
}

static int32_t least_id(const struct cn_hpc_xml_column *column)
{
    int32_t least = INT32_MAX;

    for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++)
        if (column->thread_id[s] != CN_NO_ID && column->thread_id[s] < least)
            least = column->thread_id[s];
    return least;
}

static int compare_columns(const void *left, const void *right)
{
    int32_t a = least_id(left), b = least_id(right);

    return (a > b) - (a < b);
}

/* Statistics in the order of their ids, which the ids in the files keep. */
static size_t order_partials(const struct cn_hpc_xml_column *column, size_t order[])
{
    int32_t keys[CN_HPC_XML_PARTIAL_COUNT];
    size_t count = 0;

    for (size_t p = 0; p < CN_HPC_XML_PARTIAL_COUNT; p++) {
        int32_t key = column->summary_id[p][CN_HPC_XML_FUNCTION];
        size_t at = count;

        if (key == CN_NO_ID)
            key = column->summary_id[p][CN_HPC_XML_EXECUTION];
        if (key == CN_NO_ID)
            continue;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            order[at] = order[at - 1];
        }
        keys[at] = key;
        order[at] = p;
        count++;
    }
    return count;
}

static void set_id(int32_t *ids, int32_t id, int64_t number)
{
    if (id != CN_NO_ID)
        ids[id] = (int32_t)number;
}

/* Number the ids consecutively if the usual numbers would not keep their order. */
static void keep_order(int32_t *ids)
{
    struct cn_hpc_metric_ids table = {ids, CN_HPC_SPARSE_ID_COUNT};
    int32_t next = 0;

    if (cn_hpc_metric_ids_are_ordered(&table))
        return;
    for (size_t i = 0; i < CN_HPC_SPARSE_ID_COUNT; i++)
        if (ids[i] != CN_NO_ID)
            ids[i] = next++;
}

static int32_t largest(const int32_t *ids)
{
    int32_t found = 0;

    for (size_t i = 0; i < CN_HPC_SPARSE_ID_COUNT; i++)
        if (ids[i] > found)
            found = ids[i];
    return found;
}

static int64_t number_column(struct cn_hpc_xml_writing *w,
                             const struct cn_hpc_xml_column *column, int64_t base)
{
    size_t order[CN_HPC_XML_PARTIAL_COUNT];
    size_t count = order_partials(column, order);

    for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++) {
        set_id(w->thread_ids, column->thread_id[s], base + FIRST_SCOPE + s);
        for (size_t k = 0; k < count; k++)
            set_id(w->summary_ids, column->summary_id[order[k]][s],
                   base + (int64_t)k * CN_HPC_XML_STATISTIC_STEP + FIRST_SCOPE + s);
    }
    return base + CN_HPC_XML_STATISTIC_STEP * (int64_t)(count > 1 ? count : 1);
}

static void to_file_ids(const struct cn_hpc_xml_writing *w,
                        struct cn_hpc_xml_column *column)
{
    for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++) {
        if (column->thread_id[s] != CN_NO_ID)
            column->thread_id[s] = w->thread_ids[column->thread_id[s]];
        for (size_t p = 0; p < CN_HPC_XML_PARTIAL_COUNT; p++)
            if (column->summary_id[p][s] != CN_NO_ID)
                column->summary_id[p][s] = w->summary_ids[column->summary_id[p][s]];
    }
}

bool cn_hpc_xml_columns_plan(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    const struct cn_metrics *metrics = &w->db->metrics;
    int64_t base = 0;

    w->columns = cn_alloc(metrics->count, sizeof(*w->columns));
    w->thread_ids = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(*w->thread_ids));
    w->summary_ids = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(*w->summary_ids));
    for (size_t i = 0; i < CN_HPC_SPARSE_ID_COUNT; i++)
        w->thread_ids[i] = w->summary_ids[i] = CN_NO_ID;
    for (size_t i = 0; i < metrics->count; i++) {
        w->columns[i].metric = &metrics->list[i];
        find_ids(metrics, &w->columns[i]);
    }
    if (metrics->count > 0)
        qsort(w->columns, metrics->count, sizeof(*w->columns), compare_columns);
    for (size_t i = 0; i < metrics->count; i++)
        base = number_column(w, &w->columns[i], base);
    keep_order(w->thread_ids);
    keep_order(w->summary_ids);
    if (largest(w->thread_ids) > CN_HPC_SPARSE_METRIC_ID_MAX ||
        largest(w->summary_ids) > CN_HPC_SPARSE_METRIC_ID_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%zu metrics need ids up to %" PRId64
                       ", readers know ids up to %d",
                       metrics->count, base, CN_HPC_SPARSE_METRIC_ID_MAX);
    for (size_t i = 0; i < metrics->count; i++)
        to_file_ids(w, &w->columns[i]);
    return true;
}

static void lose_scope(const struct cn_hpc_xml_writing *w, uint64_t count,
                       const char *scope, const char *suffix)
{
    char *text = cn_strprintf("values of the %s scope%s", scope, suffix);

    cn_write_lose(w->options, text, count);
    free(text);
}

void cn_hpc_xml_columns_lost(const struct cn_hpc_xml_writing *w, const uint64_t *threads,
                             const uint64_t *summaries)
{
    const struct cn_metrics *metrics = &w->db->metrics;

    for (size_t s = 0; s < metrics->scope_count; s++) {
        uint64_t values = 0, statistics = 0;

        for (size_t i = 0; i < metrics->count; i++) {
            const struct cn_metric *metric = &metrics->list[i];

            for (size_t k = 0; k < metric->instance_count; k++)
                if (metric->instances[k].scope == s)
                    values += threads[metric->instances[k].prop_id];
            for (size_t k = 0; k < metric->statistic_count; k++)
                if (metric->statistics[k].scope == s)
                    statistics += summaries[metric->statistics[k].stat_id];
        }
        lose_scope(w, values, metrics->scopes[s].name, "");
        lose_scope(w, statistics, metrics->scopes[s].name, " in the summary");
    }
}

/* A <Metric> without its formula. */
struct column_row {
    int64_t id, partner;
    bool is_alone;   /* the other scope is missing: a partner must be added */
    bool is_partner; /* such a partner */
    bool is_internal, is_visible, is_inclusive, is_percent;
    const char *variant, *format;
};

static void put_metric(struct cn_markup *m, const struct column_row *row,
                       const char *name, const char *end)
{
    char *full = cn_strprintf("%s:%s %s", name, row->variant,
                              row->is_partner     ? "INTERNAL"
                              : row->is_inclusive ? "(I)"
                                                  : "(E)");

    cn_markup_add(m, "<Metric");
    cn_markup_number(m, "i", row->id);
    cn_markup_number(m, "o", row->id);
    cn_markup_attribute(m, "n", full);
    cn_markup_attribute(m, "md", name);
    cn_markup_add(m, " v=\"derived-incr\"");
    cn_markup_attribute(m, "t", row->is_inclusive ? "inclusive" : "exclusive");
    cn_markup_number(m, "partner", row->partner);
    cn_markup_number(m, "show",
                     row->is_internal  ? CN_HPC_XML_INTERNAL
                     : row->is_visible ? CN_HPC_XML_SHOWN
                                       : CN_HPC_XML_HIDDEN);
    cn_markup_number(m, "show-percent", row->is_percent);
    if (row->format)
        cn_markup_attribute(m, "fmt", row->format);
    cn_markup_add(m, end);
    free(full);
}

static void write_metric(struct cn_hpc_xml_writing *w, const struct column_row *row,
                         const char *name, const char *type, const char *formula)
{
    struct column_row partner = {.id = row->partner,
                                 .partner = row->id,
                                 .is_partner = true,
                                 .is_internal = true,
                                 .is_inclusive = !row->is_inclusive,
                                 .variant = row->variant};
    struct cn_markup *m = &w->markup;

    put_metric(m, row, name, ">\n");
    cn_markup_add(m, "<MetricFormula");
    cn_markup_attribute(m, "t", type);
    cn_markup_attribute(m, "frm", formula);
    cn_markup_add(m, "/>\n<Info><NV n=\"units\" v=\"events\"/></Info>\n</Metric>\n");
    /* Readers expect a partner for every metric. */
    if (row->is_alone)
        put_metric(m, &partner, name, "/>\n");
}

static void write_partials(struct cn_hpc_xml_writing *w,
                           const struct cn_hpc_xml_column *column, int64_t *next_id)
{
    static const char *const combine[] = {"sum", "min", "max"};
    size_t order[CN_HPC_XML_PARTIAL_COUNT];
    size_t count = order_partials(column, order);

    for (size_t k = 0; k < count; k++) {
        size_t p = order[k];
        const int32_t *ids = column->summary_id[p];
        bool is_alone = ids[0] == CN_NO_ID || ids[1] == CN_NO_ID;
        struct cn_text formula = {0};
        char *variant = cn_strprintf("PARTIAL:%zu", k);

        for (int s = CN_HPC_XML_SCOPE_COUNT - 1; s >= 0; s--) {
            struct column_row row = {.id = ids[s],
                                     .partner = is_alone ? *next_id : ids[!s],
                                     .is_alone = is_alone,
                                     .is_internal = true,
                                     .is_inclusive = s == CN_HPC_XML_EXECUTION,
                                     .variant = variant};

            if (ids[s] == CN_NO_ID)
                continue;
            cn_text_clear(&formula);
            cn_text_printf(&formula, "%s($%d, $%d)", combine[partials[p].combine], ids[s],
                           ids[s]);
            write_metric(w, &row, column->metric->name, "combine", cn_text_str(&formula));
            *next_id -= is_alone;
        }
        cn_text_done(&formula);
        free(variant);
    }
}

enum column_variant { SUM, MEAN, DEVIATION, VARIATION, MIN, MAX, VARIANT_COUNT };

/* The formula of a column, from the ids of statistics. False if some are missing. */
static bool view_formula(const struct cn_hpc_xml_column *column,
                         enum column_variant variant, int scope, struct cn_text *out)
{
    int32_t sum = column->summary_id[CN_HPC_XML_SUM][scope];
    int32_t count = column->summary_id[CN_HPC_XML_COUNT][scope];
    int32_t squares = column->summary_id[CN_HPC_XML_SQUARES][scope];
    int32_t least = column->summary_id[CN_HPC_XML_MIN][scope];
    int32_t most = column->summary_id[CN_HPC_XML_MAX][scope];

    switch (variant) {
    case SUM:
        cn_text_printf(out, "$%d", sum);
        return sum != CN_NO_ID;
    case MEAN:
        cn_text_printf(out, "$%d / $%d", sum, count);
        return count != CN_NO_ID;
    case DEVIATION:
        cn_text_printf(out, "sqrt(($%d / $%d) - pow($%d / $%d, 2))", squares, count, sum,
                       count);
        return squares != CN_NO_ID;
    case VARIATION:
        cn_text_printf(out, "sqrt(($%d / $%d) - pow($%d / $%d, 2)) / ($%d / $%d)",
                       squares, count, sum, count, sum, count);
        return squares != CN_NO_ID;
    case MIN:
        cn_text_printf(out, "$%d", least);
        return least != CN_NO_ID;
    case MAX:
        cn_text_printf(out, "$%d", most);
        return most != CN_NO_ID;
    case VARIANT_COUNT:
        break;
    }
    return false;
}

static void write_views(struct cn_hpc_xml_writing *w,
                        const struct cn_hpc_xml_column *column, int64_t *next_id)
{
    static const char *const names[VARIANT_COUNT] = {"Sum",   "Mean", "StdDev",
                                                     "CfVar", "Min",  "Max"};
    const struct cn_presented_metric *shown =
        cn_taxonomy_find(&w->db->taxonomy, column->metric->name);

    for (int v = 0; v < VARIANT_COUNT; v++) {
        struct cn_text formulas[CN_HPC_XML_SCOPE_COUNT] = {0};
        bool has[CN_HPC_XML_SCOPE_COUNT];

        for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++)
            has[s] = view_formula(column, (enum column_variant)v, s, &formulas[s]);
        for (int s = CN_HPC_XML_SCOPE_COUNT - 1; s >= 0; s--) {
            bool is_first = s == CN_HPC_XML_EXECUTION || !has[!s];
            struct column_row row = {.id = *next_id,
                                     .partner = *next_id + (is_first ? -1 : 1),
                                     .is_alone = !has[!s],
                                     .is_visible = !shown || shown->is_visible,
                                     .is_percent = v == SUM,
                                     .is_inclusive = s == CN_HPC_XML_EXECUTION,
                                     .variant = names[v],
                                     .format = shown ? shown->format : NULL};

            if (!has[s])
                continue;
            write_metric(w, &row, column->metric->name, "view",
                         cn_text_str(&formulas[s]));
            *next_id -= 1 + row.is_alone;
        }
        for (int s = 0; s < CN_HPC_XML_SCOPE_COUNT; s++)
            cn_text_done(&formulas[s]);
    }
}

static void write_thread_metric(struct cn_hpc_xml_writing *w,
                                const struct cn_hpc_xml_column *column)
{
    struct cn_markup *m = &w->markup;

    for (int s = CN_HPC_XML_SCOPE_COUNT - 1; s >= 0; s--) {
        if (column->thread_id[s] == CN_NO_ID)
            continue;
        char *name = cn_strprintf("%s (%c)", column->metric->name,
                                  s == CN_HPC_XML_EXECUTION ? 'I' : 'E');
        cn_markup_add(m, "<MetricDB");
        cn_markup_number(m, "i", column->thread_id[s]);
        cn_markup_attribute(m, "n", name);
        cn_markup_add(m, "/>\n");
        free(name);
    }
}

/* Columns other than statistics of one metric, which cannot be written. */
static uint64_t count_lost_roots(const struct cn_database *db)
{
    uint64_t count = 0;

    for (size_t i = 0; i < db->taxonomy.root_count; i++) {
        const struct cn_presented_metric *root = &db->taxonomy.roots[i];

        count += cn_metrics_find(&db->metrics, root->name) == CN_NO_ID;
        count += root->child_count;
    }
    return count;
}

bool cn_hpc_xml_columns_write(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    size_t count = w->db->metrics.count;
    int64_t next_id = -1;

    cn_markup_add(&w->markup, "<MetricTable>\n");
    for (size_t i = 0; i < count; i++) {
        write_partials(w, &w->columns[i], &next_id);
        write_views(w, &w->columns[i], &next_id);
        if (!cn_markup_flush(&w->markup, err))
            return false;
    }
    cn_markup_add(&w->markup, "</MetricTable>\n<MetricDBTable>\n");
    for (size_t i = 0; i < count; i++)
        write_thread_metric(w, &w->columns[i]);
    cn_markup_add(&w->markup, "</MetricDBTable>\n");
    cn_write_lose(w->options, "columns made of several metrics", count_lost_roots(w->db));
    return true;
}
