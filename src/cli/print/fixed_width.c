#include "cli/print/fixed_width.h"

#include <string.h>

#include "base/bytes/digits.h"
#include "base/text.h"

enum { FRACTION_LEN = 10 };

/* Units of a thousand of the one before. */
static const char units[][3] = {"us", "ms", " s"};

enum { LAST_UNIT = sizeof(units) / sizeof(*units) - 1 };

static void put_thousandths(char *at, unsigned value)
{
    at[0] = (char)('0' + value / 100);
    at[1] = (char)('0' + value / 10 % 10);
    at[2] = (char)('0' + value % 10);
}

void cn_duration_add(struct cn_text *text, uint64_t ns)
{
    uint64_t whole = ns / 1000, part = ns % 1000;
    size_t unit = 0;

    if (ns == 0) {
        cn_text_add(text, "          ", CN_DURATION_LEN);
        return;
    }
    while (unit < LAST_UNIT && whole >= 1000) {
        part = whole % 1000;
        whole /= 1000;
        unit++;
    }
    cn_number_add(text, whole, 3);
    char *at = cn_text_room(text, 4);
    at[0] = '.';
    put_thousandths(at + 1, (unsigned)part);
    /* As many decimals as there is room for: "1234.56  s". */
    cn_text_advance(text, whole < 1000 ? 4 : whole < 10000 ? 3 : whole < 100000 ? 2 : 0);
    if (whole >= 100000 && whole < 1000000)
        cn_text_char(text, ' ');
    cn_text_char(text, ' ');
    cn_text_str_add(text, units[unit]);
}

static void add_right(struct cn_text *text, const char *chars, size_t len, size_t width)
{
    if (len < width)
        cn_text_fill(text, ' ', width - len);
    cn_text_add(text, chars, len);
}

void cn_number_add(struct cn_text *text, uint64_t value, size_t width)
{
    char digits[CN_DIGITS_MAX];

    add_right(text, digits, cn_digits_put(digits, value), width);
}

void cn_hex_number_add(struct cn_text *text, uint64_t value, size_t width)
{
    char digits[CN_HEX64_LEN];
    size_t zeros = 0;

    cn_hex64_put(digits, value);
    while (zeros < CN_HEX64_LEN - 1 && digits[zeros] == '0')
        zeros++;
    add_right(text, digits + zeros, CN_HEX64_LEN - zeros, width);
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
    add_right(text, str, strlen(str), width);
}
