#include "cli/views/row_names.h"

#include <stdlib.h>

#include "analyze/views/view.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"

struct named_row {
    struct cn_row row;
    char *name;
};

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
    CN_SORT(rows, list->count, CN_UP(struct named_row, name),
            CN_UP(struct named_row, row.id));
    for (size_t i = 0; i < list->count; i++) {
        list->rows[is_reversed ? list->count - 1 - i : i] = rows[i].row;
        free(rows[i].name);
    }
    free(rows);
    cn_text_done(&name);
    return ok;
}
