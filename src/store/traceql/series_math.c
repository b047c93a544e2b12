#include "store/traceql/series_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/best.h"
#include "base/map.h"

static bool is_name(const struct cn_tql_label *label)
{
    return strcmp(label->name, "__name__") == 0;
}

void cn_tql_labels_print(const struct cn_tql_series *series, struct cn_text *out)
{
    cn_text_char(out, '{');
    for (size_t i = 0; i < series->label_count; i++) {
        const struct cn_tql_label *label = &series->labels[i];
        bool is_text = label->value.type == CN_TQL_STRING;

        cn_text_printf(out, "%s%s=%s", i > 0 ? ", " : "", label->name,
                       is_text ? "\"" : "");
        cn_tql_print(&label->value, out);
        cn_text_str_add(out, is_text ? "\"" : "");
    }
    cn_text_char(out, '}');
}

/* What tells a series from others: its labels without the name of the function. */
static void print_key(const struct cn_tql_series *series, struct cn_text *out)
{
    cn_text_clear(out);
    for (size_t i = 0; i < series->label_count; i++) {
        if (is_name(&series->labels[i]))
            continue;
        cn_text_printf(out, "%s %d ", series->labels[i].name,
                       (int)series->labels[i].value.type);
        cn_tql_print(&series->labels[i].value, out);
        cn_text_char(out, '\n');
    }
}

static double calculate(enum cn_tql_op op, double a, double b)
{
    switch ((unsigned)op) {
    case CN_TQL_ADD:
        return a + b;
    case CN_TQL_SUB:
        return a - b;
    case CN_TQL_MUL:
        return a * b;
    default:
        return b == 0 ? (double)NAN : a / b;
    }
}

/* Series by what tells them apart. */
struct keyed {
    struct cn_names names;
    const struct cn_tql_series **series; /* by number of the name */
    size_t capacity;
    const struct cn_tql_series *bare; /* without labels; NULL: none */
};

static void index_series(struct keyed *keyed, const struct cn_tql_series_set *set)
{
    struct cn_text key = {0};

    for (size_t i = 0; i < set->count; i++) {
        print_key(&set->list[i], &key);
        if (key.len == 0)
            keyed->bare = &set->list[i];
        uint32_t number = cn_names_add(&keyed->names, cn_text_str(&key));
        CN_GROW_TO(keyed->series, (size_t)number + 1, keyed->capacity);
        keyed->series[number] = &set->list[i];
    }
    cn_text_done(&key);
}

static const struct cn_tql_series *find_series(struct keyed *keyed, const char *key)
{
    size_t known = keyed->names.count;
    uint32_t number = cn_names_add(&keyed->names, key);

    if (number < known && keyed->series[number])
        return keyed->series[number];
    if (number >= known) { /* it was not there: it has no series */
        CN_GROW_TO(keyed->series, (size_t)number + 1, keyed->capacity);
        keyed->series[number] = NULL;
    }
    return keyed->bare;
}

static void keyed_done(struct keyed *keyed)
{
    cn_names_done(&keyed->names);
    free(keyed->series);
}

static struct cn_tql_value combined_name(struct cn_tql_metrics *metrics,
                                         enum cn_tql_op op, const struct cn_tql_value *a,
                                         const struct cn_tql_value *b)
{
    struct cn_text text = {0};

    cn_text_char(&text, '(');
    cn_tql_print(a, &text);
    cn_text_printf(&text, " %s ", cn_tql_op_sign(op));
    cn_tql_print(b, &text);
    cn_text_char(&text, ')');
    const char *copy = cn_arena_copy(&metrics->arena, cn_text_str(&text), text.len);
    struct cn_tql_value value =
        cn_tql_text((struct cn_bytes){(const uint8_t *)copy, text.len});
    cn_text_done(&text);
    return value;
}

static const struct cn_tql_label *find_label(const struct cn_tql_series *series,
                                             const char *name)
{
    for (size_t i = 0; i < series->label_count; i++)
        if (strcmp(series->labels[i].name, name) == 0)
            return &series->labels[i];
    return NULL;
}

/* The labels of both; the name of the function stays if both have one. */
static void join_labels(struct cn_tql_metrics *metrics, enum cn_tql_op op,
                        const struct cn_tql_series *a, const struct cn_tql_series *b,
                        struct cn_tql_series *out)
{
    const struct cn_tql_label *left = find_label(a, "__name__"),
                              *right = find_label(b, "__name__");

    out->labels = cn_arena_alloc(&metrics->arena, a->label_count + b->label_count + 1,
                                 sizeof(*out->labels));
    for (size_t i = 0; i < a->label_count; i++)
        if (!is_name(&a->labels[i]))
            out->labels[out->label_count++] = a->labels[i];
    for (size_t i = 0; i < b->label_count; i++)
        if (!is_name(&b->labels[i]) && !find_label(a, b->labels[i].name))
            out->labels[out->label_count++] = b->labels[i];
    if (left && right)
        out->labels[out->label_count++] = (struct cn_tql_label){
            "__name__", combined_name(metrics, op, &left->value, &right->value)};
}

static struct cn_tql_series join(struct cn_tql_metrics *metrics, enum cn_tql_op op,
                                 const struct cn_tql_series *a,
                                 const struct cn_tql_series *b)
{
    struct cn_tql_series series = {
        .values = cn_arena_alloc(&metrics->arena, metrics->count, sizeof(double)),
        .exemplars = a->exemplar_count > 0 ? a->exemplars : b->exemplars,
        .exemplar_count = a->exemplar_count > 0 ? a->exemplar_count : b->exemplar_count,
    };

    join_labels(metrics, op, a, b, &series);
    for (size_t i = 0; i < metrics->count; i++)
        series.values[i] = calculate(op, a->values[i], b->values[i]);
    return series;
}

void cn_tql_series_join(struct cn_tql_metrics *metrics, enum cn_tql_op op,
                        struct cn_tql_series_set *left,
                        const struct cn_tql_series_set *right)
{
    struct keyed lefts = {0}, rights = {0};
    struct cn_tql_series_set out = {0};
    struct cn_text key = {0};

    index_series(&lefts, left);
    index_series(&rights, right);
    /* The side that has labels decides which series there are. */
    const struct cn_tql_series_set *many = rights.bare ? left : right;
    for (size_t i = 0; i < many->count; i++) {
        print_key(&many->list[i], &key);
        const struct cn_tql_series *a = find_series(&lefts, cn_text_str(&key));
        const struct cn_tql_series *b = find_series(&rights, cn_text_str(&key));

        if (a && b)
            CN_PUSH(out.list, out.count, out.capacity, join(metrics, op, a, b));
    }
    cn_text_done(&key);
    keyed_done(&lefts);
    keyed_done(&rights);
    free(left->list);
    *left = out;
}

static bool compares(enum cn_tql_op op, double a, double b)
{
    struct cn_tql_value left = cn_tql_float(a), right = cn_tql_float(b);
    struct cn_tql_value holds = cn_tql_apply(op, &left, &right, NULL);

    return !isnan(a) && cn_tql_is_true(&holds);
}

static void apply_number(const struct cn_tql_metrics *metrics,
                         const struct cn_tql_node *node, struct cn_tql_series *series)
{
    for (size_t i = 0; i < metrics->count; i++) {
        double *value = &series->values[i];

        if (node->kind == CN_TQL_MATH_LEFT)
            *value = calculate(node->op, node->number, *value);
        else if (node->kind == CN_TQL_MATH_RIGHT)
            *value = calculate(node->op, *value, node->number);
        else if (!compares(node->op, *value, node->number))
            *value = (double)NAN;
    }
}

static int by_labels(const void *a, const void *b)
{
    const struct cn_tql_series *x = a, *y = b;

    for (size_t i = 0; i < x->label_count && i < y->label_count; i++) {
        int order = strcmp(x->labels[i].name, y->labels[i].name);

        if (order == 0)
            order = cn_tql_order(&x->labels[i].value, &y->labels[i].value);
        if (order != 0)
            return order;
    }
    return x->label_count < y->label_count ? -1 : x->label_count > y->label_count;
}

/* Of each interval, keep the points of the largest or smallest values; of equal ones, those of the
 * series whose labels come first. */
static void keep_best(const struct cn_tql_metrics *metrics,
                      const struct cn_tql_node *node, struct cn_tql_series_set *set)
{
    bool *kept = cn_alloc(set->count + 1, sizeof(*kept));
    double sign = node->kind == CN_TQL_TOPK ? 1 : -1;

    for (size_t i = 0; i < metrics->count; i++) {
        struct cn_best best;

        memset(kept, 0, set->count * sizeof(*kept));
        cn_best_init(&best, (size_t)node->limit);
        for (size_t s = 0; s < set->count; s++) {
            struct cn_best_item item =
                cn_best_of_value(sign * set->list[s].values[i], (uint32_t)s);

            if (!isnan(set->list[s].values[i]))
                cn_best_offer(&best, &item);
        }
        cn_best_sort(&best, 0);
        for (size_t b = 0; b < best.count && b < (size_t)node->limit; b++)
            kept[cn_best_number(&best.list[b])] = true;
        cn_best_done(&best);
        for (size_t s = 0; s < set->count; s++)
            if (!kept[s])
                set->list[s].values[i] = (double)NAN;
    }
    free(kept);
}

static void drop_empty(const struct cn_tql_metrics *metrics,
                       struct cn_tql_series_set *set)
{
    size_t kept = 0;

    for (size_t s = 0; s < set->count; s++) {
        size_t i = 0;

        while (i < metrics->count && isnan(set->list[s].values[i]))
            i++;
        if (i < metrics->count)
            set->list[kept++] = set->list[s];
    }
    set->count = kept;
}

void cn_tql_series_apply(struct cn_tql_metrics *metrics, const struct cn_tql_node *node,
                         struct cn_tql_series_set *set)
{
    if (node->kind == CN_TQL_TOPK || node->kind == CN_TQL_BOTTOMK) {
        if (set->count > 1)
            qsort(set->list, set->count, sizeof(*set->list), by_labels);
        if (set->count > (size_t)node->limit)
            keep_best(metrics, node, set);
    } else {
        for (size_t s = 0; s < set->count; s++)
            apply_number(metrics, node, &set->list[s]);
    }
    if (node->kind != CN_TQL_MATH_LEFT && node->kind != CN_TQL_MATH_RIGHT)
        drop_empty(metrics, set);
}

void cn_tql_series_finish(struct cn_tql_metrics *metrics, struct cn_tql_series_set *set)
{
    drop_empty(metrics, set);
    if (set->count > 1)
        qsort(set->list, set->count, sizeof(*set->list), by_labels);
    metrics->series = set->list;
    metrics->series_count = set->count;
    metrics->series_capacity = set->capacity;
}
