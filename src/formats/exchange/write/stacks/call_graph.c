/* Call graphs in the syntax of Graphviz (DOT) and of Mermaid: cairn's, with a node per
 * function and an edge per pair of functions, and uftrace's, with an edge per step of each
 * call path. */

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/write/stacks/functions.h"

enum { COLORS = 9 }; /* of the colour scheme, from cold to hot */

/* A string in quotes. Control characters appear as \xHH. In Mermaid, characters with a
 * meaning to it or to HTML are written as a code: #34; for '"'. */
static void add_quoted(struct cn_text *to, const char *str, bool is_mermaid)
{
    struct cn_text plain = {0};

    cn_utf8_add_printable(&plain, str);
    cn_text_char(to, '"');
    for (const char *at = cn_text_str(&plain); *at; at++) {
        bool is_plain = (uint8_t)*at >= 0x80 || isalnum((unsigned char)*at) ||
                        strchr("_.:,-+*/=~!@$() ", *at);

        if (is_mermaid && !is_plain) {
            cn_text_printf(to, "#%d;", *at);
            continue;
        }
        if (*at == '"' || *at == '\\')
            cn_text_char(to, '\\');
        cn_text_char(to, *at);
    }
    cn_text_char(to, '"');
    cn_text_done(&plain);
}

static void add_function(struct cn_text *to, const struct cn_functions *functions,
                         uint32_t index, bool is_mermaid)
{
    const struct cn_stack_function *function = &functions->stacks.functions[index];
    const struct cn_function_cost *cost = &functions->costs[index];
    double whole = functions->total > 0 ? functions->total : 1;

    cn_text_printf(to,
                   is_mermaid ? "  f%" PRIu32 "[" : "    f%" PRIu32 " [label=", index);
    add_quoted(to, function->name, is_mermaid);
    if (!is_mermaid) {
        to->len--; /* the second line of the label is inside the quotes */
        cn_text_printf(to, "\\n%.1f%% (self %.1f%%)\", fillcolor=%d, tooltip=",
                       100 * cost->total / whole, 100 * cost->self / whole,
                       1 + (int)((COLORS - 1) * cost->self / whole));
        add_quoted(to, function->module, false);
    }
    cn_text_str_add(to, "]\n");
}

static void add_edge(struct cn_text *to, const struct cn_functions *functions,
                     const struct cn_call_edge *edge, bool is_mermaid)
{
    double whole = functions->total > 0 ? functions->total : 1;

    if (is_mermaid)
        cn_text_printf(to, "  f%" PRIu32 " -->|", edge->from);
    else
        cn_text_printf(to, "    f%" PRIu32 " -> f%" PRIu32 " [label=\"", edge->from,
                       edge->to);
    if (edge->calls > 0)
        cn_text_printf(to, is_mermaid ? "%" PRIu64 " x " : "%" PRIu64 " x, ",
                       edge->calls);
    cn_text_printf(to, "%.1f%%", 100 * edge->total / whole);
    if (is_mermaid)
        cn_text_printf(to, "| f%" PRIu32 "\n", edge->to);
    else
        cn_text_str_add(to, "\"]\n");
}

static bool write_functions(struct cn_export *x, struct cn_error *err)
{
    bool is_mermaid = x->format == &cn_format_mermaid, ok = true;
    struct cn_functions functions;

    if (!cn_functions_of(&functions, x, err))
        return false;
    if (is_mermaid) {
        cn_text_str_add(&x->text, "flowchart TB\n");
    } else {
        cn_text_str_add(&x->text, "digraph ");
        add_quoted(&x->text, cn_export_title(x), false);
        cn_text_printf(&x->text,
                       " {\n    node [shape=box, style=filled, colorscheme=ylorrd%d, "
                       "fillcolor=1]\n",
                       COLORS);
    }
    for (uint32_t i = 0; i < functions.stacks.function_count && ok; i++) {
        if (functions.costs[i].is_used)
            add_function(&x->text, &functions, i, is_mermaid);
        ok = cn_export_flush(x, err);
    }
    for (size_t i = 0; i < functions.edge_count && ok; i++) {
        add_edge(&x->text, &functions, &functions.edges[i], is_mermaid);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, is_mermaid ? "" : "}\n");
    cn_functions_done(&functions);
    return ok;
}

static const char mermaid_page_begin[] =
    "<html>\n<head><meta charset=\"utf-8\"></head>\n<body>\n"
    "<h2>Function Call Graph</h2>\n<div class=\"mermaid\">\nflowchart TB\n";
static const char mermaid_page_end[] =
    "</div>\n<script type=\"module\">\n"
    "import mermaid from "
    "'https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs';\n"
    "mermaid.initialize({startOnLoad: true, maxTextSize: 99999999, maxEdges: "
    "99999999});\n"
    "</script>\n</body>\n</html>\n";

static void add_dot_header(struct cn_export *x)
{
    const struct cn_recording *rec = x->query->rec;
    const char *version = cn_recording_fact(rec, "uftrace_version");
    const char *command = cn_recording_fact(rec, "cmdline");

    cn_text_printf(&x->text, "# version\":\"uftrace %s\"\n# command_line \"",
                   version ? version : CN_VERSION);
    cn_utf8_add_printable(&x->text, command ? command : "");
    cn_text_str_add(&x->text, "\"\n\ndigraph ");
    add_quoted(&x->text, cn_export_program(rec), false);
    cn_text_str_add(&x->text, " { \n");
}

static void add_mermaid_node(struct cn_text *to, const struct cn_stacks *stacks,
                             uint32_t index)
{
    const struct cn_stack_node *node = &stacks->nodes[index];

    cn_text_printf(to, "%" PRIu32 "_%" PRIu32 "[", node->is_root ? 0 : node->depth + 1,
                   index);
    add_quoted(to, stacks->functions[node->function].name, true);
    cn_text_char(to, ']');
}

/* The edge from the parent of a node to the node. */
static void add_step(struct cn_text *to, const struct cn_stacks *stacks, uint32_t index,
                     bool is_mermaid)
{
    const struct cn_stack_node *node = &stacks->nodes[index];
    const struct cn_stack_node *parent = &stacks->nodes[node->parent];

    if (is_mermaid) {
        cn_text_str_add(to, "  ");
        add_mermaid_node(to, stacks, node->parent);
        cn_text_printf(to, " -->|%" PRIu64 "| ", node->calls);
        add_mermaid_node(to, stacks, index);
        cn_text_str_add(to, ";\n");
    } else {
        cn_text_str_add(to, "    ");
        add_quoted(to, stacks->functions[parent->function].name, false);
        cn_text_str_add(to, " -> ");
        add_quoted(to, stacks->functions[node->function].name, false);
        cn_text_printf(to, " [xlabel = \"%" PRIu64 "\"]\n", node->calls);
    }
}

static bool write_paths(struct cn_export *x, struct cn_error *err)
{
    bool is_mermaid = x->format == &cn_dump_mermaid, ok = true;
    struct cn_stacks stacks;

    cn_stacks_of_samples(&stacks, x, 0);
    if (is_mermaid)
        cn_text_str_add(&x->text, mermaid_page_begin);
    else
        add_dot_header(x);
    for (uint32_t i = 0; i < stacks.count && ok; i++) {
        if (stacks.nodes[i].parent != CN_NONE)
            add_step(&x->text, &stacks, i, is_mermaid);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, is_mermaid ? mermaid_page_end : "}\n");
    cn_stacks_done(&stacks);
    return ok;
}

const struct cn_format cn_format_dot = {
    .name = "dot",
    .summary =
        "call graph for Graphviz: functions, callers and callees, costs in percent",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_functions,
    .export_database = write_functions,
};

const struct cn_format cn_format_mermaid = {
    .name = "mermaid",
    .summary = "call graph as a Mermaid flow chart",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_functions,
    .export_database = write_functions,
};

const struct cn_format cn_dump_graphviz = {
    .name = "graphviz",
    .summary = "the output of uftrace dump --graphviz",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_paths,
};

const struct cn_format cn_dump_mermaid = {
    .name = "mermaid",
    .summary = "the output of uftrace dump --mermaid",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_paths,
};
