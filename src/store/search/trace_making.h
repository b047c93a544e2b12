/* A table of traces while it is made: first numbers, then sums, then what is stored twice.
 *
 * Internal to trace_table.c, trace_sums.c and trace_doubles.c. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_TRACE_MAKING_H
#define CN_STORE_SEARCH_TRACE_MAKING_H

#include "store/search/trace_table.h"

/* Columns that are summed up; of SPAN only what is stored twice. */
enum {
    CN_TABLE_TIME,
    CN_TABLE_DURATION,
    CN_TABLE_FLAGS,
    CN_TABLE_CALLS,
    CN_TABLE_RECORDS,
    CN_TABLE_ERRORS,
    CN_TABLE_PARENT,
    CN_TABLE_SPAN,
    CN_TABLE_FIELDS
};

/* The runs that begin in some rows of a segment: the work of a job. */
struct cn_table_part {
    uint32_t segment, first, end;
};

/* The columns of a table. */
extern const enum cn_store_field cn_table_fields[CN_TABLE_FIELDS];

struct cn_table_segment {
    const struct cn_columns *columns;
    const struct cn_joined *joined; /* NULL: there are none */
    struct cn_trace_run_ids ids;
    struct cn_store_column fields[CN_TABLE_FIELDS];
    bool has_field[CN_TABLE_FIELDS]; /* it is needed; others are 0 */
    bool is_by_row;                  /* a few rows are read, whose columns are not open */
    struct cn_error err;
    bool ok;
};

struct cn_table_making {
    struct cn_trace_table table;
    struct cn_table_segment *segments;
    struct cn_table_part *parts;
    size_t part_count, part_capacity;
    unsigned workers;
    /* By trace: */
    uint64_t *roots_ns; /* duration of the span without a caller, or as in trace_sums.c */
    uint8_t *tops;      /* rows that are not inside of another, at most 2 */
    uint8_t *runs;      /* at most 2 */
    bool *is_doubled;   /* it has a span twice */
    bool knows_doubles;
};

/* Values of consecutive rows, `first` and those after it. */
enum { CN_TABLE_BLOCK_ROWS = 256 };
struct cn_table_block {
    uint32_t first, count;
    uint64_t values[CN_TABLE_FIELDS][CN_TABLE_BLOCK_ROWS];
};

/* Read rows of a segment, at most CN_TABLE_BLOCK_ROWS, except CN_TABLE_SPAN unless they are read by row. */
CN_CHECK bool cn_table_read(const struct cn_table_segment *segment,
                            struct cn_table_block *block, uint32_t first, uint32_t count,
                            struct cn_error *err);

/* The ids of spans of some rows. */
CN_CHECK bool cn_table_read_spans(const struct cn_table_segment *segment, uint32_t first,
                                  uint32_t count, uint64_t *out, struct cn_error *err);

/* Sum up the rows that are not known as doubles; note which traces may have some. */
CN_CHECK bool cn_table_sum(struct cn_table_making *making, struct cn_error *err);

/* Find the rows of spans that are stored twice; `is_any` receives whether there are some. */
CN_CHECK bool cn_table_find_doubles(struct cn_table_making *making, bool *is_any,
                                    struct cn_error *err);

/* True if an id, except 0, is in a list twice. Sorts long lists. */
bool cn_table_has_twice(uint64_t *ids, size_t count);

#endif
