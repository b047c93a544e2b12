#include "cli/print/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

enum { NS_PER_S = 1000000000 };

struct unit {
    const char *name;
    double factor;
};

void cn_count_print(struct cn_text *text, uint64_t count)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            cn_text_char(text, ',');
        cn_text_char(text, digits[i]);
    }
}

void cn_count_print_of(struct cn_text *text, uint64_t count, const char *singular)
{
    cn_count_print(text, count);
    cn_text_printf(text, " %s%s", singular, count == 1 ? "" : "s");
}

void cn_size_print(struct cn_text *text, uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        cn_text_printf(text, "%" PRIu64 " B", bytes);
        return;
    }
    /* 1023.97 would print as 1024.0. */
    for (; amount >= 1023.95 && i + 1 < sizeof(names) / sizeof(names[0]); i++)
        amount /= 1024;
    cn_text_printf(text, "%.1f %s", amount, names[i]);
}

/* Up to three decimals, without trailing zeros. */
void cn_duration_print(struct cn_text *text, uint64_t duration)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", NS_PER_S}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    size_t i = 0;
    uint64_t thousandths;

    while (duration > 0 && duration < units[i].ns)
        i++;
    cn_text_u64(text, duration / units[i].ns);
    thousandths = units[i].ns == 1 ? 0 : duration % units[i].ns / (units[i].ns / 1000);
    if (thousandths > 0) {
        cn_text_printf(text, ".%03" PRIu64, thousandths);
        while (text->chars[text->len - 1] == '0')
            text->chars[--text->len] = '\0';
    }
    cn_text_printf(text, " %s", units[i].name);
}

void cn_date_print(struct cn_text *text, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / NS_PER_S);
    struct tm date = {0};

    (void)gmtime_r(&seconds, &date);
    cn_text_printf(text, "%04d-%02d-%02d %02d:%02d:%02d.%06" PRIu64 " UTC",
                   date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour,
                   date.tm_min, date.tm_sec, time_ns % NS_PER_S / 1000);
}

bool cn_duration_parse(const char *str, uint64_t whole_ns, uint64_t *out,
                       struct cn_error *err)
{
    const struct unit units[] = {
        {"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
        {"ns", 1.0}, {"m", 6e10}, {"h", 3.6e12}, {"%", (double)whole_ns / 100},
    };
    size_t count = sizeof(units) / sizeof(units[0]) - (whole_ns == 0);
    char *end;
    double amount = strtod(str, &end);

    /* strtod() also accepts signs, "inf", "nan" and hexadecimal numbers. */
    if (end == str || strspn(str, "0123456789.") != (size_t)(end - str))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a duration such as 1.5s%s", str,
                       whole_ns > 0 ? " or 20%" : "");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(units[i].name, end) != 0)
            continue;
        amount = round(amount * units[i].factor);
        if (amount >= 0x1p64)
            return cn_fail(err, CN_ERR_USAGE, "duration '%s' is too long", str);
        *out = (uint64_t)amount;
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "'%s' in duration '%s' is not one of ns, us, ms, s, m, h%s", end, str,
                   whole_ns > 0 ? ", %" : "");
}
