#include "base/count.h"

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
    cn_text_printf(text, " %s%s", singular, cn_plural(count, "", "s"));
}
