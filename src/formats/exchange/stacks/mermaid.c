/* Call graphs as flow charts of Mermaid: ours, functions and who calls whom; and
 * uftrace's, a page with an arrow for each step of each path. */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/stacks/functions.h"

/* What may mean something to Mermaid or HTML is written as a code: #34; for '"'. */
static void add_quoted(struct cn_text *to, const char *str)
{
    struct cn_text plain = {0};

    cn_utf8_add_printable(&plain, str);
    cn_text_char(to, '"');
    for (const char *at = cn_text_str(&plain); *at; at++) {
        if ((uint8_t)*at >= 0x80 || isalnum((unsigned char)*at) ||
            strchr("_.:,-+*/=~!@$() ", *at))
            cn_text_char(to, *at);
        else
            cn_text_printf(to, "#%d;", *at);
    }
    cn_text_char(to, '"');
    cn_text_done(&plain);
}

static bool write_chart(struct cn_export *x, struct cn_error *err)
{
    struct cn_functions functions;
    struct cn_stacks stacks;
    bool ok = true;

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    cn_functions_build(&functions, &stacks, false);
    cn_text_str_add(&x->text, "flowchart TB\n");
    for (size_t i = 0; i < stacks.place_count && ok; i++) {
        const struct cn_function_cost *cost = &functions.list[i];

        if (!(cost->calls > 0 || cost->total > 0))
            continue;
        cn_text_printf(&x->text, "  f%zu[", i);
        add_quoted(&x->text, stacks.places[i].name);
        cn_text_str_add(&x->text, "]\n");
        ok = cn_export_flush(x, err);
    }
    for (size_t i = 0; i < functions.edge_count && ok; i++) {
        const struct cn_call_edge *edge = &functions.edges[i];
        double whole = functions.total > 0 ? functions.total : 1;

        cn_text_printf(&x->text, "  f%" PRIu32 " -->|", edge->from);
        if (edge->calls > 0)
            cn_text_printf(&x->text, "%" PRIu64 " x ", edge->calls);
        cn_text_printf(&x->text, "%.1f%%| f%" PRIu32 "\n", 100 * edge->total / whole,
                       edge->to);
        ok = cn_export_flush(x, err);
    }
    cn_export_lose(x, "paths, of which only pairs of functions are kept", stacks.count);
    cn_functions_done(&functions);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_chart, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_chart, false, err);
}

static void add_box(struct cn_text *to, const struct cn_stacks *stacks, uint32_t node)
{
    const struct cn_stack_node *at = &stacks->nodes[node];

    cn_text_printf(to, "%" PRIu32 "_%" PRIu32 "[", at->is_root ? 0 : at->depth + 1, node);
    add_quoted(to, stacks->places[at->place].name);
    cn_text_char(to, ']');
}

static bool dump_chart(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    bool ok = true;

    if (!cn_stacks_of_samples(&stacks, x, 0, err))
        return false;
    cn_text_str_add(&x->text, "<html>\n<head><meta charset=\"utf-8\"></head>\n<body>\n"
                              "<h2>Function Call Graph</h2>\n<pre class=\"mermaid\">\n"
                              "flowchart TB\n");
    for (uint32_t i = 0; i < stacks.count && ok; i++) {
        const struct cn_stack_node *node = &stacks.nodes[i];

        if (node->parent == CN_NONE)
            continue;
        cn_text_str_add(&x->text, "  ");
        add_box(&x->text, &stacks, node->parent);
        cn_text_printf(&x->text, " -->|%" PRIu64 "| ", node->calls);
        add_box(&x->text, &stacks, i);
        cn_text_str_add(&x->text, ";\n");
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(
        &x->text, "</pre>\n<script type=\"module\">\n"
                  "import mermaid from "
                  "'https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs';\n"
                  "mermaid.initialize({startOnLoad: true, maxTextSize: 99999999, "
                  "maxEdges: 99999999});\n"
                  "</script>\n</body>\n</html>\n");
    cn_stacks_done(&stacks);
    return ok;
}

static bool dump_calls(const struct cn_call_query *query, const char *path,
                       const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, dump_chart, false, err);
}

const struct cn_format cn_format_mermaid = {
    .name = "mermaid",
    .summary = "call graph as a flow chart of Mermaid",
    .holds = "stacks",
    .is_file = true,
    .write_calls = write_calls,
    .write_database = write_database,
};

const struct cn_format cn_dump_mermaid = {
    .name = "mermaid",
    .summary = "as uftrace dump --mermaid",
    .holds = "stacks",
    .is_file = true,
    .write_calls = dump_calls,
};
