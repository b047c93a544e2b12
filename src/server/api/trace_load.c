#include "server/api/trace_load.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/traces/trace.h"
#include "server/api/request.h"
#include "server/served/served_store.h"

static bool find_key(const struct cn_served_store *store,
                     const struct cn_request *request, const struct cn_segment **segment,
                     uint32_t *row, struct cn_error *err)
{
    const char *key = cn_request_value(request, "key");
    unsigned long number, index = 0;
    bool is_key = false;
    char *end;

    if (!key)
        return cn_fail(err, CN_ERR_USAGE, "key is missing: which trace?");
    number = strtoul(key, &end, 16);
    if (isxdigit((unsigned char)key[0]) && end[0] == '.' &&
        isdigit((unsigned char)end[1])) {
        index = strtoul(end + 1, &end, 10);
        is_key = *end == '\0';
    }
    for (size_t i = 0; is_key && i < cn_store_segment_count(store->store); i++) {
        *segment = cn_store_segment(store->store, i);
        if (cn_segment_number(*segment) != number ||
            index >= cn_segment_row_count(*segment))
            continue;
        *row = (uint32_t)index;
        return true;
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "there is no trace '%.40s'", key);
}

bool cn_trace_of_request(struct cn_served_store *store, const struct cn_request *request,
                         struct cn_trace *trace, struct cn_error *err)
{
    const struct cn_segment *segment;
    uint32_t row;

    if (!find_key(store, request, &segment, &row, err) ||
        !cn_segment_load(store->loader, segment, row, trace, err))
        return false;
    return trace->node_count > 0 ||
           cn_fail(err, CN_ERR_FORMAT, "trace '%.40s' has no calls",
                   cn_request_value(request, "key"));
}

void cn_json_add_call_path(struct cn_json *json, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t *path = cn_alloc(CN_TRACE_DEPTH_MAX, sizeof(*path));
    size_t count = 0;

    for (uint32_t at = trace->nodes[node].parent;
         at != CN_NONE && count < CN_TRACE_DEPTH_MAX; at = trace->nodes[at].parent)
        path[count++] = at;
    cn_json_key(json, "path");
    cn_json_array(json);
    while (count > 0)
        cn_json_u64(json, path[--count]);
    cn_json_end(json);
    free(path);
}
