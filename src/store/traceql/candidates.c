#include "store/traceql/candidates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/date.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/traceql/view.h"

enum { MASK_BITS = 64 };

static bool copy_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                      const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_rows *copies = arg;

    (void)index;
    (void)err;
    cn_rows_init(&copies[segment], rows->count);
    cn_rows_or(&copies[segment], rows);
    return true;
}

/* A condition of a filter that the other language refuses, being too deep or too long, says
 * nothing. */
static bool parse_condition(struct cn_query **out, const char *condition,
                            uint64_t first_ns, uint64_t last_ns, bool *is_whole,
                            struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_error ignored;
    bool ok;

    if (first_ns > 0) {
        cn_text_str_add(&text, "since \"");
        cn_date_print(&text, first_ns, 9);
        cn_text_str_add(&text, "\" ");
    }
    if (last_ns < UINT64_MAX) {
        cn_text_str_add(&text, "until \"");
        cn_date_print(&text, last_ns, 9);
        cn_text_str_add(&text, "\" ");
    }
    size_t len = text.len;
    if (condition[0])
        cn_text_printf(&text, "(%s)", condition);
    ok = *is_whole = cn_query_parse(out, cn_text_str(&text), 0, &ignored);
    if (!ok) {
        text.len = len;
        if (text.chars)
            text.chars[len] = '\0';
        ok = cn_query_parse(out, cn_text_str(&text), 0, err);
    }
    cn_text_done(&text);
    return ok;
}

/* Match the rows that are in doubt. What cannot be asked makes all of them doubtful. */
static bool match_doubts(struct cn_tql_candidates *out, struct cn_search *search,
                         const char *doubt, size_t number, struct cn_error *err)
{
    struct cn_rows *rows = cn_alloc(search->count + 1, sizeof(*rows));
    struct cn_search_visitor visitor = {.visit = copy_rows, .arg = rows};
    struct cn_query *query;
    struct cn_error ignored;

    out->filters[number].doubts = rows;
    if (!cn_query_parse(&query, doubt, 0, &ignored)) {
        out->filters[number].is_exact = false;
        return true;
    }
    bool ok = cn_search_walk(search, query, &visitor, err);
    cn_query_free(query);
    return ok;
}

static bool match_filter(struct cn_tql_candidates *out, struct cn_search *search,
                         const struct cn_tql_filter *filter, size_t number,
                         uint64_t first_ns, uint64_t last_ns, struct cn_error *err)
{
    struct cn_rows *rows = cn_alloc(search->count + 1, sizeof(*rows));
    struct cn_search_visitor visitor = {.visit = copy_rows, .arg = rows};
    struct cn_query *query;
    bool is_whole;

    out->filters[number].segments = rows;
    if (filter->is_none)
        return true;
    if (!parse_condition(&query, filter->condition, first_ns, last_ns, &is_whole, err))
        return false;
    out->filters[number].is_exact = is_whole && filter->is_exact;
    bool ok = cn_search_walk(search, query, &visitor, err);
    cn_query_free(query);
    for (size_t i = 0; i < search->count; i++)
        if (rows[i].words)
            out->row_counts[number] += cn_rows_size(&rows[i]);
    if (ok && out->filters[number].is_exact && filter->doubt[0])
        ok = match_doubts(out, search, filter->doubt, number, err);
    return ok;
}

bool cn_tql_candidates_match(struct cn_tql_candidates *out, struct cn_search *search,
                             const struct cn_tql_program *program, uint64_t first_ns,
                             uint64_t last_ns, struct cn_error *err)
{
    bool is_all_times = first_ns == 0 && last_ns == UINT64_MAX;

    *out = (struct cn_tql_candidates){
        .filters = cn_alloc(program->filter_count + 1, sizeof(*out->filters)),
        .row_counts = cn_alloc(program->filter_count + 1, sizeof(uint64_t)),
        .filter_count = program->filter_count,
        .segment_count = search->count,
    };
    for (size_t i = 0; i < program->filter_count; i++) {
        const struct cn_tql_filter *filter = &program->filters[i];

        if (is_all_times && !filter->condition[0] && !filter->is_none) {
            out->row_counts[i] = search->row_count;
            continue;
        }
        if (!match_filter(out, search, filter, i, first_ns, last_ns, err)) {
            cn_tql_candidates_done(out);
            return false;
        }
    }
    return true;
}

static bool is_of_right_alone(enum cn_tql_op op)
{
    return op == CN_TQL_NRE || (op >= CN_TQL_NOT_CHILD && op <= CN_TQL_NOT_ANCESTOR);
}

/* Whether a trace that has rows of the filters of `mask` may match. */
static bool may_match(const struct cn_tql_candidates *all, const struct cn_tql_node *node,
                      uint64_t mask)
{
    if (!node)
        return true;
    switch ((int)node->kind) {
    case CN_TQL_FILTER:
        return node->filter >= MASK_BITS || mask >> node->filter & 1;
    case CN_TQL_SPANSET_OP:
        if (node->op == CN_TQL_OR)
            return may_match(all, node->left, mask) || may_match(all, node->right, mask);
        return (is_of_right_alone(node->op) || may_match(all, node->left, mask)) &&
               may_match(all, node->right, mask);
    case CN_TQL_PIPELINE:
        for (const struct cn_tql_node *stage = node->stages; stage; stage = stage->next)
            if (!may_match(all, stage, mask))
                return false;
        return true;
    case CN_TQL_SCALAR_FILTER:
    case CN_TQL_SCALAR_OP:
        return may_match(all, node->left, mask) && may_match(all, node->right, mask);
    default:
        return true;
    }
}

/* The rows that have to be looked at for a node, UINT64_MAX if all; with `chosen`, note the filters
 * that give them. */
static uint64_t choose(const struct cn_tql_candidates *all,
                       const struct cn_tql_node *node, bool *chosen);

static uint64_t choose_less(const struct cn_tql_candidates *all,
                            const struct cn_tql_node *a, const struct cn_tql_node *b,
                            bool *chosen)
{
    uint64_t left = choose(all, a, NULL), right = choose(all, b, NULL);

    return choose(all, left <= right ? a : b, chosen);
}

static uint64_t choose_stage(const struct cn_tql_candidates *all,
                             const struct cn_tql_node *stage, bool *chosen)
{
    const struct cn_tql_node *best = NULL;
    uint64_t least = UINT64_MAX;

    for (; stage; stage = stage->next) {
        uint64_t rows = choose(all, stage, NULL);

        if (rows < least) {
            least = rows;
            best = stage;
        }
    }
    return best ? choose(all, best, chosen) : UINT64_MAX;
}

static uint64_t choose(const struct cn_tql_candidates *all,
                       const struct cn_tql_node *node, bool *chosen)
{
    uint64_t left, right;

    switch ((int)node->kind) {
    case CN_TQL_FILTER:
        if (!all->filters[node->filter].segments)
            return UINT64_MAX;
        if (chosen)
            chosen[node->filter] = true;
        return all->row_counts[node->filter];
    case CN_TQL_SPANSET_OP:
        if (is_of_right_alone(node->op))
            return choose(all, node->right, chosen);
        if (node->op != CN_TQL_OR)
            return choose_less(all, node->left, node->right, chosen);
        left = choose(all, node->left, NULL);
        right = choose(all, node->right, NULL);
        if (left == UINT64_MAX || right == UINT64_MAX)
            return UINT64_MAX;
        return choose(all, node->left, chosen) + choose(all, node->right, chosen);
    case CN_TQL_PIPELINE:
        return choose_stage(all, node->stages, chosen);
    case CN_TQL_SCALAR_FILTER:
    case CN_TQL_SCALAR_OP:
        return choose_less(all, node->left, node->right, chosen);
    default:
        return UINT64_MAX;
    }
}

/* The number of a trace; CN_NONE if it is not listed. With `is_new`, it is listed. */
static uint32_t find_trace(struct cn_tql_candidates *all, uint64_t high, uint64_t low,
                           bool is_new)
{
    if (!is_new)
        return cn_trace_ids_find(&all->ids, high, low);
    uint32_t number = cn_trace_ids_add(&all->ids, high, low);
    if (number == all->count)
        CN_PUSH(all->list, all->count, all->capacity,
                (struct cn_tql_candidate){.high = high, .low = low});
    return number;
}

/* Note the traces of those rows of a group whose bits are set. */
static void note_group(struct cn_tql_candidates *all,
                       const struct cn_tql_segment *segment, uint32_t first,
                       uint64_t bits, uint64_t bit, bool is_new)
{
    uint64_t times[CN_COLUMN_GROUP_ROWS], high[CN_COLUMN_GROUP_ROWS],
        low[CN_COLUMN_GROUP_ROWS];
    const struct cn_store_column *columns = segment->columns;
    unsigned count = cn_bits_set(bits);

    cn_store_column_read_bits(&columns[CN_STORE_FIELD_time_ns], first, bits, times);
    cn_store_column_read_bits(&columns[CN_STORE_FIELD_trace_high], first, bits, high);
    cn_store_column_read_bits(&columns[CN_STORE_FIELD_trace_low], first, bits, low);
    for (unsigned i = 0; i < count; i++) {
        uint32_t number = find_trace(all, high[i], low[i], is_new);

        if (number == CN_NONE)
            continue;
        struct cn_tql_candidate *candidate = &all->list[number];
        candidate->mask |= bit;
        if (is_new && times[i] > candidate->time_ns)
            candidate->time_ns = times[i];
    }
}

/* Note the traces of the rows of a filter, new ones if it was chosen. */
static bool note_rows(struct cn_tql_candidates *all, struct cn_tql_view *view,
                      const struct cn_rows *segments, uint64_t bit, bool is_new,
                      struct cn_error *err)
{
    for (uint32_t s = 0; s < all->segment_count; s++) {
        const struct cn_rows *rows = segments ? &segments[s] : NULL;
        struct cn_tql_segment *segment;
        struct cn_error ignored;

        if (rows && !rows->words)
            continue;
        if (!cn_tql_view_segment(view, s,
                                 CN_TQL_COLUMN(time_ns) | CN_TQL_COLUMN(trace_high) |
                                     CN_TQL_COLUMN(trace_low),
                                 &segment, rows ? err : &ignored)) {
            if (rows)
                return false;
            continue;
        }
        uint32_t count = segment->index->columns->row_count;
        for (uint32_t first = 0; first < count; first += CN_COLUMN_GROUP_ROWS) {
            uint64_t bits = rows ? rows->words[first / CN_COLUMN_GROUP_ROWS]
                            : count - first < CN_COLUMN_GROUP_ROWS
                                ? (UINT64_C(1) << (count - first)) - 1
                                : UINT64_MAX;

            if (bits)
                note_group(all, segment, first, bits, bit, is_new);
        }
    }
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct cn_tql_candidate *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    if (x->high != y->high)
        return x->high > y->high ? -1 : 1;
    return x->low > y->low ? -1 : x->low < y->low;
}

/* Strike out what the filters that were not chosen exclude. */
static bool strike_out(struct cn_tql_candidates *all, struct cn_tql_view *view,
                       const struct cn_tql_node *root, const bool *chosen,
                       struct cn_error *err)
{
    enum { ROWS_PER_TRACE = 256 }; /* a trace is read as fast as so many rows are noted */
    uint64_t known = 0;
    size_t kept = 0;

    for (size_t f = 0; f < all->filter_count && f < MASK_BITS; f++) {
        uint64_t bit = UINT64_C(1) << f;

        if (!chosen[f] && (!all->filters[f].segments ||
                           all->row_counts[f] / ROWS_PER_TRACE > all->count))
            known |= bit;
        else if (!chosen[f] &&
                 !note_rows(all, view, all->filters[f].segments, bit, false, err))
            return false;
    }
    for (size_t i = 0; i < all->count; i++)
        if (may_match(all, root, all->list[i].mask | known))
            all->list[kept++] = all->list[i];
    all->count = kept;
    return true;
}

bool cn_tql_candidates_list(struct cn_tql_candidates *all, struct cn_tql_view *view,
                            const struct cn_tql_node *root, struct cn_error *err)
{
    struct cn_tql_node pipeline = {.kind = CN_TQL_PIPELINE, .stages = root};
    bool *chosen = cn_alloc(all->filter_count + 1, sizeof(*chosen)), ok = true;

    all->count = 0;
    cn_trace_ids_done(&all->ids);
    if (choose(all, &pipeline, chosen) == UINT64_MAX) {
        memset(chosen, 0, all->filter_count * sizeof(*chosen));
        ok = note_rows(all, view, NULL, 0, true, err);
    }
    for (size_t f = 0; ok && f < all->filter_count; f++)
        if (chosen[f])
            ok = note_rows(all, view, all->filters[f].segments,
                           f < MASK_BITS ? UINT64_C(1) << f : 0, true, err);
    ok = ok && strike_out(all, view, &pipeline, chosen, err);
    free(chosen);
    if (ok && all->count > 1)
        qsort(all->list, all->count, sizeof(*all->list), newest_first);
    return ok;
}

void cn_tql_candidates_done(struct cn_tql_candidates *candidates)
{
    for (size_t f = 0; f < candidates->filter_count; f++) {
        struct cn_rows *lists[] = {candidates->filters[f].segments,
                                   candidates->filters[f].doubts};

        for (size_t k = 0; k < 2; k++) {
            for (size_t i = 0; lists[k] && i < candidates->segment_count; i++)
                cn_rows_done(&lists[k][i]);
            free(lists[k]);
        }
    }
    free(candidates->filters);
    free(candidates->row_counts);
    free(candidates->list);
    cn_trace_ids_done(&candidates->ids);
    *candidates = (struct cn_tql_candidates){0};
}
