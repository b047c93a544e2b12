/* Call sites and their lines.
 *
 * The format lists a line as <S>, without its calls, and each call as a <C> beside it. The
 * model has one context for the line, with the called functions below it.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/read/tree.h"

/* A line and its location. */
struct joined_line {
    uint32_t file, line, node;
};

static int compare_lines(const void *left, const void *right)
{
    const struct joined_line *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void sort_lines(struct joined_line *lines, size_t count)
{
    enum { FEW = 16 };

    if (count > FEW) {
        qsort(lines, count, sizeof(*lines), compare_lines);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct joined_line line = lines[i];
        size_t k = i;

        for (; k > 0 && compare_lines(&lines[k - 1], &line) > 0; k--)
            lines[k] = lines[k - 1];
        lines[k] = line;
    }
}

/* The line that others are merged into, and the last of its children. */
struct joint {
    uint32_t into, tail;
};

static uint32_t tail_of(const struct cn_hpc_xml_tree *tree, uint32_t child)
{
    while (child != CN_HPC_XML_NO_NODE && tree->nodes[child].next != CN_HPC_XML_NO_NODE)
        child = tree->nodes[child].next;
    return child;
}

static void absorb(struct cn_hpc_xml_tree *tree, struct joint *joint, uint32_t node)
{
    struct cn_hpc_xml_node *into = &tree->nodes[joint->into];
    struct cn_hpc_xml_node *from = &tree->nodes[node];

    if (into->id == 0)
        into->id = from->id;
    if (joint->tail == CN_HPC_XML_NO_NODE)
        into->child = from->child;
    else
        tree->nodes[joint->tail].next = from->child;
    if (from->child != CN_HPC_XML_NO_NODE)
        joint->tail = tail_of(tree, from->child);
    from->child = CN_HPC_XML_NO_NODE;
    from->flags |= CN_HPC_XML_IS_GONE;
}

/* Merge the lines of one location, in the order of the file. A call is merged into the <S>
 * before it; else into the <S> after it; else into the first call. */
static void join_location(struct cn_hpc_xml_tree *tree, const struct joined_line *lines,
                          size_t count)
{
    uint32_t first = lines[0].node;
    struct joint joint = {first, tail_of(tree, tree->nodes[first].child)};

    for (size_t i = 1; i < count; i++) {
        uint32_t node = lines[i].node;
        uint32_t waiting = joint.into;

        if (tree->nodes[node].flags & CN_HPC_XML_FROM_CALL) {
            absorb(tree, &joint, node);
            continue;
        }
        joint = (struct joint){node, tail_of(tree, tree->nodes[node].child)};
        if (tree->nodes[waiting].flags & CN_HPC_XML_FROM_CALL)
            absorb(tree, &joint, waiting);
    }
}

void cn_hpc_xml_tree_join_lines(struct cn_hpc_xml_tree *tree, uint32_t parent)
{
    enum { ROOM = 64 };
    struct joined_line room[ROOM], *lines = room;
    uint32_t *link = &tree->nodes[parent].child;
    size_t count = 0, run;

    for (uint32_t i = *link; i != CN_HPC_XML_NO_NODE; i = tree->nodes[i].next)
        count += tree->nodes[i].kind == CN_CONTEXT_LINE;
    if (count < 2)
        return;
    if (count > ROOM)
        lines = cn_alloc(count, sizeof(*lines));
    count = 0;
    for (uint32_t i = *link; i != CN_HPC_XML_NO_NODE; i = tree->nodes[i].next)
        if (tree->nodes[i].kind == CN_CONTEXT_LINE)
            lines[count++] =
                (struct joined_line){tree->nodes[i].function, tree->nodes[i].line, i};
    sort_lines(lines, count);
    for (size_t i = 0; i < count; i += run) {
        run = 1;
        while (i + run < count && lines[i + run].file == lines[i].file &&
               lines[i + run].line == lines[i].line)
            run++;
        if (run > 1)
            join_location(tree, lines + i, run);
    }
    while (*link != CN_HPC_XML_NO_NODE) {
        struct cn_hpc_xml_node *node = &tree->nodes[*link];

        if (node->flags & CN_HPC_XML_IS_GONE)
            *link = node->next;
        else
            link = &node->next;
    }
    if (lines != room)
        free(lines);
}
