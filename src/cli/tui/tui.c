#include "cli/tui/tui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_graph.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/character.h"
#include "cli/recording/graph_print.h"
#include "model/calls/recording.h"
#include "symbols/resolver.h"

enum { WHEEL_ROWS = 3, PROMPT_LEN_MAX = 200, CTRL = 0x1f };

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

    if (tui->view == CN_TUI_FLAMES && tui->data->has_recording)
        return CN_TUI_STEP_GRAPH;
    if (tui->view != CN_TUI_GRAPH || !tui->is_function_shown)
        return steps[tui->view];
    /* Forked children start at the top: only then is it another graph. */
    for (uint32_t i = 0; i < tui->data->setup.rec->task_count; i++)
        if (tui->data->setup.rec->tasks[i].is_fork)
            return CN_TUI_STEP_APART;
    return CN_TUI_STEP_GRAPH;
}

static void set_message(struct cn_tui *tui, const char *text)
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

static void menu_close(struct cn_tui_menu *menu)
{
    for (size_t i = 0; i < menu->count; i++)
        cn_text_done(&menu->lines[i]);
    free(menu->lines);
    free(menu->values);
    *menu = (struct cn_tui_menu){0};
}

static void forget_function(struct cn_tui *tui)
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

static void forget_pane(struct cn_tui *tui, enum cn_tui_view view)
{
    cn_tui_tree_done(&tui->panes[view].tree);
    cn_tui_flame_done(&tui->panes[view].flame);
    tui->panes[view] = (struct cn_tui_pane){0};
}

void cn_tui_done(struct cn_tui *tui)
{
    forget_function(tui);
    for (int i = 0; i < CN_TUI_PANE_COUNT; i++)
        forget_pane(tui, (enum cn_tui_view)i);
    menu_close(&tui->menu);
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
    if (!fields || cn_args_has(tui->data->args, "report") ||
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

    if (!sort || cn_args_has(tui->data->args, "report"))
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
        set_message(tui, "no such column to sort by: press o to choose one");
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
    uint32_t at = graph->tree.nodes[0].first_child;

    /* The session of the row it was asked for, else the first that calls it. */
    for (unsigned pass = 0; pass < 2 && !tui->has_sub; pass++)
        for (at = graph->tree.nodes[0].first_child; at && !tui->has_sub;
             at = graph->tree.nodes[at].next)
            if (pass == 1 || graph->tree.nodes[at].id == tui->function_session)
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
        set_message(tui, "this function was never called");
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
    const struct cn_call_function *function;
    struct cn_tui_source *source;
    struct cn_error err;
    struct cn_row row;
    uint32_t id;

    if (!cn_tui_current(tui, &source, &row) ||
        !source->ops->location(source, &row, out, &err))
        return false;
    id = source->ops->function ? source->ops->function(source, &row) : CN_NONE;
    if (out->file || !resolves || id == CN_NONE)
        return true;
    function = &tui->data->setup.rec->functions[id];
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

static void show_view(struct cn_tui *tui, enum cn_tui_view view)
{
    if (!cn_tui_has_view(tui, view)) {
        set_message(tui, "only recordings have this view");
        return;
    }
    tui->view = view;
    cn_text_clear(&tui->message);
}

static void next_view(struct cn_tui *tui, int by)
{
    int view = (int)tui->view;

    do
        view = (view + by + CN_TUI_VIEW_COUNT) % CN_TUI_VIEW_COUNT;
    while (!cn_tui_has_view(tui, (enum cn_tui_view)view));
    show_view(tui, (enum cn_tui_view)view);
}

/* The session of the graph that contains the row at the cursor. */
static uint32_t current_session(struct cn_tui *tui)
{
    const struct cn_call_tree *tree = &tui->data->graph.tree;
    struct cn_tui_source *source;
    struct cn_row row;
    uint64_t at;

    if (tui->view == CN_TUI_GRAPH && tui->is_function_shown)
        return tui->function_session;
    if ((tui->view != CN_TUI_GRAPH && tui->view != CN_TUI_FLAMES) ||
        !cn_tui_current(tui, &source, &row))
        return CN_NONE;
    at = row.id;
    while (at < tree->count && tree->nodes[at].parent != 0)
        at = tree->nodes[at].parent;
    return at < tree->count ? tree->nodes[at].id : CN_NONE;
}

/* Show callers and calls of the function at the cursor. */
static void show_function(struct cn_tui *tui)
{
    struct cn_tui_source *source;
    struct cn_text name = {0};
    struct cn_error err;
    struct cn_row row;
    uint32_t session = current_session(tui);

    if (!tui->data->has_recording) {
        set_message(tui, "only recordings have a graph: see callers and tree");
        return;
    }
    if (!cn_tui_current(tui, &source, &row) ||
        !source->ops->label(source, &row, &name, &err) || row.kind != CN_ROW_FUNCTION) {
        set_message(tui, "no function here");
        cn_text_done(&name);
        return;
    }
    forget_function(tui);
    tui->function = cn_strdup(cn_text_str(&name));
    tui->function_session = session;
    cn_text_done(&name);
    tui->is_function_shown = true;
    show_view(tui, CN_TUI_GRAPH);
}

/* Show the report with the cursor at the function that is at the cursor now. */
static void show_reported(struct cn_tui *tui)
{
    struct cn_tui_source *source;
    struct cn_row row;

    cn_text_clear(&tui->wanted);
    if (cn_tui_current(tui, &source, &row))
        cn_tui_label_add(source, &row, &tui->wanted);
    show_view(tui, tui->data->has_recording ? CN_TUI_REPORT : CN_TUI_FLAT);
}

static void search(struct cn_tui *tui, bool is_backward)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    const char *what = cn_text_str(&tui->search);

    cn_text_clear(&tui->message);
    if (tui->search.len == 0) {
        set_message(tui, "nothing to search for: press /");
    } else if (tui->view == CN_TUI_FLAMES) {
        if (!cn_tui_flame_search(&pane->flame, what, is_backward))
            cn_text_printf(&tui->message, "not found: %s", what);
    } else if (pane->is_built && tui->view != CN_TUI_INFO) {
        switch (cn_tui_tree_search(&pane->tree, what, is_backward)) {
        case CN_TUI_FOUND:
            break;
        case CN_TUI_WRAPPED:
            set_message(tui, is_backward ? "from the end" : "from the beginning");
            break;
        case CN_TUI_NOT_FOUND:
            cn_text_printf(&tui->message, "not found: %s", what);
            break;
        case CN_TUI_GAVE_UP:
            cn_text_printf(&tui->message,
                           "not found among the rows that were searched: %s", what);
            break;
        }
    }
}

static void prompt_key(struct cn_tui *tui, uint32_t key)
{
    struct cn_text *prompt = &tui->prompt;

    if (key == CN_TUI_KEY_ESCAPE) {
        tui->is_prompting = false;
        cn_text_clear(&tui->search);
    } else if (key == CN_TUI_KEY_ENTER) {
        tui->is_prompting = false;
        if (prompt->len > 0) {
            cn_text_clear(&tui->search);
            cn_text_add(&tui->search, prompt->chars, prompt->len);
        }
        search(tui, tui->is_prompt_backward);
    } else if (key == CN_TUI_KEY_BACKSPACE) {
        if (prompt->len == 0)
            tui->is_prompting = false;
        while (prompt->len > 0 && ((uint8_t)prompt->chars[--prompt->len] & 0xc0) == 0x80)
            continue;
        if (prompt->chars)
            prompt->chars[prompt->len] = '\0';
    } else if (key == ('u' & CTRL)) {
        cn_text_clear(prompt);
    } else if (key >= 0x20 && key != 0x7f && key <= 0x10ffff &&
               prompt->len < PROMPT_LEN_MAX) {
        char chars[CN_CHARACTER_LEN_MAX];

        cn_text_add(prompt, chars, cn_character_encode(key, chars));
    }
}

static struct cn_text *menu_add(struct cn_tui_menu *menu, int value)
{
    size_t capacity = menu->capacity;

    menu->lines =
        cn_grow(menu->lines, menu->count, &menu->capacity, sizeof(*menu->lines));
    menu->values = cn_grow(menu->values, menu->count, &capacity, sizeof(*menu->values));
    menu->lines[menu->count] = (struct cn_text){0};
    menu->values[menu->count] = value;
    return &menu->lines[menu->count++];
}

/* The source whose columns and order a menu changes; NULL: the view has none. */
static struct cn_tui_source *changed_source(struct cn_tui *tui)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);

    return !pane->is_built || tui->view == CN_TUI_INFO || tui->view == CN_TUI_FLAMES
               ? NULL
               : pane->tree.source;
}

static void open_columns(struct cn_tui *tui, enum cn_tui_menu_kind kind)
{
    const struct cn_tui_source *source = changed_source(tui);
    struct cn_tui_menu *menu = &tui->menu;
    bool is_sort = kind == CN_TUI_MENU_SORT;

    if (!source)
        return;
    menu_close(menu);
    menu->kind = kind;
    menu->title = is_sort ? "Sort by" : "Columns";
    if (is_sort && source->is_listed)
        cn_text_str_add(menu_add(menu, CN_TUI_BY_CALL), "order of first calls");
    for (size_t i = 0; i < source->column_count; i++) {
        const struct cn_tui_column *column = &source->columns[i];

        if (column->is_hidden || (is_sort && !column->is_shown))
            continue;
        if (is_sort && source->order == (int)i)
            menu->cursor = menu->count;
        cn_text_str_add(menu_add(menu, (int)i), column->title);
    }
    if (is_sort && source->order == CN_TUI_BY_NAME)
        menu->cursor = menu->count;
    if (is_sort)
        cn_text_str_add(menu_add(menu, CN_TUI_BY_NAME), "name");
}

static void open_metrics(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;
    const char *name;

    if (cn_tui_step_of(tui) < CN_TUI_STEP_TREE ||
        cn_tui_step_of(tui) > CN_TUI_STEP_FLAT || !cn_tui_pane(tui)->is_built) {
        set_message(tui, "metrics are in tree, callers, flat and flame of a database");
        return;
    }
    menu_close(menu);
    menu->kind = CN_TUI_MENU_METRIC;
    menu->title = "Metric";
    for (int i = 0; (name = cn_tui_data_metric(tui->data, (size_t)i)) != NULL; i++) {
        if (tui->data->metric && strcmp(tui->data->metric, name) == 0)
            menu->cursor = menu->count;
        cn_utf8_add_printable(menu_add(menu, i), name);
    }
}

static void open_sessions(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;
    struct cn_tui_tree *tree;

    tui->is_function_shown = false;
    show_view(tui, CN_TUI_GRAPH);
    if (tui->view != CN_TUI_GRAPH || !tui->panes[CN_TUI_GRAPH].is_built)
        return;
    tree = &tui->panes[CN_TUI_GRAPH].tree;
    menu_close(menu);
    menu->kind = CN_TUI_MENU_SESSIONS;
    menu->title = "Sessions";
    for (size_t i = 0; i < tree->count; i++) {
        struct cn_text *line;

        if (tree->items[i].depth > 0)
            continue;
        line = menu_add(menu, (int)i);
        cn_text_printf(line, "#%zu ", menu->count);
        cn_tui_label_add(tree->source, &tree->items[i].row, line);
    }
}

static void sort_by(struct cn_tui *tui, int order)
{
    struct cn_tui_source *source = changed_source(tui);

    if (!source)
        return;
    source->is_reversed =
        order == source->order && order != CN_TUI_BY_CALL ? !source->is_reversed : false;
    source->order = order;
    cn_tui_tree_sort(&cn_tui_pane(tui)->tree);
    /* The flame view of a database has the same rows. */
    cn_tui_flame_done(&tui->panes[CN_TUI_FLAMES].flame);
    tui->panes[CN_TUI_FLAMES] = (struct cn_tui_pane){0};
}

/* Show a column of the report, which reads the calls again if it was not counted. */
static void toggle_reported(struct cn_tui *tui, const struct cn_tui_source *source,
                            int value)
{
    const struct cn_call_report_options *had = &tui->data->layout.needs;
    struct cn_report_layout layout = tui->data->layout;
    const struct cn_call_report_options *needs = &layout.needs;

    for (size_t i = 0; i < source->column_count; i++)
        layout.has[i] = source->columns[i].is_shown;
    layout.keys[0] = source->order;
    layout.key_count = 1;
    if (source->columns[value].is_shown)
        cn_report_layout_need(&layout, value);
    if (needs->with_histograms == had->with_histograms &&
        needs->with_squares == had->with_squares &&
        needs->with_moments == had->with_moments) {
        tui->data->layout = layout;
        return;
    }
    menu_close(&tui->menu);
    forget_pane(tui, CN_TUI_REPORT);
    cn_tui_data_set_layout(tui->data, &layout);
}

static void toggle_column(struct cn_tui *tui, int value)
{
    struct cn_tui_source *source = changed_source(tui);
    struct cn_tui_column *column = &source->columns[value];

    column->is_shown = !column->is_shown;
    if (tui->view == CN_TUI_REPORT) {
        toggle_reported(tui, source, value);
        return;
    }
    if (tui->view != CN_TUI_GRAPH || !column->is_shown || tui->data->has_extremes ||
        value < CN_TUI_GRAPH_TOTAL_MAX || value > CN_TUI_GRAPH_SELF_MIN)
        return;
    /* The shortest and longest calls were not counted: read the calls again. */
    menu_close(&tui->menu);
    for (size_t i = 0; i < CN_TUI_GRAPH_COLUMN_COUNT; i++)
        tui->graph_columns[i] = source->columns[i].is_shown;
    tui->has_graph_columns = true;
    forget_function(tui);
    tui->is_function_shown = false;
    forget_pane(tui, CN_TUI_GRAPH);
    forget_pane(tui, CN_TUI_FLAMES);
    cn_tui_data_count_extremes(tui->data);
}

static void choose(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;
    int value = menu->count > 0 ? menu->values[menu->cursor] : 0;
    enum cn_tui_menu_kind kind = menu->count > 0 ? menu->kind : CN_TUI_MENU_NONE;
    const char *metric;

    if (kind == CN_TUI_MENU_COLUMNS) {
        toggle_column(tui, value);
        return;
    }
    menu_close(menu);
    switch (kind) {
    case CN_TUI_MENU_SORT:
        sort_by(tui, value);
        break;
    case CN_TUI_MENU_METRIC:
        metric = cn_tui_data_metric(tui->data, (size_t)value);
        forget_pane(tui, CN_TUI_TREE);
        forget_pane(tui, CN_TUI_CALLERS);
        forget_pane(tui, CN_TUI_FLAT);
        if (!tui->data->has_recording)
            forget_pane(tui, CN_TUI_FLAMES);
        cn_tui_data_set_metric(tui->data, metric);
        break;
    case CN_TUI_MENU_SESSIONS:
        tui->panes[CN_TUI_GRAPH].tree.cursor = (size_t)value;
        break;
    case CN_TUI_MENU_NONE:
    case CN_TUI_MENU_COLUMNS:
        break;
    }
}

static void menu_key(struct cn_tui *tui, uint32_t key)
{
    struct cn_tui_menu *menu = &tui->menu;

    switch (key) {
    case CN_TUI_KEY_UP:
    case CN_TUI_KEY_WHEEL_UP:
    case 'k':
        menu->cursor -= menu->cursor > 0;
        break;
    case CN_TUI_KEY_DOWN:
    case CN_TUI_KEY_WHEEL_DOWN:
    case 'j':
        menu->cursor += menu->cursor + 1 < menu->count;
        break;
    case CN_TUI_KEY_HOME:
        menu->cursor = 0;
        break;
    case CN_TUI_KEY_END:
        menu->cursor = menu->count > 0 ? menu->count - 1 : 0;
        break;
    case CN_TUI_KEY_ENTER:
    case CN_TUI_KEY_DOUBLE_CLICK:
    case ' ':
        choose(tui);
        break;
    case CN_TUI_KEY_ESCAPE:
    case 'q':
        menu_close(menu);
        break;
    default:
        break;
    }
}

static void scroll(size_t *top, int64_t by)
{
    if (by < 0)
        *top = *top > (size_t)-by ? *top - (size_t)-by : 0;
    else
        *top += (size_t)by; /* painting knows the last one */
}

/* Keys that scroll a text; true if it was one. */
static bool text_key(size_t *top, uint32_t key, size_t height)
{
    int64_t page = height > 1 ? (int64_t)height - 1 : 1;

    switch (key) {
    case CN_TUI_KEY_UP:
    case 'k':
        scroll(top, -1);
        return true;
    case CN_TUI_KEY_DOWN:
    case 'j':
        scroll(top, 1);
        return true;
    case CN_TUI_KEY_WHEEL_UP:
        scroll(top, -WHEEL_ROWS);
        return true;
    case CN_TUI_KEY_WHEEL_DOWN:
        scroll(top, WHEEL_ROWS);
        return true;
    case CN_TUI_KEY_PAGE_UP:
    case 'b':
        scroll(top, -page);
        return true;
    case CN_TUI_KEY_PAGE_DOWN:
    case ' ':
        scroll(top, page);
        return true;
    case CN_TUI_KEY_HOME:
        *top = 0;
        return true;
    case CN_TUI_KEY_END:
        *top = 1U << 30;
        return true;
    default:
        return false;
    }
}

static void next_column(struct cn_tui *tui)
{
    const struct cn_tui_source *source = changed_source(tui);
    int order;

    if (!source)
        return;
    for (order = source->order + 1; order < (int)source->column_count; order++)
        if (order >= 0 && source->columns[order].is_shown)
            break;
    if (order >= (int)source->column_count)
        order = source->is_listed ? CN_TUI_BY_CALL : CN_TUI_BY_NAME;
    sort_by(tui, order);
}

static void toggle(struct cn_tui_tree *tree)
{
    if (tree->count == 0)
        return;
    if (tree->items[tree->cursor].is_open)
        cn_tui_tree_close(tree, tree->cursor);
    else
        cn_tui_tree_open(tree, tree->cursor);
}

/* Keys of a list of rows. */
static void tree_key(struct cn_tui *tui, uint32_t key)
{
    struct cn_tui_tree *tree = &cn_tui_pane(tui)->tree;
    size_t height = list_height(tui);
    int64_t page = height > 1 ? (int64_t)height - 1 : 1;

    switch (key) {
    case CN_TUI_KEY_UP:
    case 'k':
        cn_tui_tree_move(tree, -1);
        break;
    case CN_TUI_KEY_DOWN:
    case 'j':
        cn_tui_tree_move(tree, 1);
        break;
    case CN_TUI_KEY_PAGE_UP:
    case 'b':
    case 'b' & CTRL:
        cn_tui_tree_move(tree, -page);
        break;
    case CN_TUI_KEY_PAGE_DOWN:
    case ' ':
    case 'f' & CTRL:
        cn_tui_tree_move(tree, page);
        break;
    case 'u' & CTRL:
        cn_tui_tree_move(tree, -page / 2);
        break;
    case 'd' & CTRL:
        cn_tui_tree_move(tree, page / 2);
        break;
    case CN_TUI_KEY_HOME:
        cn_tui_tree_move(tree, INT32_MIN);
        break;
    case CN_TUI_KEY_END:
        cn_tui_tree_move(tree, INT32_MAX);
        break;
    case CN_TUI_KEY_ENTER:
        toggle(tree);
        break;
    case CN_TUI_KEY_RIGHT:
        cn_tui_tree_open(tree, tree->cursor);
        break;
    case CN_TUI_KEY_LEFT:
        if (tree->count > 0 && tree->items[tree->cursor].is_open)
            cn_tui_tree_close(tree, tree->cursor);
        else
            cn_tui_tree_parent(tree);
        break;
    case 'e':
        cn_tui_tree_open_children(tree, tree->cursor);
        break;
    case 'c':
        cn_tui_tree_close_children(tree, tree->cursor);
        break;
    case 'E':
        cn_tui_tree_open_all(tree, tree->cursor);
        break;
    case 'C':
        cn_tui_tree_close_all(tree, tree->cursor);
        break;
    case 'H':
        cn_tui_tree_hot_path(tree);
        break;
    case 'l':
        cn_tui_tree_hottest(tree);
        break;
    case 'u':
        cn_tui_tree_parent(tree);
        break;
    case 'n':
        cn_tui_tree_sibling(tree, 1);
        break;
    case 'p':
        cn_tui_tree_sibling(tree, -1);
        break;
    case 'z':
        tree->top = tree->cursor > height / 2 ? tree->cursor - height / 2 : 0;
        break;
    default:
        break;
    }
    if (tree->is_full)
        set_message(tui, "there are too many rows to open more");
    tree->is_full = false;
}

static void flame_key(struct cn_tui *tui, uint32_t key)
{
    struct cn_tui_flame *flame = &cn_tui_pane(tui)->flame;

    switch (key) {
    case CN_TUI_KEY_UP:
    case 'k':
    case 'u':
        if (flame->level == 0)
            (void)cn_tui_flame_unzoom(flame);
        else
            cn_tui_flame_vertical(flame, -1);
        break;
    case CN_TUI_KEY_DOWN:
    case 'j':
    case 'l':
        cn_tui_flame_vertical(flame, 1);
        break;
    case CN_TUI_KEY_LEFT:
    case 'p':
        cn_tui_flame_horizontal(flame, -1);
        break;
    case CN_TUI_KEY_RIGHT:
    case 'n':
        cn_tui_flame_horizontal(flame, 1);
        break;
    case CN_TUI_KEY_ENTER:
        cn_tui_flame_zoom(flame);
        break;
    case CN_TUI_KEY_BACKSPACE:
    case CN_TUI_KEY_ESCAPE:
        (void)cn_tui_flame_unzoom(flame);
        break;
    case CN_TUI_KEY_HOME:
        while (cn_tui_flame_unzoom(flame))
            continue;
        break;
    case '=':
        tui->is_dense = !tui->is_dense;
        tui->is_density_chosen = true;
        break;
    default:
        break;
    }
}

static void edit(struct cn_tui *tui)
{
    struct cn_location location;

    if (!cn_tui_locate(tui, true, &location) || !location.file) {
        set_message(tui, "the source of this row is unknown");
        return;
    }
    cn_tui_source_text_use(&tui->source_text,
                           tui->data->opened.db ? tui->data->opened.db->path : NULL,
                           location.file);
    cn_text_clear(&tui->edit_path);
    cn_text_str_add(&tui->edit_path, cn_text_str(&tui->source_text.real));
    tui->edit_line = location.line;
    if (tui->edit_path.len == 0)
        cn_text_printf(&tui->message, "not on this machine: %s", location.file);
}

/* Keys that mean the same in all views; true if it was one. */
static bool common_key(struct cn_tui *tui, uint32_t key)
{
    switch (key) {
    case 'q':
        tui->is_over = true;
        return true;
    case '?':
    case 'h':
        tui->has_help = true;
        tui->help_top = 0;
        return true;
    case CN_TUI_KEY_TAB:
        next_view(tui, 1);
        return true;
    case CN_TUI_KEY_BACK_TAB:
        next_view(tui, -1);
        return true;
    case 'G':
        tui->is_function_shown = false;
        show_view(tui, tui->data->has_recording ? CN_TUI_GRAPH : CN_TUI_TREE);
        return true;
    case 'g':
        show_function(tui);
        return true;
    case 'R':
        show_view(tui, tui->data->has_recording ? CN_TUI_REPORT : CN_TUI_FLAT);
        return true;
    case 'r':
        show_reported(tui);
        return true;
    case 'T':
        show_view(tui, CN_TUI_TREE);
        return true;
    case 'B':
        show_view(tui, CN_TUI_CALLERS);
        return true;
    case 'L':
        show_view(tui, CN_TUI_FLAT);
        return true;
    case 'F':
        show_view(tui, CN_TUI_FLAMES);
        return true;
    case 'I':
        show_view(tui, CN_TUI_INFO);
        return true;
    case 'S':
        open_sessions(tui);
        return true;
    case 's':
        next_column(tui);
        return true;
    case 'o':
        open_columns(tui, CN_TUI_MENU_SORT);
        return true;
    case 'f':
        open_columns(tui, CN_TUI_MENU_COLUMNS);
        return true;
    case 'm':
        open_metrics(tui);
        return true;
    case 'v':
        tui->has_source = !tui->has_source;
        return true;
    case 'O':
        edit(tui);
        return true;
    case '/':
        tui->is_prompting = true;
        tui->is_prompt_backward = false;
        cn_text_clear(&tui->prompt);
        return true;
    case '>':
        search(tui, false);
        return true;
    case '<':
    case 'P':
        search(tui, true);
        return true;
    case 'N':
        search(tui, true);
        return true;
    default:
        break;
    }
    if (key >= '1' && key < '1' + CN_TUI_VIEW_COUNT) {
        show_view(tui, (enum cn_tui_view)(key - '1'));
        return true;
    }
    /* After a search, n is the next match; else the next sibling, as in uftrace. */
    if (key == 'n' && tui->search.len > 0) {
        search(tui, false);
        return true;
    }
    if (key == CN_TUI_KEY_ESCAPE && tui->search.len > 0) {
        cn_text_clear(&tui->search);
        return true;
    }
    return false;
}

/* A click on a tab or a heading; true if it was one. */
static bool top_click(struct cn_tui *tui, const struct cn_tui_event *event,
                      const struct cn_tui_layout *layout)
{
    if (event->row == 0) {
        for (int i = 0; i < CN_TUI_VIEW_COUNT; i++) {
            size_t begin, end;

            cn_tui_tab(tui, (enum cn_tui_view)i, &begin, &end);
            if (event->column >= begin && event->column < end)
                show_view(tui, (enum cn_tui_view)i);
        }
        return true;
    }
    if (event->row != 1)
        return event->row < layout->list_top;
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct cn_tui_field *field = &layout->fields[i];

        if (event->column >= field->begin &&
            event->column < (field->percent_end ? field->percent_end : field->end)) {
            sort_by(tui, (int)field->column);
            return true;
        }
    }
    if (event->column >= layout->name_begin)
        sort_by(tui, CN_TUI_BY_NAME);
    return true;
}

static void click(struct cn_tui *tui, const struct cn_tui_event *event)
{
    struct cn_tui_layout layout = cn_tui_lay_out(tui);
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    bool is_double = event->key == CN_TUI_KEY_DOUBLE_CLICK;
    size_t line = event->row - layout.list_top;

    if (layout.is_small || !pane->is_built || top_click(tui, event, &layout) ||
        line >= layout.list_height)
        return;
    if (tui->view == CN_TUI_FLAMES) {
        size_t level = pane->flame.top + (tui->is_dense ? 2 * line : line);

        if (!cn_tui_flame_select(&pane->flame, level, event->column) && tui->is_dense)
            (void)cn_tui_flame_select(&pane->flame, level + 1, event->column);
        if (is_double)
            cn_tui_flame_zoom(&pane->flame);
    } else if (tui->view != CN_TUI_INFO && pane->tree.top + line < pane->tree.count) {
        pane->tree.cursor = pane->tree.top + line;
        if (is_double)
            toggle(&pane->tree);
    }
}

static void wheel(struct cn_tui *tui, int by)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);

    if (tui->view == CN_TUI_FLAMES)
        cn_tui_flame_vertical(&pane->flame, by);
    else if (tui->view == CN_TUI_INFO)
        scroll(&pane->top, by);
    else
        cn_tui_tree_move(&pane->tree, by);
}

void cn_tui_event(struct cn_tui *tui, const struct cn_tui_event *event)
{
    struct cn_tui_pane *pane;
    uint32_t key = event->key;
    size_t height = tui->canvas.rows;

    if (tui->is_prompting) {
        prompt_key(tui, key);
        return;
    }
    if (tui->menu.kind != CN_TUI_MENU_NONE) {
        menu_key(tui, key);
        return;
    }
    if (tui->has_help) {
        if (!text_key(&tui->help_top, key, height))
            tui->has_help = false;
        return;
    }
    cn_text_clear(&tui->message);
    if (key == CN_TUI_KEY_CLICK || key == CN_TUI_KEY_DOUBLE_CLICK) {
        click(tui, event);
        return;
    }
    if (common_key(tui, key))
        return;
    pane = cn_tui_pane(tui);
    if (!pane->is_built)
        return;
    if (key == CN_TUI_KEY_WHEEL_UP || key == CN_TUI_KEY_WHEEL_DOWN)
        wheel(tui, key == CN_TUI_KEY_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
    else if (tui->view == CN_TUI_INFO)
        (void)text_key(&pane->top, key, list_height(tui));
    else if (tui->view == CN_TUI_FLAMES)
        flame_key(tui, key);
    else
        tree_key(tui, key);
}
