#include "base/date.h"

#include <inttypes.h>
#include <time.h>

#include "base/text.h"

static const uint64_t second_ns = 1000000000;

enum { YEAR_MAX = 2500 }; /* nanoseconds since 1970 fit into 64 bits */

/* Take `count` digits from the front. */
static bool take_digits(const char **text, unsigned count, unsigned *out)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++) {
        char c = (*text)[i];

        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (unsigned)(c - '0');
    }
    *text += count;
    *out = value;
    return true;
}

/* Take a separator and a number of two digits, up to `max`. */
static bool take_part(const char **text, char separator, unsigned max, unsigned *out)
{
    const char *at = *text + 1;

    if (**text != separator || !take_digits(&at, 2, out) || *out > max)
        return false;
    *text = at;
    return true;
}

static bool take_date(const char **text, uint64_t *ns)
{
    unsigned year, month, day;
    struct tm date = {0};

    if (!take_digits(text, 4, &year) || year < 1970 || year > YEAR_MAX ||
        !take_part(text, '-', 12, &month) || month == 0 ||
        !take_part(text, '-', 31, &day) || day == 0)
        return false;
    date.tm_year = (int)year - 1900;
    date.tm_mon = (int)month - 1;
    date.tm_mday = (int)day;
    *ns = (uint64_t)timegm(&date) * second_ns;
    /* timegm() moves a day that does not exist into the next month. */
    return date.tm_mon == (int)month - 1;
}

/* ".25": add it to `ns`; `unit_ns` receives the unit of the last digit. */
static bool take_fraction(const char **text, uint64_t *ns, uint64_t *unit_ns)
{
    const char *at = *text;

    if (*at != '.')
        return true;
    for (at++; *at >= '0' && *at <= '9'; at++) {
        *unit_ns /= 10;
        *ns += *unit_ns * (uint64_t)(*at - '0');
    }
    if (*unit_ns == 0)
        *unit_ns = 1;
    if (at == *text + 1)
        return false;
    *text = at;
    return true;
}

static bool take_clock(const char **text, uint64_t *ns, uint64_t *unit_ns)
{
    unsigned hour, minute, second;

    if (**text != 'T' && **text != ' ')
        return true;
    ++*text;
    if (!take_digits(text, 2, &hour) || hour > 23)
        return false;
    *ns += hour * 3600 * second_ns;
    *unit_ns = 3600 * second_ns;
    if (**text != ':')
        return true;
    if (!take_part(text, ':', 59, &minute))
        return false;
    *ns += minute * 60 * second_ns;
    *unit_ns = 60 * second_ns;
    if (**text != ':')
        return true;
    if (!take_part(text, ':', 59, &second))
        return false;
    *ns += second * second_ns;
    *unit_ns = second_ns;
    return take_fraction(text, ns, unit_ns);
}

/* "Z", "+02:00", "-0530": `ns` receives what to add for UTC. */
static bool take_zone(const char **text, int64_t *ns)
{
    unsigned hours, minutes = 0;
    int64_t sign = **text == '-' ? 1 : -1;

    *ns = 0;
    if (**text == 'Z')
        ++*text;
    if (**text != '+' && **text != '-')
        return true;
    ++*text;
    if (!take_digits(text, 2, &hours) || hours > 23)
        return false;
    if (**text == ':')
        ++*text;
    if (**text && (!take_digits(text, 2, &minutes) || minutes > 59))
        return false;
    *ns = sign * (int64_t)((hours * 3600 + minutes * 60) * second_ns);
    return true;
}

bool cn_date_parse(const char *text, uint64_t *first_ns, uint64_t *last_ns,
                   struct cn_error *err)
{
    const char *at = text;
    uint64_t ns, unit_ns = 86400 * second_ns;
    int64_t zone_ns;

    if (!take_date(&at, &ns) || !take_clock(&at, &ns, &unit_ns) ||
        !take_zone(&at, &zone_ns) || *at)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is not a time such as \"2026-01-31 23:59:59\"", text);
    if (zone_ns < 0 && ns < (uint64_t)-zone_ns)
        return cn_fail(err, CN_ERR_USAGE, "'%s' is before 1970", text);
    ns += (uint64_t)zone_ns;
    *first_ns = ns;
    *last_ns = ns + unit_ns - 1;
    return true;
}

void cn_date_print(struct cn_text *text, uint64_t time_ns, unsigned decimals)
{
    time_t seconds = (time_t)(time_ns / second_ns);
    uint64_t part = time_ns % second_ns;
    struct tm date = {0};

    (void)gmtime_r(&seconds, &date);
    for (unsigned i = decimals; i < 9; i++)
        part /= 10;
    cn_text_printf(text, "%04d-%02d-%02d %02d:%02d:%02d.%0*" PRIu64, date.tm_year + 1900,
                   date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                   (int)decimals, part);
}
