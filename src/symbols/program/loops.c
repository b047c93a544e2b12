#include "symbols/program/loops.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "symbols/program/instruction.h"

/* Blocks with at most two successors each; block 0 is the entry. */
struct loops_graph {
    struct cn_bytes code;
    struct cn_instructions reader;
    cn_loops_ends_fn ends;
    void *arg;
    struct cn_loop_block *blocks;
    uint32_t (*next)[2]; /* NONE: no such successor */
    uint32_t *region;    /* by block: the loop that is divided, 0 the whole function */
    uint32_t *component; /* by block, while a region is divided */
    size_t count;
};

#define NONE UINT32_MAX

enum {
    WORK_MAX = 1 << 24
}; /* blocks that are looked at; then inner loops are not found */

/* Marks of an offset of the code. */
enum { IS_INSTRUCTION = 1, IS_LEADER = 2 };

static bool decode(struct loops_graph *graph, uint32_t off, struct cn_instruction *out)
{
    if (!cn_instruction_decode(&graph->reader, graph->code, off, out))
        return false;
    if (out->is_call)
        out->is_end = graph->ends(graph->arg, out->target);
    return true;
}

/* Find instructions, and where blocks begin. */
static void mark(struct loops_graph *graph, uint8_t *marks)
{
    struct cn_bytes code = graph->code;
    struct cn_instruction at;
    uint32_t off = 0;

    marks[0] = IS_LEADER;
    while (off < code.len && decode(graph, off, &at)) {
        marks[off] |= IS_INSTRUCTION;
        off += at.len;
        if (at.has_target && at.target < code.len)
            marks[at.target] |= IS_LEADER;
        if ((at.has_target || at.is_end) && off < code.len)
            marks[off] |= IS_LEADER;
    }
}

/* A leader that is not the beginning of an instruction is data or a wrong jump. */
static uint32_t block_at(const uint32_t *block_of, size_t len, uint64_t off)
{
    return off < len ? block_of[off] : NONE;
}

static void connect(struct loops_graph *graph, const uint32_t *block_of)
{
    struct cn_bytes code = graph->code;

    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t off = graph->blocks[i].begin;
        struct cn_instruction at;

        graph->next[i][0] = graph->next[i][1] = NONE;
        while (off < code.len && decode(graph, off, &at)) {
            off += at.len;
            if (at.has_target)
                graph->next[i][1] = block_at(block_of, code.len, at.target);
            if (at.is_end)
                break;
            if (block_at(block_of, code.len, off) != NONE) {
                graph->next[i][0] = block_of[off];
                break;
            }
        }
    }
}

static void build(struct loops_graph *graph)
{
    struct cn_bytes code = graph->code;
    uint8_t *marks = cn_alloc(code.len, sizeof(*marks));
    uint32_t *block_of = cn_alloc(code.len, sizeof(*block_of));

    mark(graph, marks);
    for (size_t off = 0; off < code.len; off++)
        graph->count += marks[off] == (IS_INSTRUCTION | IS_LEADER);
    graph->blocks = cn_alloc(graph->count + 1, sizeof(*graph->blocks));
    graph->next = cn_alloc(graph->count + 1, sizeof(*graph->next));
    graph->region = cn_alloc(graph->count + 1, sizeof(*graph->region));
    graph->component = cn_alloc(graph->count + 1, sizeof(*graph->component));
    graph->count = 0;
    for (size_t off = 0; off < code.len; off++) {
        block_of[off] = NONE;
        if (marks[off] != (IS_INSTRUCTION | IS_LEADER))
            continue;
        block_of[off] = (uint32_t)graph->count;
        graph->blocks[graph->count++].begin = (uint32_t)off;
    }
    connect(graph, block_of);
    free(marks);
    free(block_of);
}

/* Tarjan's algorithm, without recursion. */
struct loops_search {
    uint32_t *index, *low; /* by block; 0: not visited */
    uint32_t *stack, *path;
    uint8_t *edge; /* by block: the successor to follow next */
    bool *is_on_stack;
    uint32_t next_index, next_component;
    size_t stack_count, path_count;
};

static bool is_inside(const struct loops_graph *graph, uint32_t block, uint32_t region,
                      uint32_t head)
{
    return block != NONE && graph->region[block] == region && block != head;
}

static void enter(struct loops_search *s, uint32_t block)
{
    s->index[block] = s->low[block] = ++s->next_index;
    s->edge[block] = 0;
    s->stack[s->stack_count++] = block;
    s->path[s->path_count++] = block;
    s->is_on_stack[block] = true;
}

static void leave(struct loops_search *s, struct loops_graph *graph, uint32_t block)
{
    s->path_count--;
    if (s->low[block] == s->index[block]) {
        uint32_t member;

        s->next_component++;
        do {
            member = s->stack[--s->stack_count];
            s->is_on_stack[member] = false;
            graph->component[member] = s->next_component;
        } while (member != block);
    }
    if (s->path_count > 0) {
        uint32_t above = s->path[s->path_count - 1];

        if (s->low[block] < s->low[above])
            s->low[above] = s->low[block];
    }
}

static void search_from(struct loops_search *s, struct loops_graph *graph, uint32_t from,
                        uint32_t region, uint32_t head)
{
    enter(s, from);
    while (s->path_count > 0) {
        uint32_t block = s->path[s->path_count - 1], to;

        if (s->edge[block] == 2) {
            leave(s, graph, block);
            continue;
        }
        to = graph->next[block][s->edge[block]++];
        if (!is_inside(graph, to, region, head))
            continue;
        if (s->index[to] == 0)
            enter(s, to);
        else if (s->is_on_stack[to] && s->index[to] < s->low[block])
            s->low[block] = s->index[to];
    }
}

/* The components of a region, without the edges to its head; numbers count from 1. */
static uint32_t find_components(struct loops_graph *graph, uint32_t region, uint32_t head)
{
    struct loops_search s = {
        .index = cn_alloc(graph->count, sizeof(*s.index)),
        .low = cn_alloc(graph->count, sizeof(*s.low)),
        .stack = cn_alloc(graph->count, sizeof(*s.stack)),
        .path = cn_alloc(graph->count, sizeof(*s.path)),
        .edge = cn_alloc(graph->count, sizeof(*s.edge)),
        .is_on_stack = cn_alloc(graph->count, sizeof(*s.is_on_stack)),
    };

    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->region[i] == region && s.index[i] == 0)
            search_from(&s, graph, i, region, head);
    free(s.index);
    free(s.low);
    free(s.stack);
    free(s.path);
    free(s.edge);
    free(s.is_on_stack);
    return s.next_component;
}

/* What is known of a component. */
struct component {
    bool is_cycle;
    uint32_t head; /* the first block that is entered from outside */
    uint32_t first;
    uint32_t loop; /* 1 + its index; 0: none */
};

/* Make loops of the cycles in a region; they are regions of their own. */
static void divide(struct cn_loops *loops, struct loops_graph *graph, uint32_t region,
                   uint32_t region_head)
{
    uint32_t count = find_components(graph, region, region_head);
    struct component *list = cn_alloc((size_t)count + 1, sizeof(*list));

    for (uint32_t i = 0; i <= count; i++)
        list[i].head = list[i].first = NONE;
    for (uint32_t i = 0; i < graph->count; i++) {
        bool is_member = graph->region[i] == region;

        if (is_member && list[graph->component[i]].first == NONE)
            list[graph->component[i]].first = i;
        for (unsigned k = 0; k < 2; k++) {
            uint32_t to = graph->next[i][k];

            if (!is_inside(graph, to, region, region_head))
                continue;
            if (is_member && graph->component[i] == graph->component[to])
                list[graph->component[i]].is_cycle = true;
            else if (to < list[graph->component[to]].head)
                list[graph->component[to]].head = to;
        }
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        if (graph->region[i] != region)
            continue;
        struct component *own = &list[graph->component[i]];
        if (!own->is_cycle)
            continue;
        if (own->loop == 0) {
            uint32_t head = own->head == NONE ? own->first : own->head;

            CN_PUSH(loops->list, loops->count, loops->capacity,
                    (struct cn_loop){graph->blocks[head].begin, region});
            own->loop = (uint32_t)loops->count;
            own->head = head;
        }
        graph->blocks[i].loop = own->loop;
    }
    /* Regions change last: they decide what is inside. */
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->region[i] == region && graph->blocks[i].loop > 0 &&
            graph->blocks[i].loop != region)
            graph->region[i] = graph->blocks[i].loop;
    free(list);
}

static size_t depth_of(const struct cn_loops *loops, uint32_t loop)
{
    size_t depth = 0;

    for (; loop > 0; loop = loops->list[loop - 1].parent)
        depth++;
    return depth;
}

static uint32_t find_block(const struct cn_loops *loops, uint32_t offset)
{
    if (loops->block_count == 0)
        return 0;
    return (uint32_t)cn_search_u32(&loops->blocks->begin, loops->block_count,
                                   sizeof(*loops->blocks), offset); /* 1 + the block */
}

void cn_loops_find(struct cn_loops *loops, struct cn_bytes code, bool is_x86,
                   cn_loops_ends_fn ends, void *arg)
{
    struct loops_graph graph = {.code = code, .ends = ends, .arg = arg};
    size_t work = 0;

    if (code.len == 0 || code.len > CN_LOOPS_CODE_MAX ||
        !cn_instructions_open(&graph.reader, is_x86))
        return;
    build(&graph);
    cn_instructions_close(&graph.reader);
    loops->blocks = graph.blocks;
    loops->block_count = graph.count;
    if (graph.count > 0)
        divide(loops, &graph, 0, NONE);
    for (uint32_t i = 0; i < loops->count && work < WORK_MAX; i++, work += graph.count)
        if (depth_of(loops, i + 1) < CN_LOOPS_DEPTH_MAX)
            divide(loops, &graph, i + 1, find_block(loops, loops->list[i].head) - 1);
    free(graph.next);
    free(graph.region);
    free(graph.component);
}

size_t cn_loops_at(const struct cn_loops *loops, uint32_t offset,
                   uint32_t heads[CN_LOOPS_DEPTH_MAX])
{
    uint32_t block = find_block(loops, offset);
    uint32_t loop = block > 0 ? loops->blocks[block - 1].loop : 0;
    size_t depth = depth_of(loops, loop), at = depth;

    for (; loop > 0; loop = loops->list[loop - 1].parent)
        heads[--at] = loops->list[loop - 1].head;
    return depth;
}

static bool is_in_loop(const struct cn_loops *loops, uint32_t loop, uint32_t head)
{
    for (; loop > 0; loop = loops->list[loop - 1].parent)
        if (loops->list[loop - 1].head == head)
            return true;
    return false;
}

size_t cn_loops_blocks(const struct cn_loops *loops, uint32_t head,
                       uint32_t blocks[CN_LOOPS_BLOCK_MAX])
{
    size_t total = 0, seen = 0, count = 0;

    for (size_t i = 0; i < loops->block_count; i++)
        total += is_in_loop(loops, loops->blocks[i].loop, head);
    for (size_t i = 0; i < loops->block_count && count < CN_LOOPS_BLOCK_MAX; i++) {
        uint32_t begin = loops->blocks[i].begin;

        if (!is_in_loop(loops, loops->blocks[i].loop, head))
            continue;
        if (begin == head || total <= CN_LOOPS_BLOCK_MAX ||
            seen * (CN_LOOPS_BLOCK_MAX - 1) / total >= count)
            blocks[count++] = begin;
        seen++;
    }
    return count;
}

void cn_loops_done(struct cn_loops *loops)
{
    free(loops->list);
    free(loops->blocks);
    *loops = (struct cn_loops){0};
}
