#include "cli/tui/tui.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/graph.h"
#include "cli/graph/print.h"
#include "model/calls/recording.h"
#include "symbols/program/resolver.h"

const char *const cn_tui_view_names[CN_TUI_VIEW_COUNT] = {
    "graph", "report", "tree", "callers", "flat", "flame", "info"};

bool cn_tui_has_view(const struct cn_tui *tui, enum cn_tui_view view)
{
    return tui->data->has_recording || (view != CN_TUI_GRAPH && view != CN_TUI_REPORT);
}

struct cn_tui_pane *cn_tui_pane(struct cn_tui *tui)
{
    bool is_function = tui->view == CN_TUI_GRAPH && tui->is_function_shown;

    return &tui->panes[is_function ? CN_TUI_FUNCTION : tui->view];
}

enum cn_tui_step cn_tui_step_of(const struct cn_tui *tui)
{
    static const enum cn_tui_step steps[CN_TUI_VIEW_COUNT] = {
        [CN_TUI_GRAPH] = CN_TUI_STEP_GRAPH, [CN_TUI_REPORT] = CN_TUI_STEP_REPORT,
        [CN_TUI_TREE] = CN_TUI_STEP_TREE,   [CN_TUI_CALLERS] = CN_TUI_STEP_CALLERS,
        [CN_TUI_FLAT] = CN_TUI_STEP_FLAT,   [CN_TUI_FLAMES] = CN_TUI_STEP_TREE,
        [CN_TUI_INFO] = CN_TUI_STEP_INFO,
    };

    if (tui->view == CN_TUI_FLAMES && tui->data->has_recording &&
        tui->data->lens.count == 0)
        return CN_TUI_STEP_GRAPH;
    if (tui->view != CN_TUI_GRAPH || !tui->is_function_shown)
        return steps[tui->view];
    /* Forked children start at the top: only then is it another graph. */
    for (uint32_t i = 0; i < tui->data->setup.rec->task_count; i++)
        if (tui->data->setup.rec->tasks[i].is_fork)
            return CN_TUI_STEP_APART;
    return CN_TUI_STEP_GRAPH;
}

void cn_tui_say(struct cn_tui *tui, const char *text)
{
    cn_text_clear(&tui->message);
    cn_text_str_add(&tui->message, text);
}

static bool find_view(const char *name, enum cn_tui_view *out)
{
    for (int i = 0; i < CN_TUI_VIEW_COUNT; i++) {
        if (strcmp(cn_tui_view_names[i], name) != 0)
            continue;
        *out = (enum cn_tui_view)i;
        return true;
    }
    return false;
}

bool cn_tui_init(struct cn_tui *tui, struct cn_tui_data *data, struct cn_error *err)
{
    const char *name = cn_args_value(data->args, "view");

    *tui = (struct cn_tui){.data = data};
    tui->view = data->has_recording ? CN_TUI_GRAPH : CN_TUI_TREE;
    if (cn_args_has(data->args, "report"))
        tui->view = CN_TUI_REPORT;
    if (name)
        (void)find_view(name, &tui->view);
    if (cn_tui_has_view(tui, tui->view))
        return true;
    return cn_fail(err, CN_ERR_USAGE,
                   "%s is not a recording: it has no view '%s', but tree, callers, flat, "
                   "flame and info",
                   data->path, cn_tui_view_names[tui->view]);
}

void cn_tui_forget_function(struct cn_tui *tui)
{
    cn_tui_tree_done(&tui->panes[CN_TUI_FUNCTION].tree);
    tui->panes[CN_TUI_FUNCTION] = (struct cn_tui_pane){0};
    cn_tui_source_free(tui->function_source);
    tui->function_source = NULL;
    if (tui->has_sub)
        cn_call_subgraph_done(&tui->sub);
    tui->has_sub = false;
    free(tui->function);
    tui->function = NULL;
}

void cn_tui_forget(struct cn_tui *tui, enum cn_tui_view view)
{
    cn_tui_tree_done(&tui->panes[view].tree);
    cn_tui_flame_done(&tui->panes[view].flame);
    tui->panes[view] = (struct cn_tui_pane){0};
}

void cn_tui_done(struct cn_tui *tui)
{
    cn_tui_forget_function(tui);
    for (int i = 0; i < CN_TUI_PANE_COUNT; i++)
        cn_tui_forget(tui, (enum cn_tui_view)i);
    cn_tui_menu_close(&tui->menu);
    cn_tui_source_text_done(&tui->source_text);
    cn_resolver_free(tui->resolver);
    cn_text_done(&tui->prompt);
    cn_text_done(&tui->search);
    cn_text_done(&tui->message);
    cn_text_done(&tui->wanted);
    cn_text_done(&tui->edit_path);
    cn_tui_canvas_done(&tui->canvas);
}

/* The columns that -f asks for in the graph. */
static void choose_graph_columns(struct cn_tui *tui, struct cn_tui_source *source)
{
    static const enum cn_tui_graph_column columns[CN_GRAPH_FIELD_COUNT] = {
        [CN_GRAPH_TOTAL] = CN_TUI_GRAPH_TOTAL,
        [CN_GRAPH_SELF] = CN_TUI_GRAPH_SELF,
        [CN_GRAPH_ADDRESS] = CN_TUI_GRAPH_ADDRESS,
        [CN_GRAPH_TOTAL_AVG] = CN_TUI_GRAPH_TOTAL_AVG,
        [CN_GRAPH_TOTAL_MAX] = CN_TUI_GRAPH_TOTAL_MAX,
        [CN_GRAPH_TOTAL_MIN] = CN_TUI_GRAPH_TOTAL_MIN,
        [CN_GRAPH_SELF_AVG] = CN_TUI_GRAPH_SELF_AVG,
        [CN_GRAPH_SELF_MAX] = CN_TUI_GRAPH_SELF_MAX,
        [CN_GRAPH_SELF_MIN] = CN_TUI_GRAPH_SELF_MIN,
    };
    const char *fields = cn_args_value(tui->data->args, "output-fields");
    struct cn_graph_printer wanted = {0};
    struct cn_error err;

    for (size_t i = 0; i < CN_TUI_GRAPH_COLUMN_COUNT && tui->has_graph_columns; i++)
        source->columns[i].is_shown = tui->graph_columns[i];
    if (tui->has_graph_columns)
        return;
    if (!fields || cn_tui_begins_with_report(tui->data->args) ||
        !cn_graph_fields_parse(&wanted, fields, &err))
        return;
    source->columns[CN_TUI_GRAPH_CALLS].is_shown = fields[0] == '+';
    for (size_t i = 0; i < CN_GRAPH_FIELD_COUNT; i++)
        source->columns[columns[i]].is_shown = wanted.has_field[i];
}

/* The order that -s asks for in views of a database. */
static void choose_order(struct cn_tui *tui, struct cn_tui_source *source)
{
    const char *sort = cn_args_value(tui->data->args, "sort");

    if (!sort || cn_tui_begins_with_report(tui->data->args))
        return;
    if (strcmp(sort, "name") == 0 || strcmp(sort, "func") == 0)
        source->order = CN_TUI_BY_NAME;
    for (size_t i = 0; i < source->column_count; i++) {
        if (strcasecmp(source->columns[i].title, sort) != 0)
            continue;
        source->order = (int)i;
        return;
    }
    if (source->order != CN_TUI_BY_NAME)
        cn_tui_say(tui, "no such column to sort by: press o to choose one");
}

static size_t list_height(struct cn_tui *tui)
{
    return cn_tui_lay_out(tui).list_height;
}

/* Build what the function's graph shows; false: it was never called. */
static bool build_function(struct cn_tui *tui)
{
    struct cn_tui_data *data = tui->data;
    const struct cn_call_graph *graph =
        cn_tui_step_of(tui) == CN_TUI_STEP_APART ? &data->apart : &data->graph;
    uint32_t at = cn_call_tree_first(&graph->tree, 0);

    /* The session of the row it was asked for, else the first that calls it. */
    for (unsigned pass = 0; pass < 2 && !tui->has_sub; pass++)
        for (at = cn_call_tree_first(&graph->tree, 0); at && !tui->has_sub;
             at = cn_call_tree_next(&graph->tree, at))
            if (pass == 1 || cn_call_tree_id(&graph->tree, at) == tui->function_session)
                tui->has_sub =
                    cn_call_subgraph_build(&tui->sub, &graph->tree, at, tui->function);
    if (!tui->has_sub)
        return false;
    tui->function_source = cn_tui_subgraph_new(graph, &tui->sub);
    cn_tui_tree_init(&tui->panes[CN_TUI_FUNCTION].tree, tui->function_source,
                     list_height(tui));
    tui->panes[CN_TUI_FUNCTION].is_built = true;
    return true;
}

static void build_pane(struct cn_tui *tui)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    struct cn_tui_source *source = cn_tui_data_source(tui->data, cn_tui_step_of(tui));

    if (pane == &tui->panes[CN_TUI_FUNCTION]) {
        if (build_function(tui))
            return;
        cn_tui_say(tui, "this function was never called");
        tui->is_function_shown = false;
        return;
    }
    pane->is_built = true;
    if (!source || tui->view == CN_TUI_INFO)
        return;
    if (tui->view == CN_TUI_GRAPH)
        choose_graph_columns(tui, source);
    if (tui->view == CN_TUI_FLAMES) {
        cn_tui_flame_init(&pane->flame, source, 0, tui->canvas.columns);
        return;
    }
    if (tui->view != CN_TUI_REPORT)
        choose_order(tui, source);
    cn_tui_tree_init(&pane->tree, source, list_height(tui));
}

/* Put the cursor on the row that is wanted. */
static void go_to_wanted(struct cn_tui *tui)
{
    struct cn_tui_tree *tree = &cn_tui_pane(tui)->tree;
    struct cn_text label = {0};

    for (size_t i = 0; i < tree->count; i++) {
        cn_text_clear(&label);
        cn_tui_label_add(tree->source, &tree->items[i].row, &label);
        if (strcmp(cn_text_str(&label), cn_text_str(&tui->wanted)) != 0)
            continue;
        tree->cursor = i;
        break;
    }
    cn_text_done(&label);
    cn_text_clear(&tui->wanted);
}

/* True if the data itself cannot be opened. */
static bool cannot_open(struct cn_tui *tui)
{
    enum cn_tui_step step =
        tui->data->has_recording ? CN_TUI_STEP_RECORDING : CN_TUI_STEP_DATABASE;

    if (cn_tui_data_ask(tui->data, step) != CN_TUI_FAILED)
        return false;
    tui->failure = *cn_tui_data_failure(tui->data, step);
    return true;
}

bool cn_tui_tick(struct cn_tui *tui)
{
    enum cn_tui_state state = CN_TUI_READY;

    if (!cn_tui_pane(tui)->is_built && tui->canvas.columns > 0) {
        state = cn_tui_data_ask(tui->data, cn_tui_step_of(tui));
        if (state == CN_TUI_READY && !cn_tui_lay_out(tui).is_small)
            build_pane(tui);
        if (state == CN_TUI_FAILED && cannot_open(tui))
            tui->is_over = tui->has_failed = true;
    }
    if (tui->wanted.len > 0 && cn_tui_pane(tui)->is_built)
        go_to_wanted(tui);
    return state == CN_TUI_BUSY;
}

bool cn_tui_current(struct cn_tui *tui, struct cn_tui_source **source, struct cn_row *row)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);

    if (!pane->is_built || tui->view == CN_TUI_INFO)
        return false;
    if (tui->view == CN_TUI_FLAMES) {
        const struct cn_tui_box *box = cn_tui_flame_current(&pane->flame);

        *source = pane->flame.source;
        if (box)
            *row = box->row;
        return box != NULL;
    }
    *source = pane->tree.source;
    if (!cn_tui_tree_current(&pane->tree))
        return false;
    *row = cn_tui_tree_current(&pane->tree)->row;
    return true;
}

bool cn_tui_locate(struct cn_tui *tui, bool resolves, struct cn_location *out)
{
    struct cn_source_location location;
    struct cn_tui_source *source;
    struct cn_error err;
    struct cn_row row;

    if (!cn_tui_current(tui, &source, &row) ||
        !source->ops->location(source, &row, out, &err))
        return false;
    uint32_t id = source->ops->function ? source->ops->function(source, &row) : CN_NONE;
    if (out->file || !resolves || id == CN_NONE)
        return true;
    const struct cn_call_function *function = &tui->data->setup.rec->functions[id];
    if (!tui->resolver)
        tui->resolver = cn_resolver_new();
    if (cn_resolver_function(tui->resolver, out->module,
                             tui->data->setup.rec->modules[function->module].build_id,
                             function->offset, &location)) {
        out->file = location.file;
        out->line = location.line;
    }
    return true;
}

void cn_tui_show(struct cn_tui *tui, enum cn_tui_view view)
{
    if (!cn_tui_has_view(tui, view)) {
        cn_tui_say(tui, "only recordings have this view");
        return;
    }
    tui->view = view;
    cn_text_clear(&tui->message);
}
