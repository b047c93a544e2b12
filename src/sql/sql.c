#include "sql/sql.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/defaults.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/run/clock.h"
#include "model/calls/recording.h"
#include "open/open.h"
#include "sql/session.h"

enum { STEPS_PER_CHECK = 10000 }; /* of SQLite, between looks at the clock */

/* Limits on what a statement may ask of SQLite; a value is longer than any name here. */
static const struct {
    int what, max;
} lite_limits[] = {
    {SQLITE_LIMIT_LENGTH, 16 << 20},   {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},    {SQLITE_LIMIT_COMPOUND_SELECT, 100},
    {SQLITE_LIMIT_FUNCTION_ARG, 100},  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 0}, {SQLITE_LIMIT_WORKER_THREADS, 0},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
};

bool cn_sql_check(const struct cn_sql *sql, struct cn_error *err)
{
    if (sql->deadline_ns > 0 && cn_clock_ns() > sql->deadline_ns)
        return cn_fail(err, CN_ERR_INTERRUPTED, "stopped at the limit of %.3g s%s",
                       (double)sql->limits.timeout_ns / 1e9,
                       sql->limits.has_options ? ": --timeout" : "");
    return cn_progress_check(sql->limits.progress, "running the statement", err);
}

bool cn_sql_check_memory(const struct cn_sql *sql, uint64_t len, struct cn_error *err)
{
    if (sql->limits.memory_max == 0 || len <= sql->limits.memory_max)
        return true;
    return cn_fail(err, CN_ERR_INTERRUPTED, "stopped at the limit of %" PRIu64 " MiB%s",
                   sql->limits.memory_max >> 20,
                   sql->limits.has_options ? ": --max-memory" : "");
}

const struct cn_progress *cn_sql_progress(const struct cn_sql *sql)
{
    return &sql->progress;
}

static bool is_stopped(void *arg)
{
    struct cn_error ignored;

    return !cn_sql_check(arg, &ignored);
}

static bool report_progress(void *arg, const char *what, uint64_t done, uint64_t total,
                            const char *unit)
{
    (void)what;
    (void)done;
    (void)total;
    (void)unit;
    return !is_stopped(arg);
}

static int check_time(void *arg)
{
    return is_stopped(arg);
}

/* Statements read tables and call functions that only compute. */
static int authorize(void *arg, int action, const char *first, const char *second,
                     const char *schema, const char *inside)
{
    (void)arg;
    (void)first;
    (void)schema;
    (void)inside;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION)
        return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    return SQLITE_DENY;
}

static bool fail_lite(struct cn_sql *sql, int status, struct cn_error *err)
{
    int code = status & 0xff;

    if (sql->has_failed) {
        *err = sql->err;
        return false;
    }
    if (code == SQLITE_INTERRUPT && !cn_sql_check(sql, err))
        return false;
    if (code == SQLITE_NOMEM)
        return cn_sql_check_memory(sql, UINT64_MAX, err);
    if (code == SQLITE_AUTH)
        return cn_fail(err, CN_ERR_USAGE, "a statement may only read: use SELECT");
    if (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN)
        return cn_fail(err, CN_ERR_IO, "SQL: %s", sqlite3_errmsg(sql->lite));
    return cn_fail(err, CN_ERR_USAGE, "SQL: %s", sqlite3_errmsg(sql->lite));
}

static bool exec(struct cn_sql *sql, const struct cn_text *statement,
                 struct cn_error *err)
{
    int status = sqlite3_exec(sql->lite, cn_text_str(statement), NULL, NULL, NULL);

    return status == SQLITE_OK || fail_lite(sql, status, err);
}

bool cn_sql_open(struct cn_sql **out, const struct cn_sql_limits *limits,
                 struct cn_error *err)
{
    struct cn_sql *sql = cn_alloc(1, sizeof(*sql));
    int status;

    sql->limits = *limits;
    sql->progress = (struct cn_progress){
        .report = report_progress, .arg = sql, .is_stopped = is_stopped};
    if (limits->memory_max > 0)
        (void)sqlite3_hard_heap_limit64((sqlite3_int64)limits->memory_max);
    status = sqlite3_open_v2(":memory:", &sql->lite,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_module_v2(sql->lite, "cairn", &cn_sql_module, sql, NULL);
    if (status != SQLITE_OK) {
        (void)fail_lite(sql, status, err);
        cn_sql_close(sql);
        return false;
    }
    for (size_t i = 0; i < sizeof(lite_limits) / sizeof(lite_limits[0]); i++)
        (void)sqlite3_limit(sql->lite, lite_limits[i].what, lite_limits[i].max);
    (void)sqlite3_db_config(sql->lite, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(sql->lite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(sql->lite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(sql->lite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_progress_handler(sql->lite, STEPS_PER_CHECK, check_time, sql);
    *out = sql;
    return true;
}

static void free_data(struct cn_sql_data *data)
{
    for (size_t i = 0; i < CN_SQL_TABLES_MAX; i++)
        cn_sql_stored_free(data->stored[i]);
    cn_context_index_done(&data->contexts);
    if (data->has_codes)
        cn_codes_done(&data->codes);
    if (data->has_report)
        cn_call_report_done(&data->report);
    if (data->has_calls)
        cn_all_calls_done(&data->calls);
    if (data->owns_rec)
        cn_recording_close(data->rec);
    cn_store_query_close(&data->store);
    free(data->schema);
    free(data->path);
    free(data);
}

void cn_sql_close(struct cn_sql *sql)
{
    if (!sql)
        return;
    (void)sqlite3_close(sql->lite);
    (void)sqlite3_hard_heap_limit64(0);
    for (size_t i = 0; i < sql->count; i++)
        free_data(sql->data[i]);
    free(sql->data);
    free(sql);
}

static bool is_name(const char *schema)
{
    size_t len = strspn(schema, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                "0123456789");

    return len > 0 && schema[len] == '\0' && strcmp(schema, "temp") != 0;
}

static struct cn_sql_data *add_data(struct cn_sql *sql, const char *schema)
{
    struct cn_sql_data *data = cn_alloc(1, sizeof(*data));

    CN_PUSH(sql->data, sql->count, sql->capacity, data);
    data->sql = sql;
    data->schema = cn_strdup(schema);
    return data;
}

/* Create the tables and views of the data. Everything that is added after this is denied. */
static bool create_tables(struct cn_sql_data *data, const struct cn_sql_tables *tables,
                          struct cn_error *err)
{
    struct cn_sql *sql = data->sql;
    struct cn_text text = {0};

    if (!is_name(data->schema))
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' cannot be the name of a schema: use letters, digits and _",
                       data->schema);
    data->tables = tables;
    (void)sqlite3_set_authorizer(sql->lite, NULL, NULL);
    if (strcmp(data->schema, "main") != 0)
        cn_text_printf(&text, "ATTACH ':memory:' AS \"%s\";", data->schema);
    for (size_t i = 0; tables->list[i]; i++) {
        const struct cn_sql_table *table = tables->list[i];

        cn_text_printf(&text, "CREATE VIRTUAL TABLE \"%s\".\"%s\" USING cairn;",
                       data->schema, table->name ? table->name : table->shape->name);
    }
    for (size_t i = 0; tables->views[i].name; i++)
        cn_text_printf(&text, "CREATE VIEW \"%s\".\"%s\" AS %s;", data->schema,
                       tables->views[i].name, tables->views[i].select);
    bool ok = exec(sql, &text, err);
    (void)sqlite3_set_authorizer(sql->lite, authorize, NULL);
    cn_text_done(&text);
    return ok;
}

bool cn_sql_add_database(struct cn_sql *sql, const char *schema, struct cn_database *db,
                         struct cn_error *err)
{
    struct cn_sql_data *data = add_data(sql, schema);

    data->db = db;
    data->path = cn_strdup(db->path);
    return create_tables(data, &cn_sql_database_tables, err);
}

bool cn_sql_add_recording(struct cn_sql *sql, const char *schema,
                          struct cn_recording *rec, bool is_raw, struct cn_error *err)
{
    struct cn_sql_data *data = add_data(sql, schema);

    data->rec = rec;
    data->is_raw = is_raw;
    data->path = cn_strdup(rec->path);
    return create_tables(data, &cn_sql_recording_tables, err);
}

bool cn_sql_add_store(struct cn_sql *sql, const char *schema, const char *path,
                      struct cn_error *err)
{
    struct cn_sql_data *data = add_data(sql, schema);

    data->path = cn_strdup(path);
    return cn_store_query_open(&data->store, path, "", err) &&
           create_tables(data, &cn_sql_store_tables, err);
}

bool cn_sql_data_calls(struct cn_sql_data *data, struct cn_error *err)
{
    if (data->has_calls)
        return true;
    if (!data->rec) {
        if (!cn_open_recording(data->path, NULL, &data->rec, err))
            return false;
        data->owns_rec = true;
    }
    data->has_calls = true;
    if (!cn_all_calls_init(&data->calls, data->rec, err))
        return cn_fail_in(err, "%s", data->path);
    data->calls.query.is_raw = data->is_raw;
    return true;
}

void cn_sql_data_damage(struct cn_sql_data *data, const struct cn_error *err)
{
    if (!data->is_damaged) {
        data->damage = *err;
        (void)cn_fail_in(&data->damage, "%s", data->path);
    }
    data->is_damaged = true;
}

bool cn_sql_check_damage(const struct cn_sql *sql, struct cn_error *err)
{
    for (size_t i = 0; i < sql->count; i++) {
        if (sql->data[i]->is_damaged) {
            *err = sql->data[i]->damage;
            return false;
        }
    }
    return true;
}

static void read_cell(sqlite3_stmt *statement, int column, struct cn_text *hex,
                      struct cn_sql_cell *out)
{
    const unsigned char *bytes;

    *out = (struct cn_sql_cell){0};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        out->kind = CN_SQL_INTEGER;
        out->integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        out->kind = CN_SQL_REAL;
        out->real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        out->kind = CN_SQL_TEXT;
        out->text = (const char *)sqlite3_column_text(statement, column);
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(statement, column);
        cn_text_clear(hex);
        cn_hex_add(hex, bytes, (size_t)sqlite3_column_bytes(statement, column));
        out->kind = CN_SQL_TEXT;
        out->text = cn_text_str(hex);
        break;
    default:
        break;
    }
}

/* Two cells that are blobs each need a text of their own. */
struct result {
    size_t count;
    struct cn_sql_cell *cells;
    struct cn_text *hex;
};

static bool deliver(struct cn_sql *sql, sqlite3_stmt *statement,
                    const struct cn_sql_sink *sink, void *arg, struct cn_error *err)
{
    struct result result = {.count = (size_t)sqlite3_column_count(statement)};
    const char **names = cn_alloc(result.count, sizeof(*names));
    int status;

    result.cells = cn_alloc(result.count, sizeof(*result.cells));
    result.hex = cn_alloc(result.count, sizeof(*result.hex));
    for (size_t i = 0; i < result.count; i++)
        names[i] = sqlite3_column_name(statement, (int)i);
    status = sqlite3_step(statement);
    if (status == SQLITE_ROW || status == SQLITE_DONE)
        sink->begin(arg, names, result.count);
    for (; status == SQLITE_ROW; status = sqlite3_step(statement)) {
        for (size_t i = 0; i < result.count; i++)
            read_cell(statement, (int)i, &result.hex[i], &result.cells[i]);
        if (!sink->row(arg, result.cells, result.count)) {
            status = SQLITE_DONE;
            break;
        }
    }
    for (size_t i = 0; i < result.count; i++)
        cn_text_done(&result.hex[i]);
    free(result.hex);
    free(result.cells);
    free(names);
    return status == SQLITE_DONE || fail_lite(sql, status, err);
}

/* Prepare the one statement of a text. */
static bool prepare(struct cn_sql *sql, const char *text, sqlite3_stmt **out,
                    struct cn_error *err)
{
    sqlite3_stmt *statement = NULL, *second = NULL;
    const char *rest;
    int status = sqlite3_prepare_v2(sql->lite, text, -1, &statement, &rest);

    if (status != SQLITE_OK)
        return fail_lite(sql, status, err);
    if (!statement)
        return cn_fail(err, CN_ERR_USAGE, "the statement is empty");
    if (sqlite3_prepare_v2(sql->lite, rest, -1, &second, NULL) != SQLITE_OK || second) {
        (void)sqlite3_finalize(second);
        (void)sqlite3_finalize(statement);
        return cn_fail(err, CN_ERR_USAGE, "one statement at a time: '%.40s' follows",
                       rest);
    }
    if (sqlite3_column_count(statement) == 0) {
        (void)sqlite3_finalize(statement);
        return cn_fail(err, CN_ERR_USAGE, "a statement may only read: use SELECT");
    }
    *out = statement;
    return true;
}

bool cn_sql_run(struct cn_sql *sql, const char *text, const struct cn_sql_sink *sink,
                void *arg, struct cn_error *err)
{
    struct cn_error late;
    sqlite3_stmt *statement;

    sql->deadline_ns =
        sql->limits.timeout_ns > 0 ? cn_clock_ns() + sql->limits.timeout_ns : 0;
    sql->has_failed = false;
    if (!prepare(sql, text, &statement, err))
        return false;
    bool ok = deliver(sql, statement, sink, arg, err);
    /* A table that was interrupted does not know whether by the user or by a limit. */
    if (!ok && err->kind == CN_ERR_INTERRUPTED &&
        cn_progress_check(sql->limits.progress, "running the statement", &late)) {
        if (!cn_sql_check(sql, &late))
            *err = late;
        err->kind = CN_ERR_LIMIT;
    }
    (void)sqlite3_finalize(statement);
    return ok;
}

/* Receives the cells of one row of the list. */
static void list_column(const struct cn_sql_data *data, const char *table,
                        const char *column, const char *type, const char *use,
                        const struct cn_sql_sink *sink, void *arg)
{
    const char *const texts[] = {data->schema, table, column, type, use};
    struct cn_sql_cell cells[sizeof(texts) / sizeof(texts[0])];
    size_t count = sizeof(texts) / sizeof(texts[0]);

    for (size_t i = 0; i < count; i++)
        cn_sql_cell_text(&cells[i], texts[i], false);
    (void)sink->row(arg, cells, count);
}

static const char *use_of(const struct cn_sql_table *table, unsigned column,
                          unsigned column_count)
{
    if (column + table->hidden_count >= column_count)
        return "parameter";
    for (unsigned k = 0; k < table->key_count; k++)
        if (table->keys[k] == column)
            return "key";
    return table->text_key == column ? "key" : NULL;
}

static void list_table(const struct cn_sql_data *data, const struct cn_sql_table *table,
                       const struct cn_sql_sink *sink, void *arg)
{
    static const char *const types[] = {
        [CN_CELL_INTEGER] = "INTEGER", [CN_CELL_REAL] = "REAL", [CN_CELL_TEXT] = "TEXT"};
    const struct cn_table_column *columns = table->shape->columns;
    unsigned count = 0;

    while (columns[count].name)
        count++;
    for (unsigned i = 0; i < count; i++)
        list_column(data, table->name ? table->name : table->shape->name, columns[i].name,
                    types[columns[i].kind], use_of(table, i, count), sink, arg);
}

static void list_view(const struct cn_sql_data *data, const struct cn_sql_view *view,
                      const struct cn_sql_sink *sink, void *arg)
{
    sqlite3_stmt *statement = NULL;
    char *text = cn_strprintf("SELECT * FROM \"%s\".\"%s\"", data->schema, view->name);

    if (sqlite3_prepare_v2(data->sql->lite, text, -1, &statement, NULL) == SQLITE_OK) {
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            list_column(data, view->name, sqlite3_column_name(statement, i),
                        sqlite3_column_decltype(statement, i), "view", sink, arg);
    }
    (void)sqlite3_finalize(statement);
    free(text);
}

void cn_sql_list(const struct cn_sql *sql, const struct cn_sql_sink *sink, void *arg)
{
    static const char *const names[] = {"schema", "table", "column", "type", "use"};

    sink->begin(arg, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < sql->count; i++) {
        const struct cn_sql_tables *tables = sql->data[i]->tables;

        for (size_t k = 0; tables->list[k]; k++)
            list_table(sql->data[i], tables->list[k], sink, arg);
        for (size_t k = 0; tables->views[k].name; k++)
            list_view(sql->data[i], &tables->views[k], sink, arg);
    }
}
