#include "store/search/whole.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/query.h"
#include "store/search/state.h"

/* A set of traces: a bit for each of several rows, by number, and the rows of the others. */
struct set {
    uint64_t *traces;
    struct cn_rows *rows; /* by segment; without words: none */
};

struct whole_finding {
    struct cn_search *search;
    const struct cn_trace_table *table;
    const struct cn_query *query;
    struct set *sets; /* a stack */
    size_t depth, capacity;
    bool **domains; /* a stack: the segments that matter */
    size_t domain_count, domain_capacity;
};

static size_t trace_words(const struct whole_finding *finding)
{
    return (size_t)finding->table->count / 64 + 1;
}

static struct set *push_set(struct whole_finding *finding)
{
    CN_PUSH(finding->sets, finding->depth, finding->capacity,
            (struct set){
                .traces = cn_alloc(trace_words(finding), sizeof(uint64_t)),
                .rows = cn_alloc(finding->search->count, sizeof(struct cn_rows)),
            });
    return &finding->sets[finding->depth - 1];
}

static void pop_set(struct whole_finding *finding)
{
    struct set *set = &finding->sets[--finding->depth];

    for (size_t i = 0; i < finding->search->count; i++)
        cn_rows_done(&set->rows[i]);
    free(set->rows);
    free(set->traces);
}

/* Number 0 is that of rows without others. */
static bool has_trace(const struct set *set, uint32_t number)
{
    return set->traces[number / 64] >> number % 64 & 1;
}

static bool is_empty(const struct whole_finding *finding, const struct set *set)
{
    for (size_t i = 0; i < trace_words(finding); i++)
        if (set->traces[i])
            return false;
    for (size_t i = 0; i < finding->search->count; i++)
        if (set->rows[i].words && !cn_rows_is_empty(&set->rows[i]))
            return false;
    return true;
}

/* True if a segment has a row of a trace of the set. */
static bool has_segment(const struct whole_finding *finding, const struct set *set,
                        size_t segment)
{
    const struct cn_trace_runs *runs = &finding->table->runs[segment];

    if (set->rows[segment].words && !cn_rows_is_empty(&set->rows[segment]))
        return true;
    for (uint32_t i = 0; i < runs->run_count; i++)
        if (runs->numbers[i] > 0 && has_trace(set, runs->numbers[i]))
            return true;
    return false;
}

static void push_domain(struct whole_finding *finding, const struct set *set)
{
    const bool *before = finding->domains[finding->domain_count - 1];
    bool *domain = cn_alloc(finding->search->count + 1, sizeof(*domain));

    for (size_t i = 0; i < finding->search->count; i++)
        domain[i] = before[i] && has_segment(finding, set, i);
    CN_PUSH(finding->domains, finding->domain_count, finding->domain_capacity, domain);
}

/* Add the traces of matching rows to the uppermost set. */
static bool add_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                     const struct cn_rows *rows, struct cn_error *err)
{
    struct whole_finding *finding = arg;
    struct set *set = &finding->sets[finding->depth - 1];
    const struct cn_trace_runs *runs = &finding->table->runs[segment];
    struct cn_rows *alone = &set->rows[segment];
    bool has_alone = !finding->table->is_of_some;

    (void)index;
    (void)err;
    if (has_alone)
        cn_rows_init(alone, rows->count);
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        uint32_t number = cn_trace_runs_number(runs, row);

        if (number > 0)
            set->traces[number / 64] |= UINT64_C(1) << number % 64;
        else if (has_alone)
            cn_rows_set(alone, row);
    }
    return true;
}

/* Add the traces of several rows whose number matches to the uppermost set. */
static void add_traces(struct whole_finding *finding, const struct cn_query_term *term)
{
    struct set *set = &finding->sets[finding->depth - 1];

    memset(set->traces, 0, trace_words(finding) * sizeof(*set->traces));
    for (uint32_t i = 0; i < finding->table->count; i++) {
        const struct cn_trace_sum *sum = &finding->table->traces[i];
        uint64_t value = term->field == CN_QUERY_DURATION ? sum->duration_ns
                         : term->field == CN_QUERY_CALLS  ? sum->calls
                         : term->field == CN_QUERY_ERRORS ? sum->errors
                                                          : sum->records;
        bool is_between = value >= term->first.low && value <= term->last.low;
        uint32_t number = i + 1;

        if (is_between != term->is_negated)
            set->traces[number / 64] |= UINT64_C(1) << number % 64;
    }
}

static bool match_term(struct whole_finding *finding, const struct cn_query_step *step,
                       struct cn_error *err)
{
    struct cn_search_visitor visitor = {
        .visit = add_rows,
        .arg = finding,
        .only = finding->domains[finding->domain_count - 1],
        .is_rough = true,
    };
    struct cn_query *term;

    (void)push_set(finding);
    if (!cn_query_of_step(&term, finding->query, step, err))
        return false;
    bool ok = cn_search_walk(finding->search, term, &visitor, err);
    cn_query_free(term);
    if (cn_query_term_is_of_trace(&step->term))
        add_traces(finding, &step->term);
    return ok;
}

/* Rows of `set` become those of both, or of either. */
static void combine_rows(struct cn_rows *rows, struct cn_rows *other, bool is_both)
{
    struct cn_rows none = {0};

    if (rows->words && other->words) {
        if (is_both)
            cn_rows_and(rows, other);
        else
            cn_rows_or(rows, other);
    } else if (is_both) {
        cn_rows_done(rows);
        *rows = none;
    } else if (other->words) {
        *rows = *other;
        *other = none;
    }
}

static void combine(struct whole_finding *finding, bool is_both)
{
    struct set *left = &finding->sets[finding->depth - 2], *right = left + 1;

    for (size_t i = 0; i < trace_words(finding); i++)
        left->traces[i] = is_both ? left->traces[i] & right->traces[i]
                                  : left->traces[i] | right->traces[i];
    for (size_t i = 0; i < finding->search->count; i++)
        combine_rows(&left->rows[i], &right->rows[i], is_both);
    pop_set(finding);
}

/* Rows that are a whole trace each, of a segment that matters. */
static bool list_alone(const struct whole_finding *finding, uint32_t segment,
                       struct cn_rows *out, struct cn_error *err)
{
    const struct cn_trace_runs *runs = &finding->table->runs[segment];
    const struct cn_store_index *index;
    uint32_t end;

    if (!cn_search_index(finding->search, segment, &index, err))
        return false;
    cn_rows_init(out, index->columns->row_count);
    if (!runs->starts)
        cn_rows_set_range(out, 0, out->count);
    for (uint32_t row = 0; row < runs->row_count; row = end) {
        end = cn_trace_runs_next(runs, row + 1);
        if (cn_trace_runs_number(runs, row) == 0)
            cn_rows_set_range(out, row, end);
    }
    cn_joined_drop(&index->joined, out);
    return true;
}

static void invert(struct whole_finding *finding)
{
    struct set *set = &finding->sets[finding->depth - 1];
    const bool *domain = finding->domains[finding->domain_count - 1];

    for (size_t i = 0; i < trace_words(finding); i++)
        set->traces[i] = ~set->traces[i];
    for (uint32_t i = 0; i < finding->search->count; i++) {
        struct cn_rows alone = {0}, *rows = &set->rows[i];
        struct cn_error err;

        if (domain[i] && !finding->table->is_of_some &&
            !list_alone(finding, i, &alone, &err))
            finding->search->failures[i] = err;
        if (rows->words && alone.words) {
            cn_rows_not(rows);
            cn_rows_and(&alone, rows);
        }
        cn_rows_done(rows);
        *rows = alone;
    }
}

static bool evaluate(struct whole_finding *finding, size_t begin, size_t end,
                     struct cn_error *err)
{
    const struct cn_query_step *steps = finding->query->steps;

    for (size_t i = begin; i < end; i++) {
        switch (steps[i].kind) {
        case CN_QUERY_STEP_TERM:
            if (!match_term(finding, &steps[i], err))
                return false;
            break;
        case CN_QUERY_STEP_AND:
            combine(finding, true);
            free(finding->domains[--finding->domain_count]);
            break;
        case CN_QUERY_STEP_OR:
            combine(finding, false);
            break;
        case CN_QUERY_STEP_NOT:
            invert(finding);
            break;
        case CN_QUERY_STEP_SKIP:
            if (is_empty(finding, &finding->sets[finding->depth - 1]))
                i = steps[i].target - 1;
            else
                push_domain(finding, &finding->sets[finding->depth - 1]);
            break;
        }
    }
    return true;
}

/* The times that must hold, if any, restrict the segments of everything else. */
static bool begin_domain(struct whole_finding *finding, struct cn_error *err)
{
    const struct cn_query *query = finding->query;
    bool *all = cn_alloc(finding->search->count + 1, sizeof(*all));
    size_t i = 0;

    for (size_t s = 0; s < finding->search->count; s++)
        all[s] = finding->search->in_traces[s];
    CN_PUSH(finding->domains, finding->domain_count, finding->domain_capacity, all);
    while (i < query->count &&
           !(query->steps[i].is_top && query->steps[i].term.field == CN_QUERY_TIME))
        i++;
    if (i == query->count)
        return true;
    if (!match_term(finding, &query->steps[i], err))
        return false;
    push_domain(finding, &finding->sets[0]);
    pop_set(finding);
    return true;
}

static void add_all(const struct whole_finding *finding, const struct set *set,
                    size_t segment, struct cn_rows *out)
{
    const struct cn_trace_runs *runs = &finding->table->runs[segment];
    struct cn_rows doubles = {.words = finding->table->doubles[segment],
                              .count = runs->row_count};
    uint32_t end;

    for (uint32_t row = 0; row < runs->row_count; row = end) {
        uint32_t number = cn_trace_runs_number(runs, row);

        end = cn_trace_runs_next(runs, row + 1);
        if (number > 0 && has_trace(set, number))
            cn_rows_set_range(out, row, end);
    }
    for (uint32_t row = doubles.words ? cn_rows_next(&doubles, 0) : doubles.count;
         row < doubles.count; row = cn_rows_next(&doubles, row + 1))
        cn_rows_clear(out, row);
}

static void take_found(struct whole_finding *finding, struct cn_whole *out)
{
    const struct cn_trace_table *table = finding->table;
    struct set *set = &finding->sets[0];
    size_t count = finding->search->count;

    out->segment_count = count;
    out->firsts = cn_alloc(count, sizeof(*out->firsts));
    out->all = cn_alloc(count, sizeof(*out->all));
    for (size_t i = 0; i < count; i++) {
        uint32_t rows = table->runs[i].row_count;

        if (rows == 0)
            rows = set->rows[i].count;
        cn_rows_init(&out->firsts[i], rows);
        cn_rows_init(&out->all[i], rows);
        if (set->rows[i].words) {
            cn_rows_or(&out->firsts[i], &set->rows[i]);
            cn_rows_or(&out->all[i], &set->rows[i]);
        }
        add_all(finding, set, i, &out->all[i]);
    }
    for (uint32_t i = 0; i < table->count; i++)
        if (has_trace(set, i + 1))
            cn_rows_set(&out->firsts[table->traces[i].segment], table->traces[i].row);
}

enum cn_trace_table_needs cn_search_whole_needs(const struct cn_query *query,
                                                enum cn_trace_table_needs needs)
{
    for (size_t i = 0; i < query->count; i++)
        if (query->steps[i].kind == CN_QUERY_STEP_TERM &&
            cn_query_term_is_of_trace(&query->steps[i].term))
            return CN_TRACE_TABLE_ALL;
    return needs;
}

bool cn_search_whole(struct cn_search *search, const struct cn_query *query,
                     bool is_of_table, enum cn_trace_table_needs needs,
                     const struct cn_whole **out, struct cn_error *err)
{
    struct whole_finding finding = {.search = search, .query = query};
    struct cn_whole *whole = &search->whole;

    *out = whole;
    needs = cn_search_whole_needs(query, needs);
    if (whole->text && (whole->has == CN_TRACE_TABLE_ALL || whole->has == needs) &&
        whole->now_ns == query->now_ns &&
        whole->made_count == (is_of_table ? search->made_count : 0) &&
        strcmp(whole->text, query->text) == 0)
        return true;
    cn_whole_done(whole);
    if (is_of_table)
        finding.table = cn_search_traces_made(search);
    else if (!cn_search_trace_table(search, query, needs, &finding.table, err))
        return false;
    bool ok = begin_domain(&finding, err) && evaluate(&finding, 0, query->count, err);
    if (ok) {
        take_found(&finding, whole);
        whole->text = cn_strdup(query->text);
        whole->now_ns = query->now_ns;
        whole->has = finding.table->has;
        whole->made_count = is_of_table ? search->made_count : 0;
    }
    while (finding.depth > 0)
        pop_set(&finding);
    while (finding.domain_count > 0)
        free(finding.domains[--finding.domain_count]);
    free(finding.sets);
    free(finding.domains);
    return ok;
}

void cn_whole_done(struct cn_whole *whole)
{
    for (size_t i = 0; i < whole->segment_count; i++) {
        cn_rows_done(&whole->firsts[i]);
        cn_rows_done(&whole->all[i]);
    }
    free(whole->firsts);
    free(whole->all);
    free(whole->text);
    *whole = (struct cn_whole){0};
}
