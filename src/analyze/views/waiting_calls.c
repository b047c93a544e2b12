#include "analyze/views/waiting_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/best.h"
#include "base/path.h"
#include "base/sort.h"

enum {
    TOP_MAX = 32,   /* functions to begin with */
    STEP_MAX = 512, /* rows whose callers are listed */
};

#define LEAST 1e-6 /* of the wait of a row: less are sums that were rounded */

enum owner { OF_PROGRAM, OF_C_LIBRARY, OF_KERNEL };

/* A row whose callers are not listed yet, and the one below that it calls. */
struct open_row {
    struct cn_row row, below;
    enum owner owner, owner_below;
    double wait;
};

struct waiting_search {
    struct cn_view *view;
    const size_t *columns;
    struct cn_waiting_calls found;
    struct open_row *open;
    size_t open_count, open_capacity;
};

static double wait_of(const struct waiting_search *s, const struct cn_row *row)
{
    double sum = 0;

    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        if (s->columns[i] < s->view->costs->column_count &&
            row->values[s->columns[i]] > 0)
            sum += row->values[s->columns[i]];
    return sum;
}

static enum owner owner_of(const char *module)
{
    static const char *const libraries[] = {"libc.so", "libc-", "libpthread", "ld-musl"};
    const char *name = cn_path_name(module ? module : "");

    if (strncmp(name, "[kernel", strlen("[kernel")) == 0)
        return OF_KERNEL;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return OF_C_LIBRARY;
    return strcmp(name, "[vdso]") == 0 ? OF_C_LIBRARY : OF_PROGRAM;
}

static double *copy_values(struct waiting_search *s, const double *values)
{
    size_t count = s->view->costs->column_count;
    double *copy = cn_arena_alloc(&s->found.arena, count, sizeof(*copy));

    memcpy(copy, values, count * sizeof(*copy));
    return copy;
}

static bool add_open(struct waiting_search *s, const struct cn_row *row,
                     const struct open_row *below, struct cn_error *err)
{
    struct cn_location location;
    struct open_row open = {
        .row = *row, .wait = wait_of(s, row), .owner_below = OF_KERNEL};

    if (open.wait == 0)
        return true;
    if (!s->view->ops->location(s->view, row, &location, err))
        return false;
    open.owner = owner_of(location.module);
    open.row.values = copy_values(s, row->values);
    if (below) {
        open.below = below->row;
        open.owner_below = below->owner;
    }
    CN_PUSH(s->open, s->open_count, s->open_capacity, open);
    return true;
}

static bool label_of(struct waiting_search *s, const struct cn_row *row, const char **out,
                     struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = s->view->ops->label(s->view, row, &text, err);

    if (ok)
        *out = cn_arena_strdup(&s->found.arena, cn_text_str(&text));
    cn_text_done(&text);
    return ok;
}

static bool is_same(const struct cn_waiting_call *a, const struct cn_waiting_call *b)
{
    return strcmp(a->name, b->name) == 0 &&
           strcmp(a->caller ? a->caller : "", b->caller ? b->caller : "") == 0;
}

/* Add a call, or its costs to those of the same call along another path. */
static void add_call(struct waiting_search *s, const struct cn_waiting_call *call)
{
    struct cn_waiting_calls *found = &s->found;
    size_t i = 0;

    while (i < found->count && !is_same(&found->list[i], call))
        i++;
    if (i == found->count) {
        CN_GROW(found->list, i, found->capacity);
        found->list[found->count++] = *call;
        return;
    }
    double *values = copy_values(s, found->list[i].row.values);
    for (size_t k = 0; k < s->view->costs->column_count; k++) {
        double more = call->row.values[k];

        values[k] = isnan(values[k]) ? more : isnan(more) ? values[k] : values[k] + more;
    }
    found->list[i].row.values = values;
    found->list[i].wait += call->wait;
}

static bool finish_row(struct waiting_search *s, const struct open_row *open,
                       struct cn_error *err)
{
    struct cn_waiting_call call = {.row = open->row, .wait = open->wait};

    if (open->owner == OF_PROGRAM && open->owner_below == OF_C_LIBRARY) {
        call.row = open->below;
        call.row.values = open->row.values;
        if (!label_of(s, &open->below, &call.name, err) ||
            !label_of(s, &open->row, &call.caller, err))
            return false;
    } else if (!label_of(s, &open->row, &call.name, err)) {
        return false;
    }
    add_call(s, &call);
    return true;
}

/* Replace a row by its callers, and what no caller has by itself. */
static bool open_callers(struct waiting_search *s, const struct open_row *open,
                         struct cn_error *err)
{
    struct cn_row_list list = {0};
    struct open_row rest = *open;
    double *values = copy_values(s, open->row.values);
    bool ok = cn_view_children(s->view, &open->row, 0, false, &list, err);

    for (size_t i = 0; ok && i < list.count; i++) {
        for (size_t k = 0; k < list.column_count; k++)
            values[k] -= isnan(list.rows[i].values[k]) ? 0 : list.rows[i].values[k];
        rest.wait -= wait_of(s, &list.rows[i]);
        ok = add_open(s, &list.rows[i], open, err);
    }
    cn_row_list_done(&list);
    rest.row.values = values;
    return ok && (rest.wait < LEAST * open->wait || finish_row(s, &rest, err));
}

static bool open_top_rows(struct waiting_search *s, struct cn_error *err)
{
    struct cn_row_list list = {0};
    struct cn_best best;
    bool ok = cn_view_children(s->view, NULL, 0, false, &list, err);

    cn_best_init(&best, TOP_MAX);
    for (uint32_t i = 0; ok && i < list.count; i++) {
        struct cn_best_item item = cn_best_of_value(wait_of(s, &list.rows[i]), i);

        cn_best_offer(&best, &item);
    }
    cn_best_sort(&best, 0);
    for (size_t i = 0; ok && i < best.count && i < TOP_MAX; i++)
        ok = add_open(s, &list.rows[cn_best_number(&best.list[i])], NULL, err);
    cn_best_done(&best);
    cn_row_list_done(&list);
    return ok;
}

/* Take the row with the longest wait. */
static struct open_row take_longest(struct waiting_search *s)
{
    size_t longest = 0;

    for (size_t i = 1; i < s->open_count; i++)
        if (s->open[i].wait > s->open[longest].wait)
            longest = i;
    struct open_row taken = s->open[longest];
    s->open[longest] = s->open[--s->open_count];
    return taken;
}

bool cn_waiting_calls_find(struct cn_waiting_calls *out, struct cn_view *view,
                           const size_t columns[CN_WAIT_KINDS], struct cn_error *err)
{
    struct waiting_search s = {.view = view, .columns = columns};
    bool ok = open_top_rows(&s, err);

    for (unsigned step = 0; ok && s.open_count > 0 && step < STEP_MAX; step++) {
        struct open_row longest = take_longest(&s);

        ok = longest.owner == OF_PROGRAM ? finish_row(&s, &longest, err)
                                         : open_callers(&s, &longest, err);
    }
    free(s.open);
    if (!ok) {
        cn_waiting_calls_done(&s.found);
        return false;
    }
    CN_SORT(s.found.list, s.found.count, CN_DOWN(struct cn_waiting_call, wait),
            CN_UP(struct cn_waiting_call, row.id));
    *out = s.found;
    return true;
}

void cn_waiting_calls_done(struct cn_waiting_calls *calls)
{
    free(calls->list);
    cn_arena_done(&calls->arena);
    *calls = (struct cn_waiting_calls){0};
}
