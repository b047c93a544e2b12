/* A flame graph as one SVG file that needs nothing else: outermost calls at the bottom,
 * as wide as what was spent in and below them. A click zooms, a field searches. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/stacks/flamegraph_page.h"
#include "formats/exchange/stacks/stacks.h"

enum {
    WIDTH = 1200, /* in pixels, as are the rest */
    ROW = 17,
    TOP = 58,
    BOTTOM = 12,
    MARGIN = 10,
    CHAR_WIDTH = 7,
    DEPTH_MAX = 4096, /* stacks that are deeper are cut */
};

struct graph {
    struct cn_export *x;
    const struct cn_stacks *stacks;
    uint32_t rows;
    double *left;   /* by node: where it begins */
    double *totals; /* by node */
    double whole;
    uint64_t narrow_count, deep_count;
};

/* Text of XML: what has a meaning there is escaped, what XML cannot hold appears as
 * \xHH. */
static void add_text(struct cn_text *to, const char *str)
{
    struct cn_text plain = {0};

    cn_utf8_add_printable(&plain, str);
    for (const char *at = cn_text_str(&plain); *at; at++) {
        if (*at == '<')
            cn_text_str_add(to, "&lt;");
        else if (*at == '>')
            cn_text_str_add(to, "&gt;");
        else if (*at == '&')
            cn_text_str_add(to, "&amp;");
        else if (*at == '"')
            cn_text_str_add(to, "&quot;");
        else
            cn_text_char(to, *at);
    }
    cn_text_done(&plain);
}

/* A warm colour that depends on the name only. */
static void add_color(struct cn_text *to, const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    cn_text_printf(to, "rgb(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", 205 + hash % 50,
                   80 + (hash >> 8) % 150, (hash >> 16) % 60);
}

/* As much of a name as fits, with two dots where it is cut. Whole characters only. */
static void add_label(struct cn_text *to, const char *name, double width)
{
    size_t room = width > 3 * CHAR_WIDTH ? (size_t)(width / CHAR_WIDTH) : 0;
    size_t len = strlen(name), cut = 0, columns = 0;
    char part[WIDTH / CHAR_WIDTH * 4 + 4];

    if (room == 0)
        return;
    while (cut < len && cut + 4 < sizeof(part)) {
        size_t step = cn_utf8_char_len(name + cut, len - cut);

        if (columns + 1 > room - (len > room ? 2 : 0))
            break;
        columns++;
        cut += step ? step : 1;
    }
    memcpy(part, name, cut);
    part[cut] = '\0';
    add_text(to, part);
    if (cut < len)
        cn_text_str_add(to, "..");
}

static void add_box(struct graph *g, const char *name, double left, double total,
                    uint32_t row)
{
    struct cn_text *text = &g->x->text;
    double scale = g->whole > 0 ? (WIDTH - 2 * MARGIN) / g->whole : 0;
    double width = total * scale;
    unsigned y = TOP + (g->rows - 1 - row) * ROW;

    cn_text_printf(text,
                   "<g class=\"f\" data-l=\"%.0f\" data-v=\"%" PRIu64
                   "\" data-r=\"%" PRIu32 "\"><title>",
                   left, cn_stack_value(total), row);
    add_text(text, name);
    cn_text_printf(text,
                   " (%" PRIu64 " %s, %.2f%%)</title><rect x=\"%.2f\" y=\"%u\" "
                   "width=\"%.2f\" height=\"%d\" fill=\"",
                   cn_stack_value(total), g->stacks->unit,
                   g->whole > 0 ? 100 * total / g->whole : 0, MARGIN + left * scale, y,
                   width, ROW - 1);
    add_color(text, name);
    cn_text_printf(text, "\"/><text x=\"%.2f\" y=\"%u\">", MARGIN + left * scale + 3,
                   y + ROW - 5);
    add_label(text, name, width - 4);
    cn_text_str_add(text, "</text></g>\n");
}

/* Places of nodes follow from those before them: parents come first, and siblings in
 * order. */
static void place_nodes(struct graph *g)
{
    const struct cn_stacks *stacks = g->stacks;
    double *used = cn_alloc(stacks->count, sizeof(*used)); /* of each node's width */

    g->left = cn_alloc(stacks->count, sizeof(*g->left));
    for (size_t i = 0; i < stacks->count; i++) {
        uint32_t parent = stacks->nodes[i].parent;

        if (parent == CN_NONE) {
            g->left[i] = g->whole;
            g->whole += g->totals[i];
        } else {
            g->left[i] = g->left[parent] + used[parent];
            used[parent] += g->totals[i];
        }
    }
    free(used);
}

static bool add_boxes(struct graph *g, struct cn_error *err)
{
    const struct cn_stacks *stacks = g->stacks;
    double narrow = g->whole * 0.1 / WIDTH; /* a tenth of a pixel cannot be seen */
    bool ok = true;

    add_box(g, "all", 0, g->whole, 0);
    for (size_t i = 0; i < stacks->count && ok; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];

        if (node->is_root || g->totals[i] <= 0)
            continue;
        if (node->depth >= DEPTH_MAX) {
            g->deep_count++;
        } else if (g->totals[i] < narrow) {
            g->narrow_count++;
        } else {
            add_box(g, stacks->places[node->place].name, g->left[i], g->totals[i],
                    node->depth + 1);
            ok = cn_export_flush(g->x, err);
        }
    }
    return ok;
}

static void add_header(const struct graph *g)
{
    struct cn_text *text = &g->x->text;
    unsigned height = TOP + g->rows * ROW + BOTTOM;
    const char *title = g->x->db ? g->x->db->title : cn_export_program(g->x->query->rec);

    cn_text_printf(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
        "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" data-whole=\"%" PRIu64 "\">\n",
        WIDTH, height, WIDTH, height, cn_stack_value(g->whole));
    cn_text_str_add(text, cn_flamegraph_style);
    cn_text_printf(text,
                   "<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n"
                   "<text x=\"%d\" y=\"24\" class=\"title\">",
                   WIDTH / 2);
    add_text(text, title);
    cn_text_str_add(text, ": ");
    add_text(text, g->stacks->metric);
    cn_text_printf(
        text,
        "</text>\n<text x=\"%d\" y=\"46\" id=\"about\"> </text>\n"
        "<text x=\"%d\" y=\"24\" id=\"reset\" class=\"link\">reset zoom</text>\n"
        "<text x=\"%d\" y=\"24\" id=\"search\" class=\"link right\">search</text>"
        "\n<text x=\"%d\" y=\"46\" id=\"found\" class=\"right\"> </text>\n",
        MARGIN, MARGIN, WIDTH - MARGIN, WIDTH - MARGIN);
}

static bool write_graph(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    struct graph g = {.x = x, .stacks = &stacks, .rows = 1};
    bool ok;

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    g.totals = cn_stacks_totals(&stacks);
    for (size_t i = 0; i < stacks.count; i++) {
        const struct cn_stack_node *node = &stacks.nodes[i];

        if (!node->is_root && g.totals[i] > 0 && node->depth + 2 > g.rows &&
            node->depth < DEPTH_MAX)
            g.rows = node->depth + 2;
    }
    place_nodes(&g);
    add_header(&g);
    ok = add_boxes(&g, err);
    cn_text_str_add(&x->text, cn_flamegraph_script);
    cn_text_str_add(&x->text, "</svg>\n");
    cn_export_lose(x, "stacks that are too narrow to be seen", g.narrow_count);
    cn_export_lose(x, "stacks that are too deep to be shown", g.deep_count);
    free(g.left);
    free(g.totals);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_graph, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_graph, false, err);
}

const struct cn_format cn_format_flamegraph_svg = {
    .name = "flamegraph-svg",
    .summary = "flame graph in one file for any browser, with zoom and search",
    .holds = "stacks",
    .is_file = true,
    .write_calls = write_calls,
    .write_database = write_database,
};
