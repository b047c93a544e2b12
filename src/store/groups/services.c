#include "store/groups/services.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/groups/durations.h"
#include "store/search/segments.h"
#include "store/search/trace_table.h"
#include "store/segment/scan.h"

enum { SLICE_ROWS = 1 << 21 /* about so many spans are in memory at a time */ };

struct services_joining {
    struct cn_search *search;
    struct cn_services found;
    const struct cn_trace_table *traces;
    uint64_t slice, slice_count; /* of the traces of several spans */
    struct cn_map words;         /* segment and word -> service */
    struct cn_map spans;         /* span of the slice -> service; CN_NONE: it has none */
    struct cn_map edges;         /* caller and callee -> member group */
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
    const uint32_t *numbers = joining->traces->numbers[segment];

    return numbers ? numbers[row] : 0;
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
    service = cn_map_at(&joining->words, (uint64_t)segment << 32 | word, CN_NONE);
    if (*service == CN_NONE) {
        ok = cn_search_hit_word(joining->search, &hit, word, &text, err);
        if (ok)
            *service = cn_names_add(&joining->found.names, cn_text_str(&text));
        cn_text_done(&text);
    }
    *out = *service;
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
    for (uint32_t row = 0; row < joining->traces->row_counts[segment]; row++) {
        uint32_t trace = trace_of(joining, segment, row);
        uint64_t span_id = trace > 0 ? cn_store_column_at(&columns[SPAN], row) : 0;

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
        cn_group_members_reserve(&joining->members, 0);
    }
    return *group;
}

static bool join_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                      const struct cn_rows *rows, struct cn_error *err)
{
    struct services_joining *joining = arg;
    struct cn_store_column columns[FIELDS];

    if (!open_columns(index, columns, err))
        return false;
    cn_group_members_reserve(&joining->members, 2 * (size_t)cn_rows_size(rows));
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
        if (callee == CN_NONE || caller == callee)
            continue;
        if (time_ns < joining->found.first_ns)
            joining->found.first_ns = time_ns;
        if (time_ns > joining->found.last_ns)
            joining->found.last_ns = time_ns;
        uint64_t duration_ns =
            cn_joined_number(&index->joined, CN_STORE_FIELD_duration_ns, row,
                             cn_store_column_at(&columns[DURATION], row));
        bool is_error = cn_joined_number(&index->joined, CN_STORE_FIELD_flags, row,
                                         cn_store_column_at(&columns[FLAGS], row)) &
                        CN_ROW_ERROR;
        cn_group_members_add(&joining->members, find_edge(joining, caller, callee),
                             duration_ns, is_error);
        cn_group_members_add(&joining->members, find_edge(joining, all_callers, callee),
                             duration_ns, is_error);
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
    return cn_search_walk(joining->search, query, &visitor, err);
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
                        struct cn_services *out, struct cn_error *err)
{
    const struct cn_store *store = cn_search_store(search);
    struct services_joining joining = {.search = search,
                                       .found = {.first_ns = UINT64_MAX}};
    uint64_t row_count = 0;
    bool ok = cn_search_trace_table(search, NULL, &joining.traces, err);

    for (size_t i = 0; i < cn_store_segment_count(store); i++)
        row_count += cn_segment_row_count(cn_store_segment(store, i));
    joining.slice_count = row_count / SLICE_ROWS + 1;
    for (; ok && joining.slice < joining.slice_count; joining.slice++)
        ok = join_slice(&joining, query, err);
    if (ok) {
        list_edges(&joining);
        *out = joining.found;
    } else {
        cn_services_done(&joining.found);
    }
    cn_map_done(&joining.words);
    cn_map_done(&joining.spans);
    cn_map_done(&joining.edges);
    cn_group_members_done(&joining.members);
    return ok;
}

void cn_services_done(struct cn_services *services)
{
    cn_names_done(&services->names);
    free(services->edges);
    free(services->callees);
    *services = (struct cn_services){0};
}
