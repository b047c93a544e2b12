/* A flame graph as one self-contained SVG file: the outermost calls are at the bottom, the
 * width of a box is its total cost. A click zooms, "/" searches. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/write/stacks/stacks.h"

enum {
    WIDTH = 1200, /* in pixels, like the next ones */
    ROW = 17,
    TOP = 58,
    BOTTOM = 12,
    MARGIN = 10,
    CHAR_WIDTH = 7,
    DEPTH_MAX = 4096, /* of the drawn stacks */
};

/* clang-format off */
static const char style[] =
    "<style>\n"
    "text { font: 12px monospace; fill: #222; pointer-events: none; }\n"
    ".title { font: bold 16px sans-serif; text-anchor: middle; }\n"
    ".right { text-anchor: end; }\n"
    ".link { pointer-events: all; cursor: pointer; fill: #1a5fb4; }\n"
    ".paper { fill: #fbfaf6; }\n"
    ".f { cursor: pointer; }\n"
    ".f:hover rect { stroke: #222; stroke-width: 0.7; }\n"
    ".found rect { fill: #c64bd0; }\n"
    ".above { opacity: 0.5; }\n"
    ".hidden { display: none; }\n"
    "</style>\n";

/* `?search=PATTERN` and `?zoom=FUNCTION` in the URL search and zoom when the file opens. */
static const char script[] =
    "<script><![CDATA[\n"
    "\"use strict\";\n"
    "const svg = document.documentElement;\n"
    "const whole = Number(svg.dataset.whole);\n"
    "const margin = 10, width = 1200 - 2 * margin, letter = 7;\n"
    "const boxes = Array.from(document.querySelectorAll(\".f\"), g => ({\n"
    "  g, rect: g.querySelector(\"rect\"), text: g.querySelector(\"text\"),\n"
    "  left: Number(g.dataset.l), value: Number(g.dataset.v), row: Number(g.dataset.r),\n"
    "  title: g.querySelector(\"title\").textContent,\n"
    "  name: g.querySelector(\"title\").textContent.replace(/ \\([^(]*\\)$/, \"\"),\n"
    "}));\n"
    "const byId = id => document.getElementById(id);\n"
    "function label(box, pixels) {\n"
    "  const room = Math.floor((pixels - 4) / letter), letters = Array.from(box.name);\n"
    "  if (room < 3) return \"\";\n"
    "  return letters.length <= room ? box.name : letters.slice(0, room - 2).join(\"\") + \"..\";\n"
    "}\n"
    "function zoom(to) {\n"
    "  const scale = width / Math.max(to.value, 1);\n"
    "  for (const box of boxes) {\n"
    "    const isAbove = box.row < to.row;\n"
    "    const inside = box.left >= to.left - 0.5 &&\n"
    "        box.left + box.value <= to.left + to.value + 0.5;\n"
    "    const around = isAbove && box.left <= to.left + 0.5 &&\n"
    "        box.left + box.value >= to.left + to.value - 0.5;\n"
    "    const isShown = around || (!isAbove && inside);\n"
    "    box.g.classList.toggle(\"hidden\", !isShown);\n"
    "    box.g.classList.toggle(\"above\", around);\n"
    "    if (!isShown) continue;\n"
    "    const x = around ? margin : margin + (box.left - to.left) * scale;\n"
    "    const pixels = around ? width : box.value * scale;\n"
    "    box.rect.setAttribute(\"x\", x.toFixed(2));\n"
    "    box.rect.setAttribute(\"width\", pixels.toFixed(2));\n"
    "    box.text.setAttribute(\"x\", (x + 3).toFixed(2));\n"
    "    box.text.textContent = label(box, pixels);\n"
    "  }\n"
    "}\n"
    "function search(words) {\n"
    "  let pattern = null;\n"
    "  try { pattern = words ? new RegExp(words, \"i\") : null; } catch { pattern = null; }\n"
    "  const hits = [];\n"
    "  for (const box of boxes) {\n"
    "    const isHit = pattern !== null && box.row > 0 && pattern.test(box.name);\n"
    "    box.g.classList.toggle(\"found\", isHit);\n"
    "    if (isHit) hits.push(box);\n"
    "  }\n"
    "  hits.sort((a, b) => a.left - b.left || b.value - a.value);\n"
    "  let sum = 0, end = -1;\n"
    "  for (const box of hits)\n"
    "    if (box.left >= end - 0.5) { sum += box.value; end = box.left + box.value; }\n"
    "  byId(\"found\").textContent = pattern === null ? \" \" :\n"
    "    hits.length + \" found, \" + (100 * sum / Math.max(whole, 1)).toFixed(2) + \"%\";\n"
    "}\n"
    "function ask() {\n"
    "  const words = prompt(\"Search functions (a regular expression):\", \"\");\n"
    "  if (words !== null) search(words);\n"
    "}\n"
    "svg.addEventListener(\"click\", event => {\n"
    "  const g = event.target.closest(\".f\");\n"
    "  if (g) zoom(boxes.find(box => box.g === g));\n"
    "});\n"
    "svg.addEventListener(\"mouseover\", event => {\n"
    "  const g = event.target.closest(\".f\");\n"
    "  byId(\"about\").textContent = g ? g.querySelector(\"title\").textContent : \" \";\n"
    "});\n"
    "byId(\"reset\").addEventListener(\"click\", () => zoom(boxes[0]));\n"
    "byId(\"search\").addEventListener(\"click\", ask);\n"
    "addEventListener(\"keydown\", event => {\n"
    "  if ((event.ctrlKey && event.key === \"f\") || event.key === \"/\") {\n"
    "    event.preventDefault();\n"
    "    ask();\n"
    "  } else if (event.key === \"Escape\") {\n"
    "    zoom(boxes[0]);\n"
    "    search(\"\");\n"
    "  }\n"
    "});\n"
    "const wanted = new URLSearchParams(location.search);\n"
    "if (wanted.has(\"search\")) search(wanted.get(\"search\"));\n"
    "if (wanted.has(\"zoom\")) {\n"
    "  const box = boxes.find(box => box.name === wanted.get(\"zoom\"));\n"
    "  if (box) zoom(box);\n"
    "}\n"
    "]]></script>\n";
/* clang-format on */

struct flame_drawing {
    struct cn_export *x;
    const struct cn_stacks *stacks;
    uint32_t rows;
    double *left;   /* by node: its position, in the unit of the stacks */
    double *totals; /* by node */
    double whole;
    uint64_t narrow_count, deep_count;
};

/* Text with XML's special characters escaped; control characters appear as \xHH. */
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

/* A warm colour that depends only on the name. */
static void add_color(struct cn_text *to, const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    cn_text_printf(to, "rgb(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", 205 + hash % 50,
                   80 + (hash >> 8) % 150, (hash >> 16) % 60);
}

/* The start of a name that fits into `width` pixels, with two dots if it is cut. */
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

static void add_box(struct flame_drawing *g, const char *name, double left, double total,
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

/* Parents come first, and siblings in order: so the position of a node follows from the
 * nodes before it. */
static void position_nodes(struct flame_drawing *g)
{
    const struct cn_stacks *stacks = g->stacks;
    double *used = cn_alloc(stacks->count, sizeof(*used)); /* by the children so far */

    g->left = cn_alloc(stacks->count, sizeof(*g->left));
    for (size_t i = 0; i < stacks->count; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];

        if (node->parent == CN_NONE) {
            g->left[i] = g->whole;
            g->whole += g->totals[i];
        } else {
            g->left[i] = g->left[node->parent] + used[node->parent];
            used[node->parent] += g->totals[i];
        }
        if (!node->is_root && g->totals[i] > 0 && node->depth + 2 > g->rows &&
            node->depth < DEPTH_MAX)
            g->rows = node->depth + 2;
    }
    free(used);
}

static bool add_boxes(struct flame_drawing *g, struct cn_error *err)
{
    const struct cn_stacks *stacks = g->stacks;
    double narrow = g->whole * 0.1 / WIDTH; /* a tenth of a pixel is invisible */
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
            add_box(g, stacks->functions[node->function].name, g->left[i], g->totals[i],
                    node->depth + 1);
            ok = cn_export_flush(g->x, err);
        }
    }
    return ok;
}

static void add_header(const struct flame_drawing *g)
{
    struct cn_text *text = &g->x->text;
    unsigned height = TOP + g->rows * ROW + BOTTOM;

    cn_text_printf(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
        "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" data-whole=\"%" PRIu64 "\">\n",
        WIDTH, height, WIDTH, height, cn_stack_value(g->whole));
    cn_text_str_add(text, style);
    cn_text_printf(text,
                   "<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n"
                   "<text x=\"%d\" y=\"24\" class=\"title\">",
                   WIDTH / 2);
    add_text(text, cn_export_title(g->x));
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
    struct flame_drawing g = {.x = x, .stacks = &stacks, .rows = 1};

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    g.totals = cn_stacks_totals(&stacks);
    position_nodes(&g);
    add_header(&g);
    bool ok = add_boxes(&g, err);
    cn_text_str_add(&x->text, script);
    cn_text_str_add(&x->text, "</svg>\n");
    cn_export_lose(x, "stacks too narrow to be seen", g.narrow_count);
    cn_export_lose(x, "stacks too deep to be drawn", g.deep_count);
    free(g.left);
    free(g.totals);
    cn_stacks_done(&stacks);
    return ok;
}

const struct cn_format cn_format_flamegraph_svg = {
    .name = "flamegraph-svg",
    .summary = "flame graph in one file for any browser, with zoom and search",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_graph,
    .export_database = write_graph,
};
