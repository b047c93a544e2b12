#include "formats/exchange/write/sqlite/sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "formats/exchange/write/tables/tables.h"

/* Without a journal: the file appears only when it is complete. */
static const char before[] = "PRAGMA journal_mode = OFF;"
                             "PRAGMA synchronous = OFF;"
                             "PRAGMA cache_size = -32768;"
                             "PRAGMA user_version = 1;"
                             "PRAGMA application_id = 1128352334;" /* "CAIN" */
                             "BEGIN;";

/* The views that most queries begin with. */
static const char views_of_calls[] =
    "CREATE VIEW function_times AS SELECT name, count(*) AS calls, "
    "sum(self_ns) AS self_ns, sum(total_ns) AS total_ns "
    "FROM calls GROUP BY name;";
static const char views_of_database[] = "CREATE VIEW costs AS " CN_TABLES_COSTS ";";

static bool fail(sqlite3 *sql, const char *what, struct cn_error *err)
{
    int reason = sqlite3_system_errno(sql);

    return cn_fail(err, CN_ERR_IO, "sqlite: %.*s: %s%s%s", (int)strcspn(what, ";"), what,
                   sqlite3_errmsg(sql), reason ? ": " : "",
                   reason ? strerror(reason) : "");
}

static bool run(sqlite3 *sql, const char *statements, struct cn_error *err)
{
    return sqlite3_exec(sql, statements, NULL, NULL, NULL) == SQLITE_OK ||
           fail(sql, statements, err);
}

static const char *type_name(enum cn_cell_kind kind)
{
    static const char *const names[] = {
        [CN_CELL_INTEGER] = "INTEGER", [CN_CELL_REAL] = "REAL", [CN_CELL_TEXT] = "TEXT"};

    return names[kind];
}

static bool table_begin(struct cn_rows_table *table, struct cn_error *err)
{
    sqlite3 *sql = table->rows->own;
    const struct cn_table_shape *shape = table->shape;
    struct cn_text create = {0}, insert = {0};
    sqlite3_stmt *statement = NULL;

    cn_text_printf(&create, "CREATE TABLE \"%s\" (", shape->name);
    cn_text_printf(&insert, "INSERT INTO \"%s\" VALUES (", shape->name);
    for (size_t i = 0; shape->columns[i].name; i++) {
        cn_text_printf(&create, "%s\"%s\" %s%s", i > 0 ? ", " : "",
                       shape->columns[i].name, type_name(shape->columns[i].kind),
                       i == 0 && shape->has_key ? " PRIMARY KEY" : "");
        cn_text_str_add(&insert, i > 0 ? ",?" : "?");
    }
    cn_text_str_add(&create, ")");
    cn_text_str_add(&insert, ")");
    bool ok = run(sql, cn_text_str(&create), err) &&
              (sqlite3_prepare_v2(sql, cn_text_str(&insert), -1, &statement, NULL) ==
                   SQLITE_OK ||
               fail(sql, shape->name, err));
    table->own = statement;
    cn_text_done(&create);
    cn_text_done(&insert);
    return ok;
}

/* Binding fails without memory; then row_end() fails. */
static void add_integer(struct cn_rows_table *table, uint64_t value)
{
    int64_t as_signed;

    memcpy(&as_signed, &value, sizeof(as_signed));
    (void)sqlite3_bind_int64(table->own, (int)table->at + 1, as_signed);
}

static void add_real(struct cn_rows_table *table, double value)
{
    (void)sqlite3_bind_double(table->own, (int)table->at + 1, value);
}

static void add_text(struct cn_rows_table *table, const char *value)
{
    struct cn_text plain = {0};

    if (cn_utf8_is_valid(value, strlen(value))) {
        (void)sqlite3_bind_text(table->own, (int)table->at + 1, value, -1,
                                SQLITE_TRANSIENT);
        return;
    }
    cn_utf8_add_printable(&plain, value);
    (void)sqlite3_bind_text(table->own, (int)table->at + 1, cn_text_str(&plain), -1,
                            SQLITE_TRANSIENT);
    cn_text_done(&plain);
}

static void add_null(struct cn_rows_table *table)
{
    (void)sqlite3_bind_null(table->own, (int)table->at + 1);
}

static bool row_end(struct cn_rows_table *table, struct cn_error *err)
{
    bool ok = sqlite3_step(table->own) == SQLITE_DONE ||
              fail(table->rows->own, table->shape->name, err);

    (void)sqlite3_reset(table->own);
    return ok;
}

/* "a,b;c": an index over a and b, and one over c. Created at the end, which is much
 * faster. */
static bool add_indexes(struct cn_rows_table *table, struct cn_error *err)
{
    const char *at = table->shape->indexes;
    bool ok = true;

    for (unsigned i = 1; at && *at && ok; i++) {
        size_t len = strcspn(at, ";");
        char *create =
            cn_strprintf("CREATE INDEX \"%s_%u\" ON \"%s\" (%.*s)", table->shape->name, i,
                         table->shape->name, (int)len, at);

        ok = run(table->rows->own, create, err);
        free(create);
        at += len + (at[len] == ';');
    }
    return ok;
}

static bool table_end(struct cn_rows_table *table, struct cn_error *err)
{
    (void)sqlite3_finalize(table->own);
    table->own = NULL;
    return add_indexes(table, err);
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
    sqlite3 *sql = NULL;
    bool ok;

    /* The library opens the file itself, and reads and writes anywhere in it. */
    if (!x->sink.path || cn_sink_plain_len(x->path) != strlen(x->path))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: an SQLite database cannot be compressed or written to stdout",
                       x->path);
    ok = sqlite3_open(x->sink.path, &sql) == SQLITE_OK || fail(sql, x->sink.path, err);
    rows.own = sql;
    ok = ok && run(sql, before, err) && cn_tables_write(&rows, err) &&
         run(sql, x->db ? views_of_database : views_of_calls, err) &&
         run(sql, "COMMIT", err);
    if (sqlite3_close(sql) != SQLITE_OK && ok)
        ok = fail(sql, x->sink.path, err);
    return ok || cn_fail_in(err, "%s", x->path);
}

const struct cn_format cn_format_sqlite = {
    .name = "sqlite",
    .summary = "every table in an SQLite database, with indexes",
    .holds = "tables",
    .is_file = true,
    .keeps_flows = true,
    .export_calls = write_tables,
    .export_database = write_tables,
};
