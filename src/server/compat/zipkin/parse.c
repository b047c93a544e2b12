/* Parameters of searches. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "server/compat/common/find.h"
#include "server/compat/zipkin/zipkin.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, LIMIT_DEFAULT = 10 };
#define LOOKBACK_MS UINT64_C(86400000)

/* An annotation, or a tag that exists. */
static void add_mark(struct cn_find *find, const char *mark)
{
    if (strcmp(mark, "error") == 0) {
        cn_find_add_attribute(find, mark, NULL);
        return;
    }
    cn_text_str_add(&find->query, find->query.len > 0 ? " (" : "(");
    cn_find_add_attribute(find, mark, NULL);
    cn_text_str_add(&find->query, " OR");
    cn_find_add(find, "@annotation", "=", mark);
    cn_text_str_add(&find->query, " OR");
    cn_find_add(find, "@event", "=", mark);
    cn_text_char(&find->query, ')');
}

/* "http.method=GET", or a mark. */
static void add_condition(struct cn_find *find, char *text)
{
    char *sign = strchr(text, '=');
    size_t len;

    while (isspace((unsigned char)*text))
        text++;
    len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    if (len == 0)
        return;
    if (!sign || sign == text) {
        add_mark(find, text);
        return;
    }
    *sign = '\0';
    cn_find_add_attribute(find, text, sign + 1);
}

/* Conditions with " and " between them. */
static void add_annotations(struct cn_find *find, const char *query)
{
    char *copy = cn_strprintf("%s", query), *rest = copy, *end;

    while (rest) {
        end = strcasestr(rest, " and ");
        if (end)
            *end = '\0';
        add_condition(find, rest);
        rest = end ? end + 5 : NULL;
    }
    free(copy);
}

/* A span that is not "all". */
static const char *span_name(const struct cn_compat_call *call)
{
    const char *name = cn_compat_value(call, "spanName");

    return name && strcasecmp(name, "all") != 0 ? name : NULL;
}

static void add_names(const struct cn_compat_call *call, struct cn_find *find)
{
    const char *service = cn_compat_value(call, "serviceName");
    const char *remote = cn_compat_value(call, "remoteServiceName");

    if (service)
        cn_find_add(find, "service", "=", service);
    if (span_name(call))
        cn_find_add_name(find, span_name(call));
    if (!remote)
        return;
    cn_text_str_add(&find->query, find->query.len > 0 ? " (" : "(");
    cn_find_add(find, "@remoteEndpoint.serviceName", "=", remote);
    cn_text_str_add(&find->query, " OR");
    cn_find_add(find, "@peer.service", "=", remote);
    cn_text_char(&find->query, ')');
}

bool cn_zipkin_parse(const struct cn_compat_call *call, struct cn_find *out,
                     struct cn_error *err)
{
    const char *annotations = cn_compat_value(call, "annotationQuery");
    uint64_t limit, end_ms, back_ms, min_us, max_us;

    *out = (struct cn_find){0};
    if (!cn_compat_u64(call, "limit", UINT32_MAX, LIMIT_DEFAULT, &limit, err) ||
        !cn_compat_u64(call, "endTs", UINT64_MAX, call->now_ns / NS_PER_MS, &end_ms,
                       err) ||
        !cn_compat_u64(call, "lookback", UINT64_MAX, LOOKBACK_MS, &back_ms, err) ||
        !cn_compat_u64(call, "minDuration", UINT64_MAX, 0, &min_us, err) ||
        !cn_compat_u64(call, "maxDuration", UINT64_MAX, UINT64_MAX, &max_us, err))
        return false;
    add_names(call, out);
    if (annotations)
        add_annotations(out, annotations);
    uint64_t last_ns = cn_compat_scale(end_ms, NS_PER_MS);
    cn_find_add_times(
        out, cn_compat_scale(end_ms > back_ms ? end_ms - back_ms : 0, NS_PER_MS),
        last_ns < UINT64_MAX - NS_PER_MS ? last_ns + NS_PER_MS - 1 : last_ns);
    cn_find_add_durations(out, cn_compat_scale(min_us, NS_PER_US),
                          cn_compat_scale(max_us, NS_PER_US));
    out->limit = limit < CN_FIND_MAX ? (size_t)limit : CN_FIND_MAX;
    return true;
}
