#include "store/search/trace_table.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "store/segment/index.h"
#include "store/segment/scan.h"

enum {
    SLICE_ROWS =
        1 << 21,       /* about so many rows, or runs of them, are in memory at a time */
    BUCKETS = 1 << 10, /* of a slice: one fits into the cache */
};

/* A run: neighbouring rows of one trace, by the first that counts. */
struct table_entry {
    uint64_t hash;
    uint32_t segment, row;
};

struct table_making {
    struct cn_trace_table table;
    const struct cn_store_index *const *indexes;
    uint64_t slice, slice_count;
    struct table_entry *found;   /* runs of the slice, in the order of rows */
    struct table_entry *entries; /* the same by bucket */
    size_t ends[BUCKETS];
    size_t found_count, found_capacity, entry_capacity;
    uint64_t *roots_ns; /* by trace: duration of the span without a caller, or as below */
    uint8_t *tops;      /* by trace: rows that are not inside of another, at most 2 */
    bool *is_doubled;   /* by trace: it has a span twice */
    uint64_t doubled_rows; /* of these traces */
    uint32_t *slots;       /* of a bucket: 1 + index of the first entry of a trace */
    size_t slot_capacity;
    uint32_t trace_count;
};

/* The columns that tell which rows are of which trace. */
struct table_ids {
    struct cn_store_column high, low, part;
    uint32_t row_count;
};

static bool open_ids(const struct table_making *making, uint32_t segment,
                     struct table_ids *ids, struct cn_error *err)
{
    const struct cn_columns *columns = making->indexes[segment]->columns;

    ids->row_count = columns->row_count;
    return cn_columns_field(columns, CN_STORE_FIELD_trace_high, &ids->high, err) &&
           cn_columns_field(columns, CN_STORE_FIELD_trace_low, &ids->low, err) &&
           cn_columns_field(columns, CN_STORE_FIELD_part, &ids->part, err);
}

/* The end of the rows from `row` on that have its id. */
static uint32_t end_of_run(const struct table_ids *ids, uint32_t row)
{
    for (row++; row < ids->row_count; row++) {
        uint64_t starts = 0;

        if (!ids->high.groups || !ids->low.groups) {
            if (cn_store_column_is_new(&ids->high, row) ||
                cn_store_column_is_new(&ids->low, row))
                return row;
            continue;
        }
        starts = cn_store_column_starts(&ids->high, row) |
                 cn_store_column_starts(&ids->low, row);
        if (starts == 0) {
            row |= CN_COLUMN_GROUP_ROWS - 1; /* the last row of the group */
            continue;
        }
        row += (uint32_t)__builtin_ctzll(starts);
        return row < ids->row_count ? row : ids->row_count;
    }
    return ids->row_count;
}

/* The first row of a run from `row` on that is no later part, which counts for the first. */
static uint32_t skip_parts(const struct table_ids *ids, uint32_t row, uint32_t end)
{
    while (row < end && cn_store_column_at(&ids->part, row) != 0)
        row++;
    return row;
}

/* Find the runs of a segment whose hash is in the slice, and give those of several rows a number. A
 * trace without an id is a trace of its own. */
static bool find_entries(struct table_making *making, uint32_t segment,
                         struct cn_error *err)
{
    struct table_entry entry = {.segment = segment};
    struct table_ids ids;
    uint32_t end;

    if (!open_ids(making, segment, &ids, err))
        return false;
    for (uint32_t row = 0; row < ids.row_count; row = end) {
        uint64_t id[2] = {cn_store_column_at(&ids.high, row),
                          cn_store_column_at(&ids.low, row)};

        end = end_of_run(&ids, row);
        entry.hash = XXH3_64bits(id, sizeof(id));
        entry.row = skip_parts(&ids, row, end);
        if ((entry.hash >> 32) * making->slice_count >> 32 != making->slice ||
            (id[0] | id[1]) == 0 || entry.row == end)
            continue;
        if (skip_parts(&ids, entry.row + 1, end) < end)
            making->table.numbers[segment][entry.row] = ++making->trace_count;
        CN_PUSH(making->found, making->found_count, making->found_capacity, entry);
        making->ends[entry.hash % BUCKETS]++;
    }
    return true;
}

/* Give the entries of the same hash the same number. */
static void number_bucket(struct table_making *making, const struct table_entry *entries,
                          size_t count)
{
    size_t slot_count = 16;

    while (slot_count < count * 2)
        slot_count *= 2;
    CN_GROW_TO(making->slots, slot_count, making->slot_capacity);
    for (size_t i = 0; i < slot_count; i++)
        making->slots[i] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t slot = (size_t)(entries[i].hash / BUCKETS) & (slot_count - 1);
        uint32_t *number;

        while (making->slots[slot] != 0 &&
               entries[making->slots[slot] - 1].hash != entries[i].hash)
            slot = (slot + 1) & (slot_count - 1);
        if (making->slots[slot] == 0) {
            making->slots[slot] = (uint32_t)i + 1;
            continue;
        }
        const struct table_entry *first = &entries[making->slots[slot] - 1];
        number = &making->table.numbers[first->segment][first->row];
        if (*number == 0)
            *number = ++making->trace_count;
        making->table.numbers[entries[i].segment][entries[i].row] = *number;
    }
}

static bool number_slice(struct table_making *making, struct cn_error *err)
{
    size_t sum = 0, begin = 0;

    making->found_count = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        making->ends[i] = 0;
    for (uint32_t i = 0; i < making->table.segment_count; i++) {
        if (making->indexes[i] && !find_entries(making, i, err))
            return false;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        size_t count = making->ends[i];

        making->ends[i] = sum;
        sum += count;
    }
    CN_RENEW(making->entries, sum, making->entry_capacity);
    for (size_t i = 0; i < making->found_count; i++) {
        const struct table_entry *entry = &making->found[i];

        making->entries[making->ends[entry->hash % BUCKETS]++] = *entry;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        number_bucket(making, making->entries + begin, making->ends[i] - begin);
        begin = making->ends[i];
    }
    return true;
}

/* Number the traces of a segment in the order of their first rows, and all rows of a run like its first. */
static bool renumber_segment(struct table_making *making, uint32_t segment,
                             uint32_t *renumbered, struct cn_error *err)
{
    struct cn_trace_table *table = &making->table;
    uint32_t *numbers = table->numbers[segment];
    struct table_ids ids;
    uint32_t end;

    if (!open_ids(making, segment, &ids, err))
        return false;
    for (uint32_t begin = 0; begin < ids.row_count; begin = end) {
        end = end_of_run(&ids, begin);
        uint32_t row = skip_parts(&ids, begin, end);
        uint32_t number = row < end ? numbers[row] : 0;

        if (number == 0)
            continue;
        if (renumbered[number] == 0) {
            table->traces[table->count] = (struct cn_trace_sum){
                .segment = segment,
                .row = row,
            };
            renumbered[number] = ++table->count;
        }
        for (; row < end; row = skip_parts(&ids, row + 1, end))
            numbers[row] = renumbered[number];
    }
    return true;
}

/* So that neighbours are close in memory. */
static bool renumber(struct table_making *making, struct cn_error *err)
{
    struct cn_trace_table *table = &making->table;
    uint32_t *renumbered = cn_alloc((size_t)making->trace_count + 1, sizeof(*renumbered));
    bool ok = true;

    table->traces = cn_alloc(making->trace_count, sizeof(*table->traces));
    for (uint32_t i = 0; ok && i < table->segment_count; i++)
        ok = !making->indexes[i] || renumber_segment(making, i, renumbered, err);
    free(renumbered);
    return ok;
}

static const uint64_t no_root = UINT64_MAX, several_roots = UINT64_MAX - 1;

/* The columns that are summed up. */
enum { TIME, DURATION, FLAGS, CALLS, RECORDS, ERRORS, PARENT, SUM_FIELDS };

struct table_summing {
    struct cn_store_column columns[SUM_FIELDS];
    const struct cn_joined *joined; /* NULL: there are none */
};

static const enum cn_store_field sum_fields[SUM_FIELDS] = {
    [TIME] = CN_STORE_FIELD_time_ns,     [DURATION] = CN_STORE_FIELD_duration_ns,
    [FLAGS] = CN_STORE_FIELD_flags,      [CALLS] = CN_STORE_FIELD_calls,
    [RECORDS] = CN_STORE_FIELD_records,  [ERRORS] = CN_STORE_FIELD_errors,
    [PARENT] = CN_STORE_FIELD_parent_id,
};

static inline uint64_t joined_value(const struct table_summing *summing, unsigned field,
                                    uint32_t row, uint64_t value)
{
    return summing->joined
               ? cn_joined_number(summing->joined, sum_fields[field], row, value)
               : value;
}

static inline uint64_t sum_value(const struct table_summing *summing, unsigned field,
                                 uint32_t row)
{
    return joined_value(summing, field, row,
                        cn_store_column_at(&summing->columns[field], row));
}

/* A span that is not inside of another one. The calls of those that are are counted there. */
static void sum_top(struct table_making *making, const struct table_summing *summing,
                    uint32_t row, uint32_t number, uint64_t duration_ns)
{
    struct cn_trace_sum *sum = &making->table.traces[number - 1];
    uint64_t *root_ns = &making->roots_ns[number - 1];

    if (making->tops[number - 1] < 2)
        making->tops[number - 1]++;
    if (cn_store_column_is_zero(&summing->columns[PARENT], row))
        *root_ns = *root_ns == no_root ? duration_ns : several_roots;
    sum->calls += sum_value(summing, CALLS, row);
    sum->records += (uint32_t)sum_value(summing, RECORDS, row);
    sum->errors += (uint32_t)sum_value(summing, ERRORS, row);
}

static bool sum_segment(struct table_making *making, uint32_t segment,
                        struct cn_error *err)
{
    const struct cn_store_index *index = making->indexes[segment];
    struct cn_trace_table *table = &making->table;
    struct table_summing summing = {
        .joined = index->joined.trace_count > 0 ? &index->joined : NULL};

    for (size_t i = 0; i < SUM_FIELDS; i++) {
        if (!cn_columns_field(index->columns, sum_fields[i], &summing.columns[i], err))
            return false;
    }
    struct cn_column_cursor durations = {.column = &summing.columns[DURATION],
                                         .row_count = index->columns->row_count};
    for (uint32_t row = 0; row < table->row_counts[segment]; row++) {
        uint32_t number = table->numbers[segment][row];
        uint64_t time_ns, duration_ns, end_ns;
        struct cn_trace_sum *sum;

        if (number == 0 || cn_trace_table_is_double(table, segment, row))
            continue;
        sum = &table->traces[number - 1];
        time_ns = sum_value(&summing, TIME, row);
        duration_ns =
            joined_value(&summing, DURATION, row, cn_column_cursor_at(&durations, row));
        end_ns = duration_ns < UINT64_MAX - time_ns ? time_ns + duration_ns : UINT64_MAX;
        sum->time_ns = time_ns < sum->time_ns ? time_ns : sum->time_ns;
        sum->end_ns = end_ns > sum->end_ns ? end_ns : sum->end_ns;
        sum->spans++;
        if (!(sum_value(&summing, FLAGS, row) & CN_ROW_EMBEDDED))
            sum_top(making, &summing, row, number, duration_ns);
    }
    return true;
}

/* Sum up the rows that are not known as doubles, and count those that are not inside of another. */
static bool sum_traces(struct table_making *making, struct cn_error *err)
{
    struct cn_trace_table *table = &making->table;

    for (uint32_t i = 0; i < table->count; i++) {
        table->traces[i] = (struct cn_trace_sum){.time_ns = UINT64_MAX,
                                                 .segment = table->traces[i].segment,
                                                 .row = table->traces[i].row};
        making->roots_ns[i] = no_root;
    }
    for (uint32_t i = 0; table->count > 0 && i < table->segment_count; i++) {
        if (making->indexes[i] && !sum_segment(making, i, err))
            return false;
    }
    for (uint32_t i = 0; i < table->count; i++)
        table->traces[i].duration_ns =
            making->roots_ns[i] < several_roots
                ? making->roots_ns[i]
                : table->traces[i].end_ns - table->traces[i].time_ns;
    return true;
}

enum { DOUBLE_FLAGS, DOUBLE_SPAN, DOUBLE_FIELDS };

static bool open_columns(const struct table_making *making, uint32_t segment,
                         struct cn_store_column columns[DOUBLE_FIELDS],
                         struct cn_error *err)
{
    static const enum cn_store_field fields[DOUBLE_FIELDS] = {
        CN_STORE_FIELD_flags,
        CN_STORE_FIELD_span_id,
    };

    for (size_t i = 0; i < DOUBLE_FIELDS; i++)
        if (!cn_columns_field(making->indexes[segment]->columns, fields[i], &columns[i],
                              err))
            return false;
    return true;
}

/* A trace has spans twice only if several of its rows are not inside of another. */
static bool is_scattered(const struct table_making *making, uint32_t number)
{
    return number > 0 && making->tops[number - 1] > 1;
}

/* The span ids of scattered traces, those of a trace one after the other. */
struct scattered {
    uint64_t *ids;
    size_t *ends;        /* by trace; while ids are added, where the next one goes */
    uint32_t first, end; /* traces */
};

static bool add_ids(const struct table_making *making, struct scattered *scattered,
                    struct cn_error *err)
{
    const struct cn_trace_table *table = &making->table;
    struct cn_store_column columns[DOUBLE_FIELDS];

    for (uint32_t s = 0; s < table->segment_count; s++) {
        if (table->row_counts[s] > 0 && !open_columns(making, s, columns, err))
            return false;
        for (uint32_t row = 0; row < table->row_counts[s]; row++) {
            uint32_t number = table->numbers[s][row];

            if (is_scattered(making, number) && number > scattered->first &&
                number <= scattered->end)
                scattered->ids[scattered->ends[number - 1 - scattered->first]++] =
                    cn_store_column_at(&columns[DOUBLE_SPAN], row);
        }
    }
    return true;
}

/* True if an id, except 0, is in a list twice. Sorts long lists. */
static bool has_twice(uint64_t *ids, size_t count)
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

/* Note the scattered traces from `first` on that have a span twice, as many as fit into memory. The
 * result is the first trace after these. */
static bool note_doubled(struct table_making *making, uint32_t first, uint32_t *next,
                         struct cn_error *err)
{
    const struct cn_trace_table *table = &making->table;
    struct scattered scattered = {.first = first, .end = first};
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
    ok = count == 0 || add_ids(making, &scattered, err);
    /* Each end is now where the list of the next trace begins. */
    for (uint32_t i = first; ok && count > 0 && i < scattered.end; i++) {
        size_t begin = i > first ? scattered.ends[i - first - 1] : 0;
        size_t len = scattered.ends[i - first] - begin;

        making->is_doubled[i] = has_twice(scattered.ids + begin, len);
        making->doubled_rows += making->is_doubled[i] ? len : 0;
    }
    free(scattered.ids);
    free(scattered.ends);
    *next = scattered.end;
    return ok;
}

/* Mark the second rows of spans of a slice of the traces that have some, of those inside of others,
 * or of the others: a span that has both is shown where its caller is. */
static bool mark_slice(struct table_making *making, bool is_inside, struct cn_map *seen,
                       struct cn_error *err)
{
    struct cn_trace_table *table = &making->table;
    struct cn_store_column columns[DOUBLE_FIELDS];

    for (uint32_t s = 0; s < table->segment_count; s++) {
        if (table->row_counts[s] > 0 && !open_columns(making, s, columns, err))
            return false;
        for (uint32_t row = 0; row < table->row_counts[s]; row++) {
            uint32_t number = table->numbers[s][row], *is_seen;
            uint64_t span_id;
            bool is_embedded;

            if (number == 0 || !making->is_doubled[number - 1] ||
                number % making->slice_count != making->slice)
                continue;
            span_id = cn_store_column_at(&columns[DOUBLE_SPAN], row);
            is_embedded =
                cn_store_column_at(&columns[DOUBLE_FLAGS], row) & CN_ROW_EMBEDDED;
            if (span_id == 0 || is_embedded != is_inside)
                continue;
            is_seen = cn_map_at(seen, cn_span_key(number, 0, span_id, 0), 0);
            if (*is_seen && !table->doubles[s])
                table->doubles[s] =
                    cn_alloc((size_t)table->row_counts[s] / 64 + 1, sizeof(uint64_t));
            if (*is_seen)
                table->doubles[s][row / 64] |= UINT64_C(1) << row % 64;
            *is_seen = 1;
        }
    }
    return true;
}

static bool mark_doubles(struct table_making *making, struct cn_error *err)
{
    uint32_t next = 0;
    bool ok = true;

    making->is_doubled = cn_alloc(making->table.count, sizeof(*making->is_doubled));
    while (ok && next < making->table.count)
        ok = note_doubled(making, next, &next, err);
    making->slice_count = making->doubled_rows / SLICE_ROWS + 1;
    for (making->slice = 0;
         ok && making->doubled_rows > 0 && making->slice < making->slice_count;
         making->slice++) {
        struct cn_map seen = {0};

        ok =
            mark_slice(making, true, &seen, err) && mark_slice(making, false, &seen, err);
        cn_map_done(&seen);
    }
    return ok;
}

static uint64_t runs_at_most(const struct cn_columns *columns)
{
    const struct cn_store_column *high = &columns->fields[CN_STORE_FIELD_trace_high];
    const struct cn_store_column *low = &columns->fields[CN_STORE_FIELD_trace_low];
    uint64_t runs = (uint64_t)high->value_count + low->value_count;

    return high->groups && low->groups && runs < columns->row_count ? runs
                                                                    : columns->row_count;
}

bool cn_trace_table_make(struct cn_trace_table *out,
                         const struct cn_store_index *const *indexes,
                         size_t segment_count, struct cn_error *err)
{
    struct table_making making = {
        .table = {.numbers = cn_alloc(segment_count, sizeof(uint32_t *)),
                  .row_counts = cn_alloc(segment_count, sizeof(uint32_t)),
                  .doubles = cn_alloc(segment_count, sizeof(uint64_t *)),
                  .segment_count = segment_count},
        .indexes = indexes,
    };
    uint64_t run_count = 0;
    bool ok = true;

    for (size_t i = 0; i < segment_count; i++) {
        uint32_t count = indexes[i] ? indexes[i]->columns->row_count : 0;

        making.table.row_counts[i] = count;
        making.table.numbers[i] =
            count > 0 ? cn_alloc(count, sizeof(**making.table.numbers)) : NULL;
        run_count += indexes[i] ? runs_at_most(indexes[i]->columns) : 0;
    }
    making.slice_count = run_count / SLICE_ROWS + 1;
    for (; ok && making.slice < making.slice_count; making.slice++)
        ok = number_slice(&making, err);
    free(making.found);
    free(making.entries);
    free(making.slots);
    ok = ok && renumber(&making, err);
    if (ok) {
        making.roots_ns = cn_alloc(making.table.count, sizeof(*making.roots_ns));
        making.tops = cn_alloc(making.table.count, sizeof(*making.tops));
        /* Spans are seldom stored twice: sums are only made again if some are. */
        ok = sum_traces(&making, err) && mark_doubles(&making, err) &&
             (making.doubled_rows == 0 || sum_traces(&making, err));
    }
    free(making.roots_ns);
    free(making.tops);
    free(making.is_doubled);
    if (ok)
        *out = making.table;
    else
        cn_trace_table_done(&making.table);
    return ok;
}

void cn_trace_table_done(struct cn_trace_table *table)
{
    for (size_t i = 0; i < table->segment_count; i++) {
        free(table->numbers[i]);
        free(table->doubles[i]);
    }
    free(table->doubles);
    free(table->numbers);
    free(table->row_counts);
    free(table->traces);
    *table = (struct cn_trace_table){0};
}
