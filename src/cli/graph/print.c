#include "cli/graph/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/path.h"
#include "cli/print/fields.h"
#include "cli/print/fixed_width.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"

enum { ADDRESS_WIDTH = 12, FIELD_GAP = 2 };

static const struct cn_output_field fields[CN_GRAPH_FIELD_COUNT] = {
    [CN_GRAPH_TOTAL] = {"total", "  TOTAL TIME", NULL, CN_OUTPUT_USUAL},
    [CN_GRAPH_SELF] = {"self", "   SELF TIME", NULL, 0},
    [CN_GRAPH_ADDRESS] = {"addr", "     ADDRESS  ", NULL, 0},
    [CN_GRAPH_TOTAL_AVG] = {"total-avg", "   TOTAL AVG", NULL, 0},
    [CN_GRAPH_TOTAL_MAX] = {"total-max", "   TOTAL MAX", NULL, 0},
    [CN_GRAPH_TOTAL_MIN] = {"total-min", "   TOTAL MIN", NULL, 0},
    [CN_GRAPH_SELF_AVG] = {"self-avg", "    SELF AVG", NULL, 0},
    [CN_GRAPH_SELF_MAX] = {"self-max", "    SELF MAX", NULL, 0},
    [CN_GRAPH_SELF_MIN] = {"self-min", "    SELF MIN", NULL, 0},
};

bool cn_graph_fields_parse(struct cn_graph_printer *printer, const char *text,
                           struct cn_error *err)
{
    return cn_fields_parse(fields, CN_GRAPH_FIELD_COUNT, text, printer->has_field, err);
}

static bool has_fields(const struct cn_graph_printer *printer)
{
    return cn_fields_any(printer->has_field, CN_GRAPH_FIELD_COUNT);
}

bool cn_graph_fields_need_extremes(const struct cn_graph_printer *printer)
{
    return printer->has_field[CN_GRAPH_TOTAL_MAX] ||
           printer->has_field[CN_GRAPH_TOTAL_MIN] ||
           printer->has_field[CN_GRAPH_SELF_MAX] || printer->has_field[CN_GRAPH_SELF_MIN];
}

/* `extremes` is NULL if they were not counted. */
static void add_fields(struct cn_graph_printer *printer, const struct cn_graph_node *node,
                       const struct cn_graph_extremes *extremes)
{
    static const struct cn_graph_extremes none;
    struct cn_text *out = &printer->out;
    uint64_t calls = node->calls ? node->calls : 1;
    const struct cn_graph_extremes *ends = extremes ? extremes : &none;
    bool has_return = ends->total_min_ns < UINT64_MAX;
    const uint64_t times[CN_GRAPH_FIELD_COUNT] = {
        [CN_GRAPH_TOTAL] = node->total_ns,
        [CN_GRAPH_SELF] = node->self_ns,
        [CN_GRAPH_TOTAL_AVG] = node->total_ns / calls,
        [CN_GRAPH_TOTAL_MAX] = ends->total_max_ns,
        [CN_GRAPH_TOTAL_MIN] = has_return ? ends->total_min_ns : ends->total_max_ns,
        [CN_GRAPH_SELF_AVG] = node->self_ns / calls,
        [CN_GRAPH_SELF_MAX] = ends->self_max_ns,
        [CN_GRAPH_SELF_MIN] = has_return ? ends->self_min_ns : ends->self_max_ns,
    };

    for (size_t i = 0; i < CN_GRAPH_FIELD_COUNT; i++) {
        if (!printer->has_field[i])
            continue;
        cn_text_fill(out, ' ', FIELD_GAP);
        if (i == CN_GRAPH_ADDRESS)
            cn_hex_number_add(out, node->address, ADDRESS_WIDTH);
        else
            cn_duration_add(out, times[i]);
    }
    if (has_fields(printer))
        cn_text_str_add(out, " : ");
}

enum { MARGIN_MAX = 3 * CN_INDENT_MAX };

/* Depth-first walk. `margin` is the text left of the current node: " | " for each branching
 * above it with more children to come, "   " for others. */
struct printed_walk {
    struct cn_graph_printer *printer;
    const struct cn_call_tree *tree;
    struct cn_text margin;
    size_t *margin_lens; /* of the nodes on the path */
    size_t depth, capacity;
};

static void add_node(struct printed_walk *walk, uint32_t node, bool is_branch)
{
    const struct cn_graph_node *self = &walk->tree->nodes[node];
    const struct cn_recording *rec = walk->tree->rec;
    uint32_t id = cn_call_tree_id(walk->tree, node);
    struct cn_text *out = &walk->printer->out;
    size_t line = out->len;
    char buffer[CN_CALL_NAME_MAX];

    add_fields(walk->printer, self,
               walk->tree->extremes ? &walk->tree->extremes[node] : NULL);
    cn_text_add(out, cn_text_str(&walk->margin), walk->margin.len);
    if (walk->margin.len >= MARGIN_MAX)
        cn_text_printf(out, "[%zu] ", walk->depth);
    cn_text_printf(out, "%s(%" PRIu64 ") ", is_branch ? " +-" : "", self->calls);
    cn_cli_add_name(walk->printer->args, out, line,
                    cn_call_tree_name(walk->tree, node, buffer));
    /* Like uftrace, not for the function that was asked for: the root of its tree. */
    if (walk->printer->has_srcline && cn_call_tree_parent(walk->tree, node) != 0 &&
        id < rec->function_count && rec->functions[id].file[0]) {
        cn_text_str_add(out, " [");
        cn_utf8_add_printable(out, rec->functions[id].file);
        cn_text_printf(out, ":%" PRIu32 "]", rec->functions[id].line);
    }
    cn_text_char(out, '\n');
}

static void ascend(struct printed_walk *walk)
{
    walk->margin.len = walk->margin_lens[--walk->depth];
}

/* Print what is below `top`. */
static void walk_below(struct printed_walk *walk, uint32_t top)
{
    struct cn_graph_printer *printer = walk->printer;
    const struct cn_tree_link *links = walk->tree->paths.links;
    uint32_t at = links[top].first_child;

    while (at) {
        bool is_branch = links[links[links[at].parent].first_child].next != 0;

        add_node(walk, at, is_branch);
        CN_PUSH(walk->margin_lens, walk->depth, walk->capacity, walk->margin.len);
        if (is_branch && walk->margin.len < MARGIN_MAX)
            cn_text_str_add(&walk->margin, links[at].next ? " | " : "   ");
        if (links[at].first_child) {
            at = links[at].first_child;
            continue;
        }
        ascend(walk);
        while (at != top && !links[at].next) {
            at = links[at].parent;
            if (at != top)
                ascend(walk);
        }
        if (at == top)
            break;
        /* An empty line separates two branches. */
        for (size_t i = 0; i < CN_GRAPH_FIELD_COUNT; i++)
            if (printer->has_field[i])
                cn_text_fill(&printer->out, ' ', strlen(fields[i].heading));
        cn_text_str_add(&printer->out, has_fields(printer) ? " : " : "");
        cn_text_add(&printer->out, cn_text_str(&walk->margin), walk->margin.len);
        cn_text_str_add(&printer->out, " | \n");
        at = links[at].next;
    }
}

/* Print the headings, a line for the root unless its name is NULL, and what is below. */
static void add_tree(struct cn_graph_printer *printer, const struct cn_call_tree *tree,
                     uint32_t top, const char *root_name,
                     const struct cn_graph_node *root)
{
    struct printed_walk walk = {.printer = printer, .tree = tree};

    cn_text_str_add(&printer->out, "========== FUNCTION CALL GRAPH ==========\n");
    cn_fields_heading_add(&printer->out, fields, CN_GRAPH_FIELD_COUNT, printer->has_field,
                          CN_GRAPH_FIELD_COUNT, printer->has_srcline);
    if (root_name) {
        struct cn_graph_extremes once = {.total_min_ns = root->total_ns,
                                         .total_max_ns = root->total_ns};

        add_fields(printer, root, &once);
        cn_text_str_add(&printer->out, "(1) ");
        cn_utf8_add_printable(&printer->out, root_name);
        cn_text_char(&printer->out, '\n');
    }
    walk_below(&walk, top);
    cn_text_char(&printer->out, '\n');
    cn_text_done(&walk.margin);
    free(walk.margin_lens);
}

static const struct cn_session *session_of(const struct cn_call_tree *tree, uint32_t node)
{
    uint32_t id = cn_call_tree_id(tree, node);

    return id < tree->rec->session_count ? &tree->rec->sessions[id] : NULL;
}

static void add_title(struct cn_text *out, const char *name,
                      const struct cn_session *session)
{
    cn_text_str_add(out, "# Function Call Graph for '");
    cn_utf8_add_printable(out, name);
    cn_text_str_add(out, "' (session: ");
    cn_utf8_add_printable(out, session ? session->sid : "none");
    cn_text_str_add(out, ")\n");
}

void cn_graph_print_session(struct cn_graph_printer *printer,
                            const struct cn_call_tree *tree, uint32_t node)
{
    const struct cn_session *session = session_of(tree, node);
    struct cn_graph_node root = {.calls = 1};
    const char *name = session ? cn_path_name(session->exename) : "unknown";

    for (uint32_t at = cn_call_tree_first(tree, node); at;
         at = cn_call_tree_next(tree, at))
        root.total_ns += tree->nodes[at].total_ns;
    add_title(&printer->out, name, session);
    add_tree(printer, tree, node, name, &root);
}

static void add_backtrace(struct cn_graph_printer *printer,
                          const struct cn_call_tree *tree, uint32_t session,
                          const struct cn_graph_backtrace *backtrace)
{
    uint32_t *path = NULL;
    size_t count = 0, capacity = 0;

    for (uint32_t at = backtrace->node; at != session;
         at = cn_call_tree_parent(tree, at)) {
        CN_PUSH(path, count, capacity, at);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cn_graph_node *node = &tree->nodes[path[count - 1 - i]];
        char buffer[CN_CALL_NAME_MAX];

        cn_text_printf(&printer->out, "   [%zu] ", i);
        cn_utf8_add_printable(&printer->out,
                              cn_call_tree_name(tree, path[count - 1 - i], buffer));
        cn_text_printf(&printer->out, " (0x%" PRIx64 ")\n", node->address);
    }
    free(path);
}

void cn_graph_print_function(struct cn_graph_printer *printer,
                             const struct cn_call_tree *tree, uint32_t session,
                             const struct cn_call_subgraph *sub, const char *name)
{
    const struct cn_session *info = session_of(tree, session);
    struct cn_text *out = &printer->out;

    add_title(out, name, info);
    cn_text_str_add(out, "=============== BACKTRACE ===============\n");
    for (size_t i = 0; i < sub->backtrace_count; i++) {
        cn_text_printf(out, " backtrace #%zu: hit %" PRIu64 ", time ", i,
                       sub->backtraces[i].calls);
        cn_duration_add(out, sub->backtraces[i].total_ns);
        cn_text_char(out, '\n');
        add_backtrace(printer, tree, session, &sub->backtraces[i]);
        cn_text_char(out, '\n');
    }
    add_tree(printer, &sub->tree, 0, NULL, NULL);
}
