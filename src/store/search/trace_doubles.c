/* Finds the rows of spans that are stored twice. Traces whose runs have none were looked through when they
 * were summed up: here those of several runs. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "store/search/trace_making.h"
#include "store/segment/scan.h"

enum { SLICE_ROWS = 1 << 21 /* about so many rows are in memory at a time */ };

bool cn_table_has_twice(uint64_t *ids, size_t count)
{
    enum { FEW = 24 };

    if (count > FEW) {
        CN_SORT_VALUES(ids, count);
        for (size_t i = 1; i < count; i++)
            if (ids[i] == ids[i - 1] && ids[i] != 0)
                return true;
        return false;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (ids[i] == ids[k] && ids[i] != 0)
                return true;
    return false;
}

/* Called with the rows of each run of a trace that has a number. */
typedef bool (*visit_run)(void *arg, uint32_t segment, uint32_t first, uint32_t end,
                          uint32_t number, struct cn_error *err);

static bool each_run(const struct cn_trace_table *table, visit_run visit, void *arg,
                     struct cn_error *err)
{
    for (uint32_t s = 0; s < table->segment_count; s++) {
        const struct cn_trace_runs *runs = &table->runs[s];
        uint32_t end;

        for (uint32_t row = 0; row < runs->row_count; row = end) {
            uint32_t number = cn_trace_runs_number(runs, row);

            end = cn_trace_runs_next(runs, row + 1);
            if (number > 0 && !visit(arg, s, row, end, number, err))
                return false;
        }
    }
    return true;
}

/* True for traces that may have a span twice in different runs: several of their rows are not inside of
 * another. */
static bool is_scattered(const struct cn_table_making *making, uint32_t number)
{
    return making->tops[number - 1] > 1 && making->runs[number - 1] > 1;
}

/* The span ids of scattered traces, those of a trace one after the other. */
struct scattered {
    const struct cn_table_making *making;
    uint64_t *ids;
    size_t *ends;        /* by trace; while ids are added, where the next one goes */
    uint32_t first, end; /* traces */
};

static bool add_ids(void *arg, uint32_t segment, uint32_t first, uint32_t end,
                    uint32_t number, struct cn_error *err)
{
    struct scattered *scattered = arg;
    size_t *at;

    if (number <= scattered->first || number > scattered->end ||
        !is_scattered(scattered->making, number))
        return true;
    at = &scattered->ends[number - 1 - scattered->first];
    *at += end - first;
    return cn_table_read_spans(&scattered->making->segments[segment], first, end - first,
                               scattered->ids + *at - (end - first), err);
}

/* Note the scattered traces from `first` on that have a span twice, as many as fit into memory. The
 * result is the first trace after these. */
static bool note_doubled(struct cn_table_making *making, uint32_t first, uint32_t *next,
                         struct cn_error *err)
{
    const struct cn_trace_table *table = &making->table;
    struct scattered scattered = {.making = making, .first = first, .end = first};
    size_t count = 0;
    bool ok;

    while (scattered.end < table->count && count < SLICE_ROWS) {
        count += is_scattered(making, scattered.end + 1)
                     ? table->traces[scattered.end].spans
                     : 0;
        scattered.end++;
    }
    scattered.ids = cn_alloc(count, sizeof(*scattered.ids));
    scattered.ends = cn_alloc(scattered.end - first + 1, sizeof(*scattered.ends));
    for (uint32_t i = first; i < scattered.end; i++)
        scattered.ends[i - first + 1] =
            scattered.ends[i - first] +
            (is_scattered(making, i + 1) ? table->traces[i].spans : 0);
    ok = count == 0 || each_run(table, add_ids, &scattered, err);
    /* Each end is now where the list of the next trace begins. */
    for (uint32_t i = first; ok && count > 0 && i < scattered.end; i++) {
        size_t begin = i > first ? scattered.ends[i - first - 1] : 0;

        making->is_doubled[i] |=
            cn_table_has_twice(scattered.ids + begin, scattered.ends[i - first] - begin);
    }
    free(scattered.ids);
    free(scattered.ends);
    *next = scattered.end;
    return ok;
}

/* Of a slice of the traces that have doubles, those inside of others, or the others. */
struct marking {
    struct cn_table_making *making;
    uint64_t slice, slice_count;
    bool is_inside;
    struct cn_map seen;
};

static void mark(struct cn_trace_table *table, uint32_t segment, uint32_t row)
{
    if (!table->doubles[segment])
        table->doubles[segment] =
            cn_alloc((size_t)table->runs[segment].row_count / 64 + 1, sizeof(uint64_t));
    table->doubles[segment][row / 64] |= UINT64_C(1) << row % 64;
}

/* Mark the second rows of spans: one that is inside of another and also on its own is shown where its
 * caller is. */
static bool mark_run(void *arg, uint32_t segment, uint32_t first, uint32_t end,
                     uint32_t number, struct cn_error *err)
{
    struct marking *marking = arg;
    struct cn_table_making *making = marking->making;
    struct cn_table_block block = {.count = 0};
    uint64_t ids[CN_TABLE_BLOCK_ROWS];

    if (!making->is_doubled[number - 1] ||
        number % marking->slice_count != marking->slice)
        return true;
    for (uint32_t row = first; row < end; row++) {
        if ((row - first) % CN_TABLE_BLOCK_ROWS == 0) {
            uint32_t count =
                end - row < CN_TABLE_BLOCK_ROWS ? end - row : CN_TABLE_BLOCK_ROWS;

            if (!cn_table_read(&making->segments[segment], &block, row, count, err) ||
                !cn_table_read_spans(&making->segments[segment], row, count, ids, err))
                return false;
        }
        bool is_inside =
            block.values[CN_TABLE_FLAGS][row - block.first] & CN_ROW_EMBEDDED;
        uint64_t span_id = ids[row - block.first];
        if (span_id == 0 || is_inside != marking->is_inside)
            continue;
        uint32_t *is_seen =
            cn_map_at(&marking->seen, cn_span_key(number, 0, span_id, 0), 0);
        if (*is_seen)
            mark(&making->table, segment, row);
        *is_seen = 1;
    }
    return true;
}

static bool mark_slice(struct cn_table_making *making, uint64_t slice,
                       uint64_t slice_count, struct cn_error *err)
{
    struct marking marking = {making, slice, slice_count, true, {0}};
    bool ok = each_run(&making->table, mark_run, &marking, err);

    marking.is_inside = false;
    ok = ok && each_run(&making->table, mark_run, &marking, err);
    cn_map_done(&marking.seen);
    return ok;
}

bool cn_table_find_doubles(struct cn_table_making *making, bool *is_any,
                           struct cn_error *err)
{
    const struct cn_trace_table *table = &making->table;
    uint64_t rows = 0, slice_count;
    uint32_t next = 0;
    bool ok = true;

    while (ok && next < table->count)
        ok = note_doubled(making, next, &next, err);
    for (uint32_t i = 0; i < table->count; i++)
        rows += making->is_doubled[i] ? table->traces[i].spans : 0;
    *is_any = rows > 0;
    slice_count = rows / SLICE_ROWS + 1;
    for (uint64_t slice = 0; ok && *is_any && slice < slice_count; slice++)
        ok = mark_slice(making, slice, slice_count, err);
    return ok;
}
