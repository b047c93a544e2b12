#include "cli/tui/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "cli/print/quantity.h"
#include "cli/views/row_names.h"

enum { LABEL_LEN_MAX = 4096 }; /* longer names are cut: no screen is that wide */

void cn_tui_source_free(struct cn_tui_source *source)
{
    if (!source)
        return;
    free(source->columns);
    source->ops->free(source);
}

void cn_tui_columns_init(struct cn_tui_source *source, size_t count)
{
    source->columns = cn_alloc(count, sizeof(*source->columns));
    source->column_count = count;
    for (size_t i = 0; i < count; i++)
        source->columns[i].whole = NAN;
}

static bool add_name(void *arg, const struct cn_row *row, struct cn_text *name,
                     struct cn_error *err)
{
    (void)err;
    cn_tui_label_add(arg, row, name);
    return true;
}

bool cn_tui_children(struct cn_tui_source *source, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err)
{
    bool ok;

    *out = (struct cn_row_list){0};
    ok = source->ops->children(source, parent, out, err);
    if (source->order >= 0)
        cn_row_list_sort(out, (size_t)source->order, source->is_reversed);
    else if (source->order == CN_TUI_BY_NAME)
        ok = cn_row_names_sort(out, source->is_reversed, add_name, source, err) && ok;
    return ok;
}

void cn_tui_label_add(struct cn_tui_source *source, const struct cn_row *row,
                      struct cn_text *text)
{
    struct cn_text label = {0};
    struct cn_error err;

    if (source->ops->label(source, row, &label, &err))
        cn_utf8_add_printable_chars(text, cn_text_str(&label),
                                    label.len < LABEL_LEN_MAX ? label.len
                                                              : LABEL_LEN_MAX);
    else
        cn_text_char(text, '?');
    cn_text_done(&label);
}

struct source_scale {
    const char *unit;
    double factor;
    int decimals;
};

/* The smallest unit in which all values have at most five digits before the point. */
static struct source_scale scale_of(const struct cn_tui_column *column)
{
    static const struct source_scale seconds[] = {
        {"ns", 1e9, 0}, {"us", 1e6, 3}, {"ms", 1e3, 3}, {"s", 1, 3}};
    size_t i = 0;

    if (column->unit == CN_TUI_SECONDS) {
        while (i < 3 && !(column->max * seconds[i].factor < 1e5))
            i++;
        return seconds[i];
    }
    if (column->unit == CN_TUI_MOMENT)
        return (struct source_scale){"s", 1, 9};
    if (column->unit != CN_TUI_NUMBER)
        return (struct source_scale){NULL, 1, column->unit == CN_TUI_PERCENT ? 2 : 0};
    double digits = column->max > 0 ? floor(log10(column->max)) + 1 : 1;
    return (struct source_scale){NULL, 1, digits >= 6 ? 0 : 6 - (int)fmax(digits, 0)};
}

void cn_tui_heading_add(const struct cn_tui_column *column, struct cn_text *text)
{
    struct source_scale scale = scale_of(column);

    cn_utf8_add_printable(text, column->title);
    if (scale.unit)
        cn_text_printf(text, " %s", scale.unit);
}

static void add_number(struct cn_text *text, double value, int decimals)
{
    if (decimals == 0 && value >= 0 && value < 1e15)
        cn_count_print(text, (uint64_t)llround(value));
    else if (fabs(value) < 1e15)
        cn_text_printf(text, "%.*f", decimals, value);
    else
        cn_text_printf(text, "%.5e", value);
}

static void add_value(const struct cn_tui_column *column, double value,
                      struct cn_text *text)
{
    struct source_scale scale = scale_of(column);
    double least = pow(10, -scale.decimals);
    bool is_below = value > 0 && value <= column->resolution;

    if (isnan(value))
        return;
    value *= scale.factor;
    if (is_below || (value > 0 && value < least / 2))
        cn_text_printf(text, "<%.*f", scale.decimals, fmax(value, least));
    else
        add_number(text, value, scale.decimals);
}

void cn_tui_cell_add(struct cn_tui_source *source, const struct cn_row *row,
                     size_t column, struct cn_text *text)
{
    double value = row->values[column];

    if (source->columns[column].unit == CN_TUI_ADDRESS && !isnan(value))
        cn_text_printf(text, "%" PRIx64, source->ops->address(source, row));
    else
        add_value(&source->columns[column], value, text);
}

size_t cn_tui_column_width(const struct cn_tui_column *column)
{
    struct cn_text text = {0};

    cn_tui_heading_add(column, &text);
    size_t heading = cn_utf8_width(cn_text_str(&text));
    cn_text_clear(&text);
    if (column->unit == CN_TUI_PERCENT)
        cn_text_str_add(&text, "100.00");
    else if (column->unit == CN_TUI_ADDRESS)
        cn_text_printf(&text, "%" PRIx64,
                       column->max < 0x1p63 ? (uint64_t)column->max : UINT64_MAX);
    else
        add_value(column, column->max, &text);
    size_t width = text.len;
    cn_text_done(&text);
    return width > heading ? width : heading;
}

double cn_tui_percent(const struct cn_tui_column *column, double value)
{
    return column->whole > 0 ? 100 * value / column->whole : NAN;
}
