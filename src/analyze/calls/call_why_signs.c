#include "analyze/calls/call_why_signs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/calls/call_values.h"

enum {
    SLOW_HITS_MIN = 3,   /* calls that have a value */
    VALUE_LEN_MAX = 120, /* longer values are cut */
    LIMITS = 5,          /* limits tried for numbers, in both directions */
};
#define CHANCE_MAX      0.01 /* of listing anything if nothing goes with slowness */
#define SLOW_SHARE_MIN  0.2
#define SHARE_RATIO_MIN 1.5

struct count {
    uint32_t key;
    uint64_t last_call; /* the last one that has it */
    uint64_t has[CN_WHY_GROUPS];
};

struct number {
    uint32_t key;
    double value;
};

struct cn_why_facts {
    int group;     /* of the call whose values are added */
    uint64_t call; /* its number, from 1 */
    struct cn_names keys;
    struct cn_names values; /* number of the key, newline, value */
    struct count *counts;   /* by value */
    size_t count_capacity;
    struct number *numbers[CN_WHY_GROUPS];
    size_t number_counts[CN_WHY_GROUPS], number_capacities[CN_WHY_GROUPS];
    struct cn_text text;
};

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

double cn_why_log_tail(uint64_t hits, uint64_t n, uint64_t marked, uint64_t all)
{
    uint64_t most = marked < n ? marked : n;
    double whole = log_choose((double)all, (double)n), largest = -INFINITY, sum = 0;

    /* Terms fall from the first one on where the tail matters. */
    for (uint64_t k = hits; k <= most; k++) {
        double term;

        if (n - k > all - marked)
            continue;
        term = log_choose((double)marked, (double)k) +
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

void cn_why_facts_add(struct cn_why_facts *facts, const char *key, const char *value,
                      const double *number)
{
    uint32_t key_number = cn_names_add(&facts->keys, key), at;
    size_t known = facts->values.count;

    cn_text_clear(&facts->text);
    cn_text_printf(&facts->text, "%u\n", key_number);
    cn_text_add(&facts->text, value, strnlen(value, VALUE_LEN_MAX));
    at = cn_names_add(&facts->values, cn_text_str(&facts->text));
    if (at == known) {
        facts->counts =
            cn_grow(facts->counts, at, &facts->count_capacity, sizeof(*facts->counts));
        facts->counts[at] = (struct count){.key = key_number};
    }
    if (facts->counts[at].last_call == facts->call)
        return;
    facts->counts[at].last_call = facts->call;
    facts->counts[at].has[facts->group]++;
    if (number) {
        int g = facts->group;

        facts->numbers[g] =
            cn_grow(facts->numbers[g], facts->number_counts[g],
                    &facts->number_capacities[g], sizeof(*facts->numbers[g]));
        facts->numbers[g][facts->number_counts[g]++] =
            (struct number){key_number, *number};
    }
}

static bool is_number(const struct cn_argument_spec *spec)
{
    return strchr("diuxof", spec->format) != NULL;
}

/* The values of the entry or exit of a call. */
static void add_values(const struct cn_recording *rec, const struct cn_why_call *call,
                       enum cn_call_kind kind, struct cn_bytes data,
                       struct cn_why_facts *facts)
{
    struct cn_call record = {.time_ns = call->begin_ns,
                             .function = call->function,
                             .kind = (uint8_t)kind,
                             .flags = CN_CALL_HAS_DATA,
                             .data_len = (uint32_t)data.len};
    struct cn_call_batch batch = {.calls = &record, .count = 1, .data = data};
    struct cn_call_values values;
    struct cn_call_value value;
    struct cn_text text = {0};

    if (data.len == 0)
        return;
    cn_call_values_begin(&values, rec, &batch, &record);
    while (cn_call_values_next(&values, &value)) {
        bool has_number = is_number(value.spec) && value.spec->size > 0;
        double number = 0;
        char key[24];

        if (has_number)
            number = value.spec->format == 'f'
                         ? cn_call_value_real(&values, &value)
                         : (double)cn_call_value_signed(&values, &value);
        cn_text_clear(&text);
        cn_call_value_print(rec, call->task, call->begin_ns, &values, &value, &text);
        (void)snprintf(key, sizeof(key), kind == CN_CALL_ENTER ? "arg%u" : "return value",
                       (unsigned)value.spec->index);
        cn_why_facts_add(facts, key, cn_text_str(&text), has_number ? &number : NULL);
        if (kind == CN_CALL_EXIT)
            break;
    }
    cn_text_done(&text);
}

static void add_call(const struct cn_recording *rec, const struct cn_why_call *call,
                     struct cn_why_facts *facts)
{
    const struct cn_task *task = &rec->tasks[call->task];
    char text[64];

    add_values(rec, call, CN_CALL_ENTER, call->arguments, facts);
    add_values(rec, call, CN_CALL_EXIT, call->result, facts);
    (void)snprintf(text, sizeof(text), "%u (%.40s)", task->tid,
                   task->name ? task->name : "");
    cn_why_facts_add(facts, "task", text, NULL);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct number *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* A sign, if it is one. Of several for a key the surest stays; of equally sure ones the first. */
static void offer(struct cn_why_signs *signs, const struct cn_why_sign *sign,
                  double test_count)
{
    double share[CN_WHY_GROUPS], log_p;
    size_t at = 0;

    for (int i = 0; i < CN_WHY_GROUPS; i++)
        share[i] = sign->of[i] > 0 ? (double)sign->has[i] / (double)sign->of[i] : 0;
    if (sign->has[CN_WHY_SLOW] < SLOW_HITS_MIN || share[CN_WHY_SLOW] < SLOW_SHARE_MIN ||
        share[CN_WHY_SLOW] < SHARE_RATIO_MIN * share[CN_WHY_TYPICAL])
        return;
    log_p = cn_why_log_tail(sign->has[CN_WHY_SLOW], sign->of[CN_WHY_SLOW],
                            sign->has[CN_WHY_SLOW] + sign->has[CN_WHY_TYPICAL],
                            sign->of[CN_WHY_SLOW] + sign->of[CN_WHY_TYPICAL]) +
            log(test_count);
    if (log_p > log(CHANCE_MAX))
        return;
    while (at < signs->count && strcmp(signs->list[at].key, sign->key) != 0)
        at++;
    if (at == signs->count)
        signs->count++;
    else if (signs->list[at].log_p <= log_p)
        return;
    signs->list[at] = *sign;
    signs->list[at].log_p = log_p;
    signs->list[at].key = cn_arena_strdup(&signs->arena, sign->key);
    signs->list[at].value = cn_arena_strdup(&signs->arena, sign->value);
}

/* The numbers of a key: [first, end). */
struct run {
    const struct number *list;
    size_t first, end;
};

static struct run find_run(const struct number *list, size_t count, uint32_t key)
{
    struct run run = {.list = list};

    while (run.first < count && list[run.first].key < key)
        run.first++;
    for (run.end = run.first; run.end < count && list[run.end].key == key;)
        run.end++;
    return run;
}

static uint64_t count_beyond(const struct run *run, char relation, double limit)
{
    uint64_t count = 0;

    for (size_t i = run->first; i < run->end; i++)
        count +=
            relation == '>' ? run->list[i].value > limit : run->list[i].value < limit;
    return count;
}

/* Try limits that few typical calls exceed. */
static void offer_limits(struct cn_why_signs *signs, const struct cn_why_facts *facts,
                         uint32_t key, const uint64_t *of, double test_count)
{
    static const double shares[LIMITS] = {0.5, 0.75, 0.9, 0.99, 1};
    struct run runs[CN_WHY_GROUPS];

    for (int i = 0; i < CN_WHY_GROUPS; i++)
        runs[i] = find_run(facts->numbers[i], facts->number_counts[i], key);
    if (runs[CN_WHY_TYPICAL].end == runs[CN_WHY_TYPICAL].first)
        return;
    for (int i = 0; i < 2 * LIMITS; i++) {
        bool is_above = i < LIMITS;
        double share = is_above ? shares[i] : 1 - shares[i - LIMITS];
        size_t last = runs[CN_WHY_TYPICAL].end - runs[CN_WHY_TYPICAL].first - 1;
        double limit =
            runs[CN_WHY_TYPICAL]
                .list[runs[CN_WHY_TYPICAL].first + (size_t)((double)last * share)]
                .value;
        char text[32];
        struct cn_why_sign sign = {.key = facts->keys.list[key],
                                   .relation = is_above ? '>' : '<',
                                   .value = text};

        (void)snprintf(text, sizeof(text), "%.15g", limit);
        for (int k = 0; k < CN_WHY_GROUPS; k++) {
            sign.of[k] = of[k];
            sign.has[k] = count_beyond(&runs[k], sign.relation, limit);
        }
        offer(signs, &sign, test_count);
    }
}

static int compare_signs(const void *a, const void *b)
{
    const struct cn_why_sign *x = a, *y = b;

    if (x->log_p < y->log_p || x->log_p > y->log_p)
        return x->log_p < y->log_p ? -1 : 1;
    return strcmp(x->key, y->key);
}

static void judge(struct cn_why_signs *signs, struct cn_why_facts *facts,
                  const uint64_t *of)
{
    double test_count = (double)(facts->keys.count * 2 * LIMITS);

    for (size_t i = 0; i < facts->values.count; i++)
        test_count += facts->counts[i].has[CN_WHY_SLOW] >= SLOW_HITS_MIN;
    signs->list = cn_alloc(facts->keys.count, sizeof(*signs->list));
    for (size_t i = 0; i < facts->values.count; i++) {
        const struct count *count = &facts->counts[i];
        struct cn_why_sign sign = {
            .key = facts->keys.list[count->key],
            .relation = '=',
            .value = strchr(facts->values.list[i], '\n') + 1,
        };

        for (int k = 0; k < CN_WHY_GROUPS; k++) {
            sign.has[k] = count->has[k];
            sign.of[k] = of[k];
        }
        offer(signs, &sign, test_count);
    }
    for (int k = 0; k < CN_WHY_GROUPS; k++)
        if (facts->number_counts[k] > 0)
            qsort(facts->numbers[k], facts->number_counts[k], sizeof(*facts->numbers[k]),
                  compare_numbers);
    for (uint32_t i = 0; i < facts->keys.count; i++)
        offer_limits(signs, facts, i, of, test_count);
    if (signs->count > 0)
        qsort(signs->list, signs->count, sizeof(*signs->list), compare_signs);
}

void cn_why_signs_find(struct cn_why_signs *signs, const struct cn_why *why,
                       const struct cn_recording *rec, cn_why_values_fn values, void *arg)
{
    struct cn_why_facts facts = {0};
    uint64_t of[CN_WHY_GROUPS];

    *signs = (struct cn_why_signs){0};
    for (int k = CN_WHY_GROUPS - 1; k >= 0; k--) {
        const struct cn_why_calls *group = &why->groups[k];

        facts.group = k;
        of[k] = group->sample_count;
        for (size_t i = 0; i < group->sample_count; i++) {
            facts.call++;
            if (values)
                values(arg, &group->samples[i], &facts);
            else
                add_call(rec, &group->samples[i], &facts);
        }
    }
    judge(signs, &facts, of);
    cn_names_done(&facts.keys);
    cn_names_done(&facts.values);
    cn_text_done(&facts.text);
    free(facts.counts);
    for (int k = 0; k < CN_WHY_GROUPS; k++)
        free(facts.numbers[k]);
}

void cn_why_signs_done(struct cn_why_signs *signs)
{
    free(signs->list);
    cn_arena_done(&signs->arena);
    *signs = (struct cn_why_signs){0};
}
