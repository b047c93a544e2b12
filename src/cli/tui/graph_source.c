/* The call graph of a recording as rows. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/graph.h"
#include "base/alloc.h"
#include "base/path.h"
#include "cli/tui/source.h"
#include "model/calls/recording.h"

enum {
    TOTAL = CN_TUI_GRAPH_TOTAL,
    SELF = CN_TUI_GRAPH_SELF,
    CALLS = CN_TUI_GRAPH_CALLS,
    TOTAL_AVG = CN_TUI_GRAPH_TOTAL_AVG,
    SELF_AVG = CN_TUI_GRAPH_SELF_AVG,
    ADDRESS = CN_TUI_GRAPH_ADDRESS,
    COLUMN_COUNT = CN_TUI_GRAPH_COLUMN_COUNT,
};

/* Rows of a function: two groups, and the calls that lead to it. Nodes of the tree have their
 * own numbers as ids. */
enum { GROUP_CALLERS, GROUP_CALLS, GROUP_COUNT };
static const uint64_t group_bit = UINT64_C(1) << 40;
static const uint64_t trace_bit = UINT64_C(1) << 41; /* | backtrace << 42 | position */

struct graph_source {
    struct cn_tui_source source; /* first */
    const struct cn_call_tree *whole, *tree;
    const struct cn_call_subgraph *sub; /* NULL: of all functions */
};

static const double ns_per_s = 1e9;

static bool is_session(const struct graph_source *self, uint64_t id)
{
    return !self->sub && id < self->tree->paths.count &&
           cn_call_tree_parent(self->tree, (uint32_t)id) == 0;
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* The shortest and longest calls, if they were counted and one has returned. */
static void add_extremes(const struct graph_source *self, uint32_t id, double *values)
{
    const struct cn_graph_extremes *ends =
        self->tree->extremes ? &self->tree->extremes[id] : NULL;
    bool is_known = ends && ends->total_min_ns != UINT64_MAX;

    values[CN_TUI_GRAPH_TOTAL_MAX] =
        is_known ? (double)ends->total_max_ns / ns_per_s : NAN;
    values[CN_TUI_GRAPH_TOTAL_MIN] =
        is_known ? (double)ends->total_min_ns / ns_per_s : NAN;
    values[CN_TUI_GRAPH_SELF_MAX] = is_known ? (double)ends->self_max_ns / ns_per_s : NAN;
    values[CN_TUI_GRAPH_SELF_MIN] = is_known ? (double)ends->self_min_ns / ns_per_s : NAN;
}

static void add_node(const struct graph_source *self, uint32_t id,
                     struct cn_row_list *out)
{
    const struct cn_graph_node *node = &self->tree->nodes[id];
    double *values = cn_row_list_add(
        out, (struct cn_row){.id = id, .kind = CN_ROW_FUNCTION, .context = CN_NONE});
    uint64_t calls = node->calls ? node->calls : 1;
    uint64_t total_ns = node->total_ns;

    values[SELF] = (double)node->self_ns / ns_per_s;
    values[CALLS] = (double)node->calls;
    values[SELF_AVG] = (double)(node->self_ns / calls) / ns_per_s;
    values[ADDRESS] = (double)node->address;
    add_extremes(self, id, values);
    if (is_session(self, id)) {
        /* A program: as cairn graph prints it. */
        total_ns = 0;
        for (uint32_t at = cn_call_tree_first(self->tree, id); at;
             at = cn_call_tree_next(self->tree, at))
            total_ns += self->tree->nodes[at].total_ns;
        calls = 1;
        values[CALLS] = 1;
        values[SELF] = values[SELF_AVG] = values[ADDRESS] = NAN;
    }
    values[TOTAL] = (double)total_ns / ns_per_s;
    values[TOTAL_AVG] = (double)(total_ns / calls) / ns_per_s;
}

static void add_empty(struct cn_row_list *out, uint64_t id)
{
    double *values = cn_row_list_add(
        out, (struct cn_row){.id = id, .kind = CN_ROW_OTHER, .context = CN_NONE});

    for (size_t i = 0; i < COLUMN_COUNT; i++)
        values[i] = NAN;
}

/* A node of the whole tree on the way to a call of the function: `position` is 0 at the
 * function itself. */
static uint32_t trace_node(const struct graph_source *self, uint64_t id)
{
    const struct cn_graph_backtrace *backtrace =
        &self->sub->backtraces[(id >> 42) % self->sub->backtrace_count];
    uint32_t node = backtrace->node;

    for (uint64_t i = id & (group_bit - 1); i > 0; i--)
        node = cn_call_tree_parent(self->whole, node);
    return node;
}

static bool is_below_session(const struct graph_source *self, uint32_t node)
{
    return cn_call_tree_parent(self->whole, cn_call_tree_parent(self->whole, node)) == 0;
}

static void add_trace(const struct graph_source *self, uint64_t id,
                      struct cn_row_list *out)
{
    const struct cn_graph_backtrace *backtrace =
        &self->sub->backtraces[(id >> 42) % self->sub->backtrace_count];
    uint32_t node = trace_node(self, id);

    add_empty(out, id);
    out->rows[out->count - 1].kind = CN_ROW_FUNCTION;
    double *values = out->values + (out->count - 1) * COLUMN_COUNT;
    values[TOTAL] = (double)backtrace->total_ns / ns_per_s;
    values[CALLS] = (double)backtrace->calls;
    values[ADDRESS] = (double)self->whole->nodes[node].address;
}

static bool children(struct cn_tui_source *source, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err)
{
    const struct graph_source *self = (const struct graph_source *)source;
    uint32_t at = 0;

    (void)err;
    cn_row_list_begin(out, COLUMN_COUNT);
    if (!parent && self->sub) {
        add_empty(out, group_bit | GROUP_CALLERS);
        add_empty(out, group_bit | GROUP_CALLS);
        return true;
    }
    if (parent && parent->id & trace_bit) {
        if (!is_below_session(self, trace_node(self, parent->id)))
            add_trace(self, parent->id + 1, out);
        return true;
    }
    if (parent && parent->id == (group_bit | GROUP_CALLERS)) {
        /* From the caller on; a function that the program starts with has none. */
        for (size_t i = 0; i < self->sub->backtrace_count; i++)
            add_trace(self,
                      trace_bit | (uint64_t)i << 42 |
                          !is_below_session(self, self->sub->backtraces[i].node),
                      out);
        return true;
    }
    if (parent && !(parent->id & group_bit))
        at = (uint32_t)parent->id;
    for (at = cn_call_tree_first(self->tree, at); at;
         at = cn_call_tree_next(self->tree, at))
        add_node(self, at, out);
    return true;
}

/* A node and its tree. */
struct graph_place {
    const struct cn_call_tree *tree;
    uint32_t node;
};

static struct graph_place place_of(const struct graph_source *self, uint64_t id)
{
    return id & trace_bit ? (struct graph_place){self->whole, trace_node(self, id)}
                          : (struct graph_place){self->tree, (uint32_t)id};
}

static bool label(struct cn_tui_source *source, const struct cn_row *row,
                  struct cn_text *text, struct cn_error *err)
{
    const struct graph_source *self = (const struct graph_source *)source;
    const struct cn_recording *rec = self->tree->rec;
    char buffer[CN_CALL_NAME_MAX];

    (void)err;
    if (row->id & group_bit) {
        cn_text_str_add(text,
                        row->id == (group_bit | GROUP_CALLERS) ? "called from" : "calls");
        return true;
    }
    if (is_session(self, row->id)) {
        uint32_t id = cn_call_tree_id(self->tree, (uint32_t)row->id);
        const char *name = id < rec->session_count ? rec->sessions[id].exename : "";

        cn_text_str_add(text, name[0] ? cn_path_name(name) : "unknown program");
        return true;
    }
    struct graph_place place = place_of(self, row->id);
    cn_text_str_add(text, cn_call_tree_name(place.tree, place.node, buffer));
    return true;
}

static bool location(struct cn_tui_source *source, const struct cn_row *row,
                     struct cn_location *out, struct cn_error *err)
{
    const struct graph_source *self = (const struct graph_source *)source;
    const struct cn_recording *rec = self->tree->rec;

    (void)err;
    *out = (struct cn_location){0};
    if (row->id & group_bit)
        return true;
    struct graph_place place = place_of(self, row->id);
    uint32_t id = cn_call_tree_id(place.tree, place.node);
    if (is_session(self, row->id)) {
        out->module = id < rec->session_count ? rec->sessions[id].exename : NULL;
    } else if (id < rec->function_count) {
        const struct cn_call_function *function = &rec->functions[id];

        out->module = rec->modules[function->module].path;
        out->file = function->file[0] ? function->file : NULL;
        out->line = function->line;
    }
    return true;
}

static bool is_leaf(struct cn_tui_source *source, const struct cn_row *row)
{
    const struct graph_source *self = (const struct graph_source *)source;

    if (row->id & group_bit)
        return false;
    if (row->id & trace_bit)
        return is_below_session(self, trace_node(self, row->id));
    return cn_call_tree_first(self->tree, (uint32_t)row->id) == 0;
}

static uint32_t function(struct cn_tui_source *source, const struct cn_row *row)
{
    const struct graph_source *self = (const struct graph_source *)source;

    if (row->id & group_bit || is_session(self, row->id))
        return CN_NONE;
    struct graph_place place = place_of(self, row->id);
    uint32_t id = cn_call_tree_id(place.tree, place.node);
    return id < self->tree->rec->function_count ? id : CN_NONE;
}

static uint64_t address(struct cn_tui_source *source, const struct cn_row *row)
{
    const struct graph_source *self = (const struct graph_source *)source;

    if (row->id & group_bit)
        return 0;
    struct graph_place place = place_of(self, row->id);
    return place.tree->nodes[place.node].address;
}

static void free_source(struct cn_tui_source *source)
{
    free(source);
}

static const struct cn_tui_source_ops ops = {children, label,   location,    is_leaf,
                                             function, address, free_source, NULL};

static struct cn_tui_source *make(const struct cn_call_graph *graph,
                                  const struct cn_call_subgraph *sub)
{
    static const struct {
        const char *title;
        enum cn_tui_unit unit;
        bool is_shown;
    } about[COLUMN_COUNT] = {
        [TOTAL] = {"TOTAL", CN_TUI_SECONDS, true},
        [SELF] = {"SELF", CN_TUI_SECONDS, true},
        [CALLS] = {"CALLS", CN_TUI_COUNT, true},
        [TOTAL_AVG] = {"TOTAL AVG", CN_TUI_SECONDS, false},
        [CN_TUI_GRAPH_TOTAL_MAX] = {"TOTAL MAX", CN_TUI_SECONDS, false},
        [CN_TUI_GRAPH_TOTAL_MIN] = {"TOTAL MIN", CN_TUI_SECONDS, false},
        [CN_TUI_GRAPH_SELF_MAX] = {"SELF MAX", CN_TUI_SECONDS, false},
        [CN_TUI_GRAPH_SELF_MIN] = {"SELF MIN", CN_TUI_SECONDS, false},
        [SELF_AVG] = {"SELF AVG", CN_TUI_SECONDS, false},
        [ADDRESS] = {"ADDRESS", CN_TUI_ADDRESS, false},
    };
    struct graph_source *self = cn_alloc(1, sizeof(*self));
    struct cn_row_list rows;
    double whole = 0;

    self->source = (struct cn_tui_source){.ops = &ops,
                                          .name_title = "FUNCTION",
                                          .order = CN_TUI_BY_CALL,
                                          .is_listed = true};
    self->whole = &graph->tree;
    self->tree = sub ? &sub->tree : &graph->tree;
    self->sub = sub;
    cn_tui_columns_init(&self->source, COLUMN_COUNT);
    struct cn_tui_column *columns = self->source.columns;
    cn_row_list_begin(&rows, COLUMN_COUNT);
    for (uint32_t i = 1; i < self->tree->paths.count; i++) {
        rows.count = 0;
        add_node(self, i, &rows);
        for (size_t c = 0; c < COLUMN_COUNT; c++)
            columns[c].max = largest(rows.values[c], columns[c].max);
        if (cn_call_tree_parent(self->tree, i) == 0)
            whole += rows.values[TOTAL];
    }
    cn_row_list_done(&rows);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        (void)strcpy(columns[c].title, about[c].title);
        columns[c].unit = about[c].unit;
        columns[c].is_shown = about[c].is_shown;
    }
    columns[TOTAL].whole = columns[SELF].whole = whole;
    return &self->source;
}

struct cn_tui_source *cn_tui_graph_new(const struct cn_call_graph *graph)
{
    return make(graph, NULL);
}

struct cn_tui_source *cn_tui_subgraph_new(const struct cn_call_graph *graph,
                                          const struct cn_call_subgraph *sub)
{
    return make(graph, sub);
}
