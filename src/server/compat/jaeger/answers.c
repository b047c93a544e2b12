#include <string.h>

#include "base/bytes/json.h"
#include "base/sort.h"
#include "server/compat/common/find.h"
#include "server/compat/common/graph.h"
#include "server/compat/jaeger/jaeger.h"
#include "server/served/store.h"
#include "store/search/names.h"
#include "store/search/operations.h"

enum { NS_PER_MS = 1000000, TRACE_IDS_MAX = 64 };

/* {data: ..., total, limit, offset, errors}: what all answers are in. */
static void begin(struct cn_json *json)
{
    cn_json_object(json);
    cn_json_key(json, "data");
}

static void end(struct cn_json *json, uint64_t total)
{
    cn_json_add_u64(json, "total", total);
    cn_json_add_u64(json, "limit", 0);
    cn_json_add_u64(json, "offset", 0);
    cn_json_add_str(json, "errors", NULL);
    cn_json_end(json);
}

static bool answer_services(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_names names = {0};

    (void)err;
    cn_compat_services(call->store, &names);
    begin(json);
    cn_json_array(json);
    for (size_t i = 0; i < names.count; i++)
        cn_json_str(json, names.list[i]);
    cn_json_end(json);
    end(json, names.count);
    cn_names_done(&names);
    return true;
}

/* Names of operations, each once; with kinds, objects. */
static void list_operations(struct cn_compat_call *call, const char *service,
                            const char *kind, bool has_kinds)
{
    struct cn_json *json = &call->request->json;
    struct cn_operations found;
    const char *last = NULL;
    uint64_t count = 0;

    cn_search_operations(call->store->search, CN_COMPAT_NAMES_MAX, &found);
    begin(json);
    cn_json_array(json);
    for (size_t i = 0; i < found.count; i++) {
        const struct cn_operation *one = &found.list[i];

        if (strcmp(one->service, service) != 0 ||
            (kind && strcmp(kind, one->kind) != 0) ||
            (!has_kinds && last && strcmp(last, one->name) == 0))
            continue;
        last = one->name;
        count++;
        if (!has_kinds) {
            cn_json_str(json, one->name);
            continue;
        }
        cn_json_object(json);
        cn_json_add_str(json, "name", one->name);
        cn_json_add_str(json, "spanKind", one->kind);
        cn_json_end(json);
    }
    cn_json_end(json);
    end(json, count);
    cn_operations_done(&found);
}

static bool answer_operations_of(struct cn_compat_call *call, struct cn_error *err)
{
    (void)err;
    list_operations(call, call->part, NULL, false);
    return true;
}

static bool answer_operations(struct cn_compat_call *call, struct cn_error *err)
{
    const char *service = cn_compat_value(call, "service");

    if (!service)
        return cn_fail(err, CN_ERR_USAGE, "parameter 'service' is required");
    list_operations(call, service, cn_compat_value(call, "spanKind"), true);
    return true;
}

struct jaeger_list {
    struct cn_json *json;
    uint64_t count;
};

static bool add_trace(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    struct jaeger_list *list = arg;

    (void)err;
    cn_jaeger_trace(list->json, set);
    list->count++;
    return true;
}

static bool answer_trace(struct cn_compat_call *call, struct cn_error *err)
{
    struct jaeger_list list = {.json = &call->request->json};

    begin(list.json);
    cn_json_array(list.json);
    if (!cn_find_trace(call->store, call->part, add_trace, &list, err))
        return false;
    cn_json_end(list.json);
    end(list.json, 1);
    return true;
}

/* Traces by their ids; those that are not there are errors of the answer. */
static bool answer_ids(struct cn_compat_call *call, struct cn_error *err)
{
    struct jaeger_list list = {.json = &call->request->json};
    const char *missing[TRACE_IDS_MAX], *id;
    size_t missing_count = 0;

    begin(list.json);
    cn_json_array(list.json);
    for (size_t i = 0; (id = cn_request_value_at(call->request, "traceID", i)); i++) {
        if (cn_find_trace(call->store, id, add_trace, &list, err))
            continue;
        if (err->kind != CN_ERR_NOT_FOUND)
            return false;
        missing[missing_count++] = id;
    }
    cn_json_end(list.json);
    cn_json_add_u64(list.json, "total", list.count);
    cn_json_add_u64(list.json, "limit", 0);
    cn_json_add_u64(list.json, "offset", 0);
    cn_json_add_array(list.json, "errors");
    for (size_t i = 0; i < missing_count; i++) {
        cn_json_object(list.json);
        cn_json_add_u64(list.json, "code", 404);
        cn_json_add_str(list.json, "msg", "trace not found");
        cn_json_add_str(list.json, "traceID", missing[i]);
        cn_json_end(list.json);
    }
    cn_json_end(list.json);
    cn_json_end(list.json);
    return true;
}

static bool answer_traces(struct cn_compat_call *call, struct cn_error *err)
{
    struct jaeger_list list = {.json = &call->request->json};
    struct cn_find find;

    if (cn_compat_value(call, "traceID"))
        return answer_ids(call, err);
    if (!cn_jaeger_parse(call, &find, err))
        return false;
    find.answer = list.json->text;
    begin(list.json);
    cn_json_array(list.json);
    bool ok = cn_find_traces(call->store, &find, add_trace, &list, err);
    cn_find_done(&find);
    if (!ok)
        return false;
    cn_json_end(list.json);
    end(list.json, list.count);
    return true;
}

static bool answer_dependencies(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_services services;
    uint64_t end_ms, back_ms, count = 0;

    if (!cn_compat_u64(call, "endTs", UINT64_MAX, call->now_ns / NS_PER_MS, &end_ms,
                       err) ||
        !cn_compat_u64(call, "lookback", UINT64_MAX, UINT64_C(86400000), &back_ms, err) ||
        !cn_compat_graph(call->store, cn_compat_scale(end_ms, NS_PER_MS),
                         cn_compat_scale(back_ms, NS_PER_MS), &services, err))
        return false;
    begin(json);
    cn_json_array(json);
    for (size_t i = 0; i < services.count; i++) {
        const struct cn_service_edge *edge = &services.edges[i];

        if (edge->caller == CN_NONE)
            continue;
        cn_json_object(json);
        cn_json_add_str(json, "parent", services.names.list[edge->caller]);
        cn_json_add_str(json, "child", services.names.list[edge->callee]);
        cn_json_add_u64(json, "callCount", edge->count);
        cn_json_end(json);
        count++;
    }
    cn_json_end(json);
    end(json, count);
    cn_services_done(&services);
    return true;
}

static void write_error(struct cn_compat_call *call, const struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    bool is_v3 = strncmp(call->request->path, "/api/v3/", 8) == 0;

    cn_json_object(json);
    if (is_v3) {
        cn_json_add_object(json, "error");
        cn_json_add_u64(json, "httpCode", call->status);
        cn_json_add_str(json, "message", err->text);
        cn_json_end(json);
        cn_json_end(json);
        return;
    }
    cn_json_key(json, "data");
    cn_json_null(json);
    cn_json_add_u64(json, "total", 0);
    cn_json_add_u64(json, "limit", 0);
    cn_json_add_u64(json, "offset", 0);
    cn_json_add_array(json, "errors");
    cn_json_object(json);
    cn_json_add_u64(json, "code", call->status);
    cn_json_add_str(json, "msg", err->text);
    cn_json_end(json);
    cn_json_end(json);
    cn_json_end(json);
}

static const struct cn_compat_route routes[] = {
    {"/api/services", answer_services, false},
    {"/api/services/*/operations", answer_operations_of, false},
    {"/api/operations", answer_operations, false},
    {"/api/traces", answer_traces, false},
    {"/api/traces/*", answer_trace, false},
    {"/api/dependencies", answer_dependencies, false},
    {"/api/v3/services", cn_jaeger_v3_services, false},
    {"/api/v3/operations", cn_jaeger_v3_operations, false},
    {"/api/v3/traces", cn_jaeger_v3_traces, false},
    {"/api/v3/traces/*", cn_jaeger_v3_trace, false},
    {0},
};

const struct cn_compat_api cn_jaeger_api = {
    .prefix = "/jaeger",
    .routes = routes,
    .write_error = write_error,
};
