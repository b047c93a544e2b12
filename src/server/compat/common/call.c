#include "server/compat/common/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* What "*" of a pattern stands for in a path; NULL if they do not match. Without "*", it is empty. */
static const char *match(const char *pattern, const char *path, size_t *len)
{
    const char *star = strchr(pattern, '*');
    size_t path_len = strlen(path), pattern_len = strlen(pattern);
    size_t before = star ? (size_t)(star - pattern) : pattern_len;

    *len = 0;
    if (!star)
        return strcmp(pattern, path) == 0 ? path + before : NULL;
    if (path_len < pattern_len || strncmp(pattern, path, before) != 0 ||
        !cn_ends_with(path, star + 1))
        return NULL;
    *len = path_len - (pattern_len - 1);
    return path + before;
}

const struct cn_compat_route *cn_compat_find(const struct cn_compat_route *routes,
                                             const char *path, char **part)
{
    size_t len;

    *part = NULL;
    for (; routes->pattern; routes++) {
        const char *begin = match(routes->pattern, path, &len);

        if (!begin)
            continue;
        if (len > 0) {
            *part = cn_alloc(len + 1, 1);
            memcpy(*part, begin, len);
        }
        return routes;
    }
    return NULL;
}

const char *cn_compat_value(const struct cn_compat_call *call, const char *name)
{
    const char *value = cn_request_value(call->request, name);

    return value && *value ? value : NULL;
}

bool cn_compat_u64(const struct cn_compat_call *call, const char *name, uint64_t max,
                   uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    *out = otherwise;
    return !cn_compat_value(call, name) ||
           cn_request_u64(call->request, name, 0, max, otherwise, out, err);
}

/* Take a number with its unit from the begin of a text. */
static bool take_duration(const char **text, uint64_t *out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1},      {"us", 1e3},    {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
                 {"ms", 1e6},    {"s", 1e9},     {"m", 60e9},      {"h", 3600e9},
                 {"d", 86400e9}, {"w", 604800e9}};
    size_t digits = strspn(*text, "0123456789.");
    char *end;

    if (digits == 0 || digits > 32)
        return false;
    double number = strtod(*text, &end);
    if (end != *text + digits)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t len = strlen(units[i].unit);

        if (strncmp(end, units[i].unit, len) != 0)
            continue;
        number *= units[i].ns;
        *text = end + len;
        *out = number < 1e18 ? (uint64_t)(number + 0.5) : UINT64_C(1000000000000000000);
        return true;
    }
    return false;
}

bool cn_compat_duration(const struct cn_compat_call *call, const char *name,
                        uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    const char *value = cn_compat_value(call, name), *rest = value;
    uint64_t sum = 0, part;

    *out = otherwise;
    if (!value || strcmp(value, "0") == 0) {
        *out = value ? 0 : otherwise;
        return true;
    }
    for (unsigned i = 0; i < 8 && *rest; i++) {
        if (!take_duration(&rest, &part))
            break;
        sum += part;
    }
    if (*rest)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s '%.40s' is not a duration such as 1.5s or 200ms", name, value);
    *out = sum;
    return true;
}
