#include "server/api/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Decode "%41" and "+" in place. */
static void decode(char *text)
{
    char *out = text;

    while (*text) {
        unsigned high = text[0] == '%' ? hex_digit(text[1]) : 16;
        unsigned low = high < 16 ? hex_digit(text[2]) : 16;

        if (low < 16) {
            *out++ = (char)(high << 4 | low);
            text += 3;
        } else {
            *out++ = *text == '+' ? ' ' : *text;
            text++;
        }
    }
    *out = '\0';
}

static char *cut(char *text, char at)
{
    char *end = strchr(text, at);

    if (!end)
        return NULL;
    *end = '\0';
    return end + 1;
}

void cn_request_parse(struct cn_request *request, char *address)
{
    char *next = cut(address, '?');

    request->path = address;
    while (next && request->parameter_count < CN_REQUEST_PARAMETER_MAX) {
        char *name = next, *value;

        next = cut(name, '&');
        value = cut(name, '=');
        decode(name);
        if (value)
            decode(value);
        request->parameters[request->parameter_count++] =
            (struct cn_query_parameter){name, value ? value : ""};
    }
}

const char *cn_request_value_at(const struct cn_request *request, const char *name,
                                size_t i)
{
    for (size_t k = 0; k < request->parameter_count; k++)
        if (strcmp(request->parameters[k].name, name) == 0 && i-- == 0)
            return request->parameters[k].value;
    return NULL;
}

const char *cn_request_value(const struct cn_request *request, const char *name)
{
    return cn_request_value_at(request, name, 0);
}

bool cn_request_flag(const struct cn_request *request, const char *name)
{
    const char *value = cn_request_value(request, name);

    return value && strcmp(value, "1") == 0;
}

bool cn_request_choice(const struct cn_request *request, const char *name,
                       const char *const *choices, size_t count, size_t otherwise,
                       size_t *out, struct cn_error *err)
{
    const char *value = cn_request_value(request, name);
    struct cn_text list = {0};

    *out = value ? 0 : otherwise;
    while (value && *out < count && strcmp(choices[*out], value) != 0)
        ++*out;
    if (*out < count)
        return true;
    for (size_t i = 0; i < count; i++)
        cn_text_printf(&list, "%s%s", i > 0 ? ", " : "", choices[i]);
    (void)cn_fail(err, CN_ERR_USAGE, "%s '%.40s' is none of %s", name, value,
                  cn_text_str(&list));
    cn_text_done(&list);
    return false;
}

bool cn_number_take(const char **text, uint64_t max, uint64_t *out)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *out <= max;
}

bool cn_request_u64(const struct cn_request *request, const char *name, uint64_t min,
                    uint64_t max, uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    const char *text = cn_request_value(request, name), *rest = text;
    uint64_t value = otherwise;

    if (text && (!cn_number_take(&rest, max, &value) || *rest || value < min))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s '%.40s' is not a number from %" PRIu64 " to %" PRIu64, name,
                       text, min, max);
    *out = value;
    return true;
}

bool cn_request_f64(const struct cn_request *request, const char *name, double min,
                    double max, double otherwise, double *out, struct cn_error *err)
{
    const char *text = cn_request_value(request, name);
    char *end;

    if (!text) {
        *out = otherwise;
        return true;
    }
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max))
        return cn_fail(err, CN_ERR_USAGE, "%s '%.40s' is not a number from %g to %g",
                       name, text, min, max);
    *out = value;
    return true;
}
