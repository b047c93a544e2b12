/* Parameters of searches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/json_reader.h"
#include "base/date.h"
#include "base/text.h"
#include "server/compat/common/find.h"
#include "server/compat/jaeger/jaeger.h"

enum { NS_PER_US = 1000, LIMIT_DEFAULT = 100 };

/* One member of an object of tags; values that are not texts are compared as they are written. */
static bool add_member(struct cn_json_reader *reader, struct cn_find *find,
                       const char *key, struct cn_error *err)
{
    struct cn_json_token token;
    struct cn_text value = {0};
    enum cn_json_kind kind = cn_json_next(reader, &token, err);
    bool ok = kind != CN_JSON_FAIL;

    if (kind == CN_JSON_TRUE || kind == CN_JSON_FALSE)
        cn_text_str_add(&value, kind == CN_JSON_TRUE ? "true" : "false");
    else if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
        cn_text_add(&value, (const char *)token.text.ptr, token.text.len);
    else if (ok)
        ok = cn_fail(err, CN_ERR_USAGE, "the value of '%.100s' is not a text", key);
    if (ok)
        cn_find_add_attribute(find, key, cn_text_str(&value));
    cn_text_done(&value);
    return ok;
}

/* {"http.method": "GET", "error": "true"} */
static bool add_tags(const char *text, struct cn_find *find, struct cn_error *err)
{
    struct cn_json_reader reader = cn_json_read(cn_bytes_of(text));
    struct cn_text key = {0};
    struct cn_json_token token;
    enum cn_json_kind kind = CN_JSON_FAIL;
    bool ok = cn_json_expect(&reader, CN_JSON_OBJECT, "an object of tags", err);

    while (ok && (kind = cn_json_next(&reader, &token, err)) == CN_JSON_KEY) {
        cn_text_clear(&key);
        cn_text_add(&key, (const char *)token.text.ptr, token.text.len);
        ok = add_member(&reader, find, cn_text_str(&key), err);
    }
    ok = ok && kind == CN_JSON_OBJECT_END &&
         cn_json_next(&reader, &token, err) == CN_JSON_END;
    cn_text_done(&key);
    cn_json_reader_done(&reader);
    if (!ok)
        err->kind = CN_ERR_USAGE;
    return ok || cn_fail_in(err, "tags");
}

/* "http.method:GET" */
static bool add_tag(const char *text, struct cn_find *find, struct cn_error *err)
{
    const char *colon = strchr(text, ':');
    char *name;

    if (!colon || colon == text)
        return cn_fail(err, CN_ERR_USAGE, "tag '%.100s' is not KEY:VALUE", text);
    name = cn_strprintf("%.*s", (int)(colon - text), text);
    cn_find_add_attribute(find, name, colon + 1);
    free(name);
    return true;
}

static bool add_all_tags(const struct cn_compat_call *call, struct cn_find *find,
                         struct cn_error *err)
{
    const char *value;
    bool ok = true;

    for (size_t i = 0; ok && (value = cn_request_value_at(call->request, "tags", i)); i++)
        ok = *value == '\0' || add_tags(value, find, err);
    for (size_t i = 0; ok && (value = cn_request_value_at(call->request, "tag", i)); i++)
        ok = add_tag(value, find, err);
    return ok;
}

static bool add_service(const char *service, const char *name, struct cn_find *find,
                        struct cn_error *err)
{
    if (!service)
        return cn_fail(err, CN_ERR_USAGE, "parameter 'service' is required");
    cn_find_add(find, "service", "=", service);
    if (name)
        cn_find_add_name(find, name);
    return true;
}

/* `lookback` counts only without `start`: pages send "custom" with it. */
static bool add_times(const struct cn_compat_call *call, struct cn_find *find,
                      struct cn_error *err)
{
    uint64_t start_us, end_us, back_ns;

    if (!cn_compat_u64(call, "start", UINT64_MAX, 0, &start_us, err) ||
        !cn_compat_u64(call, "end", UINT64_MAX, UINT64_MAX, &end_us, err))
        return false;
    uint64_t first_ns = cn_compat_scale(start_us, NS_PER_US);
    uint64_t last_ns = cn_compat_scale(end_us, NS_PER_US);
    if (!cn_compat_value(call, "start") && cn_compat_value(call, "lookback")) {
        if (!cn_compat_duration(call, "lookback", 0, &back_ns, err))
            return false;
        first_ns = call->now_ns > back_ns ? call->now_ns - back_ns : 0;
    }
    /* The last microsecond is included. */
    if (last_ns < UINT64_MAX - NS_PER_US)
        last_ns += NS_PER_US - 1;
    cn_find_add_times(find, first_ns, last_ns);
    return true;
}

bool cn_jaeger_parse(const struct cn_compat_call *call, struct cn_find *out,
                     struct cn_error *err)
{
    uint64_t limit, min_ns, max_ns;
    bool ok;

    *out = (struct cn_find){0};
    ok = add_service(cn_compat_value(call, "service"), cn_compat_value(call, "operation"),
                     out, err) &&
         cn_compat_u64(call, "limit", UINT32_MAX, LIMIT_DEFAULT, &limit, err) &&
         cn_compat_duration(call, "minDuration", 0, &min_ns, err) &&
         cn_compat_duration(call, "maxDuration", UINT64_MAX, &max_ns, err) &&
         add_times(call, out, err) && add_all_tags(call, out, err);
    if (!ok) {
        cn_find_done(out);
        return false;
    }
    cn_find_add_durations(out, min_ns, max_ns);
    out->limit = limit < CN_FIND_MAX ? (size_t)limit : CN_FIND_MAX;
    return true;
}

/* The name of a parameter of version 3, which is written in two ways. */
static const char *v3_name(const struct cn_compat_call *call, const char *snake,
                           const char *camel)
{
    return cn_compat_value(call, snake) ? snake : camel;
}

static bool v3_time(const struct cn_compat_call *call, const char *name,
                    uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    const char *value = cn_compat_value(call, name);
    uint64_t last_ns;

    *out = otherwise;
    return !value || cn_date_parse(value, out, &last_ns, err) ||
           cn_fail_in(err, "%s", name);
}

static bool add_v3_range(const struct cn_compat_call *call, struct cn_find *find,
                         struct cn_error *err)
{
    uint64_t first_ns, last_ns, min_ns, max_ns;

    if (!v3_time(call, v3_name(call, "query.start_time_min", "query.startTimeMin"), 0,
                 &first_ns, err) ||
        !v3_time(call, v3_name(call, "query.start_time_max", "query.startTimeMax"),
                 UINT64_MAX, &last_ns, err) ||
        !cn_compat_duration(call,
                            v3_name(call, "query.duration_min", "query.durationMin"), 0,
                            &min_ns, err) ||
        !cn_compat_duration(call,
                            v3_name(call, "query.duration_max", "query.durationMax"),
                            UINT64_MAX, &max_ns, err))
        return false;
    cn_find_add_times(find, first_ns, last_ns);
    cn_find_add_durations(find, min_ns, max_ns);
    return true;
}

bool cn_jaeger_parse_v3(const struct cn_compat_call *call, struct cn_find *out,
                        struct cn_error *err)
{
    const char *tags = cn_compat_value(call, "query.attributes");
    const char *limit_name = v3_name(call, "query.num_traces", "query.numTraces");
    uint64_t limit;

    if (!cn_compat_value(call, limit_name))
        limit_name = v3_name(call, "query.search_depth", "query.searchDepth");
    *out = (struct cn_find){0};
    if (!add_service(cn_compat_value(
                         call, v3_name(call, "query.service_name", "query.serviceName")),
                     cn_compat_value(call, v3_name(call, "query.operation_name",
                                                   "query.operationName")),
                     out, err) ||
        !cn_compat_u64(call, limit_name, UINT32_MAX, LIMIT_DEFAULT, &limit, err) ||
        !add_v3_range(call, out, err) || (tags && !add_tags(tags, out, err))) {
        cn_find_done(out);
        return false;
    }
    out->limit = limit < CN_FIND_MAX ? (size_t)limit : CN_FIND_MAX;
    return true;
}
