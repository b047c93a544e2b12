#include "cli/duration.h"

#include <string.h>

#include "base/text.h"

enum { DIGITS_MAX = 24 };

/* What is left of a duration in each unit, and how many make one of the next. */
static const struct {
    char name[3];
    unsigned in_next;
} units[] = {{"us", 1000}, {"ms", 1000}, {" s", 60}, {" m", 60}, {" h", 0}};

void cn_duration_add(struct cn_text *text, uint64_t ns)
{
    char chars[DIGITS_MAX];
    uint64_t whole = ns / 1000, part = ns % 1000;
    size_t unit = 0, at = DIGITS_MAX - 7;

    if (ns == 0) {
        cn_text_add(text, "          ", CN_DURATION_LEN);
        return;
    }
    while (units[unit].in_next > 0 && whole >= units[unit].in_next) {
        part = whole % units[unit].in_next;
        whole /= units[unit].in_next;
        unit++;
    }
    memcpy(chars + at, ".000 ", 5);
    memcpy(chars + at + 5, units[unit].name, 2);
    chars[at + 1] = (char)('0' + part / 100);
    chars[at + 2] = (char)('0' + part / 10 % 10);
    chars[at + 3] = (char)('0' + part % 10);
    do {
        chars[--at] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole > 0);
    while (at > DIGITS_MAX - CN_DURATION_LEN)
        chars[--at] = ' ';
    cn_text_add(text, chars + at, DIGITS_MAX - at);
}

static void add_digits(struct cn_text *text, const char *digits, size_t count,
                       size_t width)
{
    if (count < width)
        cn_text_fill(text, ' ', width - count);
    cn_text_add(text, digits, count);
}

void cn_number_add(struct cn_text *text, uint64_t value, size_t width)
{
    char chars[DIGITS_MAX];
    size_t at = DIGITS_MAX;

    do {
        chars[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    add_digits(text, chars + at, DIGITS_MAX - at, width);
}

void cn_hex_add(struct cn_text *text, uint64_t value, size_t width)
{
    char chars[DIGITS_MAX];
    size_t at = DIGITS_MAX;

    do {
        chars[--at] = "0123456789abcdef"[value % 16];
        value /= 16;
    } while (value > 0);
    add_digits(text, chars + at, DIGITS_MAX - at, width);
}

void cn_timestamp_add(struct cn_text *text, uint64_t ns, size_t width)
{
    char chars[10] = ".";
    uint64_t part = ns % 1000000000;

    cn_number_add(text, ns / 1000000000, width > sizeof(chars) ? width - sizeof(chars) : 0);
    for (size_t at = sizeof(chars); at-- > 1; part /= 10)
        chars[at] = (char)('0' + part % 10);
    cn_text_add(text, chars, sizeof(chars));
}

void cn_right_add(struct cn_text *text, const char *str, size_t width)
{
    add_digits(text, str, strlen(str), width);
}
