#include "store/segment/index.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "model/contexts/context.h"
#include "store/segment/scan.h"

static const struct cn_joined_trace *find_trace(const struct cn_joined *joined,
                                                uint32_t row)
{
    size_t i = joined->trace_count == 0
                   ? 0
                   : cn_search_u32(&joined->traces[0].row, joined->trace_count,
                                   sizeof(*joined->traces), row);

    return i > 0 && joined->traces[i - 1].row == row ? &joined->traces[i - 1] : NULL;
}

/* The same for all parts of a trace, or of a span inside of it. */
static uint64_t key_of(const struct cn_store_row *row)
{
    return cn_span_key(row->trace_high, row->trace_low,
                       row->flags & CN_ROW_EMBEDDED ? row->span_id : 0, 0);
}

static void add_first(struct cn_joined *joined, struct cn_map *firsts,
                      const struct cn_store_row *row, uint32_t number)
{
    CN_GROW(joined->traces, joined->trace_count, joined->trace_capacity);
    *cn_map_at(firsts, key_of(row), 0) = (uint32_t)joined->trace_count;
    joined->traces[joined->trace_count++] = (struct cn_joined_trace){
        .row = number,
        .records = row->records,
        .errors = row->errors,
        .flags = row->flags,
        .duration_ns = row->duration_ns,
        .calls = row->calls,
    };
}

static void add_part(struct cn_joined *joined, const struct cn_map *firsts,
                     const struct cn_store_row *row, uint32_t number)
{
    uint32_t first = cn_map_find(firsts, key_of(row), CN_NONE);
    struct cn_joined_part part = {number, CN_NONE};

    if (first != CN_NONE) {
        struct cn_joined_trace *trace = &joined->traces[first];

        part.first = trace->row;
        trace->records += row->records;
        trace->errors += row->errors;
        trace->flags |= row->flags & (CN_ROW_ERROR | CN_ROW_LAST | CN_ROW_LOSSY);
        if (row->duration_ns > trace->duration_ns)
            trace->duration_ns = row->duration_ns;
        if (row->calls > trace->calls)
            trace->calls = row->calls;
    }
    CN_PUSH(joined->parts, joined->part_count, joined->part_capacity, part);
}

static bool add_rows(struct cn_joined *joined, const struct cn_columns *columns,
                     struct cn_map *firsts, struct cn_error *err)
{
    struct cn_store_column flags;
    struct cn_store_row row;

    if (!cn_columns_field(columns, CN_STORE_FIELD_flags, &flags, err))
        return false;
    for (uint32_t i = 0; i < columns->row_count; i++) {
        uint64_t bits = cn_store_column_at(&flags, i) & (CN_ROW_FIRST | CN_ROW_LAST);

        if (bits == (CN_ROW_FIRST | CN_ROW_LAST))
            continue;
        if (!cn_columns_row(columns, i, &row, err))
            return false;
        if (bits & CN_ROW_FIRST)
            add_first(joined, firsts, &row, i);
        else
            add_part(joined, firsts, &row, i);
    }
    return true;
}

bool cn_joined_open(struct cn_joined *joined, const struct cn_columns *columns,
                    struct cn_error *err)
{
    struct cn_joined opened = {0};
    struct cn_map firsts = {0};
    uint64_t lowest, highest;

    cn_columns_range(columns, CN_STORE_FIELD_part, &lowest, &highest);
    bool ok = highest == 0 || add_rows(&opened, columns, &firsts, err);
    cn_map_done(&firsts);
    if (!ok) {
        cn_joined_close(&opened);
        return false;
    }
    *joined = opened;
    return true;
}

void cn_joined_close(struct cn_joined *joined)
{
    free(joined->parts);
    free(joined->traces);
    *joined = (struct cn_joined){0};
}

void cn_joined_fold(const struct cn_joined *joined, struct cn_rows *rows)
{
    for (size_t i = 0; i < joined->part_count; i++)
        if (joined->parts[i].first != CN_NONE && cn_rows_has(rows, joined->parts[i].row))
            cn_rows_set(rows, joined->parts[i].first);
}

void cn_joined_drop(const struct cn_joined *joined, struct cn_rows *rows)
{
    for (size_t i = 0; i < joined->part_count; i++)
        cn_rows_clear(rows, joined->parts[i].row);
}

uint64_t cn_joined_number(const struct cn_joined *joined, enum cn_store_field field,
                          uint32_t row, uint64_t value)
{
    const struct cn_joined_trace *trace = find_trace(joined, row);

    if (!trace)
        return value;
    switch ((unsigned)field) {
    case CN_STORE_FIELD_duration_ns:
        return trace->duration_ns;
    case CN_STORE_FIELD_calls:
        return trace->calls;
    case CN_STORE_FIELD_records:
        return trace->records;
    case CN_STORE_FIELD_errors:
        return trace->errors;
    case CN_STORE_FIELD_flags:
        return trace->flags;
    default:
        return value;
    }
}

void cn_joined_complete(const struct cn_joined *joined, uint32_t number,
                        struct cn_store_row *row)
{
    const struct cn_joined_trace *trace = find_trace(joined, number);

    if (!trace)
        return;
    row->duration_ns = trace->duration_ns;
    row->calls = trace->calls;
    row->records = trace->records;
    row->errors = trace->errors;
    row->flags = trace->flags;
}
