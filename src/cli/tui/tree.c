#include "cli/tui/tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum {
    HOT_PATH_MAX = 4096,     /* rows: a damaged file may have a cycle */
    SEARCHED_MAX = 300000,   /* rows that a search looks at */
    SEARCH_DEPTH_MAX = 1024, /* below a closed row */
};

static void release_items(struct cn_tui_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)items[i].row.values);
}

void cn_tui_tree_done(struct cn_tui_tree *tree)
{
    release_items(tree->items, tree->count);
    free(tree->items);
    *tree = (struct cn_tui_tree){0};
}

const struct cn_tui_item *cn_tui_tree_current(const struct cn_tui_tree *tree)
{
    return tree->cursor < tree->count ? &tree->items[tree->cursor] : NULL;
}

/* The rows below an item; NULL: the top rows. */
static void list_children(struct cn_tui_tree *tree, const struct cn_row *parent,
                          struct cn_row_list *list)
{
    struct cn_error err;

    if (cn_tui_children(tree->source, parent, list, &err) || tree->has_failed)
        return;
    tree->has_failed = true;
    tree->failure = err;
}

/* Insert rows before item `at`. */
static void insert(struct cn_tui_tree *tree, size_t at, const struct cn_row_list *list,
                   uint32_t depth, uint64_t guides)
{
    size_t room = CN_TUI_ROWS_MAX - tree->count;
    size_t count = list->count < room ? list->count : room;

    tree->is_full |= count < list->count;
    CN_GROW_TO(tree->items, tree->count + count, tree->capacity);
    memmove(tree->items + at + count, tree->items + at,
            (tree->count - at) * sizeof(*tree->items));
    for (size_t i = 0; i < count; i++) {
        double *values = cn_alloc(list->column_count, sizeof(*values));
        struct cn_tui_item *item = &tree->items[at + i];

        memcpy(values, list->rows[i].values, list->column_count * sizeof(*values));
        *item = (struct cn_tui_item){
            .row = list->rows[i],
            .depth = depth,
            .guides = guides << 1 | (i + 1 < count),
            .is_leaf = tree->source->ops->is_leaf(tree->source, &list->rows[i]),
        };
        item->row.values = values;
    }
    tree->count += count;
    if (tree->cursor >= at && tree->count > count)
        tree->cursor += count;
}

/* The first row after `at` that is not below it. */
static size_t end_of(const struct cn_tui_tree *tree, size_t at)
{
    size_t end = at + 1;

    while (end < tree->count && tree->items[end].depth > tree->items[at].depth)
        end++;
    return end;
}

void cn_tui_tree_open(struct cn_tui_tree *tree, size_t at)
{
    struct cn_tui_item *item = &tree->items[at];
    struct cn_row_list list;

    if (at >= tree->count || item->is_open || item->is_leaf || tree->is_full)
        return;
    list_children(tree, &item->row, &list);
    item->is_open = list.count > 0;
    item->is_leaf = list.count == 0;
    insert(tree, at + 1, &list, item->depth + 1, item->guides);
    cn_row_list_done(&list);
}

void cn_tui_tree_close(struct cn_tui_tree *tree, size_t at)
{
    if (at >= tree->count || !tree->items[at].is_open)
        return;
    size_t end = end_of(tree, at);
    release_items(tree->items + at + 1, end - at - 1);
    memmove(tree->items + at + 1, tree->items + end,
            (tree->count - end) * sizeof(*tree->items));
    tree->count -= end - at - 1;
    if (tree->cursor >= end)
        tree->cursor -= end - at - 1;
    else if (tree->cursor > at)
        tree->cursor = at;
    tree->items[at].is_open = false;
    tree->is_full = false;
}

/* The rows above a row, by depth; kept while rows are visited in order. */
struct tree_path {
    size_t *rows;
    size_t count, capacity;
};

/* Visit a row; true if it is below itself, as in a damaged file. */
static bool path_visit(struct tree_path *path, const struct cn_tui_tree *tree, size_t at)
{
    const struct cn_tui_item *item = &tree->items[at];

    CN_GROW_TO(path->rows, (size_t)item->depth + 1, path->capacity);
    path->rows[item->depth] = at;
    for (uint32_t i = 1; i <= item->depth && i <= CN_VIEW_LOOK_BACK; i++)
        if (tree->items[path->rows[item->depth - i]].row.id == item->row.id)
            return true;
    return false;
}

/* Visit all rows above a row. */
static void path_begin(struct tree_path *path, const struct cn_tui_tree *tree, size_t at)
{
    uint32_t depth = tree->items[at].depth;

    CN_GROW_TO(path->rows, (size_t)depth + 1, path->capacity);
    for (size_t i = at; i-- > 0 && depth > 0;)
        if (tree->items[i].depth < depth)
            path->rows[--depth] = i;
}

void cn_tui_tree_open_all(struct cn_tui_tree *tree, size_t at)
{
    uint32_t depth = at < tree->count ? tree->items[at].depth : 0;
    struct tree_path path = {0};
    size_t i = at;

    if (at >= tree->count)
        return;
    path_begin(&path, tree, at);
    do {
        if (!path_visit(&path, tree, i) || i == at)
            cn_tui_tree_open(tree, i);
        i++;
    } while (i < tree->count && tree->items[i].depth > depth && !tree->is_full);
    free(path.rows);
}

/* Closed rows forget what was open below them. */
void cn_tui_tree_open_children(struct cn_tui_tree *tree, size_t at)
{
    cn_tui_tree_open(tree, at);
    for (size_t i = at + 1;
         i < tree->count && tree->items[i].depth > tree->items[at].depth;
         i = end_of(tree, i))
        cn_tui_tree_open(tree, i);
}

void cn_tui_tree_close_children(struct cn_tui_tree *tree, size_t at)
{
    for (size_t i = at + 1;
         i < tree->count && tree->items[i].depth > tree->items[at].depth; i++)
        cn_tui_tree_close(tree, i);
}

void cn_tui_tree_init(struct cn_tui_tree *tree, struct cn_tui_source *source,
                      size_t height)
{
    struct cn_row_list list;

    *tree = (struct cn_tui_tree){.source = source};
    list_children(tree, NULL, &list);
    insert(tree, 0, &list, 0, 0);
    cn_row_list_done(&list);
    tree->cursor = 0;
    /* Open level by level, while a whole level fits. */
    for (uint32_t depth = 0; tree->count > 0 && !source->is_endless; depth++) {
        size_t before = tree->count;

        for (size_t i = 0; i < tree->count; i++)
            if (tree->items[i].depth == depth && tree->count <= height)
                cn_tui_tree_open(tree, i);
        if (tree->count > height) {
            for (size_t i = 0; i < tree->count && depth > 0; i++)
                if (tree->items[i].depth == depth)
                    cn_tui_tree_close(tree, i);
            break;
        }
        if (tree->count == before)
            break;
    }
    tree->cursor = 0;
}

void cn_tui_tree_sort(struct cn_tui_tree *tree)
{
    struct cn_tui_tree old = *tree;
    struct cn_map open = {0};
    struct tree_path path = {0};
    struct cn_row_list list;
    const struct cn_tui_item *current = cn_tui_tree_current(&old);

    for (size_t i = 0; i < old.count; i++)
        if (old.items[i].is_open)
            *cn_map_at(&open, old.items[i].row.id, 1) = 1;
    *tree = (struct cn_tui_tree){.source = old.source};
    list_children(tree, NULL, &list);
    insert(tree, 0, &list, 0, 0);
    cn_row_list_done(&list);
    for (size_t i = 0; i < tree->count && !tree->is_full; i++)
        if (!path_visit(&path, tree, i) && cn_map_find(&open, tree->items[i].row.id, 0))
            cn_tui_tree_open(tree, i);
    free(path.rows);
    tree->cursor = tree->top = 0;
    for (size_t i = 0; i < tree->count && current; i++) {
        if (tree->items[i].row.id != current->row.id ||
            tree->items[i].depth != current->depth)
            continue;
        tree->cursor = i;
        break;
    }
    cn_map_done(&open);
    cn_tui_tree_done(&old);
}

/* The first column that is shown; columns of values come first. */
static size_t value_column(const struct cn_tui_source *source)
{
    if (source->order >= 0)
        return (size_t)source->order;
    for (size_t i = 0; i < source->column_count; i++)
        if (source->columns[i].is_shown)
            return i;
    return 0;
}

/* The child of an open row with the largest value; `at` if there is none. */
static size_t hottest_child(const struct cn_tui_tree *tree, size_t at)
{
    size_t column = value_column(tree->source), best = at;

    for (size_t i = at + 1;
         i < tree->count && tree->items[i].depth > tree->items[at].depth;
         i = end_of(tree, i))
        if (best == at ||
            tree->items[i].row.values[column] > tree->items[best].row.values[column])
            best = i;
    return best;
}

void cn_tui_tree_hottest(struct cn_tui_tree *tree)
{
    if (tree->count == 0)
        return;
    cn_tui_tree_open(tree, tree->cursor);
    tree->cursor = hottest_child(tree, tree->cursor);
}

void cn_tui_tree_hot_path(struct cn_tui_tree *tree)
{
    size_t column = value_column(tree->source);
    struct tree_path path = {0};

    if (tree->count > 0)
        path_begin(&path, tree, tree->cursor);
    for (size_t i = 0; i < HOT_PATH_MAX && tree->count > 0; i++) {
        double above = tree->items[tree->cursor].row.values[column];

        cn_tui_tree_open(tree, tree->cursor);
        size_t child = hottest_child(tree, tree->cursor);
        (void)path_visit(&path, tree, tree->cursor);
        if (child == tree->cursor || path_visit(&path, tree, child) ||
            tree->items[child].row.values[column] < above / 2)
            break;
        tree->cursor = child;
    }
    free(path.rows);
}

void cn_tui_tree_move(struct cn_tui_tree *tree, int64_t by)
{
    if (tree->count == 0)
        return;
    if (by < 0)
        tree->cursor = (uint64_t)-by < tree->cursor ? tree->cursor - (uint64_t)-by : 0;
    else
        tree->cursor = (uint64_t)by < tree->count - 1 - tree->cursor
                           ? tree->cursor + (uint64_t)by
                           : tree->count - 1;
}

void cn_tui_tree_sibling(struct cn_tui_tree *tree, int direction)
{
    size_t at = tree->cursor;

    if (tree->count == 0)
        return;
    uint32_t depth = tree->items[at].depth;
    if (direction > 0) {
        at = end_of(tree, at);
        if (at < tree->count && tree->items[at].depth == depth)
            tree->cursor = at;
        return;
    }
    while (at-- > 0 && tree->items[at].depth >= depth) {
        if (tree->items[at].depth > depth)
            continue;
        tree->cursor = at;
        return;
    }
}

void cn_tui_tree_parent(struct cn_tui_tree *tree)
{
    for (size_t i = tree->cursor; tree->count > 0 && i-- > 0;) {
        if (tree->items[i].depth >= tree->items[tree->cursor].depth)
            continue;
        tree->cursor = i;
        return;
    }
}

void cn_tui_tree_show(struct cn_tui_tree *tree, size_t height)
{
    if (tree->cursor >= tree->count)
        tree->cursor = tree->count > 0 ? tree->count - 1 : 0;
    if (tree->cursor < tree->top)
        tree->top = tree->cursor;
    if (height > 0 && tree->cursor >= tree->top + height)
        tree->top = tree->cursor - height + 1;
    if (tree->count <= height)
        tree->top = 0;
    else if (tree->top > tree->count - height)
        tree->top = tree->count - height;
}

bool cn_tui_matches(const char *name, const char *what)
{
    bool has_capital = false;

    for (const char *c = what; *c; c++)
        has_capital |= isupper((unsigned char)*c) != 0;
    return (has_capital ? strstr(name, what) : strcasestr(name, what)) != NULL;
}

struct tree_search {
    struct cn_tui_tree *tree;
    const char *what;
    bool is_backward;
    bool is_counting; /* all matches: none ends the search */
    size_t looked_at, count;
    struct cn_text label;
};

static bool row_matches(struct tree_search *search, const struct cn_row *row)
{
    search->looked_at++;
    cn_text_clear(&search->label);
    cn_tui_label_add(search->tree->source, row, &search->label);
    if (!cn_tui_matches(cn_text_str(&search->label), search->what))
        return false;
    search->count++;
    return true;
}

struct tree_level {
    struct cn_row_list list;
    size_t next;
};

/* Look below a closed row; `path` receives the ids from the child of the row to the match.
 * Backwards, the last match counts. */
static bool find_below(struct tree_search *search, const struct cn_row *row,
                       uint64_t *path, size_t *path_len)
{
    struct tree_level *levels = cn_alloc(SEARCH_DEPTH_MAX, sizeof(*levels));
    size_t depth = 1;
    bool is_found = false;

    list_children(search->tree, row, &levels[0].list);
    while (depth > 0) {
        struct tree_level *level = &levels[depth - 1];

        if (level->next == level->list.count || search->looked_at > SEARCHED_MAX) {
            cn_row_list_done(&level->list);
            depth--;
            continue;
        }
        const struct cn_row *at = &level->list.rows[level->next++];
        if (row_matches(search, at)) {
            *path_len = depth;
            for (size_t i = 0; i < depth; i++)
                path[i] = levels[i].list.rows[levels[i].next - 1].id;
            is_found = true;
            if (!search->is_backward && !search->is_counting)
                break;
        }
        if (depth < SEARCH_DEPTH_MAX &&
            !search->tree->source->ops->is_leaf(search->tree->source, at)) {
            levels[depth] = (struct tree_level){0};
            list_children(search->tree, at, &levels[depth].list);
            depth++;
        }
    }
    while (depth-- > 0)
        cn_row_list_done(&levels[depth].list);
    free(levels);
    return is_found;
}

/* Open the rows of a path below `at`, and go to the last one. */
static void follow(struct cn_tui_tree *tree, size_t at, const uint64_t *path, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint32_t depth = tree->items[at].depth;

        cn_tui_tree_open(tree, at);
        for (size_t k = at + 1; k < tree->count && tree->items[k].depth > depth; k++)
            if (tree->items[k].depth == depth + 1 && tree->items[k].row.id == path[i]) {
                at = k;
                break;
            }
    }
    tree->cursor = at;
}

static bool is_closed(const struct cn_tui_tree *tree, size_t at)
{
    return !tree->items[at].is_open && !tree->items[at].is_leaf &&
           !tree->source->is_endless;
}

/* Look at a visible row and, if it is closed, below it, in the order of the search. */
static bool look_at(struct tree_search *search, size_t at, bool with_row, bool with_below,
                    uint64_t *path)
{
    struct cn_tui_tree *tree = search->tree;
    size_t len = 0;

    if (with_row && !search->is_backward && row_matches(search, &tree->items[at].row)) {
        tree->cursor = at;
        return true;
    }
    if (with_below && is_closed(tree, at) &&
        find_below(search, &tree->items[at].row, path, &len)) {
        follow(tree, at, path, len);
        return true;
    }
    if (with_row && search->is_backward && row_matches(search, &tree->items[at].row)) {
        tree->cursor = at;
        return true;
    }
    return false;
}

enum cn_tui_found cn_tui_tree_search(struct cn_tui_tree *tree, const char *what,
                                     bool is_backward)
{
    struct tree_search search = {.tree = tree, .what = what, .is_backward = is_backward};
    uint64_t *path = cn_alloc(SEARCH_DEPTH_MAX, sizeof(*path));
    enum cn_tui_found result = CN_TUI_NOT_FOUND;
    size_t start = tree->cursor, count = tree->count;

    /* Row 0 of the search is the cursor: forwards what is below it, at the end the row. */
    for (size_t i = 0; i <= count && count > 0 && result == CN_TUI_NOT_FOUND; i++) {
        size_t at =
            is_backward ? (start + count - i % count) % count : (start + i) % count;
        bool is_first = i == 0, is_last = i == count;

        if (look_at(&search, at, !is_first, is_backward ? !is_first : !is_last, path))
            result = is_last || (is_backward ? at > start : at < start) ? CN_TUI_WRAPPED
                                                                        : CN_TUI_FOUND;
        else if (search.looked_at > SEARCHED_MAX)
            result = CN_TUI_GAVE_UP;
    }
    cn_text_done(&search.label);
    free(path);
    return result;
}

size_t cn_tui_tree_count(struct cn_tui_tree *tree, const char *what, bool *is_all)
{
    struct tree_search search = {.tree = tree, .what = what, .is_counting = true};
    uint64_t *path = cn_alloc(SEARCH_DEPTH_MAX, sizeof(*path));
    size_t len;

    for (size_t i = 0; i < tree->count && search.looked_at <= SEARCHED_MAX; i++) {
        (void)row_matches(&search, &tree->items[i].row);
        if (is_closed(tree, i))
            (void)find_below(&search, &tree->items[i].row, path, &len);
    }
    *is_all = search.looked_at <= SEARCHED_MAX;
    cn_text_done(&search.label);
    free(path);
    return search.count;
}
