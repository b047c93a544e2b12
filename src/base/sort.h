/* Sorts lists by members of their elements.
 *
 *     CN_SORT(list, count, CN_UP(struct item, time_ns), CN_DOWN(struct item, size));
 *
 * Keys are integers, doubles and strings; later keys decide where earlier ones are equal.
 * NAN comes last. Elements that are equal in all keys keep their order.
 * Threads: any thread.
 */
#ifndef CN_BASE_SORT_H
#define CN_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum cn_sort_kind { CN_SORT_UNSIGNED, CN_SORT_SIGNED, CN_SORT_DOUBLE, CN_SORT_TEXT };

struct cn_sort_key {
    uint32_t off; /* in an element */
    uint8_t len;  /* of an integer: 1, 2, 4 or 8 */
    uint8_t kind; /* enum cn_sort_kind */
    bool is_down; /* the largest first */
};

/* The kind of a member, by its type. */
#define CN_SORT_KIND(value) \
    _Generic((value), double : CN_SORT_DOUBLE, const char * : CN_SORT_TEXT,      \
             char * : CN_SORT_TEXT, int : CN_SORT_SIGNED, long : CN_SORT_SIGNED, \
             long long : CN_SORT_SIGNED, default : CN_SORT_UNSIGNED)
#define CN_SORT_KEY(type, member, down)                                             \
    {                                                                               \
        (uint32_t) offsetof(type, member), (uint8_t)sizeof(((type *)NULL)->member), \
            CN_SORT_KIND(((type *)NULL)->member), down                              \
    }
#define CN_UP(type, member)   CN_SORT_KEY(type, member, false)
#define CN_DOWN(type, member) CN_SORT_KEY(type, member, true)

#define CN_SORT(list, count, ...)                                                        \
    cn_sort((list), (count), sizeof(*(list)), (const struct cn_sort_key[]){__VA_ARGS__}, \
            sizeof((const struct cn_sort_key[]){__VA_ARGS__}) /                          \
                sizeof(struct cn_sort_key))

/* A list of numbers or strings, ascending. */
#define CN_SORT_VALUES(list, count)                                    \
    cn_sort((list), (count), sizeof(*(list)),                          \
            &(const struct cn_sort_key){0, (uint8_t)sizeof(*(list)),   \
                                        CN_SORT_KIND(*(list)), false}, \
            1)

void cn_sort(void *list, size_t count, size_t size, const struct cn_sort_key *keys,
             size_t key_count);

/* For orders that keys cannot describe. */
static inline int cn_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* A double as an integer with the same order; 0 and -0 are equal. Not for NAN. */
static inline uint64_t cn_sort_bits(double value)
{
    const uint64_t sign = UINT64_C(1) << 63;
    double positive_zero = value + 0.0;
    uint64_t bits;

    /* Bits of positive doubles are in order, those of negative ones in reverse. */
    memcpy(&bits, &positive_zero, sizeof(bits));
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

#endif
