#include "formats/hpctoolkit/xml/read/metrics_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/hpctoolkit/xml/read/scanner.h"

struct metric {
    const char *name;
    struct cn_scope_instance instances[CN_HPC_XML_SCOPE_COUNT];
    size_t instance_count;
    struct cn_statistic *statistics;
    size_t statistic_count, statistic_capacity;
    bool is_visible, has_columns;
    const char *format;
};

struct metrics_building {
    struct cn_database *db;
    const struct cn_hpc_xml_head *head;
    struct cn_names names;
    struct metric *list; /* by name */
    size_t capacity;
};

void cn_hpc_xml_metric_name_parse(const char *name, const char *type,
                                  struct cn_hpc_xml_metric_name *out)
{
    static const char partial[] = "PARTIAL:";
    size_t len = strlen(name), start = 0;
    bool is_inclusive = cn_ends_with(name, " (I)");
    bool is_exclusive = cn_ends_with(name, " (E)");

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

static struct metric *metric_of(struct metrics_building *b, const char *name, size_t len)
{
    const char *base = cn_arena_copy(&b->db->arena, name, len);
    size_t known = b->names.count;
    uint32_t i = cn_names_add(&b->names, base);

    if (i == known) {
        CN_GROW(b->list, known, b->capacity);
        b->list[i] = (struct metric){.name = base, .is_visible = true};
    }
    return &b->list[i];
}

static bool is_id(int64_t id)
{
    return id >= 0 && id <= UINT16_MAX;
}

static void add_instances(struct metrics_building *b)
{
    for (size_t i = 0; i < b->head->metric_db_count; i++) {
        const struct cn_hpc_xml_metric_db *row = &b->head->metric_dbs[i];
        struct cn_hpc_xml_metric_name name;

        cn_hpc_xml_metric_name_parse(row->name, row->type, &name);
        /* A colon is part of the name here: "PAPI_TOT_CYC:u". */
        struct metric *metric =
            metric_of(b, row->name,
                      strlen(row->name) - (cn_ends_with(row->name, " (I)") ||
                                                   cn_ends_with(row->name, " (E)")
                                               ? strlen(" (I)")
                                               : 0));
        size_t count = metric->instance_count;
        if (name.scope == CN_NO_ID || !is_id(row->id) ||
            count == CN_HPC_XML_SCOPE_COUNT ||
            (count > 0 && metric->instances[0].scope == name.scope)) {
            cn_database_warn(b->db, false, "metric %s with id %" PRId64 " is not used",
                             row->name, row->id);
            continue;
        }
        metric->instances[metric->instance_count++] = (struct cn_scope_instance){
            .scope = (uint16_t)name.scope, .prop_id = (uint16_t)row->id};
    }
}

static void add_statistic(struct metrics_building *b, struct metric *metric,
                          const char *name, int64_t id, struct cn_statistic statistic)
{
    if (!is_id(id)) {
        cn_database_warn(b->db, false, "metric %s with id %" PRId64 " is not used", name,
                         id);
        return;
    }
    statistic.stat_id = (uint16_t)id;
    statistic.formula = "$$";
    CN_PUSH(metric->statistics, metric->statistic_count, metric->statistic_capacity,
            statistic);
}

/* PARTIALs: the statistics of 4.0. learn_formula() finds out what was combined. */
static void add_partial(struct metrics_building *b, const struct cn_hpc_xml_metric *row,
                        const struct cn_hpc_xml_metric_name *name)
{
    struct metric *metric = metric_of(b, row->name, name->base_len);
    struct cn_statistic statistic = {.scope = (uint16_t)name->scope,
                                     .combine = CN_COMBINE_SUM};
    bool is_known = false;
    int64_t id = row->id;

    if (metric->statistic_count == CN_HPC_XML_STATISTIC_MAX)
        return;
    for (size_t i = 0; i < metric->statistic_count && !is_known; i++)
        is_known = metric->statistics[i].stat_id == id &&
                   metric->statistics[i].scope == statistic.scope;
    /* hpcprof of late 2021 writes the id of a metric's first statistic for all of them. */
    if (is_known && name->partial < UINT16_MAX) {
        id += CN_HPC_XML_STATISTIC_STEP * (int64_t)name->partial;
        cn_database_warn(b->db, false,
                         "metric %s has the id %" PRId64
                         " of another one; using %" PRId64,
                         row->name, row->id, id);
    }
    if (strncmp(row->combine, "min", 3) == 0)
        statistic.combine = CN_COMBINE_MIN;
    else if (strncmp(row->combine, "max", 3) == 0)
        statistic.combine = CN_COMBINE_MAX;
    add_statistic(b, metric, row->name, id, statistic);
}

static bool variant_is(const struct cn_hpc_xml_metric_name *name, const char *word)
{
    return name->variant && name->variant_len == strlen(word) &&
           memcmp(name->variant, word, name->variant_len) == 0;
}

/* A metric of 2.x is a statistic: the sum, or one of a few others. */
static void add_legacy(struct metrics_building *b, const struct cn_hpc_xml_metric *row,
                       const struct cn_hpc_xml_metric_name *name)
{
    struct cn_statistic statistic = {.scope = (uint16_t)name->scope,
                                     .combine = CN_COMBINE_SUM};
    size_t len = name->base_len;

    if (variant_is(name, "Min"))
        statistic.combine = CN_COMBINE_MIN;
    else if (variant_is(name, "Max"))
        statistic.combine = CN_COMBINE_MAX;
    else if (name->variant && !variant_is(name, "Sum"))
        len = (size_t)(name->variant - row->name) + name->variant_len;
    add_statistic(b, metric_of(b, row->name, len), row->name, row->id, statistic);
}

/* The number after the next `$` of a formula; false if there is none. */
static bool next_reference(const char **formula, int64_t *out)
{
    const char *at = strchr(*formula, '$');

    if (!at)
        return false;
    size_t len = strspn(at + 1, "0123456789");
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

/* Columns identify the sums they use: Mean divides by the count, StdDev also uses the sum of
 * squares. */
static void learn_formula(struct metrics_building *b, const struct cn_hpc_xml_metric *row,
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

static void add_rows(struct metrics_building *b)
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

static void store_metric(struct cn_arena *arena, struct metric *from,
                         struct cn_metric *to)
{
    struct cn_scope_instance *instances =
        cn_arena_alloc(arena, from->instance_count, sizeof(*instances));
    struct cn_statistic *statistics =
        cn_arena_alloc(arena, from->statistic_count, sizeof(*statistics));

    if (from->instance_count > 0) {
        CN_SORT(from->instances, from->instance_count,
                CN_UP(struct cn_scope_instance, scope));
        memcpy(instances, from->instances, from->instance_count * sizeof(*instances));
    }
    if (from->statistic_count > 0) {
        CN_SORT(from->statistics, from->statistic_count,
                CN_UP(struct cn_statistic, stat_id));
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

/* An id that two metrics share would count its values twice. */
static bool check_ids(const struct cn_metrics *metrics, struct cn_error *err)
{
    bool *threads = cn_alloc(UINT16_MAX + 1, sizeof(*threads));
    bool *summaries = cn_alloc(UINT16_MAX + 1, sizeof(*summaries));
    bool ok = true;

    for (size_t i = 0; ok && i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; ok && k < metric->instance_count; k++) {
            bool *is_used = &threads[metric->instances[k].prop_id];

            ok = !*is_used || cn_fail(err, CN_ERR_FORMAT, "two metrics have the id %u",
                                      metric->instances[k].prop_id);
            *is_used = true;
        }
        for (size_t k = 0; ok && k < metric->statistic_count; k++) {
            bool *is_used = &summaries[metric->statistics[k].stat_id];

            ok = !*is_used ||
                 cn_fail(err, CN_ERR_FORMAT, "two metrics of the summary have the id %u",
                         metric->statistics[k].stat_id);
            *is_used = true;
        }
    }
    free(threads);
    free(summaries);
    return ok;
}

/* The usual columns, with the visibility and format of the file. */
static void build_taxonomy(struct metrics_building *b)
{
    struct cn_database *db = b->db;
    size_t k = 0;

    cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    struct cn_presented_metric *roots =
        cn_arena_alloc(&db->arena, db->taxonomy.root_count, sizeof(*roots));
    for (size_t i = 0; i < db->taxonomy.root_count; i++) {
        roots[i] = db->taxonomy.roots[i];
        /* Roots are in the order of metrics; metrics without columns have none. */
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
    struct metrics_building b = {.db = db, .head = head};
    struct cn_metric *list;

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
    bool ok = check_ids(&db->metrics, err);
    if (ok)
        build_taxonomy(&b);
    for (size_t i = 0; i < b.names.count; i++)
        free(b.list[i].statistics);
    free(b.list);
    cn_names_done(&b.names);
    return ok;
}
