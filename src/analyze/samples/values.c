/* Parents have smaller numbers than their children: one pass from the last context to the
 * first propagates all values. A context has a list of cells sorted by metric, so work and
 * memory grow with the number of values, not with contexts times metrics.
 */
#include "analyze/samples/values.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/samples/sum.h"
#include "base/alloc.h"

enum { WORD_BITS = 64 };

void cn_value_list_add(struct cn_value_list *list, struct cn_value value)
{
    CN_PUSH(list->values, list->count, list->capacity, value);
}

/* Resize an array; new elements are zero. */
static void *grow_zeroed(void *array, size_t old_count, size_t count, size_t size)
{
    char *grown = cn_realloc(array, count, size);

    memset(grown + old_count * size, 0, (count - old_count) * size);
    return grown;
}

void cn_sampled_values_fit(struct cn_sampled_values *v, size_t needed)
{
    size_t capacity = (needed * 2 + WORD_BITS) / WORD_BITS * WORD_BITS;

    if (needed <= v->head_capacity)
        return;
    v->heads = grow_zeroed(v->heads, v->head_capacity, capacity, sizeof(*v->heads));
    v->summary_heads = grow_zeroed(v->summary_heads, v->head_capacity, capacity,
                                   sizeof(*v->summary_heads));
    v->touched = grow_zeroed(v->touched, v->head_capacity / WORD_BITS,
                             capacity / WORD_BITS, sizeof(*v->touched));
    v->summed = grow_zeroed(v->summed, v->head_capacity / WORD_BITS, capacity / WORD_BITS,
                            sizeof(*v->summed));
    v->head_capacity = capacity;
}

void cn_sampled_values_begin(struct cn_sampled_values *v, size_t context_count)
{
    cn_sampled_values_fit(v, context_count);
    v->cell_count = 1;
    v->last_cell = 0;
    v->first_word = SIZE_MAX;
    v->end_word = 0;
}

static void touch(struct cn_sampled_values *v, uint32_t context)
{
    size_t word = context / WORD_BITS;

    v->touched[word] |= UINT64_C(1) << context % WORD_BITS;
    if (word < v->first_word)
        v->first_word = word;
    if (word >= v->end_word)
        v->end_word = word + 1;
}

/* Insert a cell after cell `before` of a context; 0: at the front. */
static uint32_t insert(struct cn_sampled_values *v, uint32_t context, uint32_t before,
                       uint32_t metric)
{
    uint32_t *link, cell = (uint32_t)v->cell_count;

    CN_GROW(v->cells, v->cell_count, v->cell_capacity);
    link = before ? &v->cells[before].next : &v->heads[context];
    v->cells[cell] = (struct cn_sampled_cell){.next = *link, .metric = metric};
    *link = cell;
    v->cell_count++;
    return cell;
}

void cn_sampled_values_add(struct cn_sampled_values *v, uint32_t context, uint32_t metric,
                           double value)
{
    uint32_t before = 0, at = v->heads[context];

    if (at == 0)
        touch(v, context);
    if (v->last_context == context && v->last_cell != 0 &&
        v->cells[v->last_cell].metric <= metric)
        at = v->last_cell;
    while (at != 0 && v->cells[at].metric < metric) {
        before = at;
        at = v->cells[at].next;
    }
    if (at == 0 || v->cells[at].metric != metric)
        at = insert(v, context, before, metric);
    v->cells[at].point += value;
    v->cells[at].has_point = true;
    v->last_context = context;
    v->last_cell = at;
}

void cn_sampled_values_spread(struct cn_sampled_values *v,
                              const struct cn_sampled_share *shares, uint32_t metric,
                              bool is_moved, double value)
{
    for (const struct cn_sampled_share *at = shares;; at++) {
        if (at->weight != 0)
            cn_sampled_values_add(v, is_moved ? at->first : at->last, metric,
                                  value * at->weight);
        if (at->is_last)
            break;
    }
}

/* Add the cells of a child to those of its parent; both lists are sorted. */
static void carry_up(struct cn_sampled_values *v, uint32_t child)
{
    const struct cn_sampled_context *context = cn_sampled_context_at(v->contexts, child);
    bool is_lexical = context->relation == CN_LEXICAL;
    bool is_loop = context->kind == CN_CONTEXT_LOOP;
    uint32_t before = 0, to = v->heads[context->parent];

    if (to == 0)
        touch(v, context->parent);
    for (uint32_t from = v->heads[child]; from != 0; from = v->cells[from].next) {
        uint32_t metric = v->cells[from].metric;

        while (to != 0 && v->cells[to].metric < metric) {
            before = to;
            to = v->cells[to].next;
        }
        if (to == 0 || v->cells[to].metric != metric)
            to = insert(v, context->parent, before, metric);
        v->cells[to].execution += v->cells[from].execution;
        if (is_lexical)
            v->cells[to].function += v->cells[from].function;
        if (is_lexical && !is_loop)
            v->cells[to].no_loops += v->cells[from].no_loops;
    }
}

static void propagate(struct cn_sampled_values *v)
{
    for (size_t word = v->end_word; word-- > v->first_word;) {
        /* A parent may be in the same word: read it again for each bit. */
        for (unsigned bit = WORD_BITS; bit-- > 0;) {
            uint32_t context = (uint32_t)(word * WORD_BITS + bit);

            if (!(v->touched[word] >> bit & 1))
                continue;
            for (uint32_t at = v->heads[context]; at != 0; at = v->cells[at].next) {
                v->cells[at].function += v->cells[at].point;
                v->cells[at].no_loops += v->cells[at].point;
                v->cells[at].execution += v->cells[at].point;
            }
            if (context != 0)
                carry_up(v, context);
        }
    }
}

/* The summary cell of a metric in a context. `*before` is a cell of a smaller metric, or 0,
 * and becomes the result. */
static uint32_t find_summary(struct cn_sampled_values *v, uint32_t context,
                             uint32_t *before, uint32_t metric)
{
    size_t number_count =
        cn_sampled_number_count(&v->metrics->list[metric], v->is_hpcprof_compatible);
    uint32_t at = *before ? v->summary[*before].next : v->summary_heads[context];
    uint32_t *link, cell;

    while (at != 0 && v->summary[at].metric < metric) {
        *before = at;
        at = v->summary[at].next;
    }
    if (at != 0 && v->summary[at].metric == metric)
        return *before = at;
    if (v->summary_count == 0)
        v->summary_count = 1;
    CN_GROW(v->summary, v->summary_count, v->summary_capacity);
    cell = (uint32_t)v->summary_count++;
    link = *before ? &v->summary[*before].next : &v->summary_heads[context];
    v->summary[cell] = (struct cn_summary_cell){*link, metric, v->number_count};
    *link = cell;
    CN_GROW_TO(v->numbers, v->number_count + number_count, v->number_capacity);
    for (size_t i = 0; i < number_count; i++)
        v->numbers[v->number_count++] = 0;
    return *before = cell;
}

static void emit_cell(struct cn_sampled_values *v, uint32_t context, uint32_t *before,
                      const struct cn_sampled_cell *cell, struct cn_value_list *out)
{
    const struct cn_measured_metric *metric = &v->metrics->list[cell->metric];
    bool is_loop = cn_sampled_context_at(v->contexts, context)->kind == CN_CONTEXT_LOOP;
    double of_scope[CN_SAMPLED_SCOPE_COUNT] = {
        [CN_SAMPLED_POINT] = cell->point,
        [CN_SAMPLED_FUNCTION] = cell->function,
        [CN_SAMPLED_LEX_AWARE] = is_loop ? cell->no_loops : cell->function,
        [CN_SAMPLED_EXECUTION] = cell->execution,
    };
    uint32_t at = find_summary(v, context, before, cell->metric);
    double *numbers = v->numbers + v->summary[at].numbers;

    cn_sampled_numbers_add(metric, v->is_hpcprof_compatible, numbers, of_scope);
    numbers += cn_sampled_number_count(metric, v->is_hpcprof_compatible) -
               CN_SAMPLED_SCOPE_COUNT;
    /* In the profile of a thread, hpcprof ignores that a context is a loop if nothing was
     * measured at the loop itself. */
    if (v->is_hpcprof_compatible && !cell->has_point)
        of_scope[CN_SAMPLED_LEX_AWARE] = cell->function;
    CN_GROW_TO(out->values, out->count + CN_SAMPLED_SCOPE_COUNT, out->capacity);
    for (uint16_t scope = 0; scope < CN_SAMPLED_SCOPE_COUNT; scope++)
        if (of_scope[scope] != 0 && cn_measured_metric_has(metric, scope)) {
            out->values[out->count++] = (struct cn_value){
                of_scope[scope], context, (uint16_t)(metric->first_id + scope)};
            numbers[scope]++;
        }
}

void cn_sampled_values_finish(struct cn_sampled_values *v, struct cn_value_list *out)
{
    propagate(v);
    out->context_count = 0;
    if (v->end_word > v->summed_end)
        v->summed_end = v->end_word;
    for (size_t word = v->first_word; word < v->end_word; word++) {
        v->summed[word] |= v->touched[word];
        for (uint64_t bits = v->touched[word]; bits != 0; bits &= bits - 1) {
            uint32_t context =
                (uint32_t)(word * WORD_BITS + (size_t)ffsll((long long)bits) - 1);
            size_t count = out->count;
            uint32_t before = 0;

            for (uint32_t at = v->heads[context]; at != 0; at = v->cells[at].next)
                emit_cell(v, context, &before, &v->cells[at], out);
            v->heads[context] = 0;
            out->context_count += out->count > count;
        }
        v->touched[word] = 0;
    }
}

struct cn_sampled_sum *cn_sampled_values_sum_up(struct cn_sampled_values *v)
{
    size_t count = v->summary_count ? v->summary_count - 1 : 0;
    struct cn_sampled_sum *sum = cn_sampled_sum_new(count, v->number_count);

    for (size_t word = 0; word < v->summed_end; word++) {
        for (uint64_t bits = v->summed[word]; bits != 0; bits &= bits - 1) {
            uint32_t context =
                (uint32_t)(word * WORD_BITS + (size_t)ffsll((long long)bits) - 1);

            for (uint32_t at = v->summary_heads[context]; at != 0;
                 at = v->summary[at].next)
                cn_sampled_sum_add(
                    sum, (struct cn_sampled_sum_cell){context, v->summary[at].metric},
                    v->numbers + v->summary[at].numbers,
                    cn_sampled_number_count(&v->metrics->list[v->summary[at].metric],
                                            v->is_hpcprof_compatible));
            v->summary_heads[context] = 0;
        }
        v->summed[word] = 0;
    }
    v->summed_end = 0;
    v->summary_count = 0;
    v->number_count = 0;
    return sum;
}

void cn_sampled_values_done(struct cn_sampled_values *v)
{
    free(v->cells);
    free(v->heads);
    free(v->touched);
    free(v->summed);
    free(v->summary);
    free(v->summary_heads);
    free(v->numbers);
}
