#include "cli/print/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* True before the rest of a list: ", loops" or " and loops". */
static bool is_listed(const char *rest)
{
    return *rest == ',' || strncmp(rest, " and ", strlen(" and ")) == 0;
}

/* The length of the first word of a phrase that is a plural, and where it begins: "metrics"
 * of "other metrics (choose one)". Units ("ns") do not count. 0: there is none, or a list. */
static size_t find_plural(const char *many, const char **word)
{
    size_t len = 0;

    for (*word = many; **word; *word += len + strspn(*word + len, " ,")) {
        len = strcspn(*word, " ,");
        if (len > 2 && (*word)[len - 1] == 's')
            return is_listed(*word + len) ? 0 : len;
    }
    return 0;
}

void cn_loss_print(struct cn_text *text, uint64_t count, const char *many)
{
    static const struct {
        const char *many, *one;
    } endings[] = {{"sses", "ss"}, {"ies", "y"}, {"s", ""}};
    const char *word;
    size_t len = find_plural(many, &word), i = 0, ending;

    cn_text_printf(text, "not kept: %" PRIu64 " ", count);
    if (count != 1 || len == 0) {
        cn_text_str_add(text, many);
        return;
    }
    while ((ending = strlen(endings[i].many)) > len ||
           strncmp(word + len - ending, endings[i].many, ending) != 0)
        i++;
    cn_text_add(text, many, (size_t)(word - many) + len - ending);
    cn_text_printf(text, "%s%s", endings[i].one, word + len);
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
