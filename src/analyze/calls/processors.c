#include "analyze/calls/processors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { BITS = 32 };

static void extend(struct cn_processors *set, size_t count)
{
    CN_GROW_TO(set->bits, count, set->capacity);
    while (set->count < count)
        set->bits[set->count++] = 0;
}

void cn_processors_add(struct cn_processors *set, uint16_t number)
{
    if (number / BITS >= set->count)
        extend(set, (size_t)number / BITS + 1);
    set->bits[number / BITS] |= UINT32_C(1) << number % BITS;
}

void cn_processors_merge(struct cn_processors *into, const struct cn_processors *from)
{
    if (from->count > into->count)
        extend(into, from->count);
    for (size_t i = 0; i < from->count; i++)
        into->bits[i] |= from->bits[i];
}

void cn_processors_done(struct cn_processors *set)
{
    free(set->bits);
    *set = (struct cn_processors){0};
}

static bool has(const struct cn_processors *set, size_t number)
{
    return number / BITS < set->count &&
           (set->bits[number / BITS] >> number % BITS & 1) != 0;
}

size_t cn_processors_count(const struct cn_processors *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count * BITS; i++)
        count += has(set, i);
    return count;
}

void cn_processors_print_list(const struct cn_processors *set, struct cn_text *text)
{
    const char *separator = "";

    for (size_t i = 0; i < set->count * BITS; i++) {
        size_t last = i;

        if (!has(set, i))
            continue;
        while (has(set, last + 1))
            last++;
        cn_text_printf(text, "%s%zu", separator, i);
        separator = "/";
        if (last > i + 1) {
            cn_text_printf(text, "-%zu", last);
            i = last;
        }
    }
}

void cn_processors_print_mask(const struct cn_processors *set, struct cn_text *text)
{
    for (size_t i = set->count; i-- > 0;)
        cn_text_printf(text, "%08" PRIx32 "%s", set->bits[i], i > 0 ? "," : "");
}
