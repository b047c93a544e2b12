/* What keys and clicks do. */

#include "base/alloc.h"
#include "base/character.h"
#include "cli/print/quantity.h"
#include "cli/tui/tui.h"

enum { WHEEL_ROWS = 3, PROMPT_LEN_MAX = 200, CTRL = 0x1f };

static void next_view(struct cn_tui *tui, int by)
{
    int view = (int)tui->view;

    do
        view = (view + by + CN_TUI_VIEW_COUNT) % CN_TUI_VIEW_COUNT;
    while (!cn_tui_has_view(tui, (enum cn_tui_view)view));
    cn_tui_show(tui, (enum cn_tui_view)view);
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
    while (at < tree->paths.count && tree->paths.links[at].parent != 0)
        at = tree->paths.links[at].parent;
    return at < tree->paths.count ? tree->paths.links[at].key : CN_NONE;
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
        cn_tui_say(tui, "only recordings have a graph: see callers and tree");
        return;
    }
    if (!cn_tui_current(tui, &source, &row) ||
        !source->ops->label(source, &row, &name, &err) || row.kind != CN_ROW_FUNCTION) {
        cn_tui_say(tui, "no function here");
        cn_text_done(&name);
        return;
    }
    cn_tui_forget_function(tui);
    tui->function = cn_strdup(cn_text_str(&name));
    tui->function_session = session;
    cn_text_done(&name);
    tui->is_function_shown = true;
    cn_tui_show(tui, CN_TUI_GRAPH);
}

/* Show the report with the cursor at the function that is at the cursor now. */
static void show_reported(struct cn_tui *tui)
{
    struct cn_tui_source *source;
    struct cn_row row;

    cn_text_clear(&tui->wanted);
    if (cn_tui_current(tui, &source, &row))
        cn_tui_label_add(source, &row, &tui->wanted);
    cn_tui_show(tui, tui->data->has_recording ? CN_TUI_REPORT : CN_TUI_FLAT);
}

/* How many rows, or boxes of the flame graph, match. */
static void say_matches(struct cn_tui *tui, struct cn_tui_pane *pane)
{
    const char *what = cn_text_str(&tui->search);
    bool is_all = true;
    size_t count = tui->view == CN_TUI_FLAMES
                       ? cn_tui_flame_count(&pane->flame, what)
                       : cn_tui_tree_count(&pane->tree, what, &is_all);

    if (tui->message.len > 0)
        cn_text_str_add(&tui->message, "; ");
    cn_text_str_add(&tui->message, is_all ? "" : "at least ");
    cn_count_print(&tui->message, count);
    cn_text_printf(&tui->message, " %s of %s", cn_plural(count, "match", "matches"),
                   what);
}

static void search(struct cn_tui *tui, bool is_backward)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    const char *what = cn_text_str(&tui->search);

    cn_text_clear(&tui->message);
    if (tui->search.len == 0) {
        cn_tui_say(tui, "nothing to search for: press /");
    } else if (tui->view == CN_TUI_FLAMES) {
        if (cn_tui_flame_search(&pane->flame, what, is_backward))
            say_matches(tui, pane);
        else
            cn_text_printf(&tui->message, "not found: %s", what);
    } else if (pane->is_built && tui->view != CN_TUI_INFO) {
        switch (cn_tui_tree_search(&pane->tree, what, is_backward)) {
        case CN_TUI_FOUND:
            say_matches(tui, pane);
            break;
        case CN_TUI_WRAPPED:
            cn_tui_say(tui, is_backward ? "from the end" : "from the beginning");
            say_matches(tui, pane);
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
    size_t height = cn_tui_lay_out(tui).list_height;
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
    /* Rows that are opened again have closed children: there is no difference. */
    case 'c':
    case 'C':
        cn_tui_tree_close_children(tree, tree->cursor);
        break;
    case 'E':
        cn_tui_tree_open_all(tree, tree->cursor);
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
        cn_tui_say(tui, "there are too many rows to open more");
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
        cn_tui_say(tui, "the source of this row is unknown");
        return;
    }
    cn_tui_source_text_use(&tui->source_text, cn_tui_data_folder(tui->data),
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
        cn_tui_show(tui, tui->data->has_recording ? CN_TUI_GRAPH : CN_TUI_TREE);
        return true;
    case 'g':
        show_function(tui);
        return true;
    case 'R':
        cn_tui_show(tui, tui->data->has_recording ? CN_TUI_REPORT : CN_TUI_FLAT);
        return true;
    case 'r':
        show_reported(tui);
        return true;
    case 'T':
        cn_tui_show(tui, CN_TUI_TREE);
        return true;
    case 'B':
        cn_tui_show(tui, CN_TUI_CALLERS);
        return true;
    case 'L':
        cn_tui_show(tui, CN_TUI_FLAT);
        return true;
    case 'F':
        cn_tui_show(tui, CN_TUI_FLAMES);
        return true;
    case 'I':
        cn_tui_show(tui, CN_TUI_INFO);
        return true;
    case 'S':
        cn_tui_menu_sessions(tui);
        return true;
    case 's':
        cn_tui_sort_next(tui);
        return true;
    case 'o':
        cn_tui_menu_columns(tui, CN_TUI_MENU_SORT);
        return true;
    case 'f':
        cn_tui_menu_columns(tui, CN_TUI_MENU_COLUMNS);
        return true;
    case 'm':
        cn_tui_menu_metrics(tui);
        return true;
    case 'M':
        cn_tui_toggle_my_code(tui);
        return true;
    case 'i':
        cn_tui_filter_row(tui, CN_LENS_FOCUS);
        return true;
    case 'd':
        cn_tui_filter_row(tui, CN_LENS_DROP);
        return true;
    case 'x':
        cn_tui_filter_row(tui, CN_LENS_HIDE);
        return true;
    case 'X':
        cn_tui_menu_filters(tui);
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
        cn_tui_show(tui, (enum cn_tui_view)(key - '1'));
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
                cn_tui_show(tui, (enum cn_tui_view)i);
        }
        return true;
    }
    if (event->row != 1)
        return event->row < layout->list_top;
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct cn_tui_field *field = &layout->fields[i];

        if (event->column >= field->begin &&
            event->column < (field->percent_end ? field->percent_end : field->end)) {
            cn_tui_sort_by(tui, (int)field->column);
            return true;
        }
    }
    if (event->column >= layout->name_begin)
        cn_tui_sort_by(tui, CN_TUI_BY_NAME);
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
    uint32_t key = event->key;
    size_t height = tui->canvas.rows;

    if (tui->is_prompting) {
        prompt_key(tui, key);
        return;
    }
    if (tui->menu.kind != CN_TUI_MENU_NONE) {
        cn_tui_menu_key(tui, key);
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
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    if (!pane->is_built)
        return;
    if (key == CN_TUI_KEY_WHEEL_UP || key == CN_TUI_KEY_WHEEL_DOWN)
        wheel(tui, key == CN_TUI_KEY_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
    else if (tui->view == CN_TUI_INFO)
        (void)text_key(&pane->top, key, cn_tui_lay_out(tui).list_height);
    else if (tui->view == CN_TUI_FLAMES)
        flame_key(tui, key);
    else
        tree_key(tui, key);
}
