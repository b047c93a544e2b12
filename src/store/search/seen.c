#include "store/search/seen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/once.h"
#include "base/run/pool.h"
#include "store/search/state.h"
#include "store/segment/reader.h"

enum {
    SEGMENTS_MAX = UINT16_MAX,
    TABLES = 1 << 8,
    TABLE_SHIFT = 56, /* of a mixed id: its table */
    HASH_SHIFT = 24,  /* the place in the table, and a mark */
    RESERVE_AHEAD = 8,
    /* From the first place of an id: more, and many traces use the same ids, as those of agents that count
     * from 1. */
    STEPS_MAX = 256,
    PART_ROWS = 1 << 15,
    PARTS_MAX = 1 << 6, /* in memory at a time */
    FEW = 1 << 12,      /* rows that are seen before a thread has started */
};

struct cn_seen_segment {
    uint32_t segment;
    struct cn_store_column span; /* ids */
    /* Of traces, which are seldom needed. */
    struct cn_once traces_once;
    const struct cn_store_index *index;
    struct cn_store_column high, low;
    bool has_traces;
    struct cn_error failure; /* why not */
};

struct seen_place {
    uint32_t row;
    uint16_t segment; /* number in `segments` plus 1; 0: the place is free */
    uint16_t mark;    /* of the id */
};

struct cn_seen_table {
    struct seen_place *places;
    uint32_t count, capacity;
    bool is_by_trace; /* places follow from the trace as well */
};

void cn_search_seen_done(struct cn_search_seen *seen)
{
    for (size_t i = 0; i < seen->segment_count; i++)
        cn_once_done(&seen->segments[i].traces_once);
    for (size_t i = 0; seen->tables && i < TABLES; i++)
        free(seen->tables[i].places);
    free(seen->segments);
    free(seen->tables);
    *seen = (struct cn_search_seen){0};
}

static uint64_t mix(uint64_t id)
{
    uint64_t mixed = id * UINT64_C(0x9e3779b97f4a7c15);

    return (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static void open_traces(void *arg)
{
    struct cn_seen_segment *segment = arg;

    segment->has_traces =
        cn_columns_field(segment->index->columns, CN_STORE_FIELD_trace_high,
                         &segment->high, &segment->failure) &&
        cn_columns_field(segment->index->columns, CN_STORE_FIELD_trace_low, &segment->low,
                         &segment->failure);
}

static bool has_traces(struct cn_seen_segment *segment, struct cn_error *err)
{
    cn_once_run(&segment->traces_once, open_traces, segment);
    if (!segment->has_traces)
        *err = segment->failure;
    return segment->has_traces;
}

/* What the place of a row in a table follows from: the id of its span, or that and its trace. */
static bool hash_row(const struct cn_search_seen *seen, const struct cn_seen_table *table,
                     const struct seen_place *place, uint32_t *out, struct cn_error *err)
{
    struct cn_seen_segment *segment = &seen->segments[place->segment - 1];
    uint64_t id = cn_store_column_at(&segment->span, place->row);

    if (table->is_by_trace) {
        if (!has_traces(segment, err))
            return false;
        id ^= mix(cn_store_column_at(&segment->low, place->row));
    }
    *out = (uint32_t)(mix(id) >> HASH_SHIFT);
    return true;
}

static uint32_t first_place(const struct cn_seen_table *table, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * table->capacity >> 32);
}

static uint32_t next_place(const struct cn_seen_table *table, uint32_t at)
{
    return at + 1 < table->capacity ? at + 1 : 0;
}

/* Put all places into a table of `capacity`, by what they follow from now. */
static bool place_again(const struct cn_search_seen *seen, struct cn_seen_table *table,
                        uint32_t capacity, struct cn_error *err)
{
    struct cn_seen_table to = *table;
    bool ok = true;

    to.places = cn_alloc(capacity, sizeof(*to.places));
    to.capacity = capacity;
    for (uint32_t i = 0; ok && i < table->capacity; i++) {
        struct seen_place place = table->places[i];
        uint32_t hash = 0, at;

        if (place.segment == 0)
            continue;
        ok = hash_row(seen, &to, &place, &hash, err);
        at = first_place(&to, hash);
        while (to.places[at].segment != 0)
            at = next_place(&to, at);
        place.mark = (uint16_t)hash;
        to.places[at] = place;
    }
    free(table->places);
    *table = to;
    return ok;
}

/* Is the span of a row that at a place? */
static bool is_same(const struct cn_search_seen *seen, const struct seen_place *place,
                    const struct seen_place *row, bool *out, struct cn_error *err)
{
    struct cn_seen_segment *a = &seen->segments[place->segment - 1];
    struct cn_seen_segment *b = &seen->segments[row->segment - 1];

    *out = false;
    if (cn_store_column_at(&a->span, place->row) !=
        cn_store_column_at(&b->span, row->row))
        return true;
    if (!has_traces(a, err) || !has_traces(b, err))
        return false;
    *out =
        cn_store_column_at(&a->high, place->row) ==
            cn_store_column_at(&b->high, row->row) &&
        cn_store_column_at(&a->low, place->row) == cn_store_column_at(&b->low, row->row);
    return true;
}

/* A row of a part, and what its place follows from. */
struct seen_entry {
    uint32_t row, hash;
};

/* The rows of a segment are read in parts, then the entries of all parts seen table by table. */
struct seeing {
    struct cn_search *search;
    struct cn_search_seen *seen;
    const struct cn_rows *rows;
    uint64_t size;      /* how many rows these are */
    uint16_t segment;   /* as in places */
    uint32_t left;      /* segments after it */
    uint32_t row_count; /* about so many rows of it are in a table */
    size_t first_part;
    size_t part_count;
    struct seen_part {
        struct seen_entry *entries; /* by table */
        uint32_t ends[TABLES];
    } * parts;
    struct seen_doubles {
        uint32_t *rows;
        size_t count, capacity;
        bool has_failed;
        struct cn_error err;
    } * doubles; /* by table */
};

/* Was the span of a row seen in another segment? If not, it is from now on, unless the segment is
 * the last. */
static bool see(struct seeing *seeing, struct cn_seen_table *table, struct seen_place row,
                uint32_t hash, bool *is_double, struct cn_error *err)
{
    const struct cn_search_seen *seen = seeing->seen;
    uint32_t at = first_place(table, hash);

    row.mark = (uint16_t)hash;
    for (unsigned steps = 0; table->places[at].segment != 0; steps++) {
        const struct seen_place *place = &table->places[at];

        if (place->mark == row.mark && place->segment != row.segment &&
            !is_same(seen, place, &row, is_double, err))
            return false;
        if (*is_double)
            return true;
        if (steps == STEPS_MAX && !table->is_by_trace) {
            table->is_by_trace = true;
            return place_again(seen, table, table->capacity, err) &&
                   hash_row(seen, table, &row, &hash, err) &&
                   see(seeing, table, row, hash, is_double, err);
        }
        at = next_place(table, at);
    }
    if (seeing->left > 0) {
        table->places[at] = row;
        table->count++;
    }
    return true;
}

/* Make room for `count` more, and the others that are likely to follow. */
static bool reserve(struct seeing *seeing, struct cn_seen_table *table, uint32_t count,
                    struct cn_error *err)
{
    uint32_t ahead = seeing->left < RESERVE_AHEAD ? seeing->left : RESERVE_AHEAD;
    uint64_t needed = table->count + (seeing->left > 0 ? (uint64_t)count : 0) + 1;
    uint64_t expected = table->count + (uint64_t)seeing->row_count * ahead;

    if (needed * 3 / 2 <= table->capacity)
        return true;
    needed = (expected > needed ? expected : needed) * 3 / 2 + 1;
    return place_again(seeing->seen, table,
                       needed < UINT32_MAX ? (uint32_t)needed : UINT32_MAX, err);
}

static bool see_part(struct seeing *seeing, const struct seen_part *part, size_t number,
                     struct seen_doubles *doubles)
{
    struct cn_seen_table *table = &seeing->seen->tables[number];
    uint32_t begin = number > 0 ? part->ends[number - 1] : 0;

    if (begin == part->ends[number])
        return true;
    if (!reserve(seeing, table, part->ends[number] - begin, &doubles->err))
        return false;
    for (uint32_t i = begin; i < part->ends[number]; i++) {
        struct seen_place row = {.row = part->entries[i].row, .segment = seeing->segment};
        uint32_t hash = part->entries[i].hash;
        bool is_double = false;

        if ((table->is_by_trace &&
             !hash_row(seeing->seen, table, &row, &hash, &doubles->err)) ||
            !see(seeing, table, row, hash, &is_double, &doubles->err))
            return false;
        if (is_double)
            CN_PUSH(doubles->rows, doubles->count, doubles->capacity, row.row);
    }
    return true;
}

static void see_table(void *arg, size_t job, unsigned worker)
{
    struct seeing *seeing = arg;
    struct seen_doubles *doubles = &seeing->doubles[job];

    (void)worker;
    for (size_t i = 0; i < seeing->part_count && !doubles->has_failed; i++)
        doubles->has_failed = !see_part(seeing, &seeing->parts[i], job, doubles);
}

/* The rows of a part that have an id, by table. */
static void read_part(void *arg, size_t job, unsigned worker)
{
    struct seeing *seeing = arg;
    const struct cn_rows *rows = seeing->rows;
    const struct cn_store_column *span =
        &seeing->seen->segments[seeing->segment - 1].span;
    struct seen_part *part = &seeing->parts[job];
    size_t word = (seeing->first_part + job) * (PART_ROWS / CN_COLUMN_GROUP_ROWS);
    size_t end = word + PART_ROWS / CN_COLUMN_GROUP_ROWS, count = 0;
    uint64_t ids[CN_COLUMN_GROUP_ROWS];
    uint32_t sum = 0;

    (void)worker;
    end = end < cn_rows_word_count(rows) ? end : cn_rows_word_count(rows);
    size_t most = seeing->size < PART_ROWS ? (size_t)seeing->size : (size_t)PART_ROWS;
    uint64_t *mixed = cn_alloc(most, sizeof(*mixed));
    uint32_t *numbers = cn_alloc(most, sizeof(*numbers));
    for (; word < end; word++) {
        uint64_t bits = rows->words[word];
        uint32_t first_row = (uint32_t)word * CN_COLUMN_GROUP_ROWS;

        if (bits)
            cn_store_column_read_bits(span, first_row, bits, ids);
        for (unsigned i = 0; bits; bits &= bits - 1, i++) {
            if (ids[i] == 0)
                continue;
            mixed[count] = mix(ids[i]);
            numbers[count] = first_row + (uint32_t)__builtin_ctzll(bits);
            part->ends[mixed[count++] >> TABLE_SHIFT]++;
        }
    }
    for (size_t i = 0; i < TABLES; i++) {
        uint32_t begin = sum;

        sum += part->ends[i];
        part->ends[i] = begin;
    }
    part->entries = cn_alloc(count, sizeof(*part->entries));
    for (size_t i = 0; i < count; i++)
        part->entries[part->ends[mixed[i] >> TABLE_SHIFT]++] =
            (struct seen_entry){numbers[i], (uint32_t)(mixed[i] >> HASH_SHIFT)};
    free(mixed);
    free(numbers);
}

static bool begin_segment(struct cn_search *search, struct cn_search_seen *seen,
                          uint32_t segment, const struct cn_store_index *index,
                          struct cn_error *err)
{
    struct cn_seen_segment *added;

    if (search->overlap_count > SEGMENTS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d segments of the same time",
                       SEGMENTS_MAX);
    if (!seen->tables) {
        seen->tables = cn_alloc(TABLES, sizeof(*seen->tables));
        seen->segments = cn_alloc(search->overlap_count, sizeof(*seen->segments));
    }
    added = &seen->segments[seen->segment_count];
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_span_id, &added->span, err))
        return false;
    added->segment = segment;
    added->index = index;
    cn_once_init(&added->traces_once);
    seen->segment_count++;
    return true;
}

/* Read and see parts from `first_part` on, as many as are in memory at a time. */
static void see_parts(struct seeing *seeing, size_t part_max, unsigned workers)
{
    struct cn_jobs reading = {.arg = seeing, .run = read_part};
    struct cn_jobs finding = {.count = TABLES, .arg = seeing, .run = see_table};

    reading.count = seeing->part_count =
        part_max < PARTS_MAX ? part_max : (size_t)PARTS_MAX;
    seeing->parts = cn_alloc(seeing->part_count, sizeof(*seeing->parts));
    cn_pool_run(&reading, workers);
    cn_pool_run(&finding, workers);
    for (size_t i = 0; i < seeing->part_count; i++)
        free(seeing->parts[i].entries);
    free(seeing->parts);
    seeing->first_part += seeing->part_count;
}

bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                         uint32_t segment, const struct cn_store_index *index,
                         struct cn_rows *rows, bool *is_kept, struct cn_error *err)
{
    const struct cn_rows found = *rows;
    size_t part_count = ((size_t)found.count + PART_ROWS - 1) / PART_ROWS;
    struct seeing seeing = {
        .search = search, .seen = seen, .rows = &found, .size = cn_rows_size(&found)};
    bool ok = true;

    if (!begin_segment(search, seen, segment, index, err))
        return false;
    if (seeing.size == 0)
        return true;
    seeing.doubles = cn_alloc(TABLES, sizeof(*seeing.doubles));
    seeing.segment = (uint16_t)seen->segment_count;
    seeing.left = search->overlap_count - (uint32_t)seen->segment_count;
    seeing.row_count = (uint32_t)(seeing.size / TABLES + seeing.size / TABLES / 8 + 1);
    while (seeing.first_part < part_count)
        see_parts(&seeing, part_count - seeing.first_part,
                  seeing.size > FEW ? cn_pool_default_workers() : 1);
    for (size_t i = 0; i < TABLES; i++) {
        const struct seen_doubles *doubles = &seeing.doubles[i];

        if (ok && doubles->has_failed)
            *err = doubles->err;
        ok = ok && !doubles->has_failed;
        if (doubles->count > 0 && *is_kept) {
            cn_rows_init(rows, found.count);
            cn_rows_or(rows, &found);
            *is_kept = false;
        }
        for (size_t k = 0; k < doubles->count; k++)
            cn_rows_clear(rows, doubles->rows[k]);
        free(doubles->rows);
    }
    free(seeing.doubles);
    return ok;
}
