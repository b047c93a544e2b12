#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/read/lines.h"
#include "formats/hpctoolkit/xml/read/metrics_reader.h"

static int compare_lines(const void *left, const void *right)
{
    const struct cn_hpc_xml_line *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

static int compare_callees(const void *left, const void *right)
{
    const struct cn_hpc_xml_callee *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

static int compare_pairs(const void *left, const void *right)
{
    const struct cn_hpc_xml_pair *a = left, *b = right;

    return (a->execution > b->execution) - (a->execution < b->execution);
}

static int compare_functions(const void *left, const void *right)
{
    const struct cn_hpc_xml_pair *a = left, *b = right;

    return (a->function > b->function) - (a->function < b->function);
}

static void sort_pairs(struct cn_hpc_xml_pairs *pairs)
{
    size_t size = sizeof(*pairs->list);

    if (pairs->count == 0)
        return;
    pairs->by_function = cn_alloc(pairs->count, size);
    memcpy(pairs->by_function, pairs->list, pairs->count * size);
    qsort(pairs->list, pairs->count, size, compare_pairs);
    qsort(pairs->by_function, pairs->count, size, compare_functions);
}

static int compare_ids(const void *left, const void *right)
{
    const uint16_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static bool is_line(const struct cn_hpc_xml_node *node)
{
    return node->kind == CN_CONTEXT_LINE && !(node->flags & CN_HPC_XML_IS_GONE) &&
           node->child != CN_HPC_XML_NO_NODE;
}

static void count_calls(const struct cn_hpc_xml_tree *tree, size_t *line_count,
                        size_t *callee_count)
{
    *line_count = 0;
    *callee_count = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        if (!is_line(&tree->nodes[i]))
            continue;
        ++*line_count;
        for (uint32_t k = tree->nodes[i].child; k != CN_HPC_XML_NO_NODE;
             k = tree->nodes[k].next)
            ++*callee_count;
    }
}

/* Writers that number contexts as they write them leave nothing to sort. */
static bool lines_are_sorted(const struct cn_hpc_xml_lines *lines)
{
    for (size_t i = 1; i < lines->count; i++)
        if (lines->list[i - 1].id > lines->list[i].id)
            return false;
    return true;
}

static bool callees_are_sorted(const struct cn_hpc_xml_lines *lines)
{
    for (size_t i = 1; i < lines->callee_count; i++)
        if (lines->callees[i - 1].id > lines->callees[i].id)
            return false;
    return true;
}

static void list_calls(const struct cn_hpc_xml_tree *tree, struct cn_hpc_xml_lines *lines)
{
    size_t line_count, callee_count, unique = 0;

    count_calls(tree, &line_count, &callee_count);
    lines->list = cn_alloc(line_count, sizeof(*lines->list));
    lines->callees = cn_alloc(callee_count, sizeof(*lines->callees));
    for (size_t i = 0; i < tree->node_count; i++) {
        const struct cn_hpc_xml_node *node = &tree->nodes[i];

        if (!is_line(node))
            continue;
        lines->list[lines->count++] = (struct cn_hpc_xml_line){node->id, (uint32_t)i};
        for (uint32_t k = node->child; k != CN_HPC_XML_NO_NODE; k = tree->nodes[k].next)
            lines->callees[lines->callee_count++] =
                (struct cn_hpc_xml_callee){tree->nodes[k].id, node->id};
    }
    if (line_count == 0)
        return;
    if (!lines_are_sorted(lines))
        qsort(lines->list, line_count, sizeof(*lines->list), compare_lines);
    if (!callees_are_sorted(lines))
        qsort(lines->callees, callee_count, sizeof(*lines->callees), compare_callees);
    /* Ids should be unique; where they are not, the first one counts. */
    for (size_t i = 1; i < line_count; i++)
        if (lines->list[i].id != lines->list[unique].id)
            lines->list[++unique] = lines->list[i];
    lines->count = unique + 1;
}

static void pair_threads(const struct cn_metrics *metrics, struct cn_hpc_xml_lines *lines)
{
    struct cn_hpc_xml_pairs *pairs = &lines->threads;

    pairs->list = cn_alloc(metrics->count, sizeof(*pairs->list));
    lines->thread_ids =
        cn_alloc(metrics->count * CN_HPC_XML_SCOPE_COUNT, sizeof(*lines->thread_ids));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        int execution = cn_metric_prop_id(metric, CN_HPC_XML_EXECUTION);

        for (size_t k = 0; k < metric->instance_count; k++)
            lines->thread_ids[lines->thread_id_count++] = metric->instances[k].prop_id;
        if (execution != CN_NO_ID)
            pairs->list[pairs->count++] = (struct cn_hpc_xml_pair){
                .execution = (uint16_t)execution,
                .function = cn_metric_prop_id(metric, CN_HPC_XML_FUNCTION),
            };
    }
}

/* Only sums: of other statistics, those of a line and of what it calls say nothing about
 * both together. */
static void pair_summaries(const struct cn_metrics *metrics,
                           struct cn_hpc_xml_pairs *pairs)
{
    pairs->list = cn_alloc(metrics->count, sizeof(*pairs->list));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        int execution =
            cn_metric_stat_id(metric, CN_HPC_XML_EXECUTION, "$$", CN_COMBINE_SUM);

        if (execution != CN_NO_ID)
            pairs->list[pairs->count++] = (struct cn_hpc_xml_pair){
                .execution = (uint16_t)execution,
                .function =
                    cn_metric_stat_id(metric, CN_HPC_XML_FUNCTION, "$$", CN_COMBINE_SUM),
            };
    }
}

void cn_hpc_xml_lines_find(struct cn_hpc_xml_database *xml)
{
    struct cn_hpc_xml_lines *lines = &xml->lines;
    const struct cn_metrics *metrics = &xml->base.metrics;

    list_calls(&xml->tree, lines);
    pair_threads(metrics, lines);
    pair_summaries(metrics, &lines->summaries);
    sort_pairs(&lines->threads);
    sort_pairs(&lines->summaries);
    if (lines->thread_id_count > 0)
        qsort(lines->thread_ids, lines->thread_id_count, sizeof(*lines->thread_ids),
              compare_ids);
}
