#include "store/search/trace_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/sort.h"
#include "model/contexts/context.h"
#include "store/search/trace_ids.h"
#include "store/search/trace_making.h"
#include "store/segment/index.h"

enum {
    SLICE_RUNS = 1 << 21, /* about so many runs are in memory at a time */
    BUCKETS = 1 << 10,    /* of a slice: one fits into the cache */
    BUCKETS_A_JOB = 1 << 6,
    PART_ROWS = 1 << 16,    /* of a job */
    ROWS_A_LOOKUP = 1 << 9, /* of which the runs are read while one trace is looked up */
};

/* A run, by the hash of its id. */
struct table_entry {
    uint64_t hash;
    uint32_t segment, run;
};

struct table_entries {
    struct table_entry *list;
    size_t count, capacity;
};

/* Traces get the place of their first entry as number, or that in `only`, from 1; later that in the order of
 * their first rows. */
struct table_numbering {
    struct cn_table_making *making;
    const struct cn_trace_ids *only;
    uint64_t slice, slice_count;
    uint64_t base;                 /* entries of the slices before */
    struct table_entries *of_part; /* by part, until it is taken */
    struct table_entries found;    /* of the slice, in the order of rows */
    struct table_entry *entries;   /* the same by bucket */
    size_t entry_capacity;
    size_t ends[BUCKETS];
};

static uint64_t hash_of(uint64_t high, uint64_t low)
{
    uint64_t id[2] = {high, low};

    return XXH3_64bits(id, sizeof(id));
}

/* Find the runs of a part whose hash is in the slice; with `only`, number those of its traces. A trace
 * without an id is a trace of its own. */
static void find_entries(void *arg, size_t job, unsigned worker)
{
    struct table_numbering *numbering = arg;
    const struct cn_table_part *part = &numbering->making->parts[job];
    struct cn_trace_runs *runs = &numbering->making->table.runs[part->segment];
    struct table_entries *out = &numbering->of_part[job];
    uint64_t high[CN_COLUMN_GROUP_ROWS], low[CN_COLUMN_GROUP_ROWS];

    (void)worker;
    if (numbering->making->segments[part->segment].is_by_row)
        return;
    for (uint32_t group = part->first / CN_COLUMN_GROUP_ROWS;
         group * CN_COLUMN_GROUP_ROWS < part->end; group++) {
        unsigned count = cn_trace_runs_ids(
            runs, &numbering->making->segments[part->segment].ids, group, high, low);

        for (unsigned i = 0; numbering->only && i < count; i++)
            cn_trace_ids_expect(numbering->only, high[i], low[i]);
        for (unsigned i = 0; i < count; i++) {
            uint32_t run = runs->before[group] + i;
            uint64_t hash;

            if ((high[i] | low[i]) == 0 || runs->numbers[run] == CN_TRACE_RUN_OF_PARTS)
                continue;
            if (numbering->only) {
                uint32_t found = cn_trace_ids_find(numbering->only, high[i], low[i]);

                runs->numbers[run] = found == CN_NONE ? 0 : found + 1;
                continue;
            }
            hash = hash_of(high[i], low[i]);
            if ((hash >> 32) * numbering->slice_count >> 32 == numbering->slice)
                CN_PUSH(out->list, out->count, out->capacity,
                        (struct table_entry){hash, part->segment, run});
        }
    }
}

static void take_entries(void *arg, size_t job, unsigned worker)
{
    struct table_numbering *numbering = arg;
    struct table_entries *from = &numbering->of_part[job], *to = &numbering->found;

    (void)worker;
    if (from->count > 0) {
        CN_GROW_TO(to->list, to->count + from->count, to->capacity);
        memcpy(to->list + to->count, from->list, from->count * sizeof(*from->list));
        to->count += from->count;
    }
    free(from->list);
    *from = (struct table_entries){0};
}

/* Sort the entries of the slice by bucket. */
static void sort_entries(struct table_numbering *numbering)
{
    size_t sum = 0;

    memset(numbering->ends, 0, sizeof(numbering->ends));
    for (size_t i = 0; i < numbering->found.count; i++)
        numbering->ends[numbering->found.list[i].hash % BUCKETS]++;
    for (size_t i = 0; i < BUCKETS; i++) {
        size_t count = numbering->ends[i];

        numbering->ends[i] = sum;
        sum += count;
    }
    CN_RENEW(numbering->entries, sum, numbering->entry_capacity);
    for (size_t i = 0; i < numbering->found.count; i++) {
        const struct table_entry *entry = &numbering->found.list[i];

        numbering->entries[numbering->ends[entry->hash % BUCKETS]++] = *entry;
    }
}

/* Give the entries of the same hash the same number. `slots` has twice as many places, or more, and
 * is a power of two. */
static void number_bucket(const struct table_numbering *numbering, size_t begin,
                          size_t end, uint32_t *slots, size_t slot_count)
{
    const struct table_entry *entries = numbering->entries + begin;

    memset(slots, 0, slot_count * sizeof(*slots));
    for (size_t i = 0; i < end - begin; i++) {
        size_t slot = (size_t)(entries[i].hash / BUCKETS) & (slot_count - 1);

        while (slots[slot] != 0 && entries[slots[slot] - 1].hash != entries[i].hash)
            slot = (slot + 1) & (slot_count - 1);
        if (slots[slot] == 0)
            slots[slot] = (uint32_t)i + 1;
        numbering->making->table.runs[entries[i].segment].numbers[entries[i].run] =
            (uint32_t)(numbering->base + begin + slots[slot]);
    }
}

static void number_buckets(void *arg, size_t job, unsigned worker)
{
    const struct table_numbering *numbering = arg;
    size_t first = job * BUCKETS_A_JOB, slot_capacity = 0;
    uint32_t *slots = NULL;

    (void)worker;
    for (size_t i = first; i < first + BUCKETS_A_JOB; i++) {
        size_t begin = i > 0 ? numbering->ends[i - 1] : 0, slot_count = 16;

        while (slot_count < (numbering->ends[i] - begin) * 2)
            slot_count *= 2;
        CN_GROW_TO(slots, slot_count, slot_capacity);
        number_bucket(numbering, begin, numbering->ends[i], slots, slot_count);
    }
    free(slots);
}

static void number_slice(struct table_numbering *numbering)
{
    struct cn_jobs finding = {.count = numbering->making->part_count,
                              .arg = numbering,
                              .run = find_entries,
                              .take = take_entries};
    struct cn_jobs matching = {
        .count = BUCKETS / BUCKETS_A_JOB, .arg = numbering, .run = number_buckets};

    numbering->found.count = 0;
    cn_pool_run(&finding, numbering->making->workers);
    if (numbering->only)
        return;
    sort_entries(numbering);
    cn_pool_run(&matching, numbering->making->workers);
    numbering->base += numbering->found.count;
}

/* Number the runs that have a trace; `number_max` receives the highest number, unless there are `only`
 * some. */
static bool number_runs(struct cn_table_making *making, const struct cn_trace_ids *only,
                        uint32_t *number_max, struct cn_error *err)
{
    struct table_numbering numbering = {
        .making = making,
        .only = only,
        .of_part = cn_alloc(making->part_count, sizeof(struct table_entries)),
    };
    uint64_t run_count = 0;

    for (size_t i = 0; i < making->table.segment_count; i++)
        run_count += making->table.runs[i].run_count;
    if (run_count < CN_TRACE_RUN_OF_PARTS) {
        numbering.slice_count = only ? 1 : run_count / SLICE_RUNS + 1;
        for (; numbering.slice < numbering.slice_count; numbering.slice++)
            number_slice(&numbering);
    }
    if (!only)
        *number_max = (uint32_t)numbering.base;
    free(numbering.of_part);
    free(numbering.found.list);
    free(numbering.entries);
    return run_count < CN_TRACE_RUN_OF_PARTS ||
           cn_fail(err, CN_ERR_LIMIT,
                   "%" PRIu64 " runs of rows of a trace, the limit is %u", run_count,
                   CN_TRACE_RUN_OF_PARTS);
}

/* The rows of traces that are looked up in a segment. */
struct few_rows {
    struct cn_trace_row *list;
    size_t count, capacity;
    uint32_t number; /* of the trace that is looked up */
};

static void add_few(void *arg, uint32_t row)
{
    struct few_rows *rows = arg;

    CN_PUSH(rows->list, rows->count, rows->capacity,
            (struct cn_trace_row){row, rows->number});
}

static bool drop_parts(struct few_rows *rows, const struct cn_columns *columns,
                       struct cn_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        struct cn_store_row row;

        if (!cn_columns_row(columns, rows->list[i].row, &row, err))
            return false;
        if (row.part == 0)
            rows->list[kept++] = rows->list[i];
    }
    rows->count = kept;
    return true;
}

/* Look the rows of a few traces up by the table of ids; false if there is none, or it is damaged. */
static bool look_up(struct cn_trace_runs *runs, const struct cn_columns *columns,
                    const struct cn_trace_ids *only)
{
    struct few_rows rows = {0};
    struct cn_error ignored;
    bool ok = true;

    for (size_t i = 0; ok && i < only->count; i++) {
        rows.number = (uint32_t)i + 1;
        ok = cn_columns_find_trace(columns, only->list[i].high, only->list[i].low,
                                   add_few, &rows);
    }
    ok = ok && drop_parts(&rows, columns, &ignored);
    if (ok && rows.count > 1)
        CN_SORT(rows.list, rows.count, CN_UP(struct cn_trace_row, row));
    if (ok)
        cn_trace_runs_of(runs, columns->row_count, rows.list, rows.count);
    free(rows.list);
    return ok;
}

/* Opens what is read of each segment. */
struct table_opening {
    struct cn_table_making *making;
    const struct cn_store_index *const *indexes;
    const struct cn_trace_ids *few; /* that are looked up; NULL: all runs are read */
};

static bool needs_field(enum cn_trace_table_needs needs, unsigned field)
{
    return needs == CN_TRACE_TABLE_ALL ||
           (needs == CN_TRACE_TABLE_TIMES
                ? field == CN_TABLE_TIME
                : field == CN_TABLE_FLAGS || field == CN_TABLE_SPAN);
}

static bool open_segment(struct cn_table_segment *segment, struct cn_trace_runs *runs,
                         enum cn_trace_table_needs needs, const struct cn_trace_ids *few)
{
    segment->is_by_row = few && look_up(runs, segment->columns, few);
    if (segment->is_by_row)
        return true;
    if (!cn_trace_runs_find(runs, &segment->ids, segment->columns, &segment->err))
        return false;
    for (unsigned i = 0; i < CN_TABLE_FIELDS; i++) {
        segment->has_field[i] = needs_field(needs, i);
        if (segment->has_field[i] &&
            !cn_columns_field(segment->columns, cn_table_fields[i], &segment->fields[i],
                              &segment->err))
            return false;
    }
    segment->fields[CN_TABLE_PARENT] =
        cn_store_column_is_any(&segment->fields[CN_TABLE_PARENT]);
    return true;
}

static void open_job(void *arg, size_t job, unsigned worker)
{
    struct table_opening *opening = arg;
    const struct cn_store_index *index = opening->indexes[job];
    struct cn_table_segment *segment = &opening->making->segments[job];

    (void)worker;
    segment->ok = true;
    if (!index)
        return;
    segment->columns = index->columns;
    segment->joined = index->joined.trace_count > 0 ? &index->joined : NULL;
    segment->ok = open_segment(segment, &opening->making->table.runs[job],
                               opening->making->table.has, opening->few);
}

static void divide(struct cn_table_making *making, uint32_t segment)
{
    uint32_t row_count = making->table.runs[segment].row_count;

    for (uint32_t first = 0, count; first < row_count; first += count) {
        count = row_count - first < PART_ROWS ? row_count - first : PART_ROWS;
        CN_PUSH(making->parts, making->part_count, making->part_capacity,
                (struct cn_table_part){segment, first, first + count});
    }
}

static bool open_segments(struct cn_table_making *making,
                          const struct cn_store_index *const *indexes,
                          const struct cn_trace_ids *only, struct cn_error *err)
{
    struct table_opening opening = {.making = making, .indexes = indexes};
    struct cn_jobs jobs = {
        .count = making->table.segment_count, .arg = &opening, .run = open_job};
    uint64_t row_count = 0;

    for (size_t i = 0; i < jobs.count; i++)
        row_count += indexes[i] ? indexes[i]->columns->row_count : 0;
    if (only && only->count < row_count / (ROWS_A_LOOKUP * (jobs.count + 1)))
        opening.few = only;
    cn_pool_run(&jobs, making->workers);
    for (uint32_t i = 0; i < jobs.count; i++) {
        if (!making->segments[i].ok) {
            *err = making->segments[i].err;
            return false;
        }
        divide(making, i);
    }
    return true;
}

/* Number traces in the order of their first rows, so that neighbours are close in memory: those of several
 * rows or, in a table of some, all. */
static void renumber(struct cn_table_making *making, uint32_t number_max)
{
    struct cn_trace_table *table = &making->table;
    uint32_t *renumbered = cn_alloc((size_t)number_max + 1, sizeof(*renumbered));
    uint8_t *rows = cn_alloc((size_t)number_max + 1, 1); /* at most 2 */
    size_t count = 0;

    for (uint32_t s = 0; s < table->segment_count; s++) {
        struct cn_trace_runs *runs = &table->runs[s];
        uint32_t *number = runs->numbers, end;

        for (uint32_t row = 0; row < runs->row_count; row = end, number++) {
            end = cn_trace_runs_next(runs, row + 1);
            if (*number == CN_TRACE_RUN_OF_PARTS)
                *number = 0;
            if (*number > 0 && (end - row > 1 || table->is_of_some))
                rows[*number] = 2;
            else if (*number > 0 && rows[*number] < 2)
                rows[*number]++;
        }
    }
    for (uint32_t i = 1; i <= number_max; i++)
        count += rows[i] > 1;
    table->traces = cn_alloc(count, sizeof(*table->traces));
    for (uint32_t s = 0; s < table->segment_count; s++) {
        struct cn_trace_runs *runs = &table->runs[s];
        uint32_t *number = runs->numbers;

        for (uint32_t row = 0; row < runs->row_count;
             row = cn_trace_runs_next(runs, row + 1), number++) {
            uint32_t *to = &renumbered[*number];

            if (rows[*number] > 1 && *to == 0) {
                table->traces[table->count] =
                    (struct cn_trace_sum){.segment = s, .row = row};
                *to = ++table->count;
            }
            *number = *to;
        }
    }
    free(renumbered);
    free(rows);
}

static bool make(struct cn_table_making *making, const struct cn_trace_ids *only,
                 struct cn_error *err)
{
    uint32_t number_max = only ? (uint32_t)only->count : 0;
    bool has_doubles;

    if (!number_runs(making, only, &number_max, err))
        return false;
    renumber(making, number_max);
    making->roots_ns = cn_alloc(making->table.count, sizeof(*making->roots_ns));
    making->tops = cn_alloc(making->table.count, sizeof(*making->tops));
    making->runs = cn_alloc(making->table.count, sizeof(*making->runs));
    making->is_doubled = cn_alloc(making->table.count, sizeof(*making->is_doubled));
    making->knows_doubles = making->table.has == CN_TRACE_TABLE_TIMES;
    if (!cn_table_sum(making, err))
        return false;
    if (making->knows_doubles)
        return true;
    if (!cn_table_find_doubles(making, &has_doubles, err))
        return false;
    /* Spans are seldom stored twice: sums are only made again if some are. */
    making->knows_doubles = true;
    return !has_doubles || making->table.has != CN_TRACE_TABLE_ALL ||
           cn_table_sum(making, err);
}

bool cn_trace_table_make(struct cn_trace_table *out,
                         const struct cn_store_index *const *indexes,
                         size_t segment_count, const struct cn_trace_ids *only,
                         enum cn_trace_table_needs needs, unsigned workers,
                         struct cn_error *err)
{
    struct cn_table_making making = {
        .table = {.runs = cn_alloc(segment_count, sizeof(struct cn_trace_runs)),
                  .doubles = cn_alloc(segment_count, sizeof(uint64_t *)),
                  .segment_count = segment_count,
                  .has = needs,
                  .is_of_some = only != NULL},
        .segments = cn_alloc(segment_count, sizeof(struct cn_table_segment)),
        .workers = workers,
    };
    bool ok = open_segments(&making, indexes, only, err) && make(&making, only, err);

    free(making.segments);
    free(making.parts);
    free(making.roots_ns);
    free(making.tops);
    free(making.runs);
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
        cn_trace_runs_done(&table->runs[i]);
        free(table->doubles[i]);
    }
    free(table->doubles);
    free(table->runs);
    free(table->traces);
    *table = (struct cn_trace_table){0};
}
