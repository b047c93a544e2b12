#include "cli/print/table.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/csv.h"
#include "base/bytes/json.h"
#include "base/bytes/utf8.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/print/write.h"
#include "model/labels/short_name.h"

enum {
    HELD_ROWS_MAX = 10000,     /* the rows that set the widths of the columns */
    HELD_CHARS_MAX = 16 << 20, /* ... or as many as fit here */
    WIDTH_MAX = 160,           /* no column is padded beyond this */
    NAME_MIN = 16,             /* names are not cut to less, however narrow it is */
    GAP = 2,                   /* between columns */
    OUT_FLUSH_LEN = 64 << 10,
};

struct table_cell {
    size_t off, len; /* in `chars` */
    size_t width;
    enum cn_color color;
    bool is_number;
};

struct cn_table {
    FILE *to;
    enum cn_table_format format;
    bool has_color;
    bool is_markdown; /* text with bars */
    bool has_rule;    /* below the titles of Markdown */
    const struct cn_column *columns;
    size_t column_count;
    size_t filled; /* cells of the current row */
    struct cn_text out;
    struct cn_json json;

    /* State at the start of the current row, to drop an unfinished one. */
    size_t row_off;
    struct cn_json row_json;

    /* Text only: rows held back until the widths are known. */
    struct cn_text chars;
    struct table_cell *cells;
    size_t cell_count, cell_capacity;
    size_t *widths;
    size_t last_shown; /* the last column with a title */
    bool widths_are_known;
    size_t fit;          /* columns that a row may have; 0: any */
    struct cn_text name; /* of add_fitted() */
    enum cn_color next_color;
};

static void flush_when_full(struct cn_table *table)
{
    if (table->out.len >= OUT_FLUSH_LEN)
        cn_text_flush(&table->out, table->to);
}

static bool is_left_aligned(const struct cn_column *column, const struct table_cell *cell)
{
    if (column->kind == CN_COLUMN_ANY && column->align == CN_ALIGN_BY_KIND)
        return !cell->is_number;
    return column->align == CN_ALIGN_LEFT ||
           (column->align == CN_ALIGN_BY_KIND && column->kind == CN_COLUMN_TEXT);
}

/* The indentation of a name, and what fits of the name. Returns the columns of both. */
static size_t add_fitted(struct cn_table *table, size_t column,
                         const struct table_cell *cell)
{
    const char *chars = cn_text_str(&table->chars) + cell->off;
    size_t width = table->widths[column], indent = 0, from;

    while (indent < cell->len && chars[indent] == ' ')
        indent++;
    cn_text_clear(&table->name);
    cn_text_add(&table->name, chars + indent, cell->len - indent);
    cn_text_fill(&table->out, ' ', indent);
    from = table->out.len;
    width = width > indent + NAME_MIN ? width - indent : NAME_MIN;
    if (table->columns[column].fit == CN_FIT_PATH)
        cn_call_path_shorten(&table->out, cn_text_str(&table->name), width);
    else
        cn_name_shorten(&table->out, cn_text_str(&table->name), width);
    return indent + cn_utf8_width(cn_text_str(&table->out) + from);
}

static void add_text_cell(struct cn_table *table, size_t column,
                          const struct table_cell *cell)
{
    const char *chars = cn_text_str(&table->chars) + cell->off;
    bool is_cut = table->fit > 0 && table->columns[column].fit != CN_FIT_NOTHING &&
                  cell->width > table->widths[column];
    enum cn_color color = table->has_color ? cell->color : CN_COLOR_NONE;
    bool is_left = is_left_aligned(&table->columns[column], cell);
    size_t width = table->widths[column];
    size_t padding = width > cell->width ? width - cell->width : 0;

    if (!is_left)
        cn_text_fill(&table->out, ' ', padding);
    cn_text_str_add(&table->out, cn_color_start(color));
    if (is_cut) {
        size_t used = add_fitted(table, column, cell);

        padding = width > used ? width - used : 0;
    } else {
        cn_text_add(&table->out, chars, cell->len);
    }
    cn_text_str_add(&table->out, cn_color_stop(color));
    if (column != table->last_shown)
        cn_text_fill(&table->out, ' ', is_left ? padding + GAP : GAP);
}

/* Characters that Markdown or HTML would take for markup are escaped. */
static void add_markdown_row(struct cn_table *table, const struct table_cell *cells)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *chars = cn_text_str(&table->chars) + cells[i].off;

        if (!table->columns[i].title)
            continue;
        cn_text_str_add(&table->out, "| ");
        for (size_t k = 0; k < cells[i].len; k++) {
            if (chars[k] != '\0' && strchr("|\\`*_<>[]~", chars[k]))
                cn_text_char(&table->out, '\\');
            cn_text_char(&table->out, chars[k]);
        }
        cn_text_char(&table->out, ' ');
    }
    cn_text_str_add(&table->out, "|\n");
    for (size_t i = 0; i < table->column_count && !table->has_rule; i++)
        if (table->columns[i].title)
            cn_text_str_add(&table->out, is_left_aligned(&table->columns[i], &cells[i])
                                             ? "| --- "
                                             : "| ---: ");
    if (!table->has_rule)
        cn_text_str_add(&table->out, "|\n");
    table->has_rule = true;
    flush_when_full(table);
}

static void add_text_row(struct cn_table *table, const struct table_cell *cells)
{
    if (table->is_markdown) {
        add_markdown_row(table, cells);
        return;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].title)
            add_text_cell(table, i, &cells[i]);
    }
    /* Remove the gap before an empty last cell. */
    while (table->out.len > 0 && table->out.chars[table->out.len - 1] == ' ')
        table->out.chars[--table->out.len] = '\0';
    cn_text_char(&table->out, '\n');
    flush_when_full(table);
}

/* Divide what other columns leave of the terminal among those that can be cut: a column gets what
 * it needs, or its share. */
static void fit_columns(struct cn_table *table)
{
    size_t used = 0, wanted = 0, count = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].title)
            continue;
        used += i == table->last_shown ? 0 : GAP;
        if (table->columns[i].fit == CN_FIT_NOTHING) {
            used += table->widths[i];
        } else {
            wanted += table->widths[i];
            count++;
        }
    }
    size_t room =
        table->fit > used + count * NAME_MIN ? table->fit - used : count * NAME_MIN;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].title || table->columns[i].fit == CN_FIT_NOTHING)
            continue;
        wanted -= table->widths[i];
        size_t share = room / count--, rest = room > wanted ? room - wanted : 0;
        size_t most = rest > share ? rest : share;
        if (table->widths[i] > most)
            table->widths[i] = most;
        room -= table->widths[i];
    }
}

static void release_held_rows(struct cn_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = table->cells[i].width;
        size_t *widest = &table->widths[i % table->column_count];

        width = width < WIDTH_MAX ? width : WIDTH_MAX;
        *widest = width > *widest ? width : *widest;
    }
    if (table->fit > 0)
        fit_columns(table);
    table->widths_are_known = true;
    /* A title is aligned as the first cell below it. */
    for (size_t i = 0; table->cell_count > table->column_count && i < table->column_count;
         i++)
        table->cells[i].is_number = table->cells[table->column_count + i].is_number;
    for (size_t i = 0; i < table->cell_count; i += table->column_count)
        add_text_row(table, &table->cells[i]);
    table->cell_count = 0;
    cn_text_clear(&table->chars);
}

/* Mark the last cell. */
static void mark_number(struct cn_table *table)
{
    table->cells[table->cell_count - 1].is_number = true;
}

/* Make the next cell of the row from the end of `chars`, from `off` on. */
static void add_held_cell(struct cn_table *table, size_t off, size_t width)
{
    CN_PUSH(table->cells, table->cell_count, table->cell_capacity,
            (struct table_cell){
                .off = off,
                .len = table->chars.len - off,
                .width = width,
                .color = table->next_color,
            });
    table->next_color = CN_COLOR_NONE;
}

static void hold_str(struct cn_table *table, const char *value)
{
    size_t off = table->chars.len, plain = 0;

    while (value[plain] >= ' ' && value[plain] <= '~')
        plain++;
    if (value[plain] == '\0') {
        cn_text_add(&table->chars, value, plain);
        add_held_cell(table, off, plain);
    } else {
        cn_utf8_add_printable(&table->chars, value);
        add_held_cell(table, off, cn_utf8_width(cn_text_str(&table->chars) + off));
    }
}

static void add_fixed(struct cn_text *text, double value, unsigned decimals)
{
    enum { DECIMALS_MAX = 17 };
    char digits[DBL_MAX_10_EXP + DECIMALS_MAX + 5]; /* sign, first digit, point, NUL */
    int precision = decimals < DECIMALS_MAX ? (int)decimals : DECIMALS_MAX;
    int len = snprintf(digits, sizeof(digits), "%.*f", precision, value);

    assert(len > 0 && (size_t)len < sizeof(digits));
    cn_text_add(text, digits, (size_t)len);
}

/* Append up to six significant digits, without an exponent where that is readable. */
static void add_readable_f64(struct cn_text *text, double value)
{
    double magnitude = fabs(value);
    unsigned decimals = 5;

    if (!isfinite(value) || value == 0) {
        add_fixed(text, value, 0);
        return;
    }
    if (magnitude < 1e-4 || magnitude >= 1e15) {
        cn_text_printf(text, "%.5e", value);
        return;
    }
    for (double limit = 10; magnitude >= limit && decimals > 0; limit *= 10)
        decimals--;
    for (double limit = 1; magnitude < limit; limit /= 10)
        decimals++;
    add_fixed(text, value, decimals);
    if (decimals == 0)
        return;
    while (text->chars[text->len - 1] == '0')
        text->chars[--text->len] = '\0';
    if (text->chars[text->len - 1] == '.')
        text->chars[--text->len] = '\0';
}

/* Write what precedes the value: the JSON key, the comma of CSV. */
static const struct cn_column *begin_cell(struct cn_table *table)
{
    assert(table->filled < table->column_count);
    const struct cn_column *column = &table->columns[table->filled];
    if (table->filled == 0) {
        table->row_off = table->out.len;
        table->row_json = table->json;
    }
    if (table->format == CN_TABLE_JSON) {
        if (table->filled == 0)
            cn_json_object(&table->json);
        cn_json_key(&table->json, column->name);
    } else if (table->format == CN_TABLE_CSV && table->filled > 0) {
        cn_text_char(&table->out, ',');
    }
    table->filled++;
    return column;
}

void cn_table_str(struct cn_table *table, const char *value)
{
    if (!value) {
        cn_table_none(table);
        return;
    }
    const struct cn_column *column = begin_cell(table);
    assert(column->kind == CN_COLUMN_TEXT || column->kind == CN_COLUMN_ANY);
    switch (table->format) {
    case CN_TABLE_MARKDOWN:
    case CN_TABLE_TEXT:
        hold_str(table, value);
        break;
    case CN_TABLE_JSON:
        cn_json_str(&table->json, value);
        break;
    case CN_TABLE_CSV:
        cn_csv_add(&table->out, value);
        break;
    }
}

void cn_table_duration(struct cn_table *table, uint64_t ns)
{
    struct cn_text text = {0};

    cn_duration_print(&text, ns);
    cn_table_str(table, cn_text_str(&text));
    cn_text_done(&text);
}

void cn_table_time(struct cn_table *table, bool is_for_people, uint64_t ns)
{
    if (is_for_people)
        cn_table_duration(table, ns);
    else
        cn_table_u64(table, ns);
}

void cn_table_u64(struct cn_table *table, uint64_t value)
{
    const struct cn_column *column = begin_cell(table);
    size_t off = table->chars.len;

    assert(column->kind == CN_COLUMN_U64 || column->kind == CN_COLUMN_ANY);
    switch (table->format) {
    case CN_TABLE_MARKDOWN:
    case CN_TABLE_TEXT:
        cn_text_u64(&table->chars, value);
        add_held_cell(table, off, table->chars.len - off);
        mark_number(table);
        break;
    case CN_TABLE_JSON:
        cn_json_u64(&table->json, value);
        break;
    case CN_TABLE_CSV:
        cn_text_u64(&table->out, value);
        break;
    }
}

void cn_table_i64(struct cn_table *table, int64_t value)
{
    size_t off = table->chars.len;

    if (value >= 0) {
        cn_table_u64(table, (uint64_t)value);
        return;
    }
    const struct cn_column *column = begin_cell(table);
    assert(column->kind == CN_COLUMN_ANY);
    switch (table->format) {
    case CN_TABLE_MARKDOWN:
    case CN_TABLE_TEXT:
        cn_text_printf(&table->chars, "%" PRId64, value);
        add_held_cell(table, off, table->chars.len - off);
        mark_number(table);
        break;
    case CN_TABLE_JSON:
        cn_json_i64(&table->json, value);
        break;
    case CN_TABLE_CSV:
        cn_text_printf(&table->out, "%" PRId64, value);
        break;
    }
}

void cn_table_f64(struct cn_table *table, double value)
{
    const struct cn_column *column = begin_cell(table);
    struct cn_json number = {.text = &table->out};
    size_t off = table->chars.len;

    assert(column->kind != CN_COLUMN_TEXT && column->kind != CN_COLUMN_U64);
    switch (table->format) {
    case CN_TABLE_MARKDOWN:
    case CN_TABLE_TEXT:
        if (column->has_sign && value > 0)
            cn_text_char(&table->chars, '+');
        if (column->kind == CN_COLUMN_F64 || column->kind == CN_COLUMN_ANY)
            add_readable_f64(&table->chars, value);
        else
            add_fixed(&table->chars, value,
                      column->kind == CN_COLUMN_PERCENT ? 1 : column->decimals);
        if (column->kind == CN_COLUMN_PERCENT)
            cn_text_char(&table->chars, '%');
        add_held_cell(table, off, table->chars.len - off);
        mark_number(table);
        break;
    case CN_TABLE_JSON:
        cn_json_f64(&table->json, value);
        break;
    case CN_TABLE_CSV:
        /* The same digits as JSON, but an empty cell for null. */
        if (isfinite(value))
            cn_json_f64(&number, value);
        break;
    }
}

void cn_table_none(struct cn_table *table)
{
    (void)begin_cell(table);
    if (table->format == CN_TABLE_TEXT)
        add_held_cell(table, table->chars.len, 0);
    else if (table->format == CN_TABLE_JSON)
        cn_json_null(&table->json);
}

void cn_table_paint(struct cn_table *table, enum cn_color color)
{
    table->next_color = color;
}

void cn_table_end_row(struct cn_table *table)
{
    assert(table->filled == table->column_count);
    table->filled = 0;
    if (table->format == CN_TABLE_JSON) {
        cn_json_end(&table->json);
    } else if (table->format == CN_TABLE_CSV) {
        cn_text_char(&table->out, '\n');
    } else if (table->widths_are_known) {
        add_text_row(table, table->cells);
        table->cell_count = 0;
        cn_text_clear(&table->chars);
    } else if (table->cell_count / table->column_count >= HELD_ROWS_MAX ||
               table->chars.len >= HELD_CHARS_MAX) {
        release_held_rows(table);
    }
    flush_when_full(table);
}

struct cn_table *cn_table_new(FILE *to, enum cn_table_format format, bool has_color,
                              const struct cn_column *columns, size_t column_count)
{
    struct cn_table *table = cn_alloc(1, sizeof(*table));

    assert(column_count > 0);
    *table = (struct cn_table){
        .to = to,
        .format = format == CN_TABLE_MARKDOWN ? CN_TABLE_TEXT : format,
        .has_color = has_color && format == CN_TABLE_TEXT,
        .is_markdown = format == CN_TABLE_MARKDOWN,
        .columns = columns,
        .column_count = column_count,
        .json = {.text = &table->out},
        .widths = cn_alloc(column_count, sizeof(*table->widths)),
    };
    format = table->format;
    if (format == CN_TABLE_JSON)
        cn_json_array(&table->json);
    for (size_t i = 0; i < column_count; i++) {
        const char *title = columns[i].title;

        if (format == CN_TABLE_TEXT) { /* titles are the first row held back */
            table->last_shown = title ? i : table->last_shown;
            table->next_color = CN_COLOR_BOLD;
            hold_str(table, title ? title : "");
        } else if (format == CN_TABLE_CSV) {
            cn_csv_add(&table->out, columns[i].name);
            cn_text_char(&table->out, i + 1 < column_count ? ',' : '\n');
        }
    }
    return table;
}

void cn_table_fit(struct cn_table *table, size_t columns)
{
    table->fit = table->is_markdown ? 0 : columns;
}

void cn_table_free(struct cn_table *table)
{
    if (!table)
        return;
    /* A failure may leave a row unfinished: drop it. */
    if (table->filled > 0 && table->format == CN_TABLE_TEXT) {
        table->cell_count -= table->filled;
    } else if (table->filled > 0) {
        table->out.len = table->row_off;
        table->json = table->row_json;
    }
    if (table->format == CN_TABLE_TEXT && !table->widths_are_known)
        release_held_rows(table);
    else if (table->format == CN_TABLE_JSON)
        cn_json_end(&table->json);
    cn_text_flush(&table->out, table->to);
    cn_text_done(&table->out);
    cn_text_done(&table->chars);
    cn_text_done(&table->name);
    free(table->cells);
    free(table->widths);
    free(table);
}

enum cn_table_format cn_table_format_parse(const char *name)
{
    if (name && strcmp(name, "json") == 0)
        return CN_TABLE_JSON;
    if (name && strcmp(name, "csv") == 0)
        return CN_TABLE_CSV;
    if (name && strcmp(name, "markdown") == 0)
        return CN_TABLE_MARKDOWN;
    return CN_TABLE_TEXT;
}
