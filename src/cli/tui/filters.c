/* Filters of functions: which are in force, and keys that change them. */

#include <string.h>

#include "base/bytes/utf8.h"
#include "cli/tui/tui.h"

/* The views of the database are built again, with the lens as it is then. */
static struct cn_lens *change(struct cn_tui *tui)
{
    cn_tui_forget(tui, CN_TUI_TREE);
    cn_tui_forget(tui, CN_TUI_CALLERS);
    cn_tui_forget(tui, CN_TUI_FLAT);
    cn_tui_forget(tui, CN_TUI_FLAMES);
    if (tui->view == CN_TUI_GRAPH || tui->view == CN_TUI_REPORT ||
        tui->view == CN_TUI_INFO)
        cn_tui_show(tui, CN_TUI_TREE);
    return cn_tui_data_change_lens(tui->data);
}

static void say_failure(struct cn_tui *tui, const struct cn_error *err)
{
    cn_text_clear(&tui->message);
    cn_utf8_add_printable(&tui->message, err->text);
}

void cn_tui_toggle_my_code(struct cn_tui *tui)
{
    struct cn_lens *lens = change(tui);
    struct cn_error err;

    if (cn_lens_has_my_code(lens))
        cn_lens_remove_my_code(lens);
    else if (!cn_lens_add_my_code(lens, &err))
        say_failure(tui, &err);
}

void cn_tui_filter_row(struct cn_tui *tui, enum cn_lens_action action)
{
    struct cn_tui_source *source;
    struct cn_text name = {0};
    struct cn_error err;
    struct cn_row row;

    cn_text_char(&name, '=');
    if (!cn_tui_current(tui, &source, &row) || row.kind != CN_ROW_FUNCTION ||
        !source->ops->label(source, &row, &name, &err))
        cn_tui_say(tui, "no function here");
    else if (!cn_lens_add(change(tui), action, cn_text_str(&name), CN_MATCH_GLOB, &err))
        say_failure(tui, &err);
    cn_text_done(&name);
}

void cn_tui_filter_remove(struct cn_tui *tui, int rule)
{
    struct cn_lens *lens = change(tui);

    if (rule == CN_TUI_MY_CODE)
        cn_lens_remove_my_code(lens);
    else if (rule == CN_TUI_ALL_FILTERS)
        while (lens->count > 0)
            cn_lens_remove(lens, lens->count - 1);
    else if ((size_t)rule < lens->count)
        cn_lens_remove(lens, (size_t)rule);
}

void cn_tui_menu_filters(struct cn_tui *tui)
{
    const struct cn_lens *lens = &tui->data->lens;
    struct cn_tui_menu *menu = &tui->menu;
    bool has_my_code = cn_lens_has_my_code(lens);

    if (lens->count == 0) {
        cn_tui_say(tui, "no filters: M shows only your code, i only this function");
        return;
    }
    cn_tui_menu_close(menu);
    menu->kind = CN_TUI_MENU_FILTERS;
    menu->title = "Remove filter";
    if (has_my_code)
        cn_text_str_add(cn_tui_menu_add(menu, CN_TUI_MY_CODE), "my code");
    for (size_t i = 0; i < lens->count; i++) {
        const struct cn_lens_rule *rule = &lens->rules[i];

        if (has_my_code && rule->action == CN_LENS_HIDE &&
            rule->subject == CN_LENS_OF_KIND)
            continue;
        struct cn_text *line = cn_tui_menu_add(menu, (int)i);
        cn_text_printf(line, "%s ", cn_lens_action_name(rule->action));
        cn_utf8_add_printable(line, rule->text + (rule->text[0] == '='));
    }
    cn_text_str_add(cn_tui_menu_add(menu, CN_TUI_ALL_FILTERS), "all");
}

void cn_tui_filters_add(const struct cn_tui *tui, struct cn_text *text)
{
    const struct cn_tui_data *data = tui->data;
    struct cn_text filters = {0};

    if (data->lens.count == 0)
        return;
    cn_lens_describe(&data->lens, &filters);
    cn_text_str_add(text, tui->canvas.has_utf8 ? " · " : " - ");
    cn_utf8_add_printable(text, cn_text_str(&filters));
    if (data->share < 1)
        cn_text_printf(text, " (%.1f%% of all)", 100 * data->share);
    cn_text_done(&filters);
}
