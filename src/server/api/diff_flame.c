#include "server/api/diff_flame.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "server/served/flame.h"

/* A row to be drawn. */
struct diff_flame_place {
    uint32_t row;
    uint32_t depth;
    double size;
};

struct diff_flame_painter {
    const struct cn_comparison *c;
    const struct cn_compare_rows *rows;
    double smallest;
    struct diff_flame_place *stack; /* rows to be drawn, the next one last */
    size_t count, capacity;
    struct cn_names names;
    struct cn_text nodes_text, label;
    struct cn_json nodes;
    size_t node_count;
};

static double size_of(const struct cn_compare_row *row)
{
    return fmax(row->value[CN_SIDE_A], row->value[CN_SIDE_B]);
}

/* The rows from `first` on that are large enough, the largest last. */
static void push_rows(struct diff_flame_painter *p, uint32_t first, uint32_t depth)
{
    size_t begin = p->count;

    for (uint32_t at = first; at != CN_NONE; at = p->rows->list[at].next_sibling) {
        double size = size_of(&p->rows->list[at]);

        if (!(size > p->smallest))
            continue;
        CN_PUSH(p->stack, p->count, p->capacity,
                (struct diff_flame_place){at, depth, size});
    }
    if (p->count > begin)
        CN_SORT(p->stack + begin, p->count - begin, CN_UP(struct diff_flame_place, size),
                CN_DOWN(struct diff_flame_place, row));
}

static void draw(struct diff_flame_painter *p, const struct diff_flame_place *place)
{
    const struct cn_compare_row *row = &p->rows->list[place->row];
    bool is_of_callers = p->rows->is_of_callers;

    cn_text_clear(&p->label);
    cn_comparison_label_add(&p->label, p->c, row->node);
    cn_json_array(&p->nodes);
    cn_json_u64(&p->nodes, place->depth);
    cn_json_u64(&p->nodes, cn_names_add(&p->names, cn_text_str(&p->label)));
    for (int side = 0; side < CN_SIDES; side++)
        cn_json_f64(&p->nodes, row->value[side]);
    for (int side = 0; side < CN_SIDES; side++)
        cn_json_f64(&p->nodes, is_of_callers ? NAN : p->c->self[side][row->node]);
    cn_json_id(&p->nodes, is_of_callers ? place->row : row->node);
    cn_json_end(&p->nodes);
    p->node_count++;
}

void cn_diff_flame_add(struct cn_json *json, const struct cn_comparison *c,
                       const struct cn_compare_rows *rows, uint32_t top, double min_share,
                       size_t depth_max)
{
    struct diff_flame_painter p = {
        .c = c,
        .rows = rows,
        .smallest = min_share * fmax(c->whole[CN_SIDE_A], c->whole[CN_SIDE_B]),
    };

    p.nodes.text = &p.nodes_text;
    cn_json_array(&p.nodes);
    push_rows(&p, top == CN_NONE ? rows->first_top : rows->list[top].first_child, 0);
    while (p.count > 0 && p.node_count < CN_FLAME_NODE_MAX) {
        struct diff_flame_place place = p.stack[--p.count];

        draw(&p, &place);
        if (place.depth + 1 < depth_max)
            push_rows(&p, rows->list[place.row].first_child, place.depth + 1);
    }
    cn_json_end(&p.nodes);
    cn_json_add_bool(json, "isCut", p.count > 0);
    cn_json_add_strs(json, "names", p.names.list, p.names.count);
    cn_json_key(json, "nodes");
    cn_json_raw(json, p.nodes_text.chars, p.nodes_text.len);
    free(p.stack);
    cn_names_done(&p.names);
    cn_text_done(&p.nodes_text);
    cn_text_done(&p.label);
}
