#include <inttypes.h>

#include "base/map.h"
#include "formats/hpctoolkit/v4/read/meta_reader.h"
#include "formats/hpctoolkit/v4/read/metrics_reader.h"
#include "formats/hpctoolkit/v4/verify/parts.h"
#include "model/contexts/formula.h"

enum { PROPAGATION_BITS = 16, ID_COUNT = UINT16_MAX + 1 };

struct parts {
    struct cn_hpc_span section;
    struct cn_hpc_metrics_header head;
    struct cn_hpc_table metrics, scopes;
    struct cn_names names;
    uint64_t nested_left; /* bytes of arrays that metrics may still point to */
};

static void check_scopes(struct cn_hpc_v4_check *v, const struct parts *p)
{
    struct cn_hpc_scope record;

    for (uint32_t i = 0; i < p->scopes.count; i++) {
        uint64_t off = cn_hpc_table_off(&p->scopes, i);

        if (!cn_hpc_scope_decode(cn_hpc_table_at(&p->scopes, i), &record))
            continue;
        (void)cn_hpc_v4_check_string(v, p->section, record.name_off, "scope name");
        if (record.type > CN_SCOPE_TRANSITIVE)
            cn_findings_warn(&v->c.f, "unknown-value", off, "scope type %u is unknown",
                             record.type);
        if (record.propagation < PROPAGATION_BITS)
            continue;
        if (record.type == CN_SCOPE_TRANSITIVE)
            cn_findings_error(&v->c.f, "propagation-index", off,
                              "transitive scope follows bit %u, there are %d",
                              record.propagation, PROPAGATION_BITS);
        else
            cn_findings_warn(&v->c.f, "propagation-index", off,
                             "propagation index %u of a scope that is not transitive, "
                             "limit %d",
                             record.propagation, PROPAGATION_BITS);
    }
}

static void check_id(struct cn_hpc_v4_check *v, struct cn_hpc_set *ids, uint16_t id,
                     uint64_t off, const char *what)
{
    if (!cn_hpc_set_add(ids, id))
        cn_findings_error(&v->c.f, "metric-id-unique", off, "%s id %u is used twice",
                          what, id);
    if (id > CN_HPC_METRIC_ID_MAX)
        cn_findings_warn(&v->c.f, "metric-id-signed", off,
                         "%s id %u: hpcviewer reads ids up to %d", what, id,
                         CN_HPC_METRIC_ID_MAX);
}

/* Open an array that a metric points to. Arrays are not shared: together they fit the
 * section. */
static bool open_nested(struct cn_hpc_v4_check *v, struct parts *p,
                        const struct cn_hpc_array *array, struct cn_hpc_table *out)
{
    if (!cn_hpc_v4_check_table(v, p->section, array, out))
        return false;
    if (out->span.bytes.len > p->nested_left) {
        cn_findings_error(&v->c.f, "arrays-overlap", array->off,
                          "%s at 0x%" PRIx64 " overlap those of other metrics",
                          array->what, array->off);
        return false;
    }
    p->nested_left -= out->span.bytes.len;
    return true;
}

static void check_instances(struct cn_hpc_v4_check *v, struct parts *p,
                            const struct cn_hpc_metric *metric)
{
    struct cn_hpc_table table;
    struct cn_hpc_scope_instance record;

    if (!open_nested(v, p,
                     &(struct cn_hpc_array){"scope instances", metric->instances_off,
                                            metric->instance_count, p->head.instance_len,
                                            cn_hpc_scope_instance_size},
                     &table))
        return;
    for (uint32_t i = 0; i < table.count; i++) {
        uint64_t off = cn_hpc_table_off(&table, i);

        if (!cn_hpc_scope_instance_decode(cn_hpc_table_at(&table, i), &record))
            continue;
        cn_hpc_check_pointer(&v->c.f, "pointer-element", &p->scopes, record.scope_off,
                             off, "scope");
        check_id(v, &v->prop_ids, record.prop_id, off, "propagated metric");
    }
}

static void check_formula(struct cn_hpc_v4_check *v, const struct parts *p,
                          uint64_t pointer)
{
    const char *text = cn_hpc_v4_check_string(v, p->section, pointer, "formula");
    const struct cn_formula *formula;
    struct cn_arena arena = {0};
    struct cn_error err = {0};

    if (text && !cn_formula_parse(&formula, text, &arena, &err))
        cn_findings_error(&v->c.f, "formula", pointer, "%s", err.text);
    cn_arena_done(&arena);
}

static void check_statistics(struct cn_hpc_v4_check *v, struct parts *p,
                             const struct cn_hpc_metric *metric)
{
    struct cn_hpc_table table;
    struct cn_hpc_statistic record;

    if (!open_nested(v, p,
                     &(struct cn_hpc_array){"statistics", metric->statistics_off,
                                            metric->statistic_count,
                                            p->head.statistic_len, cn_hpc_statistic_size},
                     &table))
        return;
    for (uint32_t i = 0; i < table.count; i++) {
        uint64_t off = cn_hpc_table_off(&table, i);

        if (!cn_hpc_statistic_decode(cn_hpc_table_at(&table, i), &record))
            continue;
        cn_hpc_check_pointer(&v->c.f, "pointer-element", &p->scopes, record.scope_off,
                             off, "scope");
        check_formula(v, p, record.formula_off);
        check_id(v, &v->stat_ids, record.stat_id, off, "statistic");
        if (record.combine > CN_COMBINE_MAX)
            cn_findings_warn(&v->c.f, "unknown-value", off, "combine %u is unknown",
                             record.combine);
    }
}

static void check_metrics(struct cn_hpc_v4_check *v, struct parts *p)
{
    struct cn_hpc_metric record;

    for (uint32_t i = 0; i < p->metrics.count; i++) {
        uint64_t off = cn_hpc_table_off(&p->metrics, i);
        size_t known = p->names.count;
        const char *name;

        if (!cn_hpc_metric_decode(cn_hpc_table_at(&p->metrics, i), &record))
            continue;
        name = cn_hpc_v4_check_string(v, p->section, record.name_off, "metric name");
        if (name && cn_names_add(&p->names, name) < known)
            cn_findings_warn(&v->c.f, "metric-name-unique", off,
                             "two metrics are called %.80s", name);
        check_instances(v, p, &record);
        check_statistics(v, p, &record);
    }
}

static void check_final_layout(struct cn_hpc_v4_check *v, struct parts *p)
{
    const struct cn_hpc_metrics_header *head = &p->head;

    (void)cn_hpc_v4_check_table(v, p->section,
                                &(struct cn_hpc_array){"scopes", head->scopes_off,
                                                       head->scope_count, head->scope_len,
                                                       cn_hpc_scope_size},
                                &p->scopes);
    (void)cn_hpc_v4_check_table(
        v, p->section,
        &(struct cn_hpc_array){"metrics", head->metrics_off, head->metric_count,
                               head->metric_len, cn_hpc_metric_size},
        &p->metrics);
    check_scopes(v, p);
    check_metrics(v, p);
    cn_names_done(&p->names);
}

/* Ids of a draft, which the reader knows how to find. */
static void add_draft_ids(struct cn_hpc_v4_check *v)
{
    for (size_t i = 0; i < v->metrics.count; i++) {
        const struct cn_metric *metric = &v->metrics.list[i];

        for (size_t k = 0; k < metric->instance_count; k++)
            check_id(v, &v->prop_ids, metric->instances[k].prop_id, 0,
                     "propagated metric");
        for (size_t k = 0; k < metric->statistic_count; k++)
            check_id(v, &v->stat_ids, metric->statistics[k].stat_id, 0, "statistic");
    }
}

void cn_hpc_v4_check_metrics(struct cn_hpc_v4_check *v)
{
    struct parts p = {.section = v->meta.sections.list[CN_HPC_METRICS]};
    struct cn_hpc_meta meta = {.sections = v->meta.sections};
    struct cn_error err = {0};
    uint64_t errors = v->c.f.error_count;

    cn_hpc_set_init(&v->prop_ids, ID_COUNT);
    cn_hpc_set_init(&v->stat_ids, ID_COUNT);
    if (!cn_hpc_metrics_header_decode(p.section.bytes, &p.head)) {
        (void)cn_hpc_v4_check_too_short(v, &v->meta, CN_HPC_METRICS);
        return;
    }
    v->is_draft = meta.is_draft = p.head.metric_len == CN_HPC_DRAFT_METRIC_LEN;
    p.nested_left = p.section.bytes.len;
    if (v->is_draft)
        cn_findings_warn(&v->c.f, "draft-layout", p.section.off,
                         "metrics of %u bytes: the layout of a draft of early 2022",
                         p.head.metric_len);
    else
        check_final_layout(v, &p);
    if (cn_hpc_metrics_read(&meta, &v->arena, &v->metrics, &err)) {
        if (v->is_draft)
            add_draft_ids(v);
        v->c.thread_ids = &v->prop_ids;
        cn_zero_ids_init(&v->zero_ids[0], &v->metrics, false);
        cn_zero_ids_init(&v->zero_ids[1], &v->metrics, true);
        v->c.zero_ids = v->zero_ids;
        v->c.summary_ids = &v->stat_ids;
    } else if (v->c.f.error_count == errors) {
        cn_findings_error(&v->c.f, "metrics", p.section.off, "%s", err.text);
    }
}
