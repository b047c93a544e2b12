/* Tables as lines of JSON: an object per row, with the name of its table. */

#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/write/tables/tables.h"

static struct cn_text *cell(struct cn_rows_table *table)
{
    struct cn_text *text = &table->rows->x->text;

    if (table->at == 0)
        cn_text_printf(text, "{\"table\":\"%s\"", table->shape->name);
    cn_text_printf(text, ",\"%s\":", table->shape->columns[table->at].name);
    return text;
}

static bool do_nothing(struct cn_rows_table *table, struct cn_error *err)
{
    (void)table;
    (void)err;
    return true;
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
    cn_json_quote(cell(table), value);
}

static void add_null(struct cn_rows_table *table)
{
    cn_text_str_add(cell(table), "null");
}

static bool row_end(struct cn_rows_table *table, struct cn_error *err)
{
    cn_text_str_add(&table->rows->x->text, "}\n");
    return cn_export_flush(table->rows->x, err);
}

static const struct cn_rows_ops ops = {
    .table_begin = do_nothing,
    .integer = add_integer,
    .real = add_real,
    .text = add_text,
    .null = add_null,
    .row_end = row_end,
    .table_end = do_nothing,
};

static bool write_tables(struct cn_export *x, struct cn_error *err)
{
    struct cn_table_rows rows = {.ops = &ops, .x = x};

    return cn_tables_write(&rows, err);
}

const struct cn_format cn_format_ndjson = {
    .name = "ndjson",
    .summary = "every table as lines of JSON, one object per row",
    .holds = "tables",
    .is_file = true,
    .keeps_flows = true,
    .export_calls = write_tables,
    .export_database = write_tables,
};
