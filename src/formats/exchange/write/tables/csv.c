/* Tables as CSV files (RFC 4180) with a header line, one per table, in a folder. A row is
 * one line: control characters, and bytes that are not UTF-8, appear as \xHH. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/csv.h"
#include "base/bytes/json.h"
#include "base/files/out.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/write/tables/tables.h"

enum { FLUSH_LEN = 64 << 10 };

struct csv_file {
    struct cn_out out;
    struct cn_text text;
};

static struct cn_text *cell(struct cn_rows_table *table)
{
    struct csv_file *file = table->own;

    if (table->at > 0)
        cn_text_char(&file->text, ',');
    return &file->text;
}

static bool table_begin(struct cn_rows_table *table, struct cn_error *err)
{
    struct csv_file *file = cn_alloc(1, sizeof(*file));

    table->own = file;
    char *name = cn_strprintf("%s.csv", table->shape->name);
    bool ok = cn_out_open_at(&file->out, table->rows->x->folder.path, name, err);
    free(name);
    for (size_t i = 0; table->shape->columns[i].name; i++)
        cn_text_printf(&file->text, "%s%s", i > 0 ? "," : "",
                       table->shape->columns[i].name);
    cn_text_char(&file->text, '\n');
    return ok;
}

static void add_integer(struct cn_rows_table *table, uint64_t value)
{
    cn_text_u64(cell(table), value);
}

static void add_real(struct cn_rows_table *table, double value)
{
    struct cn_json json = {.text = cell(table)};

    cn_json_f64(&json, value);
}

static void add_text(struct cn_rows_table *table, const char *value)
{
    cn_csv_add(cell(table), value);
}

static void add_null(struct cn_rows_table *table)
{
    (void)cell(table);
}

static bool flush(struct csv_file *file, struct cn_error *err)
{
    bool ok = cn_out_write(&file->out, file->text.chars, file->text.len, err);

    cn_text_clear(&file->text);
    return ok;
}

static bool row_end(struct cn_rows_table *table, struct cn_error *err)
{
    struct csv_file *file = table->own;

    cn_text_char(&file->text, '\n');
    return file->text.len < FLUSH_LEN || flush(file, err);
}

static bool table_end(struct cn_rows_table *table, struct cn_error *err)
{
    struct csv_file *file = table->own;
    bool ok = true;

    if (!file)
        return true;
    ok = file->out.fd > 0 && flush(file, err) && cn_out_close(&file->out, err);
    cn_out_abandon(&file->out);
    cn_text_done(&file->text);
    free(file);
    table->own = NULL;
    return ok;
}

static const struct cn_rows_ops ops = {
    .table_begin = table_begin,
    .integer = add_integer,
    .real = add_real,
    .text = add_text,
    .null = add_null,
    .row_end = row_end,
    .table_end = table_end,
};

static bool write_tables(struct cn_export *x, struct cn_error *err)
{
    struct cn_table_rows rows = {.ops = &ops, .x = x};

    return cn_tables_write(&rows, err);
}

const struct cn_format cn_format_csv = {
    .name = "csv",
    .summary = "every table as a CSV file in a folder",
    .holds = "tables",
    .keeps_flows = true,
    .export_calls = write_tables,
    .export_database = write_tables,
};
