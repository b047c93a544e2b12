#include "cli/print/duration.h"

#include <string.h>

#include "base/text.h"

enum { DIGITS_MAX = 24, FRACTION_LEN = 10 };

/* What is left of a duration in each unit, and how many make one of the next. */
static const struct {
    char name[3];
    unsigned in_next;
} units[] = {{"us", 1000}, {"ms", 1000}, {" s", 60}, {" m", 60}, {" h", 0}};

void cn_duration_add(struct cn_text *text, uint64_t ns)
{
    uint64_t whole = ns / 1000, part = ns % 1000;
    size_t unit = 0;
    char *at;

    if (ns == 0) {
        cn_text_add(text, "          ", CN_DURATION_LEN);
        return;
    }
    while (units[unit].in_next > 0 && whole >= units[unit].in_next) {
        part = whole % units[unit].in_next;
        whole /= units[unit].in_next;
        unit++;
    }
    if (whole > 999) { /* more hours than the column has room for */
        cn_number_add(text, whole, 0);
    } else {
        at = cn_text_room(text, 3);
        at[0] = whole > 99 ? (char)('0' + whole / 100) : ' ';
        at[1] = whole > 9 ? (char)('0' + whole / 10 % 10) : ' ';
        at[2] = (char)('0' + whole % 10);
        cn_text_advance(text, 3);
    }
    at = cn_text_room(text, 7);
    at[0] = '.';
    at[1] = (char)('0' + part / 100);
    at[2] = (char)('0' + part / 10 % 10);
    at[3] = (char)('0' + part % 10);
    at[4] = ' ';
    at[5] = units[unit].name[0];
    at[6] = units[unit].name[1];
    cn_text_advance(text, 7);
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

/* Nine digits are one division for each three, and small ones for the rest. */
static void put_thousandths(char *at, unsigned value)
{
    at[0] = (char)('0' + value / 100);
    at[1] = (char)('0' + value / 10 % 10);
    at[2] = (char)('0' + value % 10);
}

void cn_nanoseconds_add(struct cn_text *text, uint32_t ns)
{
    char *at = cn_text_room(text, FRACTION_LEN);

    at[0] = '.';
    put_thousandths(at + 1, ns / 1000000);
    put_thousandths(at + 4, ns / 1000 % 1000);
    put_thousandths(at + 7, ns % 1000);
    cn_text_advance(text, FRACTION_LEN);
}

void cn_timestamp_add(struct cn_text *text, uint64_t ns, size_t width)
{
    cn_number_add(text, ns / 1000000000, width > FRACTION_LEN ? width - FRACTION_LEN : 0);
    cn_nanoseconds_add(text, (uint32_t)(ns % 1000000000));
}

void cn_right_add(struct cn_text *text, const char *str, size_t width)
{
    add_digits(text, str, strlen(str), width);
}
