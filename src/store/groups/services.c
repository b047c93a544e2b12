#include "store/groups/services.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "model/traces/trace.h"
#include "store/groups/durations.h"
#include "store/search/segments.h"
#include "store/search/trace_table.h"
#include "store/segment/scan.h"
#include "store/segment/weights.h"

enum { SLICE_ROWS = 1 << 21 /* about so many spans are in memory at a time */ };

/* A span of the slice: its service, and that of its caller. */
struct slice_span {
    uint64_t begin_ns, end_ns;
    uint64_t caller_key; /* of the span that called it; 0: none */
    uint64_t key;
    uint32_t service;
};

struct services_joining {
    struct cn_search *search;
    bool has_self;
    struct slice_span *slice_spans; /* with has_self, of the traces that match */
    size_t span_count, span_capacity;
    uint64_t *self_ns; /* by service */
    size_t self_capacity;
    struct cn_services found;
    const struct cn_trace_table *traces;
    uint64_t slice, slice_count; /* of the traces of several spans */
    struct cn_map words;         /* segment and word -> service */
    uint64_t last_key;           /* of `words`, that was asked for last; 0: none */
    uint32_t last_service;
    struct cn_map spans; /* span of the slice -> service; CN_NONE: it has none */
    struct cn_map edges; /* caller and callee -> member group */
    struct cn_group_members members;
};

/* The caller of the group of all spans of a callee. */
static const uint32_t all_callers = CN_NONE - 1;

enum { SPAN, PARENT, SERVICE, TIME, DURATION, FLAGS, FIELDS };

static const enum cn_store_field fields[FIELDS] = {
    CN_STORE_FIELD_span_id, CN_STORE_FIELD_parent_id,   CN_STORE_FIELD_service,
    CN_STORE_FIELD_time_ns, CN_STORE_FIELD_duration_ns, CN_STORE_FIELD_flags,
};

static bool open_columns(const struct cn_store_index *index,
                         struct cn_store_column columns[FIELDS], struct cn_error *err)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (!cn_columns_field(index->columns, fields[i], &columns[i], err))
            return false;
    }
    return true;
}

/* The number of the trace of a row, from 1; 0 if the row is the whole trace. */
static uint32_t trace_of(const struct services_joining *joining, uint32_t segment,
                         uint32_t row)
{
    return cn_trace_table_number(joining->traces, segment, row);
}

static bool find_service(struct services_joining *joining, uint32_t segment,
                         const struct cn_store_column columns[FIELDS], uint32_t row,
                         uint32_t *out, struct cn_error *err)
{
    uint32_t word = (uint32_t)cn_store_column_at(&columns[SERVICE], row), *service;
    struct cn_search_hit hit = {.segment = segment, .row = row};
    struct cn_text text = {0};
    bool ok = true;

    *out = CN_NONE;
    if (word == 0)
        return true;
    uint64_t key = (uint64_t)segment << 32 | word;
    if (key == joining->last_key) {
        *out = joining->last_service;
        return true;
    }
    service = cn_map_at(&joining->words, key, CN_NONE);
    if (*service == CN_NONE) {
        ok = cn_search_hit_word(joining->search, &hit, word, &text, err);
        if (ok)
            *service = cn_names_add(&joining->found.names, cn_text_str(&text));
        cn_text_done(&text);
    }
    *out = joining->last_service = *service;
    joining->last_key = ok ? key : 0;
    return ok;
}

/* Note the services of all spans of the slice: a caller need not match. A span that is a whole
 * trace called nothing that is stored. */
static bool note_segment(struct services_joining *joining, uint32_t segment,
                         struct cn_error *err)
{
    struct cn_store_column columns[FIELDS];
    const struct cn_store_index *index;
    uint32_t service;

    if (!cn_search_index(joining->search, segment, &index, err) ||
        !open_columns(index, columns, err))
        return false;
    struct cn_column_cursor ids = {.column = &columns[SPAN],
                                   .row_count = index->columns->row_count};
    for (uint32_t row = 0; row < joining->traces->runs[segment].row_count; row++) {
        uint32_t trace = trace_of(joining, segment, row);
        uint64_t span_id = trace > 0 ? cn_column_cursor_at(&ids, row) : 0;

        if (span_id == 0 || trace % joining->slice_count != joining->slice)
            continue;
        if (!find_service(joining, segment, columns, row, &service, err))
            return false;
        (void)cn_map_at(&joining->spans, cn_span_key(trace, 0, span_id, 0), service);
    }
    return true;
}

static uint32_t find_edge(struct services_joining *joining, uint32_t caller,
                          uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t *group = cn_map_at(&joining->edges, key, 0);

    if (*group == 0) {
        char text[32];

        (void)snprintf(text, sizeof(text), "%016" PRIx64, key);
        *group = cn_words_add_str(&joining->members.values, CN_WORD_TEXT, text);
        cn_group_members_reserve(&joining->members);
    }
    return *group;
}

static void add_self(struct services_joining *joining, uint32_t service, uint64_t ns)
{
    size_t old = joining->self_capacity;

    CN_GROW_TO(joining->self_ns, (size_t)service + 1, joining->self_capacity);
    for (size_t i = old; i < joining->self_capacity; i++)
        joining->self_ns[i] = 0;
    joining->self_ns[service] += ns;
}

/* Add the self times of the spans of the slice: sorted by caller and begin, the spans that a span
 * called are one after the other. */
static void sum_self(struct services_joining *joining)
{
    struct slice_span *spans = joining->slice_spans;
    size_t count = joining->span_count;
    struct cn_map firsts = {0}; /* key of a span -> 1 + the first one that it called */

    if (count > 1)
        CN_SORT(spans, count, CN_UP(struct slice_span, caller_key),
                CN_UP(struct slice_span, begin_ns));
    for (size_t i = 0; i < count; i++)
        if (spans[i].caller_key != 0 &&
            (i == 0 || spans[i].caller_key != spans[i - 1].caller_key))
            *cn_map_at(&firsts, spans[i].caller_key, 0) = (uint32_t)i + 1;
    for (size_t i = 0; i < count; i++) {
        const struct slice_span *span = &spans[i];
        struct cn_self_time self = {.at_ns = span->begin_ns,
                                    .end_ns = span->end_ns,
                                    .ns = span->end_ns - span->begin_ns};
        uint32_t first = span->key == 0 ? 0 : cn_map_find(&firsts, span->key, 0);

        for (size_t k = first;
             k > 0 && k <= count && spans[k - 1].caller_key == span->key; k++)
            cn_self_time_take(&self, spans[k - 1].begin_ns, spans[k - 1].end_ns);
        if (span->service != CN_NONE)
            add_self(joining, span->service, self.ns);
    }
    cn_map_done(&firsts);
    joining->span_count = 0;
}

static bool join_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                      const struct cn_rows *rows, struct cn_error *err)
{
    struct services_joining *joining = arg;
    struct cn_row_weights weights = cn_segment_weights(index->segment);
    struct cn_store_column columns[FIELDS];

    if (!open_columns(index, columns, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        uint64_t time_ns = cn_store_column_at(&columns[TIME], row);
        uint64_t parent_id = cn_store_column_at(&columns[PARENT], row);
        uint32_t caller = CN_NONE, callee, trace = trace_of(joining, segment, row);

        if (trace % joining->slice_count != joining->slice)
            continue;
        if (!find_service(joining, segment, columns, row, &callee, err))
            return false;
        if (trace > 0 && parent_id != 0)
            caller = cn_map_find(&joining->spans, cn_span_key(trace, 0, parent_id, 0),
                                 CN_NONE);
        uint64_t duration_ns =
            cn_joined_number(&index->joined, CN_STORE_FIELD_duration_ns, row,
                             cn_store_column_at(&columns[DURATION], row));
        if (joining->has_self) {
            uint64_t span_id = cn_store_column_at(&columns[SPAN], row);
            struct slice_span span = {
                .begin_ns = time_ns,
                .end_ns = duration_ns < UINT64_MAX - time_ns ? time_ns + duration_ns
                                                             : UINT64_MAX,
                .caller_key =
                    trace > 0 && parent_id != 0 ? cn_span_key(trace, 0, parent_id, 0) : 0,
                .key = trace > 0 && span_id != 0 ? cn_span_key(trace, 0, span_id, 0) : 0,
                .service = callee,
            };

            CN_PUSH(joining->slice_spans, joining->span_count, joining->span_capacity,
                    span);
        }
        if (callee == CN_NONE || caller == callee)
            continue;
        if (time_ns < joining->found.first_ns)
            joining->found.first_ns = time_ns;
        if (time_ns > joining->found.last_ns)
            joining->found.last_ns = time_ns;
        bool is_error = cn_joined_number(&index->joined, CN_STORE_FIELD_flags, row,
                                         cn_store_column_at(&columns[FLAGS], row)) &
                        CN_ROW_ERROR;
        double weight = cn_row_weight(&weights, row);
        const uint32_t edges[] = {find_edge(joining, caller, callee),
                                  find_edge(joining, all_callers, callee)};
        for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
            cn_group_members_add(&joining->members, edges[i], duration_ns, is_error);
            cn_group_members_weigh(&joining->members, edges[i], weight);
        }
    }
    return true;
}

static bool join_slice(struct services_joining *joining, const struct cn_query *query,
                       struct cn_error *err)
{
    struct cn_search_visitor visitor = {
        .kind = CN_SEARCH_WHOLE, .visit = join_rows, .arg = joining};
    const struct cn_store *store = cn_search_store(joining->search);
    struct cn_error damaged;

    cn_map_done(&joining->spans);
    for (uint32_t i = 0; i < cn_store_segment_count(store); i++) {
        /* The walk reports the damage; callers in this segment are unknown. */
        if (!note_segment(joining, i, &damaged) && damaged.kind != CN_ERR_FORMAT &&
            damaged.kind != CN_ERR_IO && damaged.kind != CN_ERR_BUSY) {
            *err = damaged;
            return false;
        }
    }
    if (!cn_search_walk(joining->search, query, &visitor, err))
        return false;
    if (joining->has_self)
        sum_self(joining);
    return true;
}

static int compare_edges(const void *a, const void *b, void *arg)
{
    const struct cn_service_edge *x = a, *y = b;
    const struct cn_names *names = arg;
    int order;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if ((x->caller == CN_NONE) != (y->caller == CN_NONE))
        return x->caller == CN_NONE ? -1 : 1;
    order =
        x->caller == CN_NONE ? 0 : strcmp(names->list[x->caller], names->list[y->caller]);
    return order ? order : strcmp(names->list[x->callee], names->list[y->callee]);
}

static void sort_edges(struct cn_services *found, struct cn_service_edge *edges,
                       size_t count)
{
    if (count > 1)
        qsort_r(edges, count, sizeof(*edges), compare_edges, &found->names);
}

static void list_edges(struct services_joining *joining)
{
    struct cn_services *found = &joining->found;
    struct cn_groups groups;

    cn_group_members_rank(&joining->members, SIZE_MAX, &groups);
    found->edges = cn_alloc(groups.count, sizeof(*found->edges));
    found->callees = cn_alloc(found->names.count, sizeof(*found->callees));
    for (size_t i = 0; i < groups.count; i++) {
        const struct cn_group *group = &groups.list[i];
        char text[32] = "";
        struct cn_bytes bytes = cn_word_bytes(&groups.values, group->value);
        struct cn_service_edge edge = {
            .count = group->count,
            .error_count = group->error_count,
            .estimate = group->estimate,
            .total_ns = group->total_ns,
            .p50_ns = group->p50_ns,
            .p90_ns = group->p90_ns,
            .p99_ns = group->p99_ns,
            .max_ns = group->max_ns,
        };

        memcpy(text, bytes.ptr, bytes.len < sizeof(text) - 1 ? bytes.len : 0);
        uint64_t key = strtoull(text, NULL, 16);
        edge.caller = (uint32_t)(key >> 32);
        edge.callee = (uint32_t)(key & UINT32_MAX);
        if (edge.caller != all_callers) {
            found->edges[found->count++] = edge;
        } else {
            edge.caller = CN_NONE;
            found->callees[found->callee_count++] = edge;
        }
    }
    cn_groups_done(&groups);
    sort_edges(found, found->edges, found->count);
    sort_edges(found, found->callees, found->callee_count);
}

bool cn_search_services(struct cn_search *search, const struct cn_query *query,
                        bool has_self, struct cn_services *out, struct cn_error *err)
{
    const struct cn_store *store = cn_search_store(search);
    struct services_joining joining = {
        .search = search, .has_self = has_self, .found = {.first_ns = UINT64_MAX}};
    uint64_t row_count = 0;
    bool ok =
        cn_search_trace_table(search, NULL, CN_TRACE_TABLE_ALL, &joining.traces, err);

    for (size_t i = 0; i < cn_store_segment_count(store); i++)
        row_count += cn_segment_row_count(cn_store_segment(store, i));
    joining.slice_count = row_count / SLICE_ROWS + 1;
    for (; ok && joining.slice < joining.slice_count; joining.slice++)
        ok = join_slice(&joining, query, err);
    if (ok) {
        list_edges(&joining);
        if (has_self && joining.found.names.count > 0)
            add_self(&joining, (uint32_t)joining.found.names.count - 1, 0);
        joining.found.self_ns = joining.self_ns;
        joining.self_ns = NULL;
        *out = joining.found;
    } else {
        cn_services_done(&joining.found);
    }
    cn_map_done(&joining.words);
    cn_map_done(&joining.spans);
    cn_map_done(&joining.edges);
    cn_group_members_done(&joining.members);
    free(joining.slice_spans);
    free(joining.self_ns);
    return ok;
}

void cn_services_done(struct cn_services *services)
{
    cn_names_done(&services->names);
    free(services->edges);
    free(services->callees);
    free(services->self_ns);
    *services = (struct cn_services){0};
}
