/* Parameters of searches and metrics. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/text.h"
#include "server/compat/tempo/tempo.h"

enum { NS_PER_S = 1000000000, SECONDS_DIGITS_MAX = 10 };

bool cn_tempo_range(const struct cn_compat_call *call, uint64_t *first_ns,
                    uint64_t *last_ns, struct cn_error *err)
{
    uint64_t first, last;

    if (!cn_compat_u64(call, "start", UINT64_MAX, 0, &first, err) ||
        !cn_compat_u64(call, "end", UINT64_MAX, 0, &last, err))
        return false;
    if (last != 0 && last <= first)
        return cn_fail(err, CN_ERR_USAGE,
                       "http parameter start must be before end. received start=%" PRIu64
                       " end=%" PRIu64,
                       first, last);
    *first_ns = cn_compat_scale(first, NS_PER_S);
    *last_ns = last == 0 ? UINT64_MAX : cn_compat_scale(last, NS_PER_S);
    return true;
}

/* Take the next of "key=value" and "key=\"a b\"". */
static bool take_tag(const char **rest, struct cn_text *key, struct cn_text *value)
{
    const char *at = *rest;

    cn_text_clear(key);
    cn_text_clear(value);
    while (*at && *at != '=' && *at != ' ' && *at != '"')
        cn_text_char(key, *at++);
    if (key->len == 0 || *at++ != '=')
        return false;
    if (*at != '"') {
        while (*at && *at != ' ' && *at != '"')
            cn_text_char(value, *at++);
        *rest = at;
        return *at != '"';
    }
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
        cn_text_char(value, *at);
    }
    *rest = *at == '"' ? at + 1 : at;
    return *at == '"';
}

static void add_quoted(struct cn_text *out, const char *text)
{
    cn_text_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            cn_text_char(out, '\\');
        if (*text == '\n')
            cn_text_str_add(out, "\\n");
        else
            cn_text_char(out, *text);
    }
    cn_text_char(out, '"');
}

/* A value may have been sent as a text, a number or a boolean. */
static void add_comparison(struct cn_text *out, const char *name, const char *value)
{
    char *end;
    bool is_number = (*value >= '0' && *value <= '9') || *value == '-';

    is_number = is_number && isfinite(strtod(value, &end)) && *end == '\0' &&
                strspn(value, "0123456789.-") == strlen(value);
    cn_text_printf(out, "(%s = ", name);
    add_quoted(out, value);
    if (is_number || strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        cn_text_printf(out, " || %s = %s", name, value);
    cn_text_char(out, ')');
}

static void add_tag(struct cn_text *out, const char *key, const char *value)
{
    static const char *const intrinsics[][2] = {
        {"name", "name"},
        {"root.name", "rootName"},
        {"root.service.name", "rootServiceName"},
        {"service.name", "resource.service.name"},
    };
    struct cn_text name = {0};

    if (strcmp(key, "error") == 0 &&
        (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
        cn_text_printf(out, "status %s error", *value == 't' ? "=" : "!=");
        return;
    }
    if ((strcmp(key, "status") == 0 || strcmp(key, "status.code") == 0) &&
        (strcmp(value, "error") == 0 || strcmp(value, "ok") == 0 ||
         strcmp(value, "unset") == 0)) {
        cn_text_printf(out, "status = %s", value);
        return;
    }
    for (size_t i = 0; i < sizeof(intrinsics) / sizeof(intrinsics[0]); i++)
        if (strcmp(key, intrinsics[i][0]) == 0)
            cn_text_str_add(&name, intrinsics[i][1]);
    if (name.len == 0) {
        cn_text_char(&name, '.');
        add_quoted(&name, key);
    }
    add_comparison(out, cn_text_str(&name), value);
    cn_text_done(&name);
}

bool cn_tempo_tags_to_query(const char *tags, uint64_t min_ns, uint64_t max_ns,
                            struct cn_text *out, struct cn_error *err)
{
    struct cn_text key = {0}, value = {0};
    const char *between = "";
    bool ok = true;

    cn_text_str_add(out, "{ ");
    for (tags += strspn(tags, " "); ok && *tags; tags += strspn(tags, " ")) {
        ok = take_tag(&tags, &key, &value) ||
             cn_fail(err, CN_ERR_USAGE,
                     "invalid tags: expected key=value, or key=\"value\", at '%.40s'",
                     tags);
        cn_text_str_add(out, between);
        if (ok)
            add_tag(out, cn_text_str(&key), cn_text_str(&value));
        between = " && ";
    }
    if (min_ns > 0) {
        cn_text_printf(out, "%straceDuration >= %" PRIu64 "ns", between, min_ns);
        between = " && ";
    }
    if (max_ns < UINT64_MAX)
        cn_text_printf(out, "%straceDuration <= %" PRIu64 "ns", between, max_ns);
    cn_text_str_add(out, " }");
    cn_text_done(&key);
    cn_text_done(&value);
    return ok;
}

bool cn_tempo_time_parse(const char *text, uint64_t *out_ns, struct cn_error *err)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t last_ns;
    char *end;

    if (digits > 0 && text[digits] == '\0' && digits <= 20) {
        uint64_t number = strtoull(text, NULL, 10);

        *out_ns =
            digits > SECONDS_DIGITS_MAX ? number : cn_compat_scale(number, NS_PER_S);
        return true;
    }
    if (digits > 0 && text[digits] == '.' &&
        strspn(text + digits + 1, "0123456789") == strlen(text + digits + 1)) {
        double seconds = strtod(text, &end);

        if (seconds < 1e10) {
            *out_ns = (uint64_t)(seconds * 1e9);
            return true;
        }
    }
    return cn_date_parse(text, out_ns, &last_ns, err);
}

bool cn_tempo_step(const struct cn_compat_call *call, uint64_t otherwise,
                   uint64_t *out_ns, struct cn_error *err)
{
    const char *text = cn_compat_value(call, "step");
    char *end;

    *out_ns = otherwise;
    if (!text)
        return true;
    double seconds = strtod(text, &end);
    if (*end != '\0' || strspn(text, "0123456789.") != strlen(text))
        return cn_compat_duration(call, "step", otherwise, out_ns, err);
    if (!(seconds > 0 && seconds < 1e9))
        return cn_fail(err, CN_ERR_USAGE, "invalid step: %.40s", text);
    *out_ns = (uint64_t)(seconds * 1e9);
    return true;
}
