#include "base/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

bool cn_size_parse(const char *text, uint64_t *out, struct cn_error *err)
{
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : units;

    if (end == text || strspn(text, "0123456789.") != (size_t)(end - text) || !unit ||
        (*end && end[1] && strcmp(end + 1, "B") != 0 && strcmp(end + 1, "iB") != 0))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a size such as 256M", text);
    for (const char *u = units; *end && u <= unit; u++)
        number *= 1024;
    if (!(number >= 1 && number < 9e18))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is out of range", text);
    *out = (uint64_t)number;
    return true;
}
