/* Call sites and the lines they stand on.
 *
 * The format lists a line as <S>, without what it calls, and each call as a <C> of its own beside
 * it. The model has one context for the line, with what it calls below it.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/read/tree_reader.h"

struct place {
    uint32_t file, line, node;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void sort_places(struct place *places, size_t count)
{
    enum { FEW = 16 };

    if (count > FEW) {
        qsort(places, count, sizeof(*places), compare_places);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct place place = places[i];
        size_t k = i;

        for (; k > 0 && compare_places(&places[k - 1], &place) > 0; k--)
            places[k] = places[k - 1];
        places[k] = place;
    }
}

/* The lines of one place that become one: `into`, and the end of its children. */
struct joint {
    uint32_t into, tail;
};

static uint32_t tail_of(const struct cn_hpc_xml_tree *tree, uint32_t child)
{
    while (child != CN_HPC_XML_NO_NODE && tree->nodes[child].next != CN_HPC_XML_NO_NODE)
        child = tree->nodes[child].next;
    return child;
}

static void begin_joint(const struct cn_hpc_xml_tree *tree, struct joint *joint,
                        uint32_t node)
{
    *joint = (struct joint){node, tail_of(tree, tree->nodes[node].child)};
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

/* Lines of one place in the order of the file. A call belongs to the <S> before it; without
 * one to the next; without any, to the first call. */
static void join_place(struct cn_hpc_xml_tree *tree, const struct place *places,
                       size_t count)
{
    struct joint joint;

    begin_joint(tree, &joint, places[0].node);
    for (size_t i = 1; i < count; i++) {
        uint32_t node = places[i].node;
        uint32_t waiting = joint.into;

        if (tree->nodes[node].flags & CN_HPC_XML_FROM_CALL) {
            absorb(tree, &joint, node);
            continue;
        }
        begin_joint(tree, &joint, node);
        if (tree->nodes[waiting].flags & CN_HPC_XML_FROM_CALL)
            absorb(tree, &joint, waiting);
    }
}

static void unlink_gone(struct cn_hpc_xml_tree *tree, uint32_t *first)
{
    uint32_t *link = first;

    while (*link != CN_HPC_XML_NO_NODE) {
        struct cn_hpc_xml_node *node = &tree->nodes[*link];

        if (node->flags & CN_HPC_XML_IS_GONE)
            *link = node->next;
        else
            link = &node->next;
    }
}

void cn_hpc_xml_tree_join_lines(struct cn_hpc_xml_tree *tree, uint32_t parent)
{
    enum { ROOM = 64 };
    struct place room[ROOM], *places = room;
    uint32_t *first = &tree->nodes[parent].child;
    size_t count = 0, run;

    for (uint32_t i = *first; i != CN_HPC_XML_NO_NODE; i = tree->nodes[i].next)
        count += tree->nodes[i].kind == CN_CONTEXT_LINE;
    if (count < 2)
        return;
    if (count > ROOM)
        places = cn_alloc(count, sizeof(*places));
    count = 0;
    for (uint32_t i = *first; i != CN_HPC_XML_NO_NODE; i = tree->nodes[i].next)
        if (tree->nodes[i].kind == CN_CONTEXT_LINE)
            places[count++] =
                (struct place){tree->nodes[i].function, tree->nodes[i].line, i};
    sort_places(places, count);
    for (size_t i = 0; i < count; i += run) {
        run = 1;
        while (i + run < count && places[i + run].file == places[i].file &&
               places[i + run].line == places[i].line)
            run++;
        if (run > 1)
            join_place(tree, places + i, run);
    }
    unlink_gone(tree, first);
    if (places != room)
        free(places);
}
