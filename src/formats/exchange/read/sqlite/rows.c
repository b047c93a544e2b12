#include "formats/exchange/read/sqlite/rows.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
    STEPS_AT_ONCE = 1 << 16,
    STEPS_MIN = 1 << 9, /* times STEPS_AT_ONCE: what small files may take */
    STEPS_PER_BYTE = 64,
};

struct cn_sql_file {
    sqlite3 *sql;
    uint64_t steps_left; /* times STEPS_AT_ONCE */
};

struct cn_sql_row {
    sqlite3_stmt *statement;
    int columns[CN_SQL_COLUMN_MAX]; /* of the statement; -1: none */
};

static bool fail(struct cn_sql_file *file, const char *what, struct cn_error *err)
{
    int code = sqlite3_errcode(file->sql) & 0xff;

    if (code == SQLITE_INTERRUPT)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%s: reading it takes more steps than its length allows", what);
    return cn_fail(
        err, code == SQLITE_CANTOPEN || code == SQLITE_IOERR ? CN_ERR_IO : CN_ERR_FORMAT,
        "%s: %s", what, sqlite3_errmsg(file->sql));
}

static int count_steps(void *arg)
{
    struct cn_sql_file *file = arg;

    if (file->steps_left == 0)
        return 1;
    file->steps_left--;
    return 0;
}

/* "immutable": no locks, no journal, no shared memory. */
static void add_uri(struct cn_text *uri, const char *path)
{
    cn_text_str_add(uri, "file:");
    for (const char *at = path; *at; at++) {
        if (strchr("?#%", *at) || (unsigned char)*at < ' ')
            cn_text_printf(uri, "%%%02X", (unsigned)(unsigned char)*at);
        else
            cn_text_add(uri, at, 1);
    }
    cn_text_str_add(uri, "?immutable=1");
}

static void harden(struct cn_sql_file *file, const char *path)
{
    struct stat st = {0};

    (void)stat(path, &st);
    file->steps_left = STEPS_MIN + (uint64_t)st.st_size / STEPS_AT_ONCE * STEPS_PER_BYTE;
    (void)sqlite3_db_config(file->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(file->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_limit(file->sql, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(file->sql, SQLITE_LIMIT_LENGTH, CN_SQL_TEXT_MAX);
    sqlite3_progress_handler(file->sql, STEPS_AT_ONCE, count_steps, file);
}

bool cn_sql_file_open(struct cn_sql_file **out, const char *path, struct cn_error *err)
{
    struct cn_sql_file *file = cn_alloc(1, sizeof(*file));
    struct cn_text uri = {0};
    bool ok;

    add_uri(&uri, path);
    ok = sqlite3_open_v2(cn_text_str(&uri), &file->sql,
                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                         NULL) == SQLITE_OK;
    cn_text_done(&uri);
    if (ok) {
        harden(file, path);
        ok = sqlite3_exec(file->sql, "SELECT count(*) FROM sqlite_master", NULL, NULL,
                          NULL) == SQLITE_OK;
    }
    if (!ok) {
        (void)fail(file, "SQLite", err);
        cn_sql_file_close(file);
        return false;
    }
    *out = file;
    return true;
}

void cn_sql_file_close(struct cn_sql_file *file)
{
    if (!file)
        return;
    (void)sqlite3_close(file->sql);
    free(file);
}

bool cn_sql_has(struct cn_sql_file *file, const char *table)
{
    sqlite3_stmt *statement = NULL;
    bool has;

    has = sqlite3_prepare_v2(file->sql,
                             "SELECT 1 FROM sqlite_master WHERE name = ?1 AND type IN "
                             "('table', 'view')",
                             -1, &statement, NULL) == SQLITE_OK &&
          sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
          sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return has;
}

static sqlite3_stmt *prepare(struct cn_sql_file *file, const char *columns,
                             const char *table)
{
    struct cn_text query = {0};
    sqlite3_stmt *statement = NULL;

    cn_text_printf(&query, "SELECT %s FROM \"%s\"", columns, table);
    (void)sqlite3_prepare_v2(file->sql, cn_text_str(&query), -1, &statement, NULL);
    cn_text_done(&query);
    return statement;
}

static bool has_column(sqlite3_stmt *all, const char *name)
{
    for (int i = 0; i < sqlite3_column_count(all); i++)
        if (sqlite3_stricmp(sqlite3_column_name(all, i), name) == 0)
            return true;
    return false;
}

/* Select only the columns that are there: the others of a view may be costly. */
static bool select_columns(struct cn_sql_file *file, const char *table,
                           const char *const *columns, struct cn_sql_row *row)
{
    sqlite3_stmt *all = prepare(file, "*", table);
    struct cn_text names = {0};
    int count = 0;

    if (!all)
        return false;
    for (int i = 0; columns[i] && i < CN_SQL_COLUMN_MAX; i++) {
        row->columns[i] = has_column(all, columns[i]) ? count++ : -1;
        if (row->columns[i] >= 0)
            cn_text_printf(&names, "%s\"%s\"", count > 1 ? ", " : "", columns[i]);
    }
    (void)sqlite3_finalize(all);
    row->statement = prepare(file, count > 0 ? cn_text_str(&names) : "NULL", table);
    cn_text_done(&names);
    return row->statement != NULL;
}

bool cn_sql_visit(struct cn_sql_file *file, const char *table, const char *const *columns,
                  cn_sql_row_fn take, void *arg, struct cn_error *err)
{
    struct cn_sql_row row = {0};
    bool ok = true;
    int step;

    if (!cn_sql_has(file, table))
        return true;
    if (!select_columns(file, table, columns, &row))
        return fail(file, table, err);
    while ((step = sqlite3_step(row.statement)) == SQLITE_ROW && ok)
        ok = take(arg, &row, err);
    if (ok && step != SQLITE_DONE)
        ok = fail(file, table, err);
    (void)sqlite3_finalize(row.statement);
    return ok;
}

bool cn_sql_u64(const struct cn_sql_row *row, int column, uint64_t *out)
{
    int at = row->columns[column];
    sqlite3_int64 value;

    if (at < 0 || sqlite3_column_type(row->statement, at) != SQLITE_INTEGER)
        return false;
    value = sqlite3_column_int64(row->statement, at);
    if (value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

bool cn_sql_u32(const struct cn_sql_row *row, int column, uint32_t *out)
{
    uint64_t value;

    if (!cn_sql_u64(row, column, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

struct cn_bytes cn_sql_text(const struct cn_sql_row *row, int column)
{
    int at = row->columns[column];

    if (at < 0 || sqlite3_column_type(row->statement, at) != SQLITE_TEXT)
        return (struct cn_bytes){0};
    const unsigned char *text = sqlite3_column_text(row->statement, at);
    int len = sqlite3_column_bytes(row->statement, at);
    return (struct cn_bytes){text, text && len > 0 ? (size_t)len : 0};
}
