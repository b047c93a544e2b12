/* Virtual tables of SQLite on top of scans. */

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "sql/session.h"

struct vtab {
    sqlite3_vtab base;
    struct cn_sql_data *data;
    const struct cn_sql_table *table;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct cn_sql_scan *scan; /* NULL: none */
    sqlite3_int64 row;
    bool is_at_end;
};

enum {
    BOUNDS_MAX = 32, /* bounds that a scan takes; SQLite checks the others alone */
    USED_LEN = 17,   /* digits of the columns that are read, and a space */
};

static int fail(const struct cn_sql_data *data, const struct cn_error *err)
{
    struct cn_sql *sql = data->sql;

    sql->err = *err;
    sql->has_failed = true;
    if (err->kind != CN_ERR_INTERRUPTED && err->kind != CN_ERR_USAGE)
        (void)cn_fail_in(&sql->err, "%s", data->path);
    return SQLITE_ERROR;
}

static const char *name_of(const struct cn_sql_table *table)
{
    return table->name ? table->name : table->shape->name;
}

static unsigned column_count(const struct cn_sql_table *table)
{
    unsigned count = 0;

    while (table->shape->columns[count].name)
        count++;
    return count;
}

static bool is_hidden(const struct cn_sql_table *table, int column)
{
    return column >= 0 && (unsigned)column + table->hidden_count >= column_count(table);
}

static void declare(const struct cn_sql_table *table, struct cn_text *out)
{
    static const char *const types[] = {
        [CN_CELL_INTEGER] = "INTEGER", [CN_CELL_REAL] = "REAL", [CN_CELL_TEXT] = "TEXT"};
    const struct cn_table_column *columns = table->shape->columns;

    cn_text_str_add(out, "CREATE TABLE t (");
    for (int i = 0; columns[i].name; i++)
        cn_text_printf(out, "%s\"%s\" %s%s", i > 0 ? ", " : "", columns[i].name,
                       types[columns[i].kind], is_hidden(table, i) ? " HIDDEN" : "");
    cn_text_str_add(out, ")");
}

/* argv: the module, the schema, the table. */
static int connect_table(sqlite3 *lite, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    struct cn_sql *sql = aux;
    struct vtab *vtab = cn_alloc(1, sizeof(*vtab));
    struct cn_text text = {0};

    (void)argc;
    (void)message;
    for (size_t i = 0; i < sql->count; i++)
        if (strcmp(sql->data[i]->schema, argv[1]) == 0)
            vtab->data = sql->data[i];
    for (size_t i = 0; vtab->data && vtab->data->tables->list[i]; i++)
        if (strcmp(name_of(vtab->data->tables->list[i]), argv[2]) == 0)
            vtab->table = vtab->data->tables->list[i];
    if (!vtab->table) {
        free(vtab);
        return SQLITE_ERROR;
    }
    declare(vtab->table, &text);
    int status = sqlite3_declare_vtab(lite, cn_text_str(&text));
    cn_text_done(&text);
    (void)sqlite3_vtab_config(lite, SQLITE_VTAB_INNOCUOUS);
    if (status != SQLITE_OK) {
        free(vtab);
        return status;
    }
    *out = &vtab->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *vtab)
{
    free(vtab);
    return SQLITE_OK;
}

/* A key that a constraint sets a bound for: its number, 't' for the text key, 0: none. */
static char bound_of(const struct cn_sql_table *table, sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    bool is_equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;

    if (constraint->iColumn < 0)
        return 0;
    if (constraint->iColumn == table->text_key)
        return is_equal && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0 ? 't'
                                                                                  : 0;
    for (unsigned k = 0; k < table->key_count; k++) {
        if (table->keys[k] != constraint->iColumn)
            continue;
        if (is_equal || (!is_hidden(table, constraint->iColumn) &&
                         (constraint->op == SQLITE_INDEX_CONSTRAINT_GT ||
                          constraint->op == SQLITE_INDEX_CONSTRAINT_GE ||
                          constraint->op == SQLITE_INDEX_CONSTRAINT_LT ||
                          constraint->op == SQLITE_INDEX_CONSTRAINT_LE)))
            return (char)('0' + k);
    }
    return 0;
}

static void estimate(const struct vtab *vtab, sqlite3_index_info *info, const char *plan)
{
    double rows = (double)vtab->table->row_count(vtab->data);

    for (; *plan; plan += 2) {
        if (plan[1] != SQLITE_INDEX_CONSTRAINT_EQ)
            rows /= 4;
        else if (vtab->table->shape->has_key && plan[0] == '0' &&
                 vtab->table->keys[0] == 0)
            rows = 1;
        else
            rows /= 100;
    }
    rows = rows > 1 ? rows : 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows + 1;
}

/* The column that rows are to be grouped or sorted by, if the scan can do it; or
 * CN_SQL_NO_COLUMN. Then SQLite does not sort. */
static unsigned group_of(const struct vtab *vtab, sqlite3_index_info *info)
{
    int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;

    if (column >= 0 && !info->aOrderBy[0].desc && vtab->table->can_group &&
        vtab->table->can_group(vtab->data, (unsigned)column, info->colUsed))
        return (unsigned)column;
    return CN_SQL_NO_COLUMN;
}

/* The plan is a text: for each argument of the scan, its key and its comparison, after the
 * column of groups and the columns that are read. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct vtab *vtab = (const struct vtab *)base;
    char plan[2 * BOUNDS_MAX + 1] = {0};
    int count = 0;

    for (int i = 0; i < info->nConstraint && count < BOUNDS_MAX; i++) {
        int column = info->aConstraint[i].iColumn;
        char key = bound_of(vtab->table, info, i);

        if (!key)
            continue;
        if (!info->aConstraint[i].usable) {
            if (is_hidden(vtab->table, column))
                return SQLITE_CONSTRAINT; /* a parameter must be known first */
            continue;
        }
        plan[2 * count] = key;
        plan[2 * count + 1] = (char)info->aConstraint[i].op;
        info->aConstraintUsage[i].argvIndex = ++count;
        info->aConstraintUsage[i].omit = is_hidden(vtab->table, column);
    }
    estimate(vtab, info, plan);
    info->idxNum = (int)group_of(vtab, info);
    info->orderByConsumed = info->idxNum != CN_SQL_NO_COLUMN;
    info->idxStr = sqlite3_mprintf("%016llx %s", (unsigned long long)info->colUsed, plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = cn_alloc(1, sizeof(*cursor));

    (void)vtab;
    *out = &cursor->base;
    return SQLITE_OK;
}

static void close_scan(struct cursor *cursor)
{
    if (cursor->scan)
        cursor->scan->table->close(cursor->scan);
    cursor->scan = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    close_scan((struct cursor *)base);
    free(base);
    return SQLITE_OK;
}

/* The integers next to a number, clamped. */
static int64_t clamp(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* Narrow a range by a comparison. The result may be too wide: SQLite checks each row. */
static void narrow(struct cn_sql_range *range, int op, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    int64_t low, high;

    if (type == SQLITE_INTEGER) {
        low = high = sqlite3_value_int64(value);
    } else if (type == SQLITE_FLOAT) {
        low = clamp(floor(sqlite3_value_double(value)));
        high = clamp(ceil(sqlite3_value_double(value)));
    } else {
        return;
    }
    if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE &&
        low > range->first)
        range->first = low;
    if (op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE &&
        high < range->last)
        range->last = high;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct cn_error err = {0};
    enum cn_step step = cursor->scan->table->next(cursor->scan, &err);

    if (step == CN_FAIL)
        return fail(cursor->scan->data, &err);
    cursor->is_at_end = step == CN_END;
    cursor->row++;
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int group, const char *text, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct vtab *vtab = (const struct vtab *)base->pVtab;
    struct cn_sql_ask ask = {.group = (uint8_t)group, .used = strtoull(text, NULL, 16)};
    const char *plan = text + USED_LEN;
    struct cn_error err = {0};

    close_scan(cursor);
    cursor->row = 0;
    for (unsigned k = 0; k < CN_SQL_KEYS_MAX; k++)
        ask.keys[k] = (struct cn_sql_range){INT64_MIN, INT64_MAX};
    for (int i = 0; i < argc; i++) {
        if (plan[2 * i] == 't')
            ask.text = (const char *)sqlite3_value_text(argv[i]);
        else
            narrow(&ask.keys[plan[2 * i] - '0'], plan[2 * i + 1], argv[i]);
    }
    if (!vtab->table->open(vtab->data, vtab->table, &ask, &cursor->scan, &err))
        return fail(vtab->data, &err);
    cursor->scan->table = vtab->table;
    cursor->scan->data = vtab->data;
    return next_row(base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((const struct cursor *)base)->is_at_end;
}

/* SQLite wants UTF-8; other bytes appear as \xHH. */
static void give_text(sqlite3_context *context, const struct cn_sql_cell *cell)
{
    struct cn_text plain = {0};
    size_t len = strlen(cell->text);

    if (cn_utf8_is_valid(cell->text, len)) {
        sqlite3_result_text64(context, cell->text, len,
                              cell->is_lasting ? SQLITE_STATIC : SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        return;
    }
    cn_utf8_add_printable(&plain, cell->text);
    sqlite3_result_text64(context, cn_text_str(&plain), plain.len, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    cn_text_done(&plain);
}

static int give_cell(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *cursor = (struct cursor *)base;
    struct cn_error err = {0};
    struct cn_sql_cell cell;

    if (!cursor->scan->table->cell(cursor->scan, (unsigned)column, &cell, &err))
        return fail(cursor->scan->data, &err);
    switch (cell.kind) {
    case CN_SQL_NULL:
        sqlite3_result_null(context);
        break;
    case CN_SQL_INTEGER:
        sqlite3_result_int64(context, cell.integer);
        break;
    case CN_SQL_REAL:
        sqlite3_result_double(context, cell.real);
        break;
    case CN_SQL_TEXT:
        give_text(context, &cell);
        break;
    }
    return SQLITE_OK;
}

static int give_row(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((const struct cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module cn_sql_module = {
    .iVersion = 1,
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = give_cell,
    .xRowid = give_row,
};
