/* Call graphs for graphviz: ours, a box a function and an arrow for each pair that
 * calls; and uftrace's, an arrow for each step of each path. */

#include <inttypes.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/stacks/functions.h"

enum { COLORS = 9 }; /* of the scheme, from cold to hot */

/* A string as DOT quotes it. Control characters appear as \xHH. */
static void add_quoted(struct cn_text *to, const char *str)
{
    struct cn_text plain = {0};

    cn_utf8_add_printable(&plain, str);
    cn_text_char(to, '"');
    for (const char *at = cn_text_str(&plain); *at; at++) {
        if (*at == '"' || *at == '\\')
            cn_text_char(to, '\\');
        cn_text_char(to, *at);
    }
    cn_text_char(to, '"');
    cn_text_done(&plain);
}

static void add_function(struct cn_export *x, const struct cn_stacks *stacks,
                         const struct cn_functions *functions, size_t place)
{
    const struct cn_function_cost *cost = &functions->list[place];
    double whole = functions->total > 0 ? functions->total : 1;
    struct cn_text label = {0};

    cn_text_printf(&x->text, "    f%zu [label=", place);
    add_quoted(&label, stacks->places[place].name);
    label.len--; /* the line below goes inside the quotes */
    cn_text_printf(&label, "\\n%.1f%% (self %.1f%%)\"", 100 * cost->total / whole,
                   100 * cost->self / whole);
    cn_text_add(&x->text, label.chars, label.len);
    cn_text_printf(&x->text, ", fillcolor=%d, tooltip=",
                   1 + (int)((COLORS - 1) * cost->self / whole));
    add_quoted(&x->text, stacks->places[place].module);
    cn_text_str_add(&x->text, "]\n");
    cn_text_done(&label);
}

static void add_edge(struct cn_export *x, const struct cn_functions *functions,
                     const struct cn_call_edge *edge)
{
    double whole = functions->total > 0 ? functions->total : 1;

    cn_text_printf(&x->text, "    f%" PRIu32 " -> f%" PRIu32 " [label=\"", edge->from,
                   edge->to);
    if (edge->calls > 0)
        cn_text_printf(&x->text, "%" PRIu64 " x, ", edge->calls);
    cn_text_printf(&x->text, "%.1f%%\"]\n", 100 * edge->total / whole);
}

static bool write_graph(struct cn_export *x, struct cn_error *err)
{
    struct cn_functions functions;
    struct cn_stacks stacks;
    bool ok = true;

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    cn_functions_build(&functions, &stacks, false);
    cn_text_str_add(&x->text, "digraph ");
    add_quoted(&x->text, x->db ? x->db->title : cn_export_program(x->query->rec));
    cn_text_printf(&x->text,
                   " {\n    node [shape=box, style=filled, colorscheme=ylorrd%d, "
                   "fillcolor=1]\n",
                   COLORS);
    for (size_t i = 0; i < stacks.place_count && ok; i++) {
        const struct cn_function_cost *cost = &functions.list[i];

        if (cost->calls > 0 || cost->total > 0)
            add_function(x, &stacks, &functions, i);
        ok = cn_export_flush(x, err);
    }
    for (size_t i = 0; i < functions.edge_count && ok; i++) {
        add_edge(x, &functions, &functions.edges[i]);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, "}\n");
    cn_export_lose(x, "paths, of which only pairs of functions are kept", stacks.count);
    cn_functions_done(&functions);
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

static bool dump_graph(struct cn_export *x, struct cn_error *err)
{
    const struct cn_recording *rec = x->query->rec;
    const char *version = cn_recording_fact(rec, "uftrace_version");
    const char *command = cn_recording_fact(rec, "cmdline");
    struct cn_stacks stacks;
    bool ok = true;

    if (!cn_stacks_of_samples(&stacks, x, 0, err))
        return false;
    cn_text_printf(&x->text, "# version\":\"uftrace %s\"\n# command_line \"",
                   version ? version : CN_VERSION);
    cn_utf8_add_printable(&x->text, command ? command : "");
    cn_text_str_add(&x->text, "\"\n\ndigraph ");
    add_quoted(&x->text, cn_export_program(rec));
    cn_text_str_add(&x->text, " { \n");
    for (size_t i = 0; i < stacks.count && ok; i++) {
        const struct cn_stack_node *node = &stacks.nodes[i];

        if (node->parent == CN_NONE)
            continue;
        cn_text_str_add(&x->text, "    ");
        add_quoted(&x->text, stacks.places[stacks.nodes[node->parent].place].name);
        cn_text_str_add(&x->text, " -> ");
        add_quoted(&x->text, stacks.places[node->place].name);
        cn_text_printf(&x->text, " [xlabel = \"%" PRIu64 "\"]\n", node->calls);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, "}\n");
    cn_stacks_done(&stacks);
    return ok;
}

static bool dump_calls(const struct cn_call_query *query, const char *path,
                       const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, dump_graph, false, err);
}

const struct cn_format cn_format_dot = {
    .name = "dot",
    .summary = "call graph for graphviz: functions, who calls whom, shares of cost",
    .holds = "stacks",
    .is_file = true,
    .write_calls = write_calls,
    .write_database = write_database,
};

const struct cn_format cn_dump_graphviz = {
    .name = "graphviz",
    .summary = "as uftrace dump --graphviz",
    .holds = "stacks",
    .is_file = true,
    .write_calls = dump_calls,
};
