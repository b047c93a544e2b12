
#include "base/alloc.h"
#include "base/sort.h"
#include "formats/hpctoolkit/xml/read/database.h"
#include "formats/hpctoolkit/xml/read/metrics_reader.h"

static bool is_line(const struct cn_hpc_xml_node *node)
{
    return node->kind == CN_CONTEXT_LINE && !(node->flags & CN_HPC_XML_IS_GONE) &&
           node->child != CN_HPC_XML_NO_NODE;
}

static void list_calls(const struct cn_hpc_xml_tree *tree, struct cn_hpc_xml_lines *lines)
{
    size_t line_capacity = 0, callee_capacity = 0, unique = 0;

    for (size_t i = 0; i < tree->node_count; i++) {
        const struct cn_hpc_xml_node *node = &tree->nodes[i];

        if (!is_line(node))
            continue;
        CN_PUSH(lines->list, lines->count, line_capacity,
                (struct cn_hpc_xml_link){node->id, (uint32_t)i});
        for (uint32_t k = node->child; k != CN_HPC_XML_NO_NODE; k = tree->nodes[k].next) {
            CN_PUSH(lines->callees, lines->callee_count, callee_capacity,
                    (struct cn_hpc_xml_link){tree->nodes[k].id, node->id});
        }
    }
    if (lines->count == 0)
        return;
    CN_SORT(lines->list, lines->count, CN_UP(struct cn_hpc_xml_link, id));
    CN_SORT(lines->callees, lines->callee_count, CN_UP(struct cn_hpc_xml_link, id));
    /* Ids should be unique; of several lines with the same id, the first one counts. */
    for (size_t i = 1; i < lines->count; i++)
        if (lines->list[i].id != lines->list[unique].id)
            lines->list[++unique] = lines->list[i];
    lines->count = unique + 1;
    lines->list = cn_realloc(lines->list, lines->count, sizeof(*lines->list));
    lines->callees =
        cn_realloc(lines->callees, lines->callee_count, sizeof(*lines->callees));
}

static struct cn_hpc_xml_cost *cost_at(struct cn_hpc_xml_costs *costs, int id)
{
    size_t capacity = costs->count;

    CN_GROW_TO(costs->list, (size_t)id + 1, capacity);
    while (costs->count < capacity)
        costs->list[costs->count++] = (struct cn_hpc_xml_cost){.inclusive = CN_NO_ID};
    return &costs->list[id];
}

static void add_costs(struct cn_hpc_xml_costs *costs, int inclusive, int exclusive)
{
    if (inclusive == CN_NO_ID)
        return;
    cost_at(costs, inclusive)->is_inclusive = true;
    if (exclusive == CN_NO_ID)
        return;
    cost_at(costs, inclusive)->has_exclusive = true;
    cost_at(costs, exclusive)->inclusive = inclusive;
}

void cn_hpc_xml_lines_find(struct cn_hpc_xml_database *xml)
{
    struct cn_hpc_xml_lines *lines = &xml->lines;
    const struct cn_metrics *metrics = &xml->database.base.metrics;

    list_calls(&xml->tree, lines);
    lines->thread_ids =
        cn_alloc(metrics->count * CN_HPC_XML_SCOPE_COUNT, sizeof(*lines->thread_ids));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; k < metric->instance_count; k++)
            lines->thread_ids[lines->thread_id_count++] = metric->instances[k].prop_id;
        add_costs(&lines->threads, cn_metric_prop_id(metric, CN_HPC_XML_EXECUTION),
                  cn_metric_prop_id(metric, CN_HPC_XML_FUNCTION));
        /* Only sums: other statistics of a line and its callees do not combine. */
        add_costs(&lines->summaries,
                  cn_metric_stat_id(metric, CN_HPC_XML_EXECUTION, "$$", CN_COMBINE_SUM),
                  cn_metric_stat_id(metric, CN_HPC_XML_FUNCTION, "$$", CN_COMBINE_SUM));
    }
    CN_SORT_VALUES(lines->thread_ids, lines->thread_id_count);
}
