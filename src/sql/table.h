/* A virtual table: how its rows are found and read. Internal to sql.
 *
 * A scan is opened with the bounds that a statement sets for the keys of the table. It may
 * deliver rows outside of them, which SQLite drops; it must deliver all rows inside.
 * Threads: one thread at a time.
 */
#ifndef CN_SQL_TABLE_H
#define CN_SQL_TABLE_H

#include "analyze/calls/defaults.h"
#include "analyze/calls/report.h"
#include "analyze/lens/code.h"
#include "analyze/views/context_index.h"
#include "base/run/progress.h"
#include "formats/exchange/write/tables/tables.h"
#include "model/step.h"
#include "sql/sql.h"
#include "store/search/search.h"

enum { CN_SQL_KEYS_MAX = 6, CN_SQL_TABLES_MAX = 16 };

/* Both ends are included; INT64_MIN and INT64_MAX: no bound. */
struct cn_sql_range {
    int64_t first, last;
};

static inline bool cn_sql_range_has(struct cn_sql_range range, uint64_t value)
{
    return value <= INT64_MAX && (int64_t)value >= range.first &&
           (int64_t)value <= range.last;
}

/* The range as that of an unsigned number. Where it is empty, so is the result: 1 to 0. */
static inline void cn_sql_range_u64(struct cn_sql_range range, uint64_t max,
                                    uint64_t *first, uint64_t *last)
{
    *first = range.first > 0 ? (uint64_t)range.first : 0;
    *last = range.last == INT64_MAX || (range.last >= 0 && (uint64_t)range.last > max)
                ? max
                : (uint64_t)range.last;
    if (range.last < 0 || *first > *last) {
        *first = 1;
        *last = 0;
    }
}

static inline bool cn_sql_range_is_one(struct cn_sql_range range)
{
    return range.first == range.last;
}

/* What a statement asks of a table. */
struct cn_sql_ask {
    struct cn_sql_range keys[CN_SQL_KEYS_MAX]; /* by number of the key */
    const char *text;                          /* value of the text key; NULL: any */
    uint64_t used; /* columns that are read: 1 << column; 1 << 63: all after */
    uint8_t group; /* rows are sorted by this column; or
                      CN_SQL_NO_COLUMN */
};

enum { CN_SQL_NO_COLUMN = UINT8_MAX };

struct cn_sql_data;
struct cn_sql_table;

/* The first member of every scan; set by the caller of `open`. */
struct cn_sql_scan {
    const struct cn_sql_table *table;
    struct cn_sql_data *data;
};

struct cn_sql_table {
    const char *name; /* NULL: that of the shape */
    const struct cn_table_shape *shape;
    uint8_t hidden_count;          /* of the last columns: parameters, as in report(3) */
    uint8_t key_count;             /* columns with numbers that a scan takes bounds for */
    uint8_t keys[CN_SQL_KEYS_MAX]; /* their columns */
    uint8_t text_key;              /* the same for a text; CN_SQL_NO_COLUMN */
    bool (*add)(struct cn_table_rows *rows,
                struct cn_error *err); /* of a table in memory */

    uint64_t (*row_count)(struct cn_sql_data *data); /* a guess */
    /* True if a scan can deliver rows grouped by a column; NULL: none can. */
    bool (*can_group)(struct cn_sql_data *data, unsigned column, uint64_t used);
    bool (*open)(struct cn_sql_data *data, const struct cn_sql_table *table,
                 const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                 struct cn_error *err);
    enum cn_step (*next)(struct cn_sql_scan *scan, struct cn_error *err);
    bool (*cell)(struct cn_sql_scan *scan, unsigned column, struct cn_sql_cell *out,
                 struct cn_error *err);
    void (*close)(struct cn_sql_scan *scan);
};

struct cn_sql_view {
    const char *name, *select;
};

/* The tables of a kind of data. */
struct cn_sql_tables {
    const struct cn_sql_table *const *list; /* terminated by NULL */
    const struct cn_sql_view *views;        /* terminated by a NULL name */
};
extern const struct cn_sql_tables cn_sql_database_tables, cn_sql_recording_tables,
    cn_sql_store_tables;

/* Those of report_table.c. */
extern const struct cn_sql_table cn_sql_report, cn_sql_states;

/* Those of listed_tables.c. */
extern const struct cn_sql_table cn_sql_waits, cn_sql_locks, cn_sql_mpi_waits;

/* Those of launches_table.c. */
extern const struct cn_sql_table cn_sql_launches, cn_sql_recorded_launches;

/* Those of io_table.c. */
extern const struct cn_sql_table cn_sql_io, cn_sql_recorded_io;

/* The two of store_tables.c; a store also has those of a recording. */
extern const struct cn_sql_table cn_sql_traces, cn_sql_spans;

struct cn_sql_stored;

/* One source of data: a database, a recording, or a store, which is opened as a recording
 * when a statement asks for its calls. */
struct cn_sql_data {
    struct cn_sql *sql;
    char *schema, *path;
    const struct cn_sql_tables *tables;
    struct cn_sql_stored *stored[CN_SQL_TABLES_MAX]; /* by table, those in memory */

    struct cn_database *db;
    struct cn_context_index contexts;
    bool has_contexts; /* the index was built */
    struct cn_codes codes;
    bool has_codes, is_without_codes; /* they were built, or cannot be */

    struct cn_recording *rec;
    bool owns_rec, has_calls, is_raw;
    struct cn_all_calls calls;
    struct cn_call_report report;
    bool has_report;
    struct cn_sql_range report_of[3]; /* the parameters of `report` */

    struct cn_store_query store;

    bool is_damaged; /* something could not be read; this is the first */
    struct cn_error damage;
};

/* Make data->calls usable. */
CN_CHECK bool cn_sql_data_calls(struct cn_sql_data *data, struct cn_error *err);

/* Note that the data is damaged; the statement goes on with what can be read. */
void cn_sql_data_damage(struct cn_sql_data *data, const struct cn_error *err);

/* Fails at the deadline of the statement, and if the user asked to stop. */
CN_CHECK bool cn_sql_check(const struct cn_sql *sql, struct cn_error *err);
const struct cn_progress *cn_sql_progress(const struct cn_sql *sql);

/* Fails if a table in memory would be larger than the limit. */
CN_CHECK bool cn_sql_check_memory(const struct cn_sql *sql, uint64_t len,
                                  struct cn_error *err);

/* Tables in memory: `add` of the table fills them once. */
uint64_t cn_sql_stored_count(struct cn_sql_data *data);
CN_CHECK bool cn_sql_stored_open(struct cn_sql_data *data,
                                 const struct cn_sql_table *table,
                                 const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                                 struct cn_error *err);
enum cn_step cn_sql_stored_next(struct cn_sql_scan *scan, struct cn_error *err);
bool cn_sql_stored_cell(struct cn_sql_scan *scan, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err);
void cn_sql_scan_free(struct cn_sql_scan *scan);
#define CN_SQL_IN_MEMORY                                                                \
    .text_key = CN_SQL_NO_COLUMN, .row_count = cn_sql_stored_count,                     \
    .open = cn_sql_stored_open, .next = cn_sql_stored_next, .cell = cn_sql_stored_cell, \
    .close = cn_sql_scan_free

void cn_sql_stored_free(struct cn_sql_stored *stored); /* NULL is fine */

static inline void cn_sql_cell_integer(struct cn_sql_cell *cell, uint64_t value)
{
    *cell = (struct cn_sql_cell){.kind = CN_SQL_INTEGER, .integer = (int64_t)value};
}

/* NULL: null. A text that lasts belongs to the data, any other to the row. */
static inline void cn_sql_cell_text(struct cn_sql_cell *cell, const char *text,
                                    bool is_lasting)
{
    *cell = (struct cn_sql_cell){
        .kind = text ? CN_SQL_TEXT : CN_SQL_NULL, .text = text, .is_lasting = is_lasting};
}

#endif
