#include "store/search/segments.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/sort.h"
#include "store/search/match.h"
#include "store/search/query.h"
#include "store/search/query_filter.h"
#include "store/search/seen.h"
#include "store/search/state.h"
#include "store/segment/reader.h"
#include "store/segment/scan.h"

/* A span that is stored twice has the same time, so it is in segments that overlap. */
static void find_overlaps(struct cn_search *search)
{
    const struct cn_search_segment *last =
        NULL; /* of those before, the one that ends last */

    search->overlaps = cn_alloc(search->count, sizeof(*search->overlaps));
    for (size_t i = 0; i < search->count; i++) {
        const struct cn_search_segment *entry = &search->oldest[i];

        if (last && entry->first_ns <= last->last_ns)
            search->overlaps[entry->segment] = search->overlaps[last->segment] = true;
        if (!last || entry->last_ns > last->last_ns)
            last = entry;
    }
    for (size_t i = 0; i < search->count; i++)
        search->overlap_count += search->overlaps[i];
}

bool cn_search_open(struct cn_search **out, const struct cn_store *store,
                    struct cn_error *err)
{
    struct cn_search *search = cn_alloc(1, sizeof(*search));

    (void)err;
    search->store = store;
    search->count = cn_store_segment_count(store);
    search->newest = cn_alloc(search->count, sizeof(*search->newest));
    search->oldest = cn_alloc(search->count, sizeof(*search->oldest));
    cn_kept_hits_init(&search->kept, search->count);
    search->indexes = cn_alloc(search->count, sizeof(*search->indexes));
    search->failures = cn_alloc(search->count, sizeof(*search->failures));
    for (size_t i = 0; i < search->count; i++) {
        struct cn_search_segment *entry = &search->newest[i];

        entry->segment = (uint32_t)i;
        search->row_count += cn_segment_row_count(cn_store_segment(store, i));
        cn_segment_times(cn_store_segment(store, i), &entry->first_ns, &entry->last_ns);
        search->oldest[i] = *entry;
    }
    if (search->count > 0) {
        CN_SORT(search->newest, search->count, CN_DOWN(struct cn_search_segment, last_ns),
                CN_DOWN(struct cn_search_segment, segment));
        CN_SORT(search->oldest, search->count, CN_UP(struct cn_search_segment, first_ns),
                CN_UP(struct cn_search_segment, segment));
    }
    find_overlaps(search);
    *out = search;
    return true;
}

void cn_search_times(const struct cn_search *search, const struct cn_query *query,
                     uint64_t *first_ns, uint64_t *last_ns)
{
    *first_ns = UINT64_MAX;
    *last_ns = 0;
    if (search->count > 0) {
        *first_ns = search->oldest[0].first_ns;
        *last_ns = search->newest[0].last_ns;
    }
    *first_ns = query->first_ns > *first_ns ? query->first_ns : *first_ns;
    *last_ns = query->last_ns < *last_ns ? query->last_ns : *last_ns;
}

static void release_index(struct cn_shared_index *shared)
{
    if (!shared || --shared->user_count > 0)
        return;
    cn_store_index_close(&shared->index);
    free(shared);
}

bool cn_search_open_again(struct cn_search **out, const struct cn_store *store,
                          struct cn_search *earlier, struct cn_error *err)
{
    struct cn_search *search;
    size_t at = 0;

    if (!cn_search_open(&search, store, err))
        return false;
    cn_kept_hits_begin_again(&search->kept, &earlier->kept);
    for (size_t i = 0; i < search->count; i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);

        while (at < earlier->count &&
               cn_segment_number(cn_store_segment(earlier->store, at)) <
                   cn_segment_number(segment))
            at++;
        if (at == earlier->count || cn_store_segment(earlier->store, at) != segment)
            continue;
        search->indexes[i] = earlier->indexes[at];
        if (search->indexes[i])
            search->indexes[i]->user_count++;
        cn_kept_hits_move(&search->kept, i, &earlier->kept, at);
    }
    *out = search;
    return true;
}

void cn_search_close(struct cn_search *search)
{
    if (!search)
        return;
    for (size_t i = 0; i < search->count; i++)
        release_index(search->indexes[i]);
    cn_kept_hits_done(&search->kept);
    cn_trace_table_done(&search->traces);
    cn_whole_done(&search->whole);
    free(search->newest);
    free(search->oldest);
    free(search->indexes);
    free(search->failures);
    free(search->in_traces);
    free(search->traces_key);
    free(search->overlaps);
    free(search);
}

static bool open_index(struct cn_search *search, uint32_t segment,
                       const struct cn_store_index **out, struct cn_error *err)
{
    struct cn_shared_index *shared = search->indexes[segment];

    if (!shared) {
        shared = cn_alloc(1, sizeof(*shared));
        if (!cn_store_index_open(&shared->index, cn_store_segment(search->store, segment),
                                 err)) {
            free(shared);
            return false;
        }
        shared->user_count = 1;
        search->indexes[segment] = shared;
    }
    *out = &shared->index;
    return true;
}

/* The index of a segment that a query is matched with. */
static bool open_for(struct cn_search *search, uint32_t segment,
                     const struct cn_query *query, const struct cn_store_index **out,
                     struct cn_error *err)
{
    /* Without a term, rows are all that is read. */
    if (query->count > 0)
        cn_segment_expect_all(cn_store_segment(search->store, segment));
    return open_index(search, segment, out, err);
}

bool cn_search_check(const struct cn_search *search, struct cn_error *err)
{
    struct cn_error first = {0}, found;
    size_t count = 0;

    for (size_t i = 0; i < search->count; i++) {
        const struct cn_segment *segment = cn_store_segment(search->store, i);
        bool ok = search->failures[i].kind == CN_ERR_NONE;

        /* Without rows the times of a segment are not known: it is never skipped. */
        if (!ok)
            found = search->failures[i];
        else if (search->indexes[i])
            ok = cn_store_index_check(&search->indexes[i]->index, &found);
        else if (cn_segment_row_count(segment) == 0)
            ok = cn_segment_check(segment, &found);
        if (!ok && count++ == 0)
            first = found;
    }
    if (count == 0)
        return true;
    *err = first;
    return cn_fail_in(err, "damaged data, something may be missing%s",
                      count > 1 ? " in several segments" : "");
}

void cn_search_forget(struct cn_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->indexes[i])
            cn_store_index_forget(&search->indexes[i]->index);
    }
}

/* A damaged index is rebuilt once. */
static bool match_or_rebuild(struct cn_store_index *index, const struct cn_query *query,
                             bool is_rough, struct cn_rows *rows, struct cn_error *err)
{
    if (cn_match(index, query, is_rough, rows, err))
        return true;
    return err->kind == CN_ERR_FORMAT && cn_store_index_has_file(index) &&
           cn_store_index_rebuild(index, err) &&
           cn_match(index, query, is_rough, rows, err);
}

/* True if a query scans postings instead of looking up a value. */
static bool reads_much(const struct cn_query *query)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_term *term = &query->steps[i].term;

        if (query->steps[i].kind == CN_QUERY_STEP_TERM &&
            term->field >= CN_QUERY_METHOD && term->field != CN_QUERY_FOUND &&
            (term->op != CN_QUERY_EQUAL || term->field < CN_QUERY_ATTRIBUTE))
            return true;
    }
    return false;
}

static bool match(struct cn_search *search, uint32_t segment,
                  const struct cn_query *query, bool is_rough, struct cn_rows *rows,
                  struct cn_error *err)
{
    /* Above so many rows or segments, postings and words do not fit into memory. */
    enum { LARGE = 1 << 19, MANY = 64 };
    struct cn_store_index *index = &search->indexes[segment]->index;

    if (!match_or_rebuild(index, query, is_rough, rows, err))
        return cn_fail_in(err, "%s",
                          cn_segment_path(cn_store_segment(search->store, segment)));
    if ((search->row_count > LARGE || search->count > MANY) && reads_much(query))
        cn_store_index_forget(index);
    if (search->count > MANY && reads_much(query))
        cn_segment_forget(cn_store_segment(search->store, segment));
    return true;
}

/* The rows of a segment that match, as they were found before or now. */
static bool hits_of(struct cn_search *search, uint32_t segment,
                    const struct cn_query *query, bool is_rough, struct cn_rows *rows,
                    bool *is_kept, struct cn_error *err)
{
    struct cn_kept_query *kept;

    *is_kept = false;
    if (query
            ->found) /* other segments decide on it as well: not valid in later snapshots */
        return match(search, segment, query, is_rough, rows, err);
    kept = cn_kept_hits_of(&search->kept, query, is_rough);
    *is_kept = kept->rows[segment].words != NULL;
    if (*is_kept) {
        *rows = kept->rows[segment];
        return true;
    }
    if (!match(search, segment, query, is_rough, rows, err))
        return false;
    *is_kept = cn_kept_hits_add(&search->kept, kept, segment, rows);
    return true;
}

void cn_search_drop_doubles(const struct cn_search *search, uint32_t segment,
                            struct cn_rows *rows, bool *is_kept)
{
    struct cn_rows doubles = {.count = rows->count}, others;

    if (search->in_traces)
        doubles.words = search->traces.doubles[segment];
    if (!doubles.words)
        return;
    cn_rows_init(&others, rows->count);
    cn_rows_or(&others, &doubles);
    cn_rows_not(&others);
    cn_rows_and(&others, rows);
    if (!*is_kept)
        cn_rows_done(rows);
    *is_kept = false;
    *rows = others;
}

static bool search_entry(struct cn_search *search, const struct cn_search_segment *entry,
                         const struct cn_query *query,
                         const struct cn_search_visitor *visitor, struct cn_error *err)
{
    const struct cn_store_index *index;
    struct cn_rows rows;
    bool is_kept, ok;

    if (!open_for(search, entry->segment, query, &index, err) ||
        !hits_of(search, entry->segment, query, visitor->is_rough, &rows, &is_kept, err))
        return false;
    ok = true;
    if (visitor->kind == CN_SEARCH_WHOLE)
        cn_search_drop_doubles(search, entry->segment, &rows, &is_kept);
    else if (visitor->seen && search->overlaps[entry->segment])
        ok = cn_search_drop_seen(search, visitor->seen, entry->segment, index, &rows,
                                 &is_kept, err);
    ok = ok && (cn_rows_is_empty(&rows) ||
                visitor->visit(visitor->arg, entry->segment, index, &rows, err));
    if (!is_kept)
        cn_rows_done(&rows);
    return ok;
}

static void note_row(void *arg, uint32_t row)
{
    (void)row;
    *(bool *)arg = true;
}

/* Checks the times, the filter, and the id if the query has one. */
static bool may_have_hits(const struct cn_search *search,
                          const struct cn_search_segment *entry,
                          const struct cn_query *query)
{
    const struct cn_segment *segment = cn_store_segment(search->store, entry->segment);
    bool has_trace = false;

    if (entry->first_ns > entry->last_ns || entry->last_ns < query->first_ns ||
        entry->first_ns > query->last_ns ||
        !cn_query_may_match(query, cn_segment_filter(segment)))
        return false;
    if (query->has_id)
        cn_segment_expect_all(segment);
    return !query->has_id ||
           !cn_columns_find_trace(cn_segment_columns(segment), query->id.high,
                                  query->id.low, note_row, &has_trace) ||
           has_trace;
}

/* Segments that are matched in parallel. Each worker parses the query, because patterns belong to
 * one thread. */
struct ahead {
    struct cn_search *search;
    struct cn_kept_query *kept;
    struct cn_query **queries; /* by worker; NULL: not parsed yet */
    const struct cn_query *query;
    bool is_rough;
    struct ahead_job {
        uint32_t segment;
        struct cn_rows rows; /* no words: it failed */
    } * jobs;
};

/* A segment that fails here is matched again when it is visited, which reports the error. */
static void match_job(void *arg, size_t i, unsigned worker)
{
    struct ahead *ahead = arg;
    struct ahead_job *job = &ahead->jobs[i];
    const struct cn_store_index *index;
    struct cn_error ignored;
    struct cn_rows rows;

    if (!ahead->queries[worker] &&
        !cn_query_copy(&ahead->queries[worker], ahead->query, &ignored))
        return;
    if (open_for(ahead->search, job->segment, ahead->query, &index, &ignored) &&
        match(ahead->search, job->segment, ahead->queries[worker], ahead->is_rough, &rows,
              &ignored))
        job->rows = rows;
}

static void keep_job(void *arg, size_t i, unsigned worker)
{
    struct ahead *ahead = arg;
    struct ahead_job *job = &ahead->jobs[i];

    (void)worker;
    if (job->rows.words &&
        !cn_kept_hits_add(&ahead->search->kept, ahead->kept, job->segment, &job->rows))
        cn_rows_done(&job->rows);
}

unsigned cn_search_workers(const struct cn_search *search)
{
    enum { REMOTE_WORKERS = 16 };
    unsigned workers = cn_pool_default_workers();

    return workers < REMOTE_WORKERS && search->count > 0 &&
                   cn_segment_filter(cn_store_segment(search->store, 0)).len > 0
               ? REMOTE_WORKERS
               : workers;
}

/* True if a visitor visits a segment that has hits. */
static bool may_visit(const struct cn_search *search,
                      const struct cn_search_segment *entry, const struct cn_query *query,
                      const struct cn_search_visitor *visitor)
{
    return (!visitor->only || visitor->only[entry->segment]) &&
           may_have_hits(search, entry, query);
}

/* Match the segments of `entries` without cached hits on all processors. */
static void match_ahead(struct cn_search *search, const struct cn_query *query,
                        const struct cn_search_visitor *visitor,
                        const struct cn_search_segment *entries, size_t count)
{
    enum { ROWS_MIN = 1 << 16 }; /* fewer rows are matched before a thread has started */
    unsigned workers = cn_search_workers(search);
    bool is_remote = workers > cn_pool_default_workers();
    struct ahead ahead = {
        .search = search,
        .kept = cn_kept_hits_of(&search->kept, query, visitor->is_rough),
        .query = query,
        .is_rough = visitor->is_rough,
        .jobs = cn_alloc(count, sizeof(*ahead.jobs)),
        .queries = cn_alloc(workers, sizeof(struct cn_query *)),
    };
    struct cn_jobs jobs = {.arg = &ahead, .run = match_job, .take = keep_job};
    uint64_t row_count = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t segment = entries[i].segment;

        if (!may_visit(search, &entries[i], query, visitor) ||
            ahead.kept->rows[segment].words)
            continue;
        ahead.jobs[jobs.count++].segment = segment;
        row_count += cn_segment_row_count(cn_store_segment(search->store, segment));
    }
    if (workers > 1 && jobs.count > 1 && (is_remote || row_count >= ROWS_MIN))
        cn_pool_run(&jobs, workers);
    for (unsigned i = 0; i < workers; i++)
        cn_query_free(ahead.queries[i]);
    free(ahead.queries);
    free(ahead.jobs);
}

static size_t end_of(const struct cn_search *search,
                     const struct cn_search_visitor *visitor)
{
    return visitor->end > 0 ? visitor->end : search->count;
}

size_t cn_search_end_of(const struct cn_search *search, const struct cn_query *query,
                        size_t segment_max)
{
    size_t end = 0;

    for (; end < search->count && segment_max > 0; end++)
        segment_max -= may_have_hits(search, &search->newest[end], query);
    return end;
}

size_t cn_search_segment_count(const struct cn_search *search,
                               const struct cn_query *query)
{
    size_t count = 0;

    for (size_t i = 0; i < search->count; i++)
        count += may_have_hits(search, &search->newest[i], query);
    return count;
}

struct cn_query *cn_search_seed(const struct cn_search *search,
                                const struct cn_query *query)
{
    struct cn_query *best = NULL;
    size_t best_count = SIZE_MAX;

    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];
        struct cn_query *term;
        struct cn_error ignored;

        if (step->kind != CN_QUERY_STEP_TERM || !step->is_top ||
            cn_query_term_is_of_trace(&step->term) ||
            !cn_query_of_step(&term, query, step, &ignored))
            continue;
        size_t count = cn_search_segment_count(search, term);
        /* Times have the most hits. */
        if (count < best_count || (count == best_count && best->last_ns < UINT64_MAX)) {
            cn_query_free(best);
            best = term;
            best_count = count;
        } else {
            cn_query_free(term);
        }
    }
    return best;
}

/* True if the walk would go on after its end. */
static bool has_more(const struct cn_search *search, const struct cn_query *query,
                     const struct cn_search_visitor *visitor, size_t position)
{
    while (position < search->count &&
           !may_have_hits(search, &search->newest[position], query))
        position++;
    return position < search->count &&
           (!visitor->goes_on ||
            visitor->goes_on(visitor->arg, search->newest[position].last_ns));
}

/* The number of entries from `at` on that are visited, or may be: those whose times overlap those of
 * the first one, such as other lanes, or all if nothing ends the walk. */
static size_t count_ahead(const struct cn_search *search,
                          const struct cn_search_segment *entries, size_t at,
                          const struct cn_search_visitor *visitor)
{
    size_t end = at + 1, last = end_of(search, visitor);

    if (!visitor->goes_on)
        return last - at;
    while (end < last &&
           (visitor->is_oldest_first ? entries[end].first_ns <= entries[at].last_ns
                                     : entries[end].last_ns >= entries[at].first_ns))
        end++;
    return end - at;
}

/* A damaged segment does not end the walk. */
static enum cn_step note_failure(struct cn_search *search, uint32_t segment,
                                 const struct cn_error *err)
{
    if (err->kind != CN_ERR_FORMAT && err->kind != CN_ERR_IO && err->kind != CN_ERR_BUSY)
        return CN_FAIL;
    search->failures[segment] = *err;
    return CN_ITEM;
}

/* Visit the next segment; those before `ahead_end` were matched. */
static enum cn_step visit_next(struct cn_search *search, const struct cn_query *query,
                               const struct cn_search_visitor *visitor, size_t *position,
                               size_t *ahead_end, struct cn_error *err)
{
    const struct cn_search_segment *entries =
        visitor->is_oldest_first ? search->oldest : search->newest;
    size_t end = end_of(search, visitor);

    while (*position < end && !may_visit(search, &entries[*position], query, visitor))
        ++*position;
    if (*position >= end) {
        if (visitor->is_cut)
            *visitor->is_cut = has_more(search, query, visitor, end);
        return CN_END;
    }
    const struct cn_search_segment *entry = &entries[*position];
    if (visitor->goes_on &&
        !visitor->goes_on(visitor->arg,
                          visitor->is_oldest_first ? entry->first_ns : entry->last_ns))
        return CN_END;
    if (*position >= *ahead_end) {
        size_t count = count_ahead(search, entries, *position, visitor);

        if (count > 1 && !query->found)
            match_ahead(search, query, visitor, entry, count);
        *ahead_end = *position + count;
    }
    ++*position;
    return search_entry(search, entry, query, visitor, err)
               ? CN_ITEM
               : note_failure(search, entry->segment, err);
}

/* True if the traces that match are found before segments are visited. */
static bool is_whole(const struct cn_query *query,
                     const struct cn_search_visitor *visitor)
{
    return visitor->kind != CN_SEARCH_MATCHES &&
           (query->joins || (visitor->kind == CN_SEARCH_WHOLE && query->count > 0));
}

/* The same for traces that match, which have to meet the seed; without one, all were found. */
static bool has_more_whole(const struct cn_search *search, const struct cn_query *query,
                           const struct cn_search_visitor *visitor)
{
    struct cn_query *seed = cn_search_seed(search, query);
    bool found = seed && has_more(search, seed, visitor, visitor->end);

    cn_query_free(seed);
    return found;
}

/* Visit the next segment that has rows of traces that match. */
static enum cn_step visit_whole(struct cn_search *search, const struct cn_query *query,
                                const struct cn_search_visitor *visitor, size_t *position,
                                struct cn_error *err)
{
    const struct cn_search_segment *entries =
        visitor->is_oldest_first ? search->oldest : search->newest;
    const struct cn_store_index *index;
    const struct cn_whole *whole;
    const struct cn_rows *rows = NULL;
    uint32_t segment;

    if (!cn_search_whole(search, query, visitor->end > 0,
                         visitor->kind == CN_SEARCH_WHOLE ? CN_TRACE_TABLE_ALL
                                                          : CN_TRACE_TABLE_TIMES,
                         &whole, err))
        return CN_FAIL;
    for (; *position < search->count; ++*position) {
        segment = entries[*position].segment;
        rows = visitor->kind == CN_SEARCH_WHOLE ? &whole->all[segment]
                                                : &whole->firsts[segment];
        if (!cn_rows_is_empty(rows))
            break;
    }
    if (*position == search->count ||
        (visitor->goes_on &&
         !visitor->goes_on(visitor->arg, visitor->is_oldest_first
                                             ? entries[*position].first_ns
                                             : entries[*position].last_ns))) {
        if (visitor->is_cut)
            *visitor->is_cut = has_more_whole(search, query, visitor);
        return CN_END;
    }
    ++*position;
    return open_index(search, segment, &index, err) &&
                   visitor->visit(visitor->arg, segment, index, rows, err)
               ? CN_ITEM
               : note_failure(search, segment, err);
}

enum cn_step cn_search_visit_next(struct cn_search *search, const struct cn_query *query,
                                  const struct cn_search_visitor *visitor,
                                  size_t *position, struct cn_error *err)
{
    size_t ahead_end = *position == 0 ? 0 : SIZE_MAX;

    if (is_whole(query, visitor))
        return visit_whole(search, query, visitor, position, err);
    return visit_next(search, query, visitor, position, &ahead_end, err);
}

bool cn_search_walk(struct cn_search *search, const struct cn_query *query,
                    const struct cn_search_visitor *visitor, struct cn_error *err)
{
    size_t position = 0, ahead_end = 0;
    enum cn_step step;

    do {
        step = is_whole(query, visitor)
                   ? visit_whole(search, query, visitor, &position, err)
                   : visit_next(search, query, visitor, &position, &ahead_end, err);
    } while (step == CN_ITEM);
    return step == CN_END;
}

bool cn_search_index(struct cn_search *search, uint32_t segment,
                     const struct cn_store_index **out, struct cn_error *err)
{
    return open_index(search, segment, out, err);
}

bool cn_search_hit_row(struct cn_search *search, const struct cn_search_hit *hit,
                       struct cn_store_row *row, struct cn_error *err)
{
    const struct cn_store_index *index;

    if (!open_index(search, hit->segment, &index, err) ||
        !cn_columns_row(index->columns, hit->row, row, err))
        return false;
    cn_joined_complete(&index->joined, hit->row, row);
    return true;
}

bool cn_search_hit_word(struct cn_search *search, const struct cn_search_hit *hit,
                        uint32_t word, struct cn_text *out, struct cn_error *err)
{
    const struct cn_store_index *index;

    return open_index(search, hit->segment, &index, err) &&
           cn_store_index_print(index, word, out, err);
}

const struct cn_store *cn_search_store(const struct cn_search *search)
{
    return search->store;
}
