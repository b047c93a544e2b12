/* A recording or a database as tables, for CSV, NDJSON and SQLite. docs/formats/sqlite.md
 * describes the tables.
 *
 * A writer implements struct cn_rows_ops; cn_tables_write() begins each table, adds its
 * rows cell by cell in the order of the columns, and ends it. After a failure nothing more
 * is written, and the functions below do nothing.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_TABLES_TABLES_H
#define CN_FORMATS_EXCHANGE_WRITE_TABLES_TABLES_H

#include "formats/exchange/export.h"

enum cn_cell_kind { CN_CELL_INTEGER, CN_CELL_REAL, CN_CELL_TEXT };

struct cn_table_column {
    const char *name;
    enum cn_cell_kind kind;
};

enum { CN_TABLE_COLUMN_MAX = 20 };

struct cn_table_shape {
    const char *name;
    struct cn_table_column columns[CN_TABLE_COLUMN_MAX]; /* ends with a NULL name */
    bool has_key;                                        /* the first column is unique */
    const char *indexes; /* columns of each index: "thread,time_ns;name" */
};

struct cn_rows_ops;

struct cn_table_rows {
    const struct cn_rows_ops *ops;
    struct cn_export *x;
    bool ok;
    struct cn_error err;
    void *own; /* the writer's */
};

/* A table being written. */
struct cn_rows_table {
    struct cn_table_rows *rows;
    const struct cn_table_shape *shape;
    unsigned at; /* the next column */
    void *own;   /* the writer's */
};

struct cn_rows_ops {
    bool (*table_begin)(struct cn_rows_table *table, struct cn_error *err);
    void (*integer)(struct cn_rows_table *table, uint64_t value);
    void (*real)(struct cn_rows_table *table, double value);
    void (*text)(struct cn_rows_table *table, const char *value);
    void (*null)(struct cn_rows_table *table);
    bool (*row_end)(struct cn_rows_table *table, struct cn_error *err);
    bool (*table_end)(struct cn_rows_table *table, struct cn_error *err);
};

/* Write all tables of the source of the export. */
CN_CHECK bool cn_tables_write(struct cn_table_rows *rows, struct cn_error *err);

/* For calls.c and database.c. */
void cn_rows_begin(struct cn_rows_table *table, struct cn_table_rows *rows,
                   const struct cn_table_shape *shape);
void cn_rows_integer(struct cn_rows_table *table, uint64_t value);
void cn_rows_index(struct cn_rows_table *table, uint32_t value); /* CN_NONE: null */
void cn_rows_known(struct cn_rows_table *table, uint64_t value); /* 0: null */
void cn_rows_real(struct cn_rows_table *table, double value);
void cn_rows_text(struct cn_rows_table *table, const char *value); /* NULL: null */
void cn_rows_null(struct cn_rows_table *table);
void cn_rows_row(struct cn_rows_table *table); /* after the last cell */
void cn_rows_end(struct cn_rows_table *table);

CN_CHECK bool cn_tables_of_calls(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_of_database(struct cn_table_rows *rows, struct cn_error *err);

/* For cairn sql, which has the same tables without writing them. */
extern const struct cn_table_shape cn_facts_table, cn_tasks_table, cn_functions_table;
extern const struct cn_table_shape cn_calls_table, cn_events_table, cn_flows_table;
extern const struct cn_table_shape cn_metrics_table, cn_statistics_table;
extern const struct cn_table_shape cn_threads_table, cn_identities_table;
extern const struct cn_table_shape cn_contexts_table, cn_values_table, cn_sums_table;
extern const struct cn_table_shape cn_samples_table;

/* Add all rows of a table. */
CN_CHECK bool cn_tables_add_facts(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_tasks(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_flows(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_metrics(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_statistics(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_threads(struct cn_table_rows *rows, struct cn_error *err);
CN_CHECK bool cn_tables_add_identities(struct cn_table_rows *rows, struct cn_error *err);

/* `is_used` by function; NULL: all. */
void cn_tables_add_functions(struct cn_table_rows *rows, const bool *is_used);

/* Words of the columns `kind` and `relation` of contexts. */
const char *cn_tables_kind_name(unsigned kind);
const char *cn_tables_relation_name(unsigned relation);

/* Values with the names of thread, context and metric: the view `costs`. */
#define CN_TABLES_COSTS                                                           \
    "SELECT v.thread, t.name AS thread_name, v.context, c.name AS context_name, " \
    "c.kind, m.name AS metric, m.scope, v.value FROM \"values\" v "               \
    "JOIN threads t ON t.id = v.thread JOIN contexts c ON c.id = v.context "      \
    "JOIN metrics m ON m.id = v.metric"

#endif
