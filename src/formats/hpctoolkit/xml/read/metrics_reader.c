#include "formats/hpctoolkit/xml/read/metrics_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/scanner.h"

/* Statistics of one metric and scope whose ids are a multiple of this apart: where hpcprof
 * gives all of them the id of the first (late 2021), the others are found there. */
enum { SCOPES_OF_OLD = 3 };

struct metric {
    const char *name;
    struct cn_scope_instance instances[CN_HPC_XML_SCOPE_COUNT];
    size_t instance_count;
    struct cn_statistic *statistics;
    size_t statistic_count, statistic_capacity;
    bool is_visible, has_columns;
    const char *format;
};

struct building {
    struct cn_database *db;
    const struct cn_hpc_xml_head *head;
    struct cn_names names;
    struct metric *list; /* one a name */
    size_t capacity;
};

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

void cn_hpc_xml_metric_name_parse(const char *name, const char *type,
                                  struct cn_hpc_xml_metric_name *out)
{
    static const char partial[] = "PARTIAL:";
    size_t len = strlen(name), start = 0;
    bool is_inclusive = ends_with(name, len, " (I)");
    bool is_exclusive = ends_with(name, len, " (E)");

    *out = (struct cn_hpc_xml_metric_name){.scope = CN_NO_ID};
    if (is_inclusive || strcmp(type, "inclusive") == 0)
        out->scope = CN_HPC_XML_EXECUTION;
    else if (is_exclusive || strcmp(type, "exclusive") == 0)
        out->scope = CN_HPC_XML_FUNCTION;
    if (is_inclusive || is_exclusive)
        len -= strlen(" (I)");
    out->base_len = len;
    for (size_t i = len; i > 0 && start == 0; i--)
        if (name[i - 1] == ':')
            start = i;
    if (start == 0)
        return;
    out->base_len = start - 1;
    out->variant = name + start;
    out->variant_len = len - start;
    /* "PARTIAL:0" has a colon of its own. */
    if (start > sizeof(partial) &&
        memcmp(name + start - (sizeof(partial) - 1), partial, sizeof(partial) - 1) == 0 &&
        name[start - sizeof(partial)] == ':') {
        out->base_len = start - sizeof(partial);
        out->is_partial = cn_hpc_xml_parse_u64(
            (struct cn_bytes){(const uint8_t *)out->variant, out->variant_len},
            &out->partial);
    }
}

static struct metric *metric_of(struct building *b, const char *name, size_t len)
{
    const char *base = cn_arena_copy(&b->db->arena, name, len);
    size_t known = b->names.count;
    uint32_t i = cn_names_add(&b->names, base);

    if (i == known) {
        b->list = cn_grow(b->list, known, &b->capacity, sizeof(*b->list));
        b->list[i] = (struct metric){.name = base, .is_visible = true};
    }
    return &b->list[i];
}

static bool is_id(int64_t id)
{
    return id >= 0 && id <= UINT16_MAX;
}

static void add_instances(struct building *b)
{
    for (size_t i = 0; i < b->head->metric_db_count; i++) {
        const struct cn_hpc_xml_metric_db *row = &b->head->metric_dbs[i];
        struct cn_hpc_xml_metric_name name;
        struct metric *metric;
        size_t count;

        cn_hpc_xml_metric_name_parse(row->name, row->type, &name);
        /* Here a colon is part of the name: "PAPI_TOT_CYC:u". */
        metric = metric_of(b, row->name,
                           strlen(row->name) -
                               (ends_with(row->name, strlen(row->name), " (I)") ||
                                        ends_with(row->name, strlen(row->name), " (E)")
                                    ? strlen(" (I)")
                                    : 0));
        count = metric->instance_count;
        if (name.scope == CN_NO_ID || !is_id(row->id) ||
            count == CN_HPC_XML_SCOPE_COUNT ||
            (count > 0 && metric->instances[0].scope == name.scope)) {
            cn_database_warn(b->db, "metric %s with id %" PRId64 " is not used",
                             row->name, row->id);
            continue;
        }
        metric->instances[metric->instance_count++] = (struct cn_scope_instance){
            .scope = (uint16_t)name.scope, .prop_id = (uint16_t)row->id};
    }
}

static unsigned combine_of(const char *formula)
{
    if (strncmp(formula, "min", 3) == 0)
        return CN_COMBINE_MIN;
    return strncmp(formula, "max", 3) == 0 ? CN_COMBINE_MAX : CN_COMBINE_SUM;
}

static bool has_statistic(const struct metric *metric, int64_t id, int scope)
{
    for (size_t i = 0; i < metric->statistic_count; i++)
        if (metric->statistics[i].stat_id == id && metric->statistics[i].scope == scope)
            return true;
    return false;
}

static void add_statistic(struct building *b, struct metric *metric,
                          const struct cn_hpc_xml_metric *row,
                          struct cn_statistic statistic, int64_t id)
{
    if (!is_id(id)) {
        cn_database_warn(b->db, "metric %s with id %" PRId64 " is not used", row->name,
                         id);
        return;
    }
    statistic.stat_id = (uint16_t)id;
    metric->statistics =
        cn_grow(metric->statistics, metric->statistic_count, &metric->statistic_capacity,
                sizeof(*metric->statistics));
    metric->statistics[metric->statistic_count++] = statistic;
}

/* PARTIALs: the statistics of 4.0. What was combined is found afterwards. */
static void add_partial(struct building *b, const struct cn_hpc_xml_metric *row,
                        const struct cn_hpc_xml_metric_name *name)
{
    struct metric *metric = metric_of(b, row->name, name->base_len);
    int64_t id = row->id;

    if (metric->statistic_count == CN_HPC_XML_STATISTIC_MAX)
        return;
    if (has_statistic(metric, id, name->scope) && name->partial < UINT16_MAX) {
        id += SCOPES_OF_OLD * (int64_t)name->partial;
        cn_database_warn(b->db,
                         "metric %s has the id %" PRId64 " of another, taken as %" PRId64,
                         row->name, row->id, id);
    }
    add_statistic(b, metric, row,
                  (struct cn_statistic){.scope = (uint16_t)name->scope,
                                        .combine = (uint8_t)combine_of(row->combine),
                                        .formula = "$$"},
                  id);
}

static bool variant_is(const struct cn_hpc_xml_metric_name *name, const char *word)
{
    return name->variant_len == strlen(word) &&
           memcmp(name->variant, word, name->variant_len) == 0;
}

/* What 2.x calls a metric is a statistic: the sum, or one of a few others. */
static void add_legacy(struct building *b, const struct cn_hpc_xml_metric *row,
                       const struct cn_hpc_xml_metric_name *name)
{
    bool is_sum = name->variant && variant_is(name, "Sum");
    bool is_min = name->variant && variant_is(name, "Min");
    bool is_max = name->variant && variant_is(name, "Max");
    bool is_known = is_sum || is_min || is_max;
    size_t len = is_known        ? name->base_len
                 : name->variant ? (size_t)(name->variant - row->name) + name->variant_len
                                 : name->base_len;

    add_statistic(b, metric_of(b, row->name, len), row,
                  (struct cn_statistic){.scope = (uint16_t)name->scope,
                                        .combine = is_min   ? CN_COMBINE_MIN
                                                   : is_max ? CN_COMBINE_MAX
                                                            : CN_COMBINE_SUM,
                                        .formula = "$$"},
                  row->id);
}

/* The number behind the next `$` of a formula; false when there is none. */
static bool next_reference(const char **formula, int64_t *out)
{
    const char *at = strchr(*formula, '$');
    size_t len;

    if (!at)
        return false;
    len = strspn(at + 1, "0123456789");
    *formula = at + 1 + len;
    return cn_hpc_xml_parse_i64((struct cn_bytes){(const uint8_t *)at + 1, len}, out);
}

static struct cn_statistic *statistic_at(struct metric *metric, int64_t id)
{
    for (size_t i = 0; i < metric->statistic_count; i++)
        if (metric->statistics[i].stat_id == id &&
            metric->statistics[i].combine == CN_COMBINE_SUM)
            return &metric->statistics[i];
    return NULL;
}

/* Of several sums, columns tell which is which: Mean divides by the count, StdDev also uses
 * the sum of squares. */
static void learn_formula(struct building *b, const struct cn_hpc_xml_metric *row,
                          const struct cn_hpc_xml_metric_name *name)
{
    struct metric *metric = metric_of(b, row->name, name->base_len);
    const char *formula = row->view;
    bool is_mean = variant_is(name, "Mean"), is_deviation = variant_is(name, "StdDev");
    int64_t ids[3];
    size_t count = 0;

    metric->is_visible =
        (metric->has_columns && metric->is_visible) || row->show != CN_HPC_XML_HIDDEN;
    metric->has_columns = true;
    if (!metric->format)
        metric->format = row->format;
    while (count < 3 && next_reference(&formula, &ids[count]))
        count++;
    if (is_mean && count == 2 && statistic_at(metric, ids[1]))
        statistic_at(metric, ids[1])->formula = "1";
    if (is_deviation && count == 3 && statistic_at(metric, ids[0]))
        statistic_at(metric, ids[0])->formula = "($$^2)";
}

static void add_rows(struct building *b)
{
    struct cn_hpc_xml_metric_name name;

    for (size_t i = 0; i < b->head->metric_count; i++) {
        const struct cn_hpc_xml_metric *row = &b->head->metrics[i];

        cn_hpc_xml_metric_name_parse(row->name, row->type, &name);
        if (name.scope == CN_NO_ID)
            continue;
        if (b->head->major < CN_HPC_XML_MAJOR)
            add_legacy(b, row, &name);
        else if (name.is_partial)
            add_partial(b, row, &name);
    }
    for (size_t i = 0; b->head->major >= CN_HPC_XML_MAJOR && i < b->head->metric_count;
         i++) {
        const struct cn_hpc_xml_metric *row = &b->head->metrics[i];

        cn_hpc_xml_metric_name_parse(row->name, row->type, &name);
        if (name.scope != CN_NO_ID && row->show != CN_HPC_XML_INTERNAL && name.variant)
            learn_formula(b, row, &name);
    }
}

static int compare_statistics(const void *left, const void *right)
{
    const struct cn_statistic *a = left, *b = right;

    return (a->stat_id > b->stat_id) - (a->stat_id < b->stat_id);
}

static int compare_instances(const void *left, const void *right)
{
    const struct cn_scope_instance *a = left, *b = right;

    return (a->scope > b->scope) - (a->scope < b->scope);
}

static void store_metric(struct cn_arena *arena, struct metric *from,
                         struct cn_metric *to)
{
    struct cn_scope_instance *instances =
        cn_arena_alloc(arena, from->instance_count, sizeof(*instances));
    struct cn_statistic *statistics =
        cn_arena_alloc(arena, from->statistic_count, sizeof(*statistics));

    if (from->instance_count > 0) {
        qsort(from->instances, from->instance_count, sizeof(*instances),
              compare_instances);
        memcpy(instances, from->instances, from->instance_count * sizeof(*instances));
    }
    if (from->statistic_count > 0) {
        qsort(from->statistics, from->statistic_count, sizeof(*statistics),
              compare_statistics);
        memcpy(statistics, from->statistics, from->statistic_count * sizeof(*statistics));
    }
    *to = (struct cn_metric){
        .name = from->name,
        .instances = instances,
        .instance_count = from->instance_count,
        .statistics = statistics,
        .statistic_count = from->statistic_count,
    };
}

/* Every value belongs to one metric: the same id twice would count it twice. */
static bool check_ids(const struct cn_metrics *metrics, struct cn_error *err)
{
    bool *threads = cn_alloc(UINT16_MAX + 1, sizeof(*threads));
    bool *summaries = cn_alloc(UINT16_MAX + 1, sizeof(*summaries));
    bool ok = true;

    for (size_t i = 0; ok && i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; ok && k < metric->instance_count; k++) {
            bool *is_used = &threads[metric->instances[k].prop_id];

            ok = !*is_used || cn_fail(err, CN_ERR_FORMAT, "metric id %u is there twice",
                                      metric->instances[k].prop_id);
            *is_used = true;
        }
        for (size_t k = 0; ok && k < metric->statistic_count; k++) {
            bool *is_used = &summaries[metric->statistics[k].stat_id];

            ok = !*is_used ||
                 cn_fail(err, CN_ERR_FORMAT, "metric id %u of the summary is there twice",
                         metric->statistics[k].stat_id);
            *is_used = true;
        }
    }
    free(threads);
    free(summaries);
    return ok;
}

/* Columns as usual, but hidden or formatted as the file says. */
static void build_taxonomy(struct building *b)
{
    struct cn_database *db = b->db;
    struct cn_presented_metric *roots;
    size_t k = 0;

    cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    roots = cn_arena_alloc(&db->arena, db->taxonomy.root_count, sizeof(*roots));
    for (size_t i = 0; i < db->taxonomy.root_count; i++) {
        roots[i] = db->taxonomy.roots[i];
        /* Roots come in the order of metrics; those without columns have none. */
        while (strcmp(b->list[k].name, roots[i].name) != 0)
            k++;
        roots[i].is_visible = b->list[k].is_visible;
        roots[i].format = b->list[k].format;
    }
    db->taxonomy.roots = roots;
}

bool cn_hpc_xml_metrics_read(struct cn_database *db, const struct cn_hpc_xml_head *head,
                             struct cn_error *err)
{
    static const struct cn_scope scopes[] = {
        [CN_HPC_XML_FUNCTION] = {"function", CN_SCOPE_TRANSITIVE, 0},
        [CN_HPC_XML_EXECUTION] = {"execution", CN_SCOPE_EXECUTION, UINT8_MAX},
    };
    struct building b = {.db = db, .head = head};
    struct cn_metric *list;
    bool ok;

    add_instances(&b);
    add_rows(&b);
    list = cn_arena_alloc(&db->arena, b.names.count, sizeof(*list));
    for (size_t i = 0; i < b.names.count; i++)
        store_metric(&db->arena, &b.list[i], &list[i]);
    db->metrics = (struct cn_metrics){
        .scopes = scopes,
        .scope_count = CN_HPC_XML_SCOPE_COUNT,
        .list = list,
        .count = b.names.count,
    };
    ok = check_ids(&db->metrics, err);
    if (ok)
        build_taxonomy(&b);
    for (size_t i = 0; i < b.names.count; i++)
        free(b.list[i].statistics);
    free(b.list);
    cn_names_done(&b.names);
    return ok;
}
