#include "formats/hpctoolkit/meas/verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "model/contexts/context.h"
#include "model/contexts/identity.h"
#include "model/contexts/samples.h"

enum { MODULE_ID_COUNT = UINT16_MAX + 1, SECTION_COUNT = 6 };

/* Tables that nodes and values refer to. */
struct run_tables {
    bool *has_module;
    bool *are_roots; /* by index of the node */
    uint8_t *kinds;  /* enum cn_node_kind, by index of the node */
    bool *are_formulas;
    size_t metric_count, metric_capacity;
    size_t kind_count;
};

void cn_hpc_verify_report(struct cn_hpc_verify *v, bool is_error, struct cn_bytes where,
                          const char *rule, const char *fmt, ...)
{
    uint64_t off = where.ptr && v->bytes.ptr ? (uint64_t)(where.ptr - v->bytes.ptr) : 0;
    va_list args;

    va_start(args, fmt);
    cn_findings_vadd(&v->f, is_error, rule, off, fmt, args);
    va_end(args);
}

static void check_header(struct cn_hpc_verify *v, const struct cn_hpc_run *run)
{
    struct cn_bytes rest = run->header_list;
    struct cn_hpc_run_header header = {0};
    struct cn_error err = {0};
    struct cn_hpc_run_pair pair;
    enum cn_step step;
    uint32_t count = 0;

    while ((step = cn_hpc_run_pair_next(&rest, &pair, &err)) == CN_ITEM)
        count++;
    (void)cn_hpc_run_header_decode(run->file, &header);
    if (step == CN_FAIL)
        cn_hpc_verify_report(v, true, rest, "header-pairs", "%s", err.text);
    else if (count != header.pair_count)
        cn_hpc_verify_report(v, true, run->file, "header-pairs",
                             "header has %" PRIu32 " names, but declares %" PRIu32, count,
                             header.pair_count);
}

static void check_modules(struct cn_hpc_verify *v, const struct cn_hpc_run *run,
                          struct run_tables *t)
{
    struct cn_bytes rest = run->modules_list, at = rest;
    struct cn_hpc_run_module_entry entry;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_hpc_run_module_next(&rest, &entry, &err)) == CN_ITEM) {
        if (t->has_module[entry.id])
            cn_hpc_verify_report(v, true, at, "module-ids",
                                 "two load modules with the id %u", entry.id);
        if (entry.path.len == 0)
            cn_hpc_verify_report(v, true, at, "module-path", "load module %u has no path",
                                 entry.id);
        t->has_module[entry.id] = true;
        at = rest;
    }
    if (step == CN_FAIL)
        cn_hpc_verify_report(v, true, at, "load-map", "%s", err.text);
}

static void check_metrics(struct cn_hpc_verify *v, const struct cn_hpc_run *run,
                          struct run_tables *t)
{
    struct cn_bytes rest = run->metrics_list, at = rest;
    struct cn_hpc_run_metric_entry entry;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_hpc_run_metric_next(&rest, &entry, &err)) == CN_ITEM) {
        CN_PUSH(t->are_formulas, t->metric_count, t->metric_capacity,
                entry.formula.len > 0);
        if (entry.show > 4)
            cn_hpc_verify_report(v, false, entry.record, "metric-show",
                                 "metric %zu has show %u, expected 0 to 4",
                                 t->metric_count - 1, entry.show);
        at = rest;
    }
    if (step == CN_FAIL)
        cn_hpc_verify_report(v, true, at, "metric-table", "%s", err.text);
}

static void check_kinds(struct cn_hpc_verify *v, const struct cn_hpc_run *run,
                        struct run_tables *t)
{
    struct cn_bytes rest = run->kinds_list, at = rest;
    struct cn_hpc_run_kind kind;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_hpc_run_kind_next(&rest, &kind, &err)) == CN_ITEM) {
        if ((size_t)kind.id + 1 > t->kind_count)
            t->kind_count = (size_t)kind.id + 1;
        at = rest;
    }
    if (step == CN_FAIL)
        cn_hpc_verify_report(v, true, at, "kinds", "%s", err.text);
    if (t->kind_count > CN_KINDS_MAX)
        cn_hpc_verify_report(v, true, run->kinds_list, "kinds",
                             "%zu kinds of identities, can read %d", t->kind_count,
                             CN_KINDS_MAX);
}

static void check_identity(struct cn_hpc_verify *v, const struct cn_hpc_run *run,
                           const struct run_tables *t)
{
    if (run->id_count > CN_IDENTITY_MAX)
        cn_hpc_verify_report(v, true, run->ids, "identity",
                             "identity of %u ids, can read %d", run->id_count,
                             CN_IDENTITY_MAX);
    for (uint16_t i = 0; i < run->id_count; i++) {
        struct cn_bytes bytes = cn_bytes_element(run->ids, i, cn_hpc_run_id_size);
        struct cn_hpc_run_id id = {0};

        (void)cn_hpc_run_id_decode(bytes, &id);
        if (cn_bits(id.kind, 0, CN_HPC_KIND_BITS) >= t->kind_count)
            cn_hpc_verify_report(v, true, bytes, "identity-kind",
                                 "identity of kind %" PRIu64 ", but there are %zu kinds",
                                 cn_bits(id.kind, 0, CN_HPC_KIND_BITS), t->kind_count);
    }
}

static bool is_at_top(const struct cn_hpc_verify *v, const struct run_tables *t,
                      const struct cn_hpc_run_node *node)
{
    uint32_t parent = cn_hpc_node_ids_find(&v->ids, node->parent);

    return node->parent == 0 || (parent != CN_NONE && t->are_roots[parent]);
}

/* Nodes that are no code must be at certain levels. */
static void check_special(struct cn_hpc_verify *v, struct run_tables *t,
                          const struct cn_hpc_run_node *node, struct cn_bytes bytes,
                          uint32_t number)
{
    bool is_root = node->address == CN_HPC_CODE_ROOT;

    t->are_roots[number] = is_root;
    if (is_root && node->parent != 0)
        cn_hpc_verify_report(v, true, bytes, "node-root",
                             "node %" PRIu32 " is a root and has a parent", node->id);
    if ((node->address == CN_HPC_CODE_IDLE || node->address == CN_HPC_CODE_PARTIAL) &&
        !is_at_top(v, t, node))
        cn_hpc_verify_report(v, true, bytes, "node-place",
                             "node %" PRIu32 " must be below a root, not below %" PRIu32,
                             node->id, node->parent);
}

static void check_module_of(struct cn_hpc_verify *v, const struct run_tables *t,
                            const struct cn_hpc_run_node *node, struct cn_bytes bytes)
{
    if (!t->has_module[node->module])
        cn_hpc_verify_report(v, true, bytes, "node-module",
                             "node %" PRIu32
                             " is in load module %u, which does not exist",
                             node->id, node->module);
}

static void check_kind(struct cn_hpc_verify *v, struct run_tables *t,
                       const struct cn_hpc_run_node *node, struct cn_bytes bytes,
                       uint32_t number)
{
    uint32_t parent = cn_hpc_node_ids_find(&v->ids, node->parent);
    uint8_t parent_kind = parent == CN_NONE ? CN_NODE_GLOBAL : t->kinds[parent];

    if (!cn_hpc_node_kind(node->module, parent_kind, is_at_top(v, t, node),
                          &t->kinds[number]))
        cn_hpc_verify_report(v, true, bytes, "node-place",
                             "node %" PRIu32 " of load module %u below node %" PRIu32,
                             node->id, node->module, node->parent);
}

static void check_node(struct cn_hpc_verify *v, struct run_tables *t,
                       struct cn_bytes bytes, uint32_t number)
{
    struct cn_hpc_run_node node = {0};

    (void)cn_hpc_run_node_decode(bytes, &node);
    if (node.parent != 0 && cn_hpc_node_ids_find(&v->ids, node.parent) == CN_NONE)
        cn_hpc_verify_report(v, true, bytes, "node-parent",
                             "node %" PRIu32 " has the parent %" PRIu32
                             ", which is no earlier node",
                             node.id, node.parent);
    check_kind(v, t, &node, bytes, number);
    if (node.module == 0)
        check_special(v, t, &node, bytes, number);
    else if (t->kinds[number] == CN_NODE_POINT ||
             t->kinds[number] == CN_NODE_RANGE_SAMPLE)
        check_module_of(v, t, &node, bytes);
    if (node.id == 0 || node.id > CN_HPC_NODE_ID_MAX)
        cn_hpc_verify_report(v, true, bytes, "node-id",
                             "node at index %" PRIu32 " has the id %" PRIu32, number,
                             node.id);
    else if (!cn_hpc_node_ids_add(&v->ids, node.id, number))
        cn_hpc_verify_report(v, true, bytes, "node-id", "two nodes with the id %" PRIu32,
                             node.id);
}

static void check_value(struct cn_hpc_verify *v, const struct run_tables *t,
                        struct cn_bytes bytes)
{
    struct cn_hpc_run_value value = {0};

    (void)cn_hpc_run_value_decode(bytes, &value);
    if (value.metric >= t->metric_count)
        cn_hpc_verify_report(v, true, bytes, "value-metric",
                             "value of metric %u, but there are %zu", value.metric,
                             t->metric_count);
    else if (t->are_formulas[value.metric])
        cn_hpc_verify_report(v, true, bytes, "value-metric",
                             "value of metric %u, which is a formula", value.metric);
    if (value.bits == 0)
        cn_hpc_verify_report(v, false, bytes, "value-zero", "value of 0");
}

static void check_index(struct cn_hpc_verify *v, const struct cn_hpc_run *run)
{
    uint64_t last = 0;

    for (uint64_t i = 0; i <= run->valued_count; i++) {
        struct cn_bytes bytes =
            cn_bytes_element(run->value_index, i, cn_hpc_run_value_index_size);
        struct cn_hpc_run_value_index index = {0};
        bool is_end = i == run->valued_count;

        (void)cn_hpc_run_value_index_decode(bytes, &index);
        if (index.first < last || index.first > run->value_count ||
            (i == 0 && index.first != 0) || (is_end && index.first != run->value_count))
            cn_hpc_verify_report(v, true, bytes, "value-index",
                                 "values start at %" PRIu64 " after %" PRIu64
                                 ", of %" PRIu64,
                                 index.first, last, run->value_count);
        if (is_end ? index.node != CN_HPC_VALUES_END
                   : cn_hpc_node_ids_find(&v->ids, index.node) == CN_NONE)
            cn_hpc_verify_report(v, true, bytes, "value-node",
                                 is_end ? "index ends with 0x%" PRIx32
                                        : "values of node %" PRIu32
                                          ", which does not exist",
                                 index.node);
        last = index.first;
    }
}

struct span {
    uint64_t begin_off, end_off;
};

/* Sections must not overlap; bytes between them are 0. */
static void check_gaps(struct cn_hpc_verify *v, const struct cn_hpc_run *run)
{
    const struct cn_hpc_run_footer *f = &run->footer;
    struct span spans[SECTION_COUNT + 1] = {
        {f->header_off, f->header_end_off}, {f->modules_off, f->modules_end_off},
        {f->nodes_off, f->nodes_end_off},   {f->metrics_off, f->metrics_end_off},
        {f->kinds_off, f->kinds_end_off},   {f->values_off, f->values_end_off},
        {f->footer_off, run->file.len},
    };

    CN_SORT(spans, SECTION_COUNT + 1, CN_UP(struct span, begin_off));
    for (size_t i = 1; i <= SECTION_COUNT; i++) {
        struct cn_bytes gap, all = run->file;

        if (spans[i].begin_off < spans[i - 1].end_off) {
            (void)cn_bytes_from(all, spans[i].begin_off, &gap);
            cn_hpc_verify_report(v, true, gap, "sections-overlap",
                                 "section at 0x%" PRIx64 " starts before 0x%" PRIx64,
                                 spans[i].begin_off, spans[i - 1].end_off);
            continue;
        }
        (void)cn_bytes_slice(all, spans[i - 1].end_off,
                             spans[i].begin_off - spans[i - 1].end_off, &gap);
        for (size_t k = 0; k < gap.len; k++)
            if (gap.ptr[k] != 0) {
                cn_hpc_verify_report(v, false, gap, "padding",
                                     "bytes between sections are not 0");
                break;
            }
    }
}

void cn_hpc_verify_run(struct cn_hpc_verify *v, const struct cn_hpc_run *run)
{
    struct run_tables t = {.has_module = cn_alloc(MODULE_ID_COUNT, sizeof(bool))};

    check_gaps(v, run);
    check_header(v, run);
    check_modules(v, run, &t);
    check_metrics(v, run, &t);
    check_kinds(v, run, &t);
    check_identity(v, run, &t);
    cn_hpc_node_ids_begin(&v->ids, (size_t)run->node_count);
    t.are_roots = cn_alloc((size_t)run->node_count, sizeof(*t.are_roots));
    t.kinds = cn_alloc((size_t)run->node_count, sizeof(*t.kinds));
    for (uint64_t i = 0; i < run->node_count; i++)
        check_node(v, &t, cn_bytes_element(run->nodes, i, cn_hpc_run_node_size),
                   (uint32_t)i);
    for (uint64_t i = 0; i < run->value_count; i++)
        check_value(v, &t, cn_bytes_element(run->values, i, cn_hpc_run_value_size));
    check_index(v, run);
    free(t.has_module);
    free(t.are_roots);
    free(t.kinds);
    free(t.are_formulas);
}
