/* What the items of one group have more often than those of another: values of arguments or
 * attributes of calls or traces.
 *
 *     traits = cn_traits_new();
 *     for each item:
 *         cn_traits_begin(traits, group);
 *         cn_traits_add(traits, "user", "42", &number); ...
 *     cn_traits_judge(traits, groups, 1, &limits, &signs);
 *     cn_traits_free(traits);
 *
 * Fisher's exact test of the counts of both groups, corrected for the number of values tried. What
 * is not significant is not listed.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TRAITS_H
#define CN_ANALYZE_TRAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { CN_TRAIT_GROUPS = 2 };

struct cn_traits;

struct cn_traits *cn_traits_new(void);
void cn_traits_free(struct cn_traits *traits); /* NULL is fine */

/* The next item; its values follow. */
void cn_traits_begin(struct cn_traits *traits, int group);

/* Add a value; it counts once per item. `number` is NULL unless it is a number; an item with
 * several numbers of a key is above a limit if one of them is, and below if one is. */
void cn_traits_add(struct cn_traits *traits, const char *key, const char *value,
                   const double *number);

/* "arg1 = 42 in 31 of 33 items of a group and 2 of 1650 of the other one". */
struct cn_sign {
    const char *key;
    char relation; /* '=', '>' or '<' */
    const char *value;
    int group; /* that has it more often */
    uint64_t has[CN_TRAIT_GROUPS], of[CN_TRAIT_GROUPS];
    double log_p; /* natural logarithm of the corrected probability of chance */
};

struct cn_signs {
    struct cn_sign *list; /* the surest first */
    size_t count;
    struct cn_arena arena;
};

struct cn_sign_limits {
    uint64_t hits_min;   /* items that have a value */
    double chance_max;   /* of listing anything if nothing differs; 0: not tested */
    double share_min;    /* of the items of the group */
    double ratio_min;    /* of this share to that of the other group */
    bool has_all_values; /* else the surest sign of a key */
};

/* Signs of each of `groups`. The list is to be released. */
void cn_traits_judge(struct cn_traits *traits, const int *groups, size_t group_count,
                     const struct cn_sign_limits *limits, struct cn_signs *signs);
void cn_signs_done(struct cn_signs *signs);

/* The natural logarithm of the probability that at least `hits` of `n` drawn from a
 * population of `all` with `marked` marked ones are marked. */
double cn_traits_log_tail(uint64_t hits, uint64_t n, uint64_t marked, uint64_t all);

#endif
