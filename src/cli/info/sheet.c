#include "cli/info/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/terminal.h"

enum { KEY_WIDTH_MAX = 32 }; /* values after longer keys are not aligned */

static const char *printable(struct cn_sheet *sheet, const char *str)
{
    struct cn_text text = {0};

    cn_utf8_add_printable(&text, str);
    const char *copy = cn_arena_strdup(&sheet->arena, cn_text_str(&text));
    cn_text_done(&text);
    return copy;
}

static void add_row(struct cn_sheet *sheet, const char *key, const char *value)
{
    CN_PUSH(sheet->rows, sheet->count, sheet->capacity,
            (struct cn_sheet_row){
                .key = printable(sheet, key),
                .value = value ? printable(sheet, value) : NULL,
            });
}

void cn_sheet_group(struct cn_sheet *sheet, const char *title)
{
    add_row(sheet, title, NULL);
}

void cn_sheet_add(struct cn_sheet *sheet, const char *key, const char *fmt, ...)
{
    char *value = NULL;
    va_list values;

    va_start(values, fmt);
    if (vasprintf(&value, fmt, values) < 0)
        value = NULL;
    va_end(values);
    add_row(sheet, key, value ? value : "");
    free(value);
}

void cn_sheet_print(const struct cn_sheet *sheet, bool has_color, struct cn_text *text)
{
    enum cn_color bold = has_color ? CN_COLOR_BOLD : CN_COLOR_NONE;
    size_t width = 0; /* of the keys */

    for (size_t i = 0; i < sheet->count; i++) {
        size_t used = cn_utf8_width(sheet->rows[i].key);

        if (sheet->rows[i].value && used > width && used <= KEY_WIDTH_MAX)
            width = used;
    }
    for (size_t i = 0; i < sheet->count; i++) {
        const struct cn_sheet_row *row = &sheet->rows[i];
        size_t used = cn_utf8_width(row->key);

        if (!row->value) {
            cn_text_printf(text, "%s%s%s%s\n", i > 0 ? "\n" : "", cn_color_start(bold),
                           row->key, cn_color_stop(bold));
            continue;
        }
        cn_text_printf(text, "  %s:", row->key);
        cn_text_fill(text, ' ', used < width ? width - used + 2 : 2);
        cn_text_printf(text, "%s\n", row->value);
    }
}

void cn_sheet_done(struct cn_sheet *sheet)
{
    cn_arena_done(&sheet->arena);
    free(sheet->rows);
    *sheet = (struct cn_sheet){0};
}
