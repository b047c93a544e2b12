/* SQL over performance data: SELECT statements on virtual tables, which read databases,
 * recordings and stores as they are. docs/sql.md lists the tables.
 *
 *     cn_sql_open(&sql, &limits, err)
 *     cn_sql_add_recording(sql, "main", rec, false, err)
 *     cn_sql_run(sql, "SELECT ...", &sink, arg, err)
 *     cn_sql_check_damage(sql, err)
 *     cn_sql_close(sql)
 *
 * Statements can only read: no other file, no extension, no change of anything. Not in
 * builds without SQLite. What is added is borrowed until the session is closed.
 * Threads: one thread at a time; `report` starts threads of its own.
 */
#ifndef CN_SQL_SQL_H
#define CN_SQL_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_progress;
struct cn_recording;
struct cn_sql;

struct cn_sql_limits {
    uint64_t timeout_ns; /* of a statement; 0: none */
    bool has_options;    /* messages name the options that change the limits */
    uint64_t
        memory_max; /* bytes of SQLite, and of the tables held in memory; 0: no limit */
    const struct cn_progress *progress; /* asked whether to stop; may be NULL */
};

enum cn_sql_cell_kind { CN_SQL_NULL, CN_SQL_INTEGER, CN_SQL_REAL, CN_SQL_TEXT };

/* A value. Texts are NUL-terminated UTF-8; those of a result are valid during the call. */
struct cn_sql_cell {
    enum cn_sql_cell_kind kind;
    bool is_lasting; /* of a table: the text lives as long as the data */
    int64_t integer;
    double real;
    const char *text;
};

/* Receives a result: the names of its columns once, then its rows. False stops. */
struct cn_sql_sink {
    void (*begin)(void *arg, const char *const *names, size_t count);
    bool (*row)(void *arg, const struct cn_sql_cell *cells, size_t count);
};

CN_CHECK bool cn_sql_open(struct cn_sql **out, const struct cn_sql_limits *limits,
                          struct cn_error *err);
void cn_sql_close(struct cn_sql *sql); /* NULL is fine */

/* Add the tables of some data to a schema, which must be new; "main" is the one that
 * statements need not name. */
CN_CHECK bool cn_sql_add_database(struct cn_sql *sql, const char *schema,
                                  struct cn_database *db, struct cn_error *err);
CN_CHECK bool cn_sql_add_recording(struct cn_sql *sql, const char *schema,
                                   struct cn_recording *rec, bool is_raw,
                                   struct cn_error *err);
CN_CHECK bool cn_sql_add_store(struct cn_sql *sql, const char *schema, const char *path,
                               struct cn_error *err);

/* Run one SELECT. Fails with CN_ERR_USAGE for a wrong statement, with CN_ERR_LIMIT at a
 * limit; rows before a failure were delivered. */
CN_CHECK bool cn_sql_run(struct cn_sql *sql, const char *statement,
                         const struct cn_sql_sink *sink, void *arg, struct cn_error *err);

/* List all tables and views: rows of schema, table, column, type and use. */
void cn_sql_list(const struct cn_sql *sql, const struct cn_sql_sink *sink, void *arg);

/* Fails if statements so far read damaged data, and delivered only what is before the
 * damage. */
CN_CHECK bool cn_sql_check_damage(const struct cn_sql *sql, struct cn_error *err);

#endif
