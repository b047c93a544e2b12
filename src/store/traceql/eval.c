#include "store/traceql/eval.h"

#include <string.h>

#include "base/map.h"
#include "model/contexts/context.h"

static bool eval_node(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                      const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                      struct cn_error *err);

static struct cn_tql_spansets room_for(struct cn_tql_eval *eval, size_t count)
{
    return (struct cn_tql_spansets){
        cn_arena_alloc(eval->arena, count + 1, sizeof(struct cn_tql_spanset)), 0};
}

/* A copy of a spanset with room for as many spans, and none. */
static struct cn_tql_spanset like(struct cn_tql_eval *eval,
                                  const struct cn_tql_spanset *set, size_t count)
{
    struct cn_tql_spanset copy = *set;

    copy.spans = cn_arena_alloc(eval->arena, count + 1, sizeof(*copy.spans));
    copy.count = 0;
    return copy;
}

static void add_attribute(struct cn_tql_eval *eval, struct cn_tql_spanset *set,
                          const char *name, struct cn_tql_value value)
{
    struct cn_tql_attribute *list =
        cn_arena_alloc(eval->arena, set->attribute_count + 1, sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < set->attribute_count; i++)
        if (strcmp(set->attributes[i].name, name) != 0)
            list[count++] = set->attributes[i];
    list[count++] = (struct cn_tql_attribute){name, value};
    set->attributes = list;
    set->attribute_count = count;
}

/* True if a row that the indexes found does match. */
static bool is_certain(const struct cn_tql_rows *rows, const struct cn_tql_span *span)
{
    const struct cn_rows *doubts = rows->doubts ? &rows->doubts[span->segment] : NULL;

    return rows->is_exact && !(doubts && doubts->words && cn_rows_has(doubts, span->row));
}

bool cn_tql_eval_filter(struct cn_tql_eval *eval, uint32_t filter,
                        const struct cn_tql_span *span, bool *is_match,
                        struct cn_error *err)
{
    const struct cn_tql_filter *of = &cn_tql_view_program(eval->view)->filters[filter];
    const struct cn_rows *rows = NULL;
    struct cn_tql_value value;

    *is_match = false;
    if (of->is_none)
        return true;
    if (eval->filters && eval->filters[filter].segments)
        rows = &eval->filters[filter].segments[span->segment];
    if (rows && (!rows->words || !cn_rows_has(rows, span->row)))
        return true;
    *is_match = true;
    if (rows ? is_certain(&eval->filters[filter], span)
             : of->is_exact && !of->condition[0])
        return true;
    if (!cn_tql_span_value(eval->view, span, &of->expr, &value, err))
        return false;
    *is_match = cn_tql_is_true(&value);
    return true;
}

static bool filter_spans(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                         const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                         struct cn_error *err)
{
    *out = room_for(eval, input->count);
    for (size_t i = 0; i < input->count; i++) {
        const struct cn_tql_spanset *from = &input->list[i];
        struct cn_tql_spanset set = like(eval, from, from->count);

        for (size_t k = 0; k < from->count; k++) {
            bool is_match;

            if (!cn_tql_eval_filter(eval, node->filter,
                                    &eval->trace->spans[from->spans[k]], &is_match, err))
                return false;
            if (is_match)
                set.spans[set.count++] = from->spans[k];
        }
        if (set.count > 0)
            out->list[out->count++] = set;
    }
    return true;
}

static uint8_t *bits_of(struct cn_tql_eval *eval, const struct cn_tql_spansets *sets)
{
    uint8_t *bits = cn_arena_alloc(eval->arena, eval->trace->count + 1, 1);

    memset(bits, 0, eval->trace->count + 1);
    for (size_t i = 0; i < sets->count; i++)
        for (size_t k = 0; k < sets->list[i].count; k++)
            bits[sets->list[i].spans[k]] = 1;
    return bits;
}

static struct cn_tql_spanset
set_of(struct cn_tql_eval *eval, const struct cn_tql_spanset *input, const uint8_t *bits)
{
    struct cn_tql_spanset set = like(eval, input, eval->trace->count);

    for (uint32_t i = 0; i < eval->trace->count; i++)
        if (bits[i])
            set.spans[set.count++] = i;
    return set;
}

/* Both sides of a spanset operator for one spanset. */
static bool combine_sides(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                          const struct cn_tql_spanset *input,
                          const struct cn_tql_spansets *left,
                          const struct cn_tql_spansets *right, struct cn_tql_spanset *out,
                          struct cn_error *err)
{
    uint8_t *bits = bits_of(eval, left), *others = bits_of(eval, right);

    if (node->op == CN_TQL_AND || node->op == CN_TQL_OR) {
        bool is_found = node->op == CN_TQL_OR || (left->count > 0 && right->count > 0);

        for (size_t i = 0; i < eval->trace->count; i++)
            bits[i] = is_found && (bits[i] || others[i]);
        *out = set_of(eval, input, bits);
        return true;
    }
    if (left->count > 1 || right->count > 1)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s relates one spanset of a trace to another, not several: use "
                       "coalesce() after by()",
                       cn_tql_op_sign(node->op));
    uint8_t *related = cn_arena_alloc(eval->arena, eval->trace->count + 1, 1);
    cn_tql_relate(eval->trace, node->op, bits, others, related);
    *out = set_of(eval, input, related);
    return true;
}

static bool operate(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                    const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                    struct cn_error *err)
{
    *out = room_for(eval, input->count);
    for (size_t i = 0; i < input->count; i++) {
        struct cn_tql_spansets one = {&input->list[i], 1}, left, right;
        struct cn_tql_spanset set;

        if (!eval_node(eval, node->left, &one, &left, err) ||
            !eval_node(eval, node->right, &one, &right, err) ||
            !combine_sides(eval, node, &input->list[i], &left, &right, &set, err))
            return false;
        if (set.count > 0)
            out->list[out->count++] = set;
    }
    return true;
}

/* The group of a value, added when it is new. */
static size_t find_group(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                         const struct cn_tql_spanset *from,
                         const struct cn_tql_value *value, struct cn_map *known,
                         struct cn_tql_spansets *out)
{
    uint64_t key = cn_tql_hash(value);
    uint32_t *number;

    while (*(number = cn_map_at(known, key, CN_NONE)) != CN_NONE &&
           !cn_tql_same(&out->list[*number].scalar, value))
        key++;
    if (*number != CN_NONE)
        return *number;
    *number = (uint32_t)out->count++;
    out->list[*number] = *from;
    out->list[*number].count = 0;
    out->list[*number].scalar = *value;
    add_attribute(eval, &out->list[*number], node->text, *value);
    return *number;
}

/* Groups of one spanset, in the order of their first spans. */
static bool group_set(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                      const struct cn_tql_spanset *from, struct cn_tql_spansets *out,
                      struct cn_error *err)
{
    uint32_t *numbers = cn_arena_alloc(eval->arena, from->count + 1, sizeof(*numbers));
    size_t first = out->count;
    struct cn_map known = {0};
    bool ok = true;

    for (size_t k = 0; ok && k < from->count; k++) {
        struct cn_tql_value value;

        ok = cn_tql_span_value(eval->view, &eval->trace->spans[from->spans[k]],
                               &node->expr, &value, err);
        if (ok) {
            numbers[k] = (uint32_t)find_group(eval, node, from, &value, &known, out);
            out->list[numbers[k]].count++;
        }
    }
    cn_map_done(&known);
    for (size_t g = first; ok && g < out->count; g++)
        out->list[g] = like(eval, &out->list[g], out->list[g].count);
    for (size_t k = 0; ok && k < from->count; k++) {
        struct cn_tql_spanset *set = &out->list[numbers[k]];

        set->spans[set->count++] = from->spans[k];
    }
    return ok;
}

static bool group(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                  const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                  struct cn_error *err)
{
    size_t spans = 0;

    for (size_t i = 0; i < input->count; i++)
        spans += input->list[i].count;
    *out = room_for(eval, spans);
    for (size_t i = 0; i < input->count; i++)
        if (!group_set(eval, node, &input->list[i], out, err))
            return false;
    return true;
}

static void coalesce(struct cn_tql_eval *eval, const struct cn_tql_spansets *input,
                     struct cn_tql_spansets *out)
{
    static const struct cn_tql_spanset none;

    *out = room_for(eval, 1);
    out->list[0] = set_of(eval, &none, bits_of(eval, input));
    out->count = out->list[0].count > 0;
}

/* What an aggregate has added up. */
struct aggregate_sum {
    struct cn_tql_value value;
    uint64_t count;
};

static void add_to_sum(enum cn_tql_function function, struct aggregate_sum *sum,
                       const struct cn_tql_value *value)
{
    if (!cn_tql_is_numeric(value->type))
        return;
    sum->count++;
    if (sum->count == 1)
        sum->value = *value;
    else if (function == CN_TQL_MIN)
        sum->value = cn_tql_compare(value, &sum->value) < 0 ? *value : sum->value;
    else if (function == CN_TQL_MAX)
        sum->value = cn_tql_compare(value, &sum->value) > 0 ? *value : sum->value;
    else if (sum->value.type == value->type && value->type != CN_TQL_FLOAT)
        sum->value.integer =
            (int64_t)((uint64_t)sum->value.integer + (uint64_t)value->integer);
    else
        sum->value = cn_tql_float(cn_tql_as_float(&sum->value) + cn_tql_as_float(value));
}

static struct cn_tql_value average(const struct aggregate_sum *sum)
{
    if (sum->value.type == CN_TQL_DURATION)
        return cn_tql_duration(sum->value.integer / (int64_t)sum->count);
    return cn_tql_float(cn_tql_as_float(&sum->value) / (double)sum->count);
}

/* nil if no span has a number. */
static bool aggregate(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                      struct cn_tql_spanset *set, struct cn_tql_value *out,
                      struct cn_error *err)
{
    struct aggregate_sum sum = {.value = cn_tql_nil()};

    for (size_t k = 0; node->function != CN_TQL_COUNT && k < set->count; k++) {
        struct cn_tql_value value;

        if (!cn_tql_span_value(eval->view, &eval->trace->spans[set->spans[k]],
                               &node->expr, &value, err))
            return false;
        if (value.type == CN_TQL_LIST && value.is_any)
            value = value.list[0];
        add_to_sum(node->function, &sum, &value);
    }
    *out = sum.value;
    if (node->function == CN_TQL_COUNT)
        *out = cn_tql_int((int64_t)set->count);
    else if (node->function == CN_TQL_AVG && sum.count > 0)
        *out = average(&sum);
    if (out->type != CN_TQL_NIL)
        add_attribute(eval, set, node->text, *out);
    return true;
}

/* The number of a spanset; `set` gets the spans and attributes that it is made of. */
static bool scalar_of(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                      struct cn_tql_spanset *set, struct cn_tql_value *out,
                      struct cn_error *err)
{
    struct cn_tql_spansets one = {set, 1}, sets;
    struct cn_tql_value left, right;

    switch ((int)node->kind) {
    case CN_TQL_SCALAR:
        *out = node->value;
        return true;
    case CN_TQL_AGGREGATE:
        return aggregate(eval, node, set, out, err);
    case CN_TQL_PIPELINE:
        if (!eval_node(eval, node, &one, &sets, err))
            return false;
        *out = sets.count > 0 ? sets.list[0].scalar : cn_tql_nil();
        return true;
    default:
        break;
    }
    if (!scalar_of(eval, node->left, set, &left, err) ||
        !scalar_of(eval, node->right, set, &right, err))
        return false;
    *out = cn_tql_apply(node->op, &left, &right, NULL);
    return true;
}

/* The spans of pipelines that are compared are the answer. */
static bool add_spans_of(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                         const struct cn_tql_spanset *set, uint8_t *bits, bool *is_piped,
                         struct cn_error *err)
{
    struct cn_tql_spanset copy = *set;
    struct cn_tql_spansets one = {&copy, 1}, sets;

    if (!node)
        return true;
    if (node->kind == CN_TQL_PIPELINE) {
        *is_piped = true;
        if (!eval_node(eval, node, &one, &sets, err))
            return false;
        const uint8_t *more = bits_of(eval, &sets);
        for (size_t i = 0; i < eval->trace->count; i++)
            bits[i] |= more[i];
        return true;
    }
    return add_spans_of(eval, node->left, set, bits, is_piped, err) &&
           add_spans_of(eval, node->right, set, bits, is_piped, err);
}

static bool filter_scalars(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                           const struct cn_tql_spansets *input,
                           struct cn_tql_spansets *out, struct cn_error *err)
{
    *out = room_for(eval, input->count);
    for (size_t i = 0; i < input->count; i++) {
        struct cn_tql_spanset set = input->list[i];
        struct cn_tql_value left, right, holds;
        bool is_piped = false;

        if (!scalar_of(eval, node->left, &set, &left, err) ||
            !scalar_of(eval, node->right, &set, &right, err))
            return false;
        holds = cn_tql_apply(node->op, &left, &right, NULL);
        if (!cn_tql_is_true(&holds))
            continue;
        uint8_t *bits = cn_arena_alloc(eval->arena, eval->trace->count + 1, 1);
        memset(bits, 0, eval->trace->count + 1);
        if (!add_spans_of(eval, node, &input->list[i], bits, &is_piped, err))
            return false;
        if (is_piped)
            set = set_of(eval, &set, bits);
        if (set.count > 0)
            out->list[out->count++] = set;
    }
    return true;
}

static bool add_scalars(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                        const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                        struct cn_error *err)
{
    *out = room_for(eval, input->count);
    for (size_t i = 0; i < input->count; i++) {
        struct cn_tql_spanset set = input->list[i];

        if (!aggregate(eval, node, &set, &set.scalar, err))
            return false;
        if (set.scalar.type != CN_TQL_NIL)
            out->list[out->count++] = set;
    }
    return true;
}

static bool run_stages(struct cn_tql_eval *eval, const struct cn_tql_node *stage,
                       const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                       struct cn_error *err)
{
    *out = *input;
    for (; stage && out->count > 0; stage = stage->next) {
        struct cn_tql_spansets before = *out;

        if (!eval_node(eval, stage, &before, out, err))
            return false;
    }
    return true;
}

/* The depth of nodes is limited by the parser. */
static bool eval_node(struct cn_tql_eval *eval, const struct cn_tql_node *node,
                      const struct cn_tql_spansets *input, struct cn_tql_spansets *out,
                      struct cn_error *err)
{
    switch ((int)node->kind) {
    case CN_TQL_FILTER:
        return filter_spans(eval, node, input, out, err);
    case CN_TQL_SPANSET_OP:
        return operate(eval, node, input, out, err);
    case CN_TQL_PIPELINE:
        return run_stages(eval, node->stages, input, out, err);
    case CN_TQL_BY:
        return group(eval, node, input, out, err);
    case CN_TQL_COALESCE:
        coalesce(eval, input, out);
        return true;
    case CN_TQL_SCALAR_FILTER:
        return filter_scalars(eval, node, input, out, err);
    case CN_TQL_AGGREGATE:
        return add_scalars(eval, node, input, out, err);
    default:
        *out = *input; /* select() names what is shown */
        return true;
    }
}

static struct cn_tql_spansets all_spans(struct cn_tql_eval *eval)
{
    static const struct cn_tql_spanset none;
    struct cn_tql_spansets input = room_for(eval, 1);

    input.list[0] = like(eval, &none, eval->trace->count);
    for (uint32_t i = 0; i < eval->trace->count; i++)
        if (eval->trace->spans[i].time_ns >= eval->first_ns &&
            eval->trace->spans[i].time_ns <= eval->last_ns)
            input.list[0].spans[input.list[0].count++] = i;
    input.count = input.list[0].count > 0;
    return input;
}

bool cn_tql_eval(struct cn_tql_eval *eval, const struct cn_tql_node *root,
                 struct cn_tql_spansets *out, struct cn_error *err)
{
    struct cn_tql_spansets input = all_spans(eval);

    return eval_node(eval, root, &input, out, err);
}

bool cn_tql_eval_stages(struct cn_tql_eval *eval, const struct cn_tql_node *stages,
                        struct cn_tql_spansets *out, struct cn_error *err)
{
    struct cn_tql_spansets input = all_spans(eval);

    return run_stages(eval, stages, &input, out, err);
}
