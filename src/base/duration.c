#include "base/duration.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

double cn_duration_unit_ns(const char *name)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {
        {"ns", 1},      {"nsec", 1},     {"nanoseconds", 1},
        {"us", 1e3},    {"usec", 1e3},   {"microseconds", 1e3},
        {"ms", 1e6},    {"msec", 1e6},   {"milliseconds", 1e6},
        {"s", 1e9},     {"sec", 1e9},    {"seconds", 1e9},
        {"m", 60e9},    {"min", 60e9},   {"h", 3600e9},
        {"d", 86400e9}, {"w", 604800e9},
    };

    for (size_t i = 0; i < CN_COUNT_OF(units); i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].ns;
    return 0;
}

static bool parse(const char *text, double bare_ns, uint64_t whole_ns, uint64_t *out_ns,
                  struct cn_error *err)
{
    char *unit;
    double number = strtod(text, &unit), factor = cn_duration_unit_ns(unit);

    /* strtod() also accepts signs, exponents, "inf", "nan" and hexadecimal numbers. */
    if (unit == text || strspn(text, "0123456789.") != (size_t)(unit - text))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a duration such as 1.5s%s", text,
                       whole_ns > 0 ? " or 20%" : "");
    if (*unit == '\0')
        factor = number == 0 ? 1 : bare_ns;
    if (whole_ns > 0 && strcmp(unit, "%") == 0)
        factor = (double)whole_ns / 100;
    if (*unit == '\0' && factor == 0)
        return cn_fail(err, CN_ERR_USAGE, "'%s' has no unit; use %sns, %sus, %sms or %ss",
                       text, text, text, text, text);
    if (factor == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' in duration '%s' is not one of " CN_DURATION_UNITS "%s",
                       unit, text, whole_ns > 0 ? ", %" : "");
    if (!(number * factor < 9e18))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is too long, the limit is 285 years",
                       text);
    *out_ns = (uint64_t)llround(number * factor);
    return true;
}

bool cn_duration_parse(const char *text, enum cn_duration_bare bare, uint64_t *out_ns,
                       struct cn_error *err)
{
    static const double bare_ns[] = {
        [CN_BARE_REFUSED] = 0, [CN_BARE_NS] = 1, [CN_BARE_S] = 1e9};

    return parse(text, bare_ns[bare], 0, out_ns, err);
}

bool cn_duration_parse_share(const char *text, uint64_t whole_ns, uint64_t *out_ns,
                             struct cn_error *err)
{
    return parse(text, 0, whole_ns, out_ns, err);
}

/* Units that are printed, the largest first. */
static const struct {
    const char *name;
    uint64_t ns;
} printed[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

void cn_duration_print(struct cn_text *text, uint64_t ns)
{
    size_t i = 0;

    while (ns > 0 && ns < printed[i].ns)
        i++;
    cn_text_u64(text, ns / printed[i].ns);
    uint64_t thousandths =
        printed[i].ns == 1 ? 0 : ns % printed[i].ns / (printed[i].ns / 1000);
    if (thousandths > 0) {
        cn_text_printf(text, ".%03" PRIu64, thousandths);
        while (text->chars[text->len - 1] == '0')
            text->chars[--text->len] = '\0';
    }
    cn_text_printf(text, " %s", printed[i].name);
}

void cn_duration_print_exactly(struct cn_text *text, uint64_t ns)
{
    size_t i = 0;

    while (ns % printed[i].ns != 0)
        i++;
    cn_text_u64(text, ns / printed[i].ns);
    cn_text_str_add(text, printed[i].name);
}
