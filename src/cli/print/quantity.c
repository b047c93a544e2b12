#include "cli/print/quantity.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

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
