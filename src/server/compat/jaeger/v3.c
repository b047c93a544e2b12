/* Version 3: traces are those of OTLP, in an envelope. */
#include <string.h>

#include "base/bytes/json.h"
#include "formats/exchange/write/traces/otlp.h"
#include "server/compat/common/find.h"
#include "server/compat/common/graph.h"
#include "server/compat/jaeger/jaeger.h"
#include "server/served/store.h"
#include "store/search/operations.h"
#include "store/trace/distributed.h"

bool cn_jaeger_v3_services(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_names names = {0};

    (void)err;
    cn_compat_services(call->store, &names);
    cn_json_object(json);
    cn_json_add_strs(json, "services", names.list, names.count);
    cn_json_end(json);
    cn_names_done(&names);
    return true;
}

bool cn_jaeger_v3_operations(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    const char *service = cn_compat_value(call, "service");
    const char *kind = cn_compat_value(call, "span_kind");
    struct cn_operations found;

    if (!service)
        return cn_fail(err, CN_ERR_USAGE, "parameter 'service' is required");
    if (!kind)
        kind = cn_compat_value(call, "spanKind");
    cn_search_operations(call->store->search, CN_COMPAT_NAMES_MAX, &found);
    cn_json_object(json);
    cn_json_add_array(json, "operations");
    for (size_t i = 0; i < found.count; i++) {
        if (strcmp(found.list[i].service, service) != 0 ||
            (kind && strcmp(found.list[i].kind, kind) != 0))
            continue;
        cn_json_object(json);
        cn_json_add_str(json, "name", found.list[i].name);
        cn_json_add_str(json, "spanKind", found.list[i].kind);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_end(json);
    cn_operations_done(&found);
    return true;
}

static bool add_trace(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    (void)err;
    for (size_t i = 0; i < set->count; i++)
        if (!set->branches[i].is_copy)
            cn_otlp_json_trace(arg, &set->branches[i].trace,
                               cn_trace_branch_begin_ns(&set->branches[i], 0));
    return true;
}

static void begin(struct cn_json *json)
{
    cn_json_object(json);
    cn_json_add_object(json, "result");
    cn_json_add_array(json, "resourceSpans");
}

static void end(struct cn_json *json)
{
    cn_json_end(json);
    cn_json_end(json);
    cn_json_end(json);
}

bool cn_jaeger_v3_traces(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_find find;

    if (!cn_jaeger_parse_v3(call, &find, err))
        return false;
    find.answer = json->text;
    begin(json);
    bool ok = cn_find_traces(call->store, &find, add_trace, json, err);
    cn_find_done(&find);
    end(json);
    return ok;
}

bool cn_jaeger_v3_trace(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;

    begin(json);
    bool ok = cn_find_trace(call->store, call->part, add_trace, json, err);
    end(json);
    return ok;
}
