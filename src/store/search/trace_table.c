#include "store/search/trace_table.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "store/segment/index.h"
#include "store/segment/scan.h"

enum {
    SLICE_ROWS = 1 << 21, /* about so many rows are in memory at a time */
    BUCKETS = 1 << 10,    /* of a slice: one fits into the cache */
};

struct table_entry {
    uint64_t hash;
    uint32_t segment, row;
};

struct table_making {
    struct cn_trace_table table;
    const struct cn_store_index *const *indexes;
    uint64_t slice, slice_count;
    struct table_entry *found;   /* of the slice, in the order of rows */
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

/* Find the rows of a segment whose hash is in the slice. A trace without an id is a trace of
 * its own; later parts count for the first and are never found. */
static bool find_entries(struct table_making *making, uint32_t segment,
                         struct cn_error *err)
{
    const struct cn_columns *columns = making->indexes[segment]->columns;
    struct cn_store_column high, low, part;

    if (!cn_columns_field(columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_low, &low, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_part, &part, err))
        return false;
    struct table_entry entry = {.segment = segment};
    uint64_t id[2] = {0};
    for (uint32_t row = 0; row < columns->row_count; row++) {
        entry.row = row;
        if (cn_store_column_is_new(&high, row) || cn_store_column_is_new(&low, row)) {
            id[0] = cn_store_column_at(&high, row);
            id[1] = cn_store_column_at(&low, row);
            entry.hash = XXH3_64bits(id, sizeof(id));
        }
        if ((entry.hash >> 32) * making->slice_count >> 32 != making->slice ||
            (id[0] | id[1]) == 0 || cn_store_column_at(&part, row) != 0)
            continue;
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

/* Number traces in the order of their first rows, so that neighbours are close in memory. */
static void renumber(struct table_making *making)
{
    struct cn_trace_table *table = &making->table;
    uint32_t *renumbered = cn_alloc((size_t)making->trace_count + 1, sizeof(*renumbered));

    table->traces = cn_alloc(making->trace_count, sizeof(*table->traces));
    for (uint32_t s = 0; s < table->segment_count; s++) {
        for (uint32_t row = 0; row < table->row_counts[s]; row++) {
            uint32_t *number = &table->numbers[s][row];

            if (*number == 0)
                continue;
            if (renumbered[*number] == 0) {
                table->traces[table->count] = (struct cn_trace_sum){
                    .segment = s,
                    .row = row,
                };
                renumbered[*number] = ++table->count;
            }
            *number = renumbered[*number];
        }
    }
    free(renumbered);
}

static const uint64_t no_root = UINT64_MAX, several_roots = UINT64_MAX - 1;

/* The calls of a span inside another one are counted there. */
static bool sum_segment(struct table_making *making, uint32_t segment,
                        struct cn_error *err)
{
    enum { TIME, DURATION, CALLS, RECORDS, ERRORS, FLAGS, PARENT, FIELDS };
    static const enum cn_store_field fields[FIELDS] = {
        CN_STORE_FIELD_time_ns,   CN_STORE_FIELD_duration_ns, CN_STORE_FIELD_calls,
        CN_STORE_FIELD_records,   CN_STORE_FIELD_errors,      CN_STORE_FIELD_flags,
        CN_STORE_FIELD_parent_id,
    };
    const struct cn_store_index *index = making->indexes[segment];
    struct cn_trace_table *table = &making->table;
    struct cn_store_column columns[FIELDS];

    for (size_t i = 0; i < FIELDS; i++) {
        if (!cn_columns_field(index->columns, fields[i], &columns[i], err))
            return false;
    }
    for (uint32_t row = 0; row < table->row_counts[segment]; row++) {
        uint32_t number = table->numbers[segment][row];
        struct cn_trace_sum *sum = number > 0 ? &table->traces[number - 1] : NULL;
        uint64_t numbers[FIELDS], end_ns, *root_ns;

        if (!sum || cn_trace_table_is_double(table, segment, row))
            continue;
        for (size_t i = 0; i < FIELDS; i++)
            numbers[i] = cn_store_column_at(&columns[i], row);
        for (size_t i = 0; i < FIELDS && index->joined.trace_count > 0; i++)
            numbers[i] = cn_joined_number(&index->joined, fields[i], row, numbers[i]);
        end_ns = numbers[DURATION] < UINT64_MAX - numbers[TIME]
                     ? numbers[TIME] + numbers[DURATION]
                     : UINT64_MAX;
        sum->time_ns = numbers[TIME] < sum->time_ns ? numbers[TIME] : sum->time_ns;
        sum->end_ns = end_ns > sum->end_ns ? end_ns : sum->end_ns;
        sum->spans++;
        if (numbers[FLAGS] & CN_ROW_EMBEDDED)
            continue;
        if (making->tops[number - 1] < 2)
            making->tops[number - 1]++;
        root_ns = &making->roots_ns[number - 1];
        if (numbers[PARENT] == 0)
            *root_ns = *root_ns == no_root ? numbers[DURATION] : several_roots;
        sum->calls += numbers[CALLS];
        sum->records += (uint32_t)numbers[RECORDS];
        sum->errors += (uint32_t)numbers[ERRORS];
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
    uint64_t row_count = 0;
    bool ok = true;

    for (size_t i = 0; i < segment_count; i++) {
        uint32_t count = indexes[i] ? indexes[i]->columns->row_count : 0;

        making.table.row_counts[i] = count;
        making.table.numbers[i] =
            count > 0 ? cn_alloc(count, sizeof(**making.table.numbers)) : NULL;
        row_count += count;
    }
    making.slice_count = row_count / SLICE_ROWS + 1;
    for (; ok && making.slice < making.slice_count; making.slice++)
        ok = number_slice(&making, err);
    free(making.found);
    free(making.entries);
    free(making.slots);
    if (ok) {
        renumber(&making);
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
