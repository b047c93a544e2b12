#include "server/api/trace_load.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/traces/trace.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/trace/distributed.h"

/* The segment, by its index, and the row of a key. */
static bool find(const struct cn_served_store *store, const char *key, uint32_t *segment,
                 uint32_t *out, struct cn_error *err)
{
    unsigned long number = 0, row = 0;
    bool is_key = false;
    char *end;

    if (!key)
        return cn_fail(err, CN_ERR_USAGE, "parameter key is missing: the key of a trace");
    number = strtoul(key, &end, 16);
    if (isxdigit((unsigned char)key[0]) && end[0] == '.' &&
        isdigit((unsigned char)end[1])) {
        row = strtoul(end + 1, &end, 10);
        is_key = *end == '\0';
    }
    for (size_t i = 0; is_key && i < cn_store_segment_count(store->store); i++) {
        const struct cn_segment *one = cn_store_segment(store->store, i);

        *segment = (uint32_t)i;
        *out = (uint32_t)row;
        if (cn_segment_answers_to(one, (uint32_t)number) &&
            row < cn_segment_row_count(one))
            return true;
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "there is no trace '%.40s'", key);
}

static bool load(struct cn_served_store *store, const char *key, struct cn_trace *trace,
                 struct cn_error *err)
{
    uint32_t segment, row;

    if (!find(store, key, &segment, &row, err) ||
        !cn_segment_load(store->loader, cn_store_segment(store->store, segment), row,
                         trace, err))
        return false;
    return trace->node_count > 0 ||
           cn_fail(err, CN_ERR_FORMAT, "trace '%.40s' has no calls", key);
}

/* All spans of the trace; a trace without an id is one span. */
static bool load_set(struct cn_served_store *store, const char *key,
                     struct cn_trace_set *set, struct cn_error *err)
{
    struct cn_search_hit hit = {0};
    struct cn_query *query = NULL;
    struct cn_store_row row;
    char text[64];

    if (!find(store, key, &hit.segment, &hit.row, err) ||
        !cn_segment_row(cn_store_segment(store->store, hit.segment), hit.row, &row, err))
        return false;
    if ((row.trace_high | row.trace_low) == 0)
        return cn_trace_set_load_hits(set, store->store, store->loader, &hit, 1, err);
    (void)snprintf(text, sizeof(text), "id = %016" PRIx64 "%016" PRIx64, row.trace_high,
                   row.trace_low);
    bool ok = cn_query_parse(&query, text, 0, err) &&
              cn_trace_set_load(set, store->search, query, err);
    cn_query_free(query);
    return ok;
}

bool cn_api_with_trace_set(struct cn_served *served, struct cn_request *request,
                           cn_trace_set_answer *answer, struct cn_error *err)
{
    struct cn_trace_set set = {0};

    cn_served_lock(served);
    bool ok = load_set(&served->store, cn_request_value(request, "key"), &set, err) &&
              answer(request, &set, err);
    cn_trace_set_done(&set);
    cn_served_unlock(served);
    return ok;
}

bool cn_api_with_trace(struct cn_served *served, struct cn_request *request,
                       cn_trace_answer *answer, struct cn_error *err)
{
    struct cn_trace trace = {0};

    cn_served_lock(served);
    bool ok = load(&served->store, cn_request_value(request, "key"), &trace, err) &&
              answer(request, &trace, err);
    cn_trace_done(&trace);
    cn_served_unlock(served);
    return ok;
}

void cn_json_add_call_path(struct cn_json *json, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t *path = cn_alloc(CN_TRACE_DEPTH_MAX, sizeof(*path));
    size_t count = 0;

    for (uint32_t at = trace->nodes[node].parent;
         at != CN_NONE && count < CN_TRACE_DEPTH_MAX; at = trace->nodes[at].parent)
        path[count++] = at;
    cn_json_add_array(json, "path");
    while (count > 0)
        cn_json_u64(json, path[--count]);
    cn_json_end(json);
    free(path);
}
