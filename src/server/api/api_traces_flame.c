/* The flame graph of the longest traces that match, which grows from answer to answer. */
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/flame_json.h"
#include "server/served/served.h"

enum { TRACES_MAX = 2000, BUDGET_NS = 25000000 };

static void write_flame(const struct cn_trace_flame *from, double share,
                        struct cn_json *json)
{
    struct cn_flame flame;

    cn_flame_begin(&flame);
    cn_trace_flame_paint(from, share, &flame);
    cn_json_object(json);
    cn_json_add_str(json, "column", "time (s)");
    cn_json_add_bool(json, "isPartial", !cn_trace_flame_is_complete(from));
    cn_json_add_u64(json, "traceCount", from->added);
    cn_json_add_u64(json, "hitCount", from->hits.count);
    cn_flame_end(&flame, json, from->total_ns / 1e9);
    cn_json_end(json);
}

static bool answer_flame(struct cn_served_store *store, struct cn_request *request,
                         const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_flame *kept;
    uint64_t limit;
    double share;

    if (!cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "limit", 1, TRACES_MAX, 500, &limit, err) ||
        !cn_served_store_flame(store, query, limit, &kept, err) ||
        !cn_served_flame_add(kept, BUDGET_NS, err))
        return false;
    write_flame(&kept->flame, share, &request->json);
    return true;
}

bool cn_api_traces_flame(struct cn_served *served, struct cn_request *request,
                         struct cn_error *err)
{
    struct cn_query *query;
    bool ok;

    if (!cn_served_lock(served, err))
        return false;
    ok = cn_served_store_refresh(&served->store, err) &&
         cn_request_query(request, &query, err);
    if (ok) {
        ok = answer_flame(&served->store, request, query, err);
        cn_query_free(query);
    }
    cn_served_unlock(served);
    return ok;
}
