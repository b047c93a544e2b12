#include "server/served/function_times.h"

#include "base/best.h"

void cn_function_times_find(struct cn_function_times *out, const uint64_t *place_ns,
                            size_t place_count)
{
    struct cn_best best;

    *out = (struct cn_function_times){0};
    cn_best_init(&best, CN_FUNCTION_TIMES_MAX);
    for (size_t i = 0; i < place_count; i++) {
        struct cn_best_item item = {.key = place_ns[i], .id = ~(uint32_t)i};

        if (place_ns[i] == 0)
            continue;
        cn_best_offer(&best, &item);
        out->other_ns += place_ns[i];
    }
    cn_best_sort(&best, 0);
    for (; out->count < best.count && out->count < CN_FUNCTION_TIMES_MAX; out->count++) {
        const struct cn_best_item *item = &best.list[out->count];

        out->list[out->count].place = cn_best_number(item);
        out->list[out->count].ns = item->key;
        out->other_ns -= item->key;
    }
    out->other_count = best.offered - out->count;
    cn_best_done(&best);
}
