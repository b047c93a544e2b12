/* The state of a session, for sql.c and module.c.
 * Threads: one thread at a time.
 */
#ifndef CN_SQL_SESSION_H
#define CN_SQL_SESSION_H

#include <sqlite3.h>

#include "sql/table.h"

struct cn_sql {
    sqlite3 *lite;
    struct cn_sql_limits limits;
    uint64_t deadline_ns; /* of the statement; 0: none */
    struct cn_progress progress;
    struct cn_sql_data **data;
    size_t count, capacity;
    bool has_failed; /* a table could not be read; SQLite only knows that it failed */
    struct cn_error err;
};

/* The module of all tables: CREATE VIRTUAL TABLE schema.calls USING cairn. */
extern const sqlite3_module cn_sql_module;

#endif
