/* Structural operators: which spans are children, descendants, parents, ancestors or siblings of
 * others. Each takes one pass over the spans of the trace. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "model/contexts/context.h"
#include "store/traceql/eval.h"

enum relation { CHILD, PARENT, DESCENDANT, ANCESTOR, SIBLING };

/* Mark the spans whose parent is in the set; with `is_deep`, or that have any ancestor in it. */
static void mark_below(const struct cn_tql_trace *trace, const uint8_t *set, bool is_deep,
                       uint8_t *out)
{
    for (size_t i = 0; !is_deep && i < trace->count; i++) {
        uint32_t parent = trace->spans[i].parent;

        out[i] = parent != CN_NONE && set[parent];
    }
    for (size_t i = 0; is_deep && i < trace->order_count; i++) {
        uint32_t number = trace->order[i], parent = trace->spans[number].parent;

        out[number] = parent != CN_NONE && (set[parent] || out[parent]);
    }
}

/* Mark the spans that have a child in the set; with `is_deep`, or any descendant. */
static void mark_above(const struct cn_tql_trace *trace, const uint8_t *set, bool is_deep,
                       uint8_t *out)
{
    for (size_t i = 0; !is_deep && i < trace->count; i++)
        if (set[i] && trace->spans[i].parent != CN_NONE)
            out[trace->spans[i].parent] = 1;
    for (size_t i = trace->order_count; is_deep && i-- > 0;) {
        uint32_t number = trace->order[i], parent = trace->spans[number].parent;

        if (parent != CN_NONE && (set[number] || out[number]))
            out[parent] = 1;
    }
}

/* Mark the spans that have a sibling in the set: another one with the same parent id. */
static void mark_beside(const struct cn_tql_trace *trace, const uint8_t *set,
                        uint8_t *out)
{
    struct cn_map counts = {0};

    for (size_t i = 0; i < trace->count; i++)
        if (set[i])
            ++*cn_map_at(&counts, trace->spans[i].parent_id, 0);
    for (size_t i = 0; i < trace->count; i++)
        out[i] = cn_map_find(&counts, trace->spans[i].parent_id, 0) > (set[i] ? 1 : 0);
    cn_map_done(&counts);
}

static void mark(const struct cn_tql_trace *trace, enum relation relation,
                 const uint8_t *set, uint8_t *out)
{
    memset(out, 0, trace->count);
    switch (relation) {
    case CHILD:
    case DESCENDANT:
        mark_below(trace, set, relation == DESCENDANT, out);
        return;
    case PARENT:
    case ANCESTOR:
        mark_above(trace, set, relation == ANCESTOR, out);
        return;
    case SIBLING:
        mark_beside(trace, set, out);
        return;
    }
}

static const struct {
    enum cn_tql_op op;
    enum relation relation, inverse;
    bool is_not, is_both;
} relations[] = {
    {CN_TQL_GT, CHILD, PARENT, false, false},
    {CN_TQL_LT, PARENT, CHILD, false, false},
    {CN_TQL_DESCENDANT, DESCENDANT, ANCESTOR, false, false},
    {CN_TQL_ANCESTOR, ANCESTOR, DESCENDANT, false, false},
    {CN_TQL_SIBLING, SIBLING, SIBLING, false, false},
    {CN_TQL_NOT_CHILD, CHILD, PARENT, true, false},
    {CN_TQL_NOT_PARENT, PARENT, CHILD, true, false},
    {CN_TQL_NOT_DESCENDANT, DESCENDANT, ANCESTOR, true, false},
    {CN_TQL_NOT_ANCESTOR, ANCESTOR, DESCENDANT, true, false},
    {CN_TQL_NRE, SIBLING, SIBLING, true, false},
    {CN_TQL_BOTH_CHILD, CHILD, PARENT, false, true},
    {CN_TQL_BOTH_PARENT, PARENT, CHILD, false, true},
    {CN_TQL_BOTH_DESCENDANT, DESCENDANT, ANCESTOR, false, true},
    {CN_TQL_BOTH_ANCESTOR, ANCESTOR, DESCENDANT, false, true},
    {CN_TQL_BOTH_SIBLING, SIBLING, SIBLING, false, true},
};

void cn_tql_relate(const struct cn_tql_trace *trace, enum cn_tql_op op,
                   const uint8_t *left, const uint8_t *right, uint8_t *out)
{
    uint8_t *marks = cn_alloc(trace->count + 1, 1);
    size_t r = 0;

    while (relations[r].op != op)
        r++;
    mark(trace, relations[r].relation, left, out);
    for (size_t i = 0; i < trace->count; i++)
        out[i] = right[i] && out[i] != relations[r].is_not;
    if (relations[r].is_both) {
        mark(trace, relations[r].inverse, right, marks);
        for (size_t i = 0; i < trace->count; i++)
            out[i] |= left[i] & marks[i];
    }
    free(marks);
}
