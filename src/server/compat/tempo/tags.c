/* Names of attributes, by scope. */
#include <string.h>

#include "base/bytes/json.h"
#include "base/map.h"
#include "server/compat/common/values.h"
#include "server/compat/tempo/query_tags.h"
#include "server/compat/tempo/tempo.h"

static const char *const scope_names[CN_SCOPE_COUNT] = {
    [CN_SCOPE_SPAN] = "span",
    [CN_SCOPE_RESOURCE] = "resource",
    [CN_SCOPE_INSTRUMENTATION] = "instrumentation",
    [CN_SCOPE_EVENT] = "event",
    [CN_SCOPE_LINK] = "link",
    [CN_SCOPE_NONE] = "intrinsic",
};

static const char *const intrinsics[] = {
    "duration",
    "event:name",
    "event:timeSinceStart",
    "instrumentation:name",
    "instrumentation:version",
    "kind",
    "link:spanID",
    "link:traceID",
    "name",
    "rootName",
    "rootServiceName",
    "span:duration",
    "span:id",
    "span:kind",
    "span:name",
    "span:status",
    "span:statusMessage",
    "status",
    "statusMessage",
    "trace:duration",
    "trace:id",
    "trace:rootName",
    "trace:rootService",
    "traceDuration",
};

/* `scope`: CN_SCOPE_COUNT without it; CN_SCOPE_NONE are intrinsics. */
static bool take_scope(const struct cn_compat_call *call, enum cn_compat_scope *out,
                       struct cn_error *err)
{
    const char *value = cn_compat_value(call, "scope");

    *out = CN_SCOPE_COUNT;
    if (!value || strcmp(value, "none") == 0)
        return true;
    for (unsigned i = 0; i < CN_SCOPE_COUNT; i++)
        if (strcmp(value, scope_names[i]) == 0) {
            *out = (enum cn_compat_scope)i;
            return true;
        }
    return cn_fail(err, CN_ERR_USAGE, "invalid scope: %.40s", value);
}

/* The names of a scope: of spans that match, of all spans, or intrinsics. */
static void names_of(const struct cn_compat_call *call,
                     const struct cn_tempo_names *matching, enum cn_compat_scope scope,
                     struct cn_names *out)
{
    if (scope == CN_SCOPE_NONE)
        for (size_t i = 0; i < sizeof(intrinsics) / sizeof(intrinsics[0]); i++)
            (void)cn_names_add(out, intrinsics[i]);
    else if (matching->is_given)
        for (size_t i = 0; i < matching->scopes[scope].count; i++)
            (void)cn_names_add(out, matching->scopes[scope].list[i]);
    else
        cn_compat_attribute_names(call->store, scope, out);
}

static bool take_limit(const struct cn_compat_call *call, uint64_t *out,
                       struct cn_error *err)
{
    if (!cn_compat_u64(call, "limit", UINT32_MAX, 0, out, err))
        return false;
    *out = *out > 0 ? *out : UINT64_MAX;
    return true;
}

bool cn_tempo_tags_v2(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_tempo_names matching = {0};
    enum cn_compat_scope wanted;
    uint64_t limit;

    if (!take_scope(call, &wanted, err) || !take_limit(call, &limit, err))
        return false;
    bool ok = cn_tempo_names_of_query(call, &matching, err);
    cn_json_object(json);
    cn_json_add_array(json, "scopes");
    for (unsigned i = 0; i < CN_SCOPE_COUNT; i++) {
        struct cn_names names = {0};

        if (wanted != CN_SCOPE_COUNT && wanted != i)
            continue;
        names_of(call, &matching, (enum cn_compat_scope)i, &names);
        if (names.count > 0) {
            cn_json_object(json);
            cn_json_add_str(json, "name", scope_names[i]);
            cn_json_add_strs(json, "tags", names.list,
                             names.count < limit ? names.count : (size_t)limit);
            cn_json_end(json);
        }
        cn_names_done(&names);
    }
    cn_json_end(json);
    cn_tempo_add_metrics(json);
    cn_json_end(json);
    cn_tempo_names_done(&matching);
    return ok;
}

/* Version 1 has no scopes: each name once. Intrinsics are listed if they are asked for. */
bool cn_tempo_tags(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_tempo_names matching = {0};
    struct cn_names seen = {0};
    enum cn_compat_scope wanted;
    uint64_t limit;

    if (!take_scope(call, &wanted, err) || !take_limit(call, &limit, err))
        return false;
    bool ok = cn_tempo_names_of_query(call, &matching, err);
    cn_json_object(json);
    cn_json_add_array(json, "tagNames");
    for (unsigned i = 0; i < CN_SCOPE_COUNT; i++) {
        struct cn_names names = {0};

        if (wanted == i || (wanted == CN_SCOPE_COUNT && i != CN_SCOPE_NONE))
            names_of(call, &matching, (enum cn_compat_scope)i, &names);
        for (size_t k = 0; k < names.count; k++)
            if (seen.count < limit && !cn_names_had(&seen, names.list[k]))
                cn_json_str(json, names.list[k]);
        cn_names_done(&names);
    }
    cn_names_done(&seen);
    cn_json_end(json);
    cn_tempo_add_metrics(json);
    cn_json_end(json);
    cn_tempo_names_done(&matching);
    return ok;
}
