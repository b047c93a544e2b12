#include "cli/print/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/duration.h"
#include "base/text.h"

double cn_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
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

void cn_cost_print(struct cn_text *text, const char *metric, double value)
{
    const double max = 1e18; /* of files that others wrote */

    if (cn_ends_with(metric, "(sec)")) {
        cn_duration_print(text, (uint64_t)llround(fmin(fmax(value * 1e9, 0), max)));
        return;
    }
    cn_count_print(text, (uint64_t)llround(fmin(fmax(value, 0), max)));
    cn_text_printf(text, " %s", metric);
}
