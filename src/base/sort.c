#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    FEW = 32,
    INSERT_MAX = 8,
    FEW_LEN = 2048,
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    RADIX_MIN = 1 << 13, /* elements */
};

/* An element by its first two keys, or by the beginning of a text: few comparisons need
 * more. */
struct sort_item {
    uint64_t first, second;
    size_t at;
};

struct merge_sorting {
    char *list;
    size_t size;
    const struct cn_sort_key *keys;
    size_t key_count;
    bool has_rest; /* items that are equal may differ in their elements */
};

static uint64_t integer_at(const char *bytes, size_t len)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    switch (len) {
    case sizeof(u8):
        memcpy(&u8, bytes, sizeof(u8));
        return u8;
    case sizeof(u16):
        memcpy(&u16, bytes, sizeof(u16));
        return u16;
    case sizeof(u32):
        memcpy(&u32, bytes, sizeof(u32));
        return u32;
    default:
        memcpy(&u64, bytes, sizeof(u64));
        return u64;
    }
}

static const char *text_at(const char *bytes)
{
    const char *text;

    memcpy(&text, bytes, sizeof(text));
    return text;
}

/* The first eight characters, in the order of strcmp(), after the first `skipped`. */
static uint64_t beginning_of(const char *text, size_t skipped)
{
    uint64_t key = 0;

    text += strnlen(text, skipped);
    for (unsigned i = 0; i < sizeof(key); i++) {
        key = key << 8 | (unsigned char)*text;
        text += *text != '\0';
    }
    return key;
}

/* A key as an integer with the order of the sorted list. */
static uint64_t key_of(const char *element, const struct cn_sort_key *key)
{
    const char *bytes = element + key->off;
    uint64_t value = 0;
    double real;

    switch ((enum cn_sort_kind)key->kind) {
    case CN_SORT_UNSIGNED:
        value = integer_at(bytes, key->len);
        break;
    case CN_SORT_SIGNED:
        /* With the sign bit inverted, negative numbers come first. */
        value = integer_at(bytes, key->len) ^ UINT64_C(1) << (8 * key->len - 1);
        break;
    case CN_SORT_DOUBLE:
        memcpy(&real, bytes, sizeof(real));
        if (isnan(real))
            return UINT64_MAX;
        value = cn_sort_bits(real);
        break;
    case CN_SORT_TEXT:
        value = beginning_of(text_at(bytes), 0);
        break;
    }
    return key->is_down ? ~value : value;
}

static int compare_texts(const char *a, const char *b, const struct cn_sort_key *key)
{
    int order = strcmp(text_at(a + key->off), text_at(b + key->off));

    return key->is_down ? -order : order;
}

/* Of two elements whose items are equal. */
static bool is_less_by_rest(const struct merge_sorting *s, size_t first, size_t second)
{
    const char *a = s->list + first * s->size, *b = s->list + second * s->size;

    for (size_t i = 0; i < s->key_count; i++) {
        const struct cn_sort_key *key = &s->keys[i];
        uint64_t of_a = key_of(a, key), of_b = key_of(b, key);
        int order = of_a < of_b ? -1 : of_a > of_b;

        if (order == 0 && key->kind == CN_SORT_TEXT)
            order = compare_texts(a, b, key);
        if (order != 0)
            return order < 0;
    }
    return false;
}

static inline bool is_less(const struct merge_sorting *s, const struct sort_item *a,
                           const struct sort_item *b)
{
    if (a->first != b->first)
        return a->first < b->first;
    if (a->second != b->second)
        return a->second < b->second;
    return s->has_rest && is_less_by_rest(s, a->at, b->at);
}

static struct sort_item item_at(const struct merge_sorting *s, size_t at)
{
    const char *element = s->list + at * s->size;
    struct sort_item item = {.first = key_of(element, &s->keys[0]), .at = at};

    if (s->keys[0].kind == CN_SORT_TEXT) {
        item.second = beginning_of(text_at(element + s->keys[0].off), sizeof(item.first));
        item.second = s->keys[0].is_down ? ~item.second : item.second;
    } else if (s->key_count > 1) {
        item.second = key_of(element, &s->keys[1]);
    }
    return item;
}

static bool is_sorted(const struct merge_sorting *s, size_t count)
{
    struct sort_item last = item_at(s, 0);

    for (size_t i = 1; i < count; i++) {
        struct sort_item item = item_at(s, i);

        if (is_less(s, &item, &last))
            return false;
        last = item;
    }
    return true;
}

static void insert_items(const struct merge_sorting *s, struct sort_item *items,
                         size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sort_item item = items[i];
        size_t at = i;

        for (; at > 0 && is_less(s, &item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Merge sort: elements that are equal keep their order, and no list takes long. Halves that fit
 * into the caches of the processor are sorted first. `room` has space for half the items. */
static void sort_items(const struct merge_sorting *s, struct sort_item *items,
                       size_t count, struct sort_item *room)
{
    size_t half = count / 2, left = 0, right = half, to = 0;

    if (count <= INSERT_MAX) {
        insert_items(s, items, count);
        return;
    }
    sort_items(s, items, half, room);
    sort_items(s, items + half, count - half, room);
    if (!is_less(s, &items[half], &items[half - 1]))
        return;
    memcpy(room, items, half * sizeof(*room));
    while (left < half)
        items[to++] = right < count && is_less(s, &items[right], &room[left])
                          ? items[right++]
                          : room[left++];
}

/* Bits in which the keys of items differ. */
static void find_differences(const struct sort_item *items, size_t count, uint64_t out[2])
{
    out[0] = out[1] = 0;
    for (size_t i = 1; i < count; i++) {
        out[0] |= items[i].second ^ items[0].second;
        out[1] |= items[i].first ^ items[0].first;
    }
}

/* The next digit with a difference, from the bit `shift` on; false: there is none. */
static bool next_digit(uint64_t differences, unsigned *shift)
{
    while (*shift < 64 && (differences >> *shift & 1) == 0)
        (*shift)++;
    return *shift < 64;
}

static unsigned digits_of(uint64_t differences)
{
    unsigned count = 0;

    for (unsigned shift = 0; next_digit(differences, &shift); shift += DIGIT_BITS)
        count++;
    return count;
}

/* Items in the order of one digit; those that have the same keep their order. */
static void sort_by_digit(const struct sort_item *from, struct sort_item *to,
                          size_t count, bool is_first, unsigned shift)
{
    size_t ends[DIGITS] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        ends[(is_first ? from[i].first : from[i].second) >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t len = ends[i];

        ends[i] = sum;
        sum += len;
    }
    for (size_t i = 0; i < count; i++)
        to[ends[(is_first ? from[i].first : from[i].second) >> shift & (DIGITS - 1)]++] =
            from[i];
}

/* Sort many items whose keys say all by their digits, the least first, where that takes fewer passes
 * than to merge. `room` has space for all items. False: they are as they were. */
static bool sort_by_digits(struct sort_item *items, size_t count, struct sort_item *room)
{
    uint64_t differences[2];
    unsigned merges = 0;

    if (count < RADIX_MIN)
        return false;
    for (size_t i = count / INSERT_MAX; i > 0; i /= 2)
        merges++;
    find_differences(items, count, differences);
    if (2 * (digits_of(differences[0]) + digits_of(differences[1])) > merges)
        return false;
    struct sort_item *from = items, *to = room;
    for (unsigned key = 0; key < 2; key++)
        for (unsigned shift = 0; next_digit(differences[key], &shift);
             shift += DIGIT_BITS) {
            struct sort_item *sorted = to;

            sort_by_digit(from, to, count, key == 1, shift);
            to = from;
            from = sorted;
        }
    if (from != items)
        memcpy(items, from, count * sizeof(*items));
    return true;
}

static void put_in_order(const struct merge_sorting *s, const struct sort_item *items,
                         size_t count)
{
    char few[FEW_LEN];
    bool is_small = s->size <= FEW_LEN / count;
    char *sorted = is_small ? few : cn_realloc(NULL, count, s->size);

    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * s->size, s->list + items[i].at * s->size, s->size);
    memcpy(s->list, sorted, count * s->size);
    if (!is_small)
        free(sorted);
}

void cn_sort(void *list, size_t count, size_t size, const struct cn_sort_key *keys,
             size_t key_count)
{
    struct merge_sorting s = {list, size, keys, key_count, key_count > 2};
    struct sort_item few[FEW + FEW / 2], *items = few;

    for (size_t i = 0; i < key_count; i++)
        s.has_rest = s.has_rest || keys[i].kind == CN_SORT_TEXT;
    if (count < 2 || is_sorted(&s, count))
        return;
    if (count > FEW)
        items = cn_realloc(NULL, count + (count < RADIX_MIN ? count / 2 : count),
                           sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[i] = item_at(&s, i);
    if (s.has_rest || !sort_by_digits(items, count, items + count))
        sort_items(&s, items, count, items + count);
    put_in_order(&s, items, count);
    if (items != few)
        free(items);
}
