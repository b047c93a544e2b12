#include <stdlib.h>
#include <string.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "formats/exchange/write/traces/zipkin.h"
#include "server/compat/common/find.h"
#include "server/compat/common/graph.h"
#include "server/compat/common/values.h"
#include "server/compat/zipkin/zipkin.h"
#include "server/served/store.h"
#include "store/search/operations.h"
#include "store/trace/distributed.h"

enum { NS_PER_MS = 1000000, VALUE_MAX = 1000, TRACES_MAX = 1000 };
#define LOOKBACK_MS UINT64_C(86400000)

static void add_list(struct cn_json *json, const struct cn_names *names)
{
    cn_json_array(json);
    for (size_t i = 0; i < names->count; i++)
        cn_json_str(json, names->list[i]);
    cn_json_end(json);
}

static bool answer_services(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_names names = {0};

    (void)err;
    cn_compat_services(call->store, &names);
    add_list(&call->request->json, &names);
    cn_names_done(&names);
    return true;
}

static bool take_service(const struct cn_compat_call *call, const char **out,
                         struct cn_error *err)
{
    *out = cn_compat_value(call, "serviceName");
    return *out || cn_fail(err, CN_ERR_USAGE, "parameter serviceName is missing");
}

static bool answer_spans(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_operations found;
    const char *service, *last = NULL;

    if (!take_service(call, &service, err))
        return false;
    cn_search_operations(call->store->search, CN_COMPAT_NAMES_MAX, &found);
    cn_json_array(json);
    for (size_t i = 0; i < found.count; i++) {
        if (strcmp(found.list[i].service, service) != 0 ||
            (last && strcmp(last, found.list[i].name) == 0))
            continue;
        last = found.list[i].name;
        cn_json_str(json, last);
    }
    cn_json_end(json);
    cn_operations_done(&found);
    return true;
}

/* What spans of a service say that they call. */
static bool answer_remote_services(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_find find = {0};
    struct cn_names names = {0};
    const char *service;

    if (!take_service(call, &service, err))
        return false;
    cn_find_add(&find, "service", "=", service);
    bool ok =
        cn_compat_values_of(call->store, cn_text_str(&find.query),
                            "@remoteEndpoint.serviceName", VALUE_MAX, &names, err) &&
        cn_compat_values_of(call->store, cn_text_str(&find.query), "@peer.service",
                            VALUE_MAX, &names, err);
    if (ok)
        add_list(&call->request->json, &names);
    cn_names_done(&names);
    cn_find_done(&find);
    return ok;
}

/* A trace is a list of spans. */
static bool add_trace(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    struct cn_zipkin_losses ignored = {0};
    struct cn_json *json = arg;

    (void)err;
    cn_json_array(json);
    for (size_t i = 0; i < set->count; i++)
        if (!set->branches[i].is_copy)
            cn_zipkin_trace(json, &set->branches[i].trace,
                            cn_trace_branch_begin_ns(&set->branches[i], 0), &ignored);
    cn_json_end(json);
    return true;
}

static bool answer_traces(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_find find;

    if (!cn_zipkin_parse(call, &find, err))
        return false;
    find.answer = json->text;
    cn_json_array(json);
    bool ok = cn_find_traces(call->store, &find, add_trace, json, err);
    cn_json_end(json);
    cn_find_done(&find);
    return ok;
}

static bool answer_trace(struct cn_compat_call *call, struct cn_error *err)
{
    return cn_find_trace(call->store, call->part, add_trace, &call->request->json, err);
}

/* Traces that are not there are left out. */
static bool answer_trace_many(struct cn_compat_call *call, struct cn_error *err)
{
    const char *ids = cn_compat_value(call, "traceIds");
    struct cn_json *json = &call->request->json;
    char *copy, *rest, *id;
    bool ok = true;

    if (!ids)
        return cn_fail(err, CN_ERR_USAGE, "parameter traceIds is missing");
    copy = rest = cn_strprintf("%s", ids);
    cn_json_array(json);
    for (size_t i = 0; ok && i < TRACES_MAX && (id = strsep(&rest, ",")); i++)
        ok = cn_find_trace(call->store, id, add_trace, json, err) ||
             err->kind == CN_ERR_NOT_FOUND;
    cn_json_end(json);
    free(copy);
    return ok;
}

static bool answer_dependencies(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_services services;
    uint64_t end_ms, back_ms;

    if (!cn_compat_value(call, "endTs"))
        return cn_fail(err, CN_ERR_USAGE, "parameter endTs is missing");
    if (!cn_compat_u64(call, "endTs", UINT64_MAX, 0, &end_ms, err) ||
        !cn_compat_u64(call, "lookback", UINT64_MAX, LOOKBACK_MS, &back_ms, err) ||
        !cn_compat_graph(call->store, cn_compat_scale(end_ms, NS_PER_MS),
                         cn_compat_scale(back_ms, NS_PER_MS), &services, err))
        return false;
    cn_json_array(json);
    for (size_t i = 0; i < services.count; i++) {
        const struct cn_service_edge *edge = &services.edges[i];

        if (edge->caller == CN_NONE)
            continue;
        cn_json_object(json);
        cn_json_add_str(json, "parent", services.names.list[edge->caller]);
        cn_json_add_str(json, "child", services.names.list[edge->callee]);
        cn_json_add_u64(json, "callCount", edge->count);
        if (edge->error_count > 0)
            cn_json_add_u64(json, "errorCount", edge->error_count);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_services_done(&services);
    return true;
}

static bool answer_keys(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_names names = {0};

    (void)err;
    cn_compat_attribute_names(call->store, CN_SCOPE_SPAN, &names);
    add_list(&call->request->json, &names);
    cn_names_done(&names);
    return true;
}

static bool answer_values(struct cn_compat_call *call, struct cn_error *err)
{
    const char *key = cn_compat_value(call, "key");
    struct cn_names names = {0};

    if (!key)
        return cn_fail(err, CN_ERR_USAGE, "parameter key is missing");
    char *by = cn_strprintf("@%s", key);
    bool ok = cn_compat_values_of(call->store, "", by, VALUE_MAX, &names, err);
    if (ok)
        add_list(&call->request->json, &names);
    free(by);
    cn_names_done(&names);
    return ok;
}

/* Zipkin answers with texts. */
static void write_error(struct cn_compat_call *call, const struct cn_error *err)
{
    call->type = "text/plain; charset=utf-8";
    cn_text_str_add(call->request->json.text, err->text);
}

static const struct cn_compat_route routes[] = {
    {"/api/v2/services", answer_services, false},
    {"/api/v2/spans", answer_spans, false},
    {"/api/v2/remoteServices", answer_remote_services, false},
    {"/api/v2/traces", answer_traces, false},
    {"/api/v2/trace/*", answer_trace, false},
    {"/api/v2/traceMany", answer_trace_many, false},
    {"/api/v2/dependencies", answer_dependencies, false},
    {"/api/v2/autocompleteKeys", answer_keys, false},
    {"/api/v2/autocompleteValues", answer_values, false},
    {0},
};

const struct cn_compat_api cn_zipkin_api = {
    .prefix = "/zipkin",
    .routes = routes,
    .write_error = write_error,
};
