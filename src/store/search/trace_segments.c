/* Chooses the traces that a table is made of: all, or those that a query finds; and the segments that may
 * have rows of these, by their filters in object storage. */

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/index/word_filter.h"
#include "store/search/query.h"
#include "store/search/state.h"
#include "store/search/trace_ids.h"
#include "store/segment/reader.h"

/* The index of a segment whose rows can be grouped by trace; NULL if they are damaged. */
static const struct cn_store_index *index_for_traces(struct cn_search *search,
                                                     uint32_t segment)
{
    static const enum cn_store_field needed[] = {
        CN_STORE_FIELD_trace_high, CN_STORE_FIELD_trace_low, CN_STORE_FIELD_part,
        CN_STORE_FIELD_time_ns,    CN_STORE_FIELD_calls,     CN_STORE_FIELD_duration_ns,
        CN_STORE_FIELD_records,    CN_STORE_FIELD_errors,    CN_STORE_FIELD_flags,
        CN_STORE_FIELD_parent_id,  CN_STORE_FIELD_span_id,
    };
    const struct cn_store_index *index;
    struct cn_store_column column;
    struct cn_error err;
    bool ok = cn_search_index(search, segment, &index, &err);

    for (size_t i = 0; ok && i < sizeof(needed) / sizeof(needed[0]); i++)
        ok = cn_columns_field(index->columns, needed[i], &column, &err);
    if (!ok)
        search->failures[segment] = err;
    return ok ? index : NULL;
}

/* Traces of hits, and the segments that they were found in. */
struct hit_ids {
    struct cn_trace_ids ids;
    uint32_t
        round; /* of conditions: traces with the mark of the one before have hits of it */
    size_t newest_max; /* only so many are of interest, the newest; 0: all */
    uint64_t floor_ns; /* older hits are not of interest */
    uint64_t rest_ns;  /* no trace that was dropped is after it; 0: there is none */
    uint64_t row_max, row_count; /* so many hits of a condition are looked at */
    uint64_t all_count;          /* hits of all conditions */
    bool
        is_odd; /* there are more, or some cannot be read, or have no trace: all rows matter */
    bool *is_found;
};

/* Drop all except the newest. A trace is not after the earliest of its hits. */
static void drop_older(struct hit_ids *hits)
{
    struct cn_trace_ids *ids = &hits->ids;
    size_t max = hits->newest_max;

    if (max == 0 || ids->count <= max)
        return;
    CN_SORT(ids->list, ids->count, CN_DOWN(struct cn_trace_id, time_ns),
            CN_DOWN(struct cn_trace_id, high), CN_DOWN(struct cn_trace_id, low));
    if (ids->list[max].time_ns > hits->rest_ns)
        hits->rest_ns = ids->list[max].time_ns;
    hits->floor_ns = ids->list[max].time_ns;
    ids->count = max;
    cn_trace_ids_renew(ids);
}

/* Note the trace of a hit, if it has hits of the conditions before. */
static void note_id(struct hit_ids *hits, uint64_t high, uint64_t low, uint64_t time_ns)
{
    uint32_t i;

    hits->is_odd |= (high | low) == 0;
    i = hits->round == 0 ? cn_trace_ids_add(&hits->ids, high, low)
                         : cn_trace_ids_find(&hits->ids, high, low);
    if (i == CN_NONE)
        return;
    struct cn_trace_id *id = &hits->ids.list[i];
    if (time_ns < id->time_ns)
        id->time_ns = time_ns;
    if (id->mark == hits->round)
        id->mark++;
}

/* What is read of the hits of a segment. */
struct hit_columns {
    struct cn_store_column high, low, time;
};

static bool open_columns(struct hit_columns *columns, const struct cn_store_index *index)
{
    struct cn_error ignored;

    return cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &columns->high,
                            &ignored) &&
           cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &columns->low,
                            &ignored) &&
           cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &columns->time,
                            &ignored);
}

/* Hits of a group of CN_COLUMN_GROUP_ROWS rows. */
struct hit_group {
    unsigned count;
    uint64_t times[CN_COLUMN_GROUP_ROWS], high[CN_COLUMN_GROUP_ROWS],
        low[CN_COLUMN_GROUP_ROWS];
};

/* Read the hits after `floor_ns`; `rest_ns` receives the newest time of the others, if that is later. */
static void read_group(struct hit_group *group, const struct hit_columns *columns,
                       uint32_t first_row, uint64_t bits, uint64_t floor_ns,
                       uint64_t *rest_ns)
{
    uint64_t rest = bits, all = bits;
    unsigned count = 0;

    cn_store_column_read_bits(&columns->time, first_row, bits, group->times);
    for (unsigned i = 0; rest; rest &= rest - 1, i++) {
        uint64_t time_ns = group->times[i];

        group->times[count] = time_ns;
        if (floor_ns == 0 || time_ns > floor_ns) {
            count++;
            continue;
        }
        all &= ~(rest & (~rest + 1));
        *rest_ns = time_ns > *rest_ns ? time_ns : *rest_ns;
    }
    group->count = count;
    if (count == 0)
        return;
    cn_store_column_read_bits(&columns->high, first_row, all, group->high);
    cn_store_column_read_bits(&columns->low, first_row, all, group->low);
}

static void note_group(struct hit_ids *hits, const struct hit_group *group)
{
    for (unsigned i = group->count; i-- > 0;)
        note_id(hits, group->high[i], group->low[i], group->times[i]);
}

/* Note the newest traces of hits. The last rows are mostly the newest: after them most others are too
 * old. */
static void note_newest(struct hit_ids *hits, const struct hit_columns *columns,
                        const struct cn_rows *rows)
{
    enum { CROWD = 4 };
    struct hit_group group;

    for (size_t i = cn_rows_word_count(rows); i-- > 0;) {
        if (!rows->words[i])
            continue;
        if (hits->ids.count >= CROWD * hits->newest_max)
            drop_older(hits);
        read_group(&group, columns, (uint32_t)i * CN_COLUMN_GROUP_ROWS, rows->words[i],
                   hits->floor_ns, &hits->rest_ns);
        note_group(hits, &group);
    }
}

/* Reads the hits of a segment in parts, which are noted in their order. */
struct hit_reading {
    struct hit_ids *hits;
    const struct hit_columns *columns;
    const struct cn_rows *rows;
    struct hit_part {
        struct hit {
            uint64_t high, low, time_ns;
        } * list;
        size_t count, capacity;
    } * parts;
};

enum {
    PART_GROUPS = 1 << 10,
    AHEAD = 16, /* hits whose traces are expected */
};

static void read_part(void *arg, size_t job, unsigned worker)
{
    const struct hit_reading *reading = arg;
    struct hit_part *part = &reading->parts[job];
    size_t end = cn_rows_word_count(reading->rows);
    struct hit_group group;
    uint64_t ignored = 0;

    (void)worker;
    end = end - job * PART_GROUPS < PART_GROUPS ? end : (job + 1) * PART_GROUPS;
    for (size_t i = job * PART_GROUPS; i < end; i++) {
        if (!reading->rows->words[i])
            continue;
        read_group(&group, reading->columns, (uint32_t)i * CN_COLUMN_GROUP_ROWS,
                   reading->rows->words[i], 0, &ignored);
        for (unsigned k = group.count; k-- > 0;)
            CN_PUSH(part->list, part->count, part->capacity,
                    (struct hit){group.high[k], group.low[k], group.times[k]});
    }
}

static void take_part(void *arg, size_t job, unsigned worker)
{
    const struct hit_reading *reading = arg;
    struct hit_part *part = &reading->parts[job];

    (void)worker;
    for (size_t i = 0; i < part->count; i++) {
        const struct hit *hit = &part->list[i];

        if (i + AHEAD < part->count)
            cn_trace_ids_expect(&reading->hits->ids, hit[AHEAD].high, hit[AHEAD].low);
        note_id(reading->hits, hit->high, hit->low, hit->time_ns);
    }
    free(part->list);
    part->list = NULL;
}

static bool note_ids(void *arg, uint32_t segment, const struct cn_store_index *index,
                     const struct cn_rows *rows, struct cn_error *err)
{
    struct hit_ids *hits = arg;
    struct hit_columns columns;
    struct hit_reading reading = {.hits = hits, .columns = &columns, .rows = rows};
    struct cn_jobs jobs = {.arg = &reading, .run = read_part, .take = take_part};

    (void)err;
    hits->is_found[segment] = true;
    hits->row_count += cn_rows_size(rows);
    hits->all_count += cn_rows_size(rows);
    hits->is_odd =
        hits->is_odd || hits->row_count > hits->row_max || !open_columns(&columns, index);
    if (hits->is_odd)
        return true;
    if (hits->newest_max > 0) {
        note_newest(hits, &columns, rows);
        return true;
    }
    jobs.count = (cn_rows_word_count(rows) + PART_GROUPS - 1) / PART_GROUPS;
    reading.parts = cn_alloc(jobs.count, sizeof(*reading.parts));
    cn_pool_run(&jobs, cn_pool_default_workers());
    free(reading.parts);
    return true;
}

/* True if a segment may have rows of one of these traces. */
static bool may_have_ids(const struct cn_segment *segment, const struct cn_trace_ids *ids)
{
    struct cn_bytes filter = cn_segment_filter(segment);

    /* Without a filter, the table of ids tells when the table of traces is made. */
    if (filter.len == 0)
        return ids->count > 0;
    for (size_t i = 0; i < ids->count; i++)
        if (cn_word_filter_may_have_id(filter, ids->list[i].high, ids->list[i].low))
            return true;
    return false;
}

static bool has_filters(const struct cn_search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (cn_segment_filter(cn_store_segment(search->store, i)).len > 0)
            return true;
    return false;
}

/* True if the table has what is needed. */
static bool has_needed(const struct cn_search *search, enum cn_trace_table_needs needs)
{
    return search->in_traces &&
           (search->traces.has == CN_TRACE_TABLE_ALL || search->traces.has == needs);
}

static bool has_all_traces(const struct cn_search *search,
                           enum cn_trace_table_needs needs)
{
    return has_needed(search, needs) && !search->traces.is_of_some;
}

bool cn_search_is_few(const struct cn_search *search, size_t trace_max)
{
    enum { FILTERED_MAX = 1 << 16, ROWS_A_TRACE = 16 };

    if (has_filters(search))
        return trace_max < FILTERED_MAX;
    return !has_all_traces(search, CN_TRACE_TABLE_ALL) &&
           trace_max < search->row_count / ROWS_A_TRACE;
}

/* Drop traces without hits of the last condition. */
static void drop_unmarked(struct hit_ids *hits)
{
    struct cn_trace_ids *ids = &hits->ids;
    size_t kept = 0;

    for (size_t i = 0; i < ids->count; i++)
        if (ids->list[i].mark > hits->round)
            ids->list[kept++] = ids->list[i];
    ids->count = kept;
    cn_trace_ids_renew(ids);
}

/* A condition that every trace has to meet in one of its spans. */
static bool is_needed(const struct cn_query_step *step)
{
    return step->kind == CN_QUERY_STEP_TERM && step->is_top &&
           !cn_query_term_is_of_trace(&step->term);
}

/* Note the traces that meet all conditions that every trace has to meet, each in one of its spans. */
static bool note_joined(struct cn_search *search, const struct cn_query *query,
                        struct cn_search_visitor *visitor, struct cn_error *err)
{
    struct hit_ids *hits = visitor->arg;
    size_t newest_max = hits->newest_max;
    bool ok = true;

    hits->newest_max = 0;
    for (size_t i = 0; ok && i < query->count && !hits->is_odd; i++) {
        struct cn_query *term;

        if (!is_needed(&query->steps[i]))
            continue;
        ok = cn_query_of_step(&term, query, &query->steps[i], err);
        if (!ok)
            break;
        hits->row_count = 0;
        ok = cn_search_walk(search, term, visitor, err);
        cn_query_free(term);
        drop_unmarked(hits);
        hits->round++;
    }
    hits->newest_max = newest_max;
    return ok;
}

/* Note the traces of the hits of a query, or of a condition that it needs. */
static bool note_hits(struct cn_search *search, const struct cn_query *query,
                      struct cn_search_visitor *visitor, struct cn_error *err)
{
    struct hit_ids *hits = visitor->arg;
    struct cn_query *seed = query->joins ? cn_search_seed(search, query) : NULL;
    bool ok = true;

    if (query->joins && !seed)
        hits->is_odd = true;
    else if (seed && !has_filters(search) &&
             (visitor->end == 0 || visitor->end == search->count))
        ok = note_joined(search, query, visitor, err);
    else
        ok = cn_search_walk(search, seed ? seed : query, visitor, err);
    cn_query_free(seed);
    drop_older(hits);
    return ok;
}

/* Choose the segments that may have rows of the traces that a query finds, and these traces, or as many of
 * the newest; all without a query. */
static bool choose(struct cn_search *search, const struct cn_query *query,
                   struct cn_search_newest *newest, struct hit_ids *hits,
                   struct cn_error *err)
{
    enum { ROWS_A_HIT = 8 }; /* more hits are looked at with all others */
    struct cn_search_visitor visitor = {.visit = note_ids,
                                        .arg = hits,
                                        .is_rough = true,
                                        .end = newest ? newest->end : 0};
    bool ok = true;

    hits->newest_max = newest ? newest->trace_max : 0;
    hits->row_max = newest ? UINT64_MAX : search->row_count / ROWS_A_HIT;
    hits->is_odd = !query;
    if (query)
        ok = note_hits(search, query, &visitor, err);
    if (newest)
        newest->rest_ns = hits->is_odd ? 0 : hits->rest_ns;
    for (size_t i = 0; ok && i < search->count; i++)
        hits->is_found[i] = hits->is_found[i] || hits->is_odd ||
                            may_have_ids(cn_store_segment(search->store, i), &hits->ids);
    return ok;
}

/* The indexes that a table is made of. */
struct indexes {
    struct cn_search *search;
    uint32_t *segments; /* that were chosen */
    const struct cn_store_index **list;
    bool is_of_some; /* the table of traces opens the columns that it needs */
};

static void open_chosen(void *arg, size_t i, unsigned worker)
{
    struct indexes *indexes = arg;
    uint32_t segment = indexes->segments[i];

    struct cn_error ignored;

    (void)worker;
    if (!indexes->is_of_some)
        indexes->list[segment] = index_for_traces(indexes->search, segment);
    else if (!cn_search_index(indexes->search, segment, &indexes->list[segment],
                              &ignored))
        indexes->list[segment] = NULL;
}

/* Of all rows of the chosen segments; or, with `only`, of those of some traces. */
static bool make_traces(struct cn_search *search, const bool *chosen,
                        const struct cn_trace_ids *only, enum cn_trace_table_needs needs,
                        struct cn_trace_table *out, struct cn_error *err)
{
    const struct cn_store_index **indexes = cn_alloc(search->count, sizeof(*indexes));
    struct indexes opening = {search, cn_alloc(search->count, sizeof(uint32_t)), indexes,
                              only != NULL};
    struct cn_jobs jobs = {.arg = &opening, .run = open_chosen};
    bool ok = true;

    for (uint32_t i = 0; i < search->count; i++)
        if (chosen[i])
            opening.segments[jobs.count++] = i;
    cn_pool_run(&jobs, cn_search_workers(search));
    /* Opened again for the error alone. */
    for (size_t i = 0; ok && only && i < jobs.count; i++)
        ok = indexes[opening.segments[i]] ||
             cn_search_index(search, opening.segments[i], &indexes[opening.segments[i]],
                             err);
    ok = ok && cn_trace_table_make(out, indexes, search->count, only, needs,
                                   cn_search_workers(search), err);
    free(opening.segments);
    free(indexes);
    return ok;
}

/* What the table of some traces was made for. */
static char *key_of(const struct cn_query *query, const struct cn_search_newest *newest)
{
    return cn_strprintf("%zu %zu %" PRIu64 " %s", newest ? newest->end : 0,
                        newest ? newest->trace_max : 0, query->now_ns, query->text);
}

/* Take over a table, and what it was made for. */
static void note_made(struct cn_search *search, const struct cn_trace_table *made,
                      bool *in_traces, char *key, uint64_t rest_ns)
{
    cn_trace_table_done(&search->traces);
    search->traces = *made;
    search->made_count++;
    free(search->in_traces);
    free(search->traces_key);
    search->in_traces = in_traces;
    search->traces_key = key;
    search->traces_rest_ns = rest_ns;
}

/* True if a search has looked at so many hits that a table of all traces takes less from now on. */
static bool looks_much(const struct cn_search *search)
{
    enum { ROWS_A_HIT = 8 };

    return search->looked_count > search->row_count / ROWS_A_HIT;
}

/* Make the table of all rows; the second one has all that another one may need. */
static bool make_all(struct cn_search *search, enum cn_trace_table_needs needs,
                     struct cn_error *err)
{
    if (search->made_count > 0)
        needs = CN_TRACE_TABLE_ALL;
    bool *chosen = cn_alloc(search->count + 1, sizeof(*chosen));
    struct cn_trace_table made;

    for (size_t i = 0; i < search->count; i++)
        chosen[i] = true;
    if (make_traces(search, chosen, NULL, needs, &made, err)) {
        note_made(search, &made, chosen, NULL, 0);
        return true;
    }
    free(chosen);
    return false;
}

bool cn_search_newest_table(struct cn_search *search, const struct cn_query *query,
                            struct cn_search_newest *newest,
                            enum cn_trace_table_needs needs,
                            const struct cn_trace_table **out, struct cn_error *err)
{
    struct hit_ids hits = {.is_found = NULL};
    struct cn_trace_table made;
    struct cn_error ignored;
    bool ok;

    *out = &search->traces;
    if (newest)
        newest->rest_ns = 0;
    if (has_all_traces(search, needs))
        return true;
    if (!query)
        return make_all(search, needs, err);
    char *key = key_of(query, newest);
    if (has_needed(search, needs) && search->traces_key &&
        strcmp(key, search->traces_key) == 0) {
        if (newest)
            newest->rest_ns = search->traces_rest_ns;
        free(key);
        return true;
    }
    if (looks_much(search) && !has_filters(search)) {
        free(key);
        return make_all(search, needs, err);
    }
    hits.is_found = cn_alloc(search->count + 1, sizeof(*hits.is_found));
    ok = choose(search, query, newest, &hits, err);
    search->looked_count += hits.all_count;
    bool is_made = ok && !hits.is_odd &&
                   make_traces(search, hits.is_found, &hits.ids, needs, &made, &ignored);
    cn_trace_ids_done(&hits.ids);
    if (is_made) {
        note_made(search, &made, hits.is_found, key, newest ? newest->rest_ns : 0);
        return true;
    }
    free(hits.is_found);
    free(key);
    if (newest)
        newest->rest_ns = 0;
    return ok && make_all(search, needs, err);
}

bool cn_search_trace_table(struct cn_search *search, const struct cn_query *query,
                           enum cn_trace_table_needs needs,
                           const struct cn_trace_table **out, struct cn_error *err)
{
    return cn_search_newest_table(search, query, NULL, needs, out, err);
}

bool cn_search_table_of(struct cn_search *search, const struct cn_trace_ids *ids,
                        enum cn_trace_table_needs needs, struct cn_trace_table *out,
                        struct cn_error *err)
{
    bool *chosen = cn_alloc(search->count + 1, sizeof(*chosen));

    for (size_t i = 0; i < search->count; i++)
        chosen[i] = may_have_ids(cn_store_segment(search->store, i), ids);
    bool ok = make_traces(search, chosen, ids, needs, out, err);
    free(chosen);
    return ok;
}

const struct cn_trace_table *cn_search_traces_made(const struct cn_search *search)
{
    assert(search->in_traces);
    return &search->traces;
}
