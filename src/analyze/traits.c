#include "analyze/traits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"

enum {
    VALUE_LEN_MAX = 120, /* longer values are cut */
    LIMITS = 5,          /* limits tried for numbers, in both directions */
};

struct traits_count {
    uint32_t key;
    uint64_t last_item; /* the last one that has it */
    uint64_t has[CN_TRAIT_GROUPS];
};

struct number {
    uint32_t key;
    double value;
};

/* By how a limit is compared: an item is above it with its greatest number, below with its least. */
enum { ABOVE, BELOW, DIRECTIONS };

/* The numbers of the items of a group, one of each item and key. */
struct traits_numbers {
    struct number *list;
    size_t count, capacity;
};

struct cn_traits {
    int group;                    /* of the item whose values are added */
    uint64_t item;                /* its number, from 1 */
    uint64_t of[CN_TRAIT_GROUPS]; /* items */
    struct cn_names keys;
    struct cn_names values;      /* number of the key, newline, value */
    struct traits_count *counts; /* by value */
    size_t count_capacity;
    struct traits_last {
        uint64_t item; /* the last one with a number */
        size_t at;     /* its numbers */
    } * lasts;         /* by key */
    size_t last_capacity;
    struct traits_numbers numbers[CN_TRAIT_GROUPS][DIRECTIONS];
    struct cn_text text;
};

struct cn_traits *cn_traits_new(void)
{
    return cn_alloc(1, sizeof(struct cn_traits));
}

void cn_traits_free(struct cn_traits *traits)
{
    if (!traits)
        return;
    cn_names_done(&traits->keys);
    cn_names_done(&traits->values);
    cn_text_done(&traits->text);
    free(traits->counts);
    free(traits->lasts);
    for (int k = 0; k < CN_TRAIT_GROUPS; k++)
        for (int d = 0; d < DIRECTIONS; d++)
            free(traits->numbers[k][d].list);
    free(traits);
}

void cn_traits_begin(struct cn_traits *traits, int group)
{
    traits->group = group;
    traits->item++;
    traits->of[group]++;
}

/* The logarithm of n!; unlike lgamma(), from any thread. */
static double log_factorial(double n)
{
    int sign;

    return lgamma_r(n + 1, &sign);
}

static double log_choose(double n, double k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

double cn_traits_log_tail(uint64_t hits, uint64_t n, uint64_t marked, uint64_t all)
{
    uint64_t most = marked < n ? marked : n;
    double whole = log_choose((double)all, (double)n), largest = -INFINITY, sum = 0;

    /* Terms fall from the first one on where the tail matters. */
    for (uint64_t k = hits; k <= most; k++) {
        if (n - k > all - marked)
            continue;
        double term = log_choose((double)marked, (double)k) +
                      log_choose((double)(all - marked), (double)(n - k)) - whole;
        if (term > largest) {
            sum = sum * exp(largest - term) + 1;
            largest = term;
        } else {
            sum += exp(term - largest);
            if (term < largest - 50)
                break;
        }
    }
    return sum > 0 ? largest + log(sum) : -INFINITY;
}

/* Of the numbers of an item, the greatest and the least are compared with those of others. */
static void add_number(struct cn_traits *traits, uint32_t key, double value)
{
    struct traits_last *last = &traits->lasts[key];
    struct traits_numbers *numbers = traits->numbers[traits->group];
    double *most, *least;

    if (last->item != traits->item) {
        *last = (struct traits_last){traits->item, numbers[ABOVE].count};
        for (int d = 0; d < DIRECTIONS; d++)
            CN_PUSH(numbers[d].list, numbers[d].count, numbers[d].capacity,
                    (struct number){key, value});
    }
    most = &numbers[ABOVE].list[last->at].value;
    least = &numbers[BELOW].list[last->at].value;
    *most = value > *most ? value : *most;
    *least = value < *least ? value : *least;
}

void cn_traits_add(struct cn_traits *traits, const char *key, const char *value,
                   const double *number)
{
    size_t known = traits->values.count, known_keys = traits->keys.count;
    uint32_t key_number = cn_names_add(&traits->keys, key), at;

    if (key_number == known_keys) {
        CN_GROW(traits->lasts, key_number, traits->last_capacity);
        traits->lasts[key_number] = (struct traits_last){0};
    }
    cn_text_clear(&traits->text);
    cn_text_printf(&traits->text, "%u\n", key_number);
    cn_text_add(&traits->text, value, strnlen(value, VALUE_LEN_MAX));
    at = cn_names_add(&traits->values, cn_text_str(&traits->text));
    if (at == known) {
        CN_GROW(traits->counts, at, traits->count_capacity);
        traits->counts[at] = (struct traits_count){.key = key_number};
    }
    if (traits->counts[at].last_item == traits->item)
        return;
    traits->counts[at].last_item = traits->item;
    traits->counts[at].has[traits->group]++;
    if (number && !isnan(*number))
        add_number(traits, key_number, *number);
}

/* What is looked for: what the items of a group have more often than those of the other one. */
struct traits_search {
    const struct cn_traits *traits;
    struct cn_signs *signs;
    struct cn_sign_limits limits;
    int group, other;
    double test_count;
    size_t capacity;
};

/* A sign, if it is one. Of several for a key the surest stays, if only one is wanted; of equally
 * sure ones the first. */
static void offer(struct traits_search *search, const struct cn_sign *sign)
{
    struct cn_signs *signs = search->signs;
    double share[CN_TRAIT_GROUPS], log_p;
    size_t at = 0;

    for (int i = 0; i < CN_TRAIT_GROUPS; i++)
        share[i] = sign->of[i] > 0 ? (double)sign->has[i] / (double)sign->of[i] : 0;
    if (sign->has[search->group] < search->limits.hits_min ||
        share[search->group] < search->limits.share_min ||
        share[search->group] < search->limits.ratio_min * share[search->other])
        return;
    log_p = cn_traits_log_tail(sign->has[search->group], sign->of[search->group],
                               sign->has[search->group] + sign->has[search->other],
                               sign->of[search->group] + sign->of[search->other]) +
            log(search->test_count);
    if (search->limits.chance_max > 0 && log_p > log(search->limits.chance_max))
        return;
    while (at < signs->count &&
           (search->limits.has_all_values || strcmp(signs->list[at].key, sign->key) != 0))
        at++;
    if (at == signs->count) {
        CN_GROW(signs->list, at, search->capacity);
        signs->count++;
    } else if (signs->list[at].log_p <= log_p) {
        return;
    }
    signs->list[at] = *sign;
    signs->list[at].log_p = log_p;
    signs->list[at].key = cn_arena_strdup(&signs->arena, sign->key);
    signs->list[at].value = cn_arena_strdup(&signs->arena, sign->value);
}

/* The numbers of a key: [first, end). */
struct traits_run {
    const struct number *list;
    size_t first, end;
};

static struct traits_run find_run(const struct traits_numbers *numbers, uint32_t key)
{
    struct traits_run run = {.list = numbers->list};

    while (run.first < numbers->count && run.list[run.first].key < key)
        run.first++;
    for (run.end = run.first; run.end < numbers->count && run.list[run.end].key == key;)
        run.end++;
    return run;
}

static uint64_t count_beyond(const struct traits_run *run, int direction, double limit)
{
    uint64_t count = 0;

    for (size_t i = run->first; i < run->end; i++)
        count +=
            direction == ABOVE ? run->list[i].value > limit : run->list[i].value < limit;
    return count;
}

/* Try limits that few items of the other group exceed. */
static void offer_limits(struct traits_search *search, uint32_t key, int direction)
{
    static const double shares[LIMITS] = {0.5, 0.75, 0.9, 0.99, 1};
    const struct cn_traits *traits = search->traits;
    struct traits_run runs[CN_TRAIT_GROUPS], *other = &runs[search->other];

    for (int i = 0; i < CN_TRAIT_GROUPS; i++)
        runs[i] = find_run(&traits->numbers[i][direction], key);
    if (other->end == other->first)
        return;
    for (int i = 0; i < LIMITS; i++) {
        double share = direction == ABOVE ? shares[i] : 1 - shares[i];
        size_t last = other->end - other->first - 1;
        double limit = other->list[other->first + (size_t)((double)last * share)].value;
        char text[32];
        struct cn_sign sign = {.key = traits->keys.list[key],
                               .relation = direction == ABOVE ? '>' : '<',
                               .value = text,
                               .group = search->group};

        (void)snprintf(text, sizeof(text), "%.15g", limit);
        for (int k = 0; k < CN_TRAIT_GROUPS; k++) {
            sign.of[k] = traits->of[k];
            sign.has[k] = count_beyond(&runs[k], direction, limit);
        }
        offer(search, &sign);
    }
}

static void offer_values(struct traits_search *search)
{
    const struct cn_traits *traits = search->traits;

    for (size_t i = 0; i < traits->values.count; i++) {
        const struct traits_count *count = &traits->counts[i];
        struct cn_sign sign = {
            .key = traits->keys.list[count->key],
            .relation = '=',
            .value = strchr(traits->values.list[i], '\n') + 1,
            .group = search->group,
        };

        for (int k = 0; k < CN_TRAIT_GROUPS; k++) {
            sign.has[k] = count->has[k];
            sign.of[k] = traits->of[k];
        }
        offer(search, &sign);
    }
}

void cn_traits_judge(struct cn_traits *traits, const int *groups, size_t group_count,
                     const struct cn_sign_limits *limits, struct cn_signs *signs)
{
    struct traits_search search = {.traits = traits, .signs = signs, .limits = *limits};

    *signs = (struct cn_signs){0};
    for (int k = 0; k < CN_TRAIT_GROUPS; k++)
        for (int d = 0; d < DIRECTIONS; d++)
            CN_SORT(traits->numbers[k][d].list, traits->numbers[k][d].count,
                    CN_UP(struct number, key), CN_UP(struct number, value));
    for (size_t g = 0; g < group_count; g++)
        for (size_t i = 0; i < traits->values.count; i++)
            search.test_count += traits->counts[i].has[groups[g]] >= limits->hits_min;
    search.test_count += (double)(group_count * traits->keys.count * DIRECTIONS * LIMITS);
    for (size_t g = 0; g < group_count; g++) {
        search.group = groups[g];
        search.other = 1 - groups[g];
        offer_values(&search);
        for (uint32_t i = 0; i < traits->keys.count; i++)
            for (int d = 0; d < DIRECTIONS; d++)
                offer_limits(&search, i, d);
    }
    CN_SORT(signs->list, signs->count, CN_UP(struct cn_sign, log_p),
            CN_UP(struct cn_sign, key), CN_UP(struct cn_sign, value));
}

void cn_signs_done(struct cn_signs *signs)
{
    free(signs->list);
    cn_arena_done(&signs->arena);
    *signs = (struct cn_signs){0};
}
