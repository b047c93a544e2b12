#include "cli/print/row_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/views/view.h"
#include "base/alloc.h"
#include "base/text.h"

struct named_row {
    struct cn_row row;
    char *name;
};

static int compare_names(const void *left, const void *right)
{
    const struct named_row *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->row.id > b->row.id) - (a->row.id < b->row.id);
}

bool cn_row_names_sort(struct cn_row_list *list, bool is_reversed,
                       cn_row_name_fn add_name, void *arg, struct cn_error *err)
{
    struct named_row *rows = cn_alloc(list->count, sizeof(*rows));
    struct cn_text name = {0};
    bool ok = true;

    for (size_t i = 0; i < list->count; i++) {
        cn_text_clear(&name);
        ok = ok && add_name(arg, &list->rows[i], &name, err);
        rows[i] = (struct named_row){list->rows[i], cn_strdup(cn_text_str(&name))};
    }
    if (list->count > 1)
        qsort(rows, list->count, sizeof(*rows), compare_names);
    for (size_t i = 0; i < list->count; i++) {
        list->rows[is_reversed ? list->count - 1 - i : i] = rows[i].row;
        free(rows[i].name);
    }
    free(rows);
    cn_text_done(&name);
    return ok;
}
