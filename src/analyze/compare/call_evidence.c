#include "analyze/compare/call_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/memory/metrics.h"

static const double same_calls = 0.01; /* numbers of calls that are called equal */
/* The standard error of the recorder's cost, as a share of it, and how many measurements that
 * is worth: larger errors happen more often than those of a known variance. It was measured when the
 * recording began. At a load of 20 on two processors, it differed by 50 and 80 % between
 * the runs of two of ten pairs that had measured it as equal. */
static const double correction_error = 0.25, correction_freedom = 4;

static uint32_t final_node(const struct cn_comparison *c, uint32_t node)
{
    while (node != CN_NONE && c->nodes[node].name == CN_NONE)
        node = c->nodes[node].into;
    return node;
}

/* The durations of a run, by node and duration; to be freed. */
static struct cn_compared_duration *sort_durations(const struct cn_comparison *c,
                                                   const struct cn_compared_run *run,
                                                   size_t *count)
{
    struct cn_compared_duration *list = cn_alloc(run->duration_count, sizeof(*list));

    *count = 0;
    for (size_t i = 0; i < run->duration_count; i++) {
        uint32_t node = final_node(c, run->durations[i].node);

        if (node == CN_NONE)
            continue;
        list[*count] = run->durations[i];
        list[(*count)++].node = node;
    }
    CN_SORT(list, *count, CN_UP(struct cn_compared_duration, node),
            CN_UP(struct cn_compared_duration, ns));
    return list;
}

/* The duration to which longer ones are cut, so that the sum is `wanted_ns`: waiting makes few
 * calls much longer. */
static double find_cut(const struct cn_compared_duration *list, size_t count,
                       double calls, double wanted_ns)
{
    double below_ns = 0;

    for (size_t i = 0; i < count; i++) {
        double cut_ns = (wanted_ns - below_ns) / calls;

        if (cut_ns < list[i].ns)
            return fmax(cut_ns, 0);
        below_ns += list[i].ns * list[i].calls;
        calls -= list[i].calls;
    }
    return INFINITY;
}

/* The variance of the total cost of all calls of a node, in seconds squared, from its durations.
 * NAN if they do not tell: fewer than two, or most calls without one. */
static double variance_of(const struct cn_compared_duration *list, size_t count,
                          double node_calls, double total)
{
    double calls = 0, mean = 0, squares = 0, cut_ns;

    for (size_t i = 0; i < count; i++)
        calls += list[i].calls;
    if (calls < 2 || calls < 0.5 * node_calls)
        return NAN;
    cut_ns = find_cut(list, count, calls, 1e9 * total * calls / node_calls);
    for (size_t i = 0; i < count; i++)
        mean += fmin(list[i].ns, cut_ns) * list[i].calls / calls;
    for (size_t i = 0; i < count; i++) {
        double distance = fmin(list[i].ns, cut_ns) - mean;
        double width_ns = list[i].ns < cut_ns ? list[i].width_ns : 0;

        squares += list[i].calls * (distance * distance + width_ns * width_ns / 12);
    }
    return node_calls * squares / (calls - 1) * 1e-18;
}

/* By node: the variance of its total cost; NAN: unknown. */
static double *find_variances(const struct cn_comparison *c, enum cn_side side)
{
    double *variances = cn_alloc(c->node_count, sizeof(*variances));
    size_t count, end;
    struct cn_compared_duration *list = sort_durations(c, &c->runs[side], &count);

    for (size_t i = 0; i < c->node_count; i++)
        variances[i] = NAN;
    for (size_t first = 0; first < count; first = end) {
        uint32_t node = list[first].node;

        for (end = first; end < count && list[end].node == node;)
            end++;
        if (c->calls[side][node] > 0)
            variances[node] = variance_of(list + first, end - first, c->calls[side][node],
                                          c->total[side][node]);
    }
    free(list);
    return variances;
}

/* The variance of the self cost is what the variances of the callees leave of the total's. */
static void set_variances(struct cn_comparison *c, enum cn_side side)
{
    struct cn_node_error *errors = c->errors[side];
    double *totals = find_variances(c, side);
    double *below = cn_alloc(c->node_count, sizeof(*below));

    for (size_t i = c->order_count; i-- > 0;) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent;
        double total = fmax(totals[node], below[node]); /* of a NAN, the other */
        double calls = c->calls[side][node];

        if (isfinite(totals[node])) {
            errors[node].variance = total - below[node];
            errors[node].rest =
                errors[node].variance * errors[node].variance / fmax(calls - 1, 1);
        } else if (c->self[side][node] != 0) {
            errors[node].variance = NAN;
        }
        if (parent != CN_NONE)
            below[parent] += total;
    }
    free(totals);
    free(below);
}

/* A hook cost in seconds. */
static double seconds_of(uint64_t ps)
{
    return (double)ps * 1e-12;
}

/* The standard errors of what was subtracted from each node: the inner part of the cost of its
 * own calls, the outer part of those of its callees. */
static void set_corrections(struct cn_comparison *c, enum cn_side side)
{
    const struct cn_hook_cost *own = &c->runs[side].recorder;
    const struct cn_hook_cost *other = &c->runs[side == CN_SIDE_A].recorder;
    double inner = seconds_of(own->inner_ps), outer = seconds_of(own->call_ps) - inner;
    double share = correction_error;

    if (own->call_ps > 0 && other->call_ps > 0)
        share = fmax(share, fabs((double)own->call_ps - (double)other->call_ps) /
                                (double)(own->call_ps + other->call_ps));
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent;
        double calls = c->calls[side][node];

        c->errors[side][node].correction += share * inner * calls;
        if (parent != CN_NONE)
            c->errors[side][parent].correction += share * outer * calls;
    }
}

/* The value that a share of the squares of normal values with variance 1 does not exceed. */
static double square_quantile(double share)
{
    double low = 0, high = 10;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (erf(middle / sqrt(2)) < share)
            low = middle;
        else
            high = middle;
    }
    return high * high;
}

/* The cost on which a difference in speed acts, between two costs: their logarithmic mean. Speeds
 * are ratios: half the speed and twice the speed are as likely, and none makes something of nothing. So the
 * difference by this mean is the logarithm of the ratio. */
static double level_of(double a, double b)
{
    if (!(a > 0) || !(b > 0))
        return 0;
    return fabs(b - a) < 1e-6 * a ? a : (b - a) / log(b / a);
}

/* How much of the change of a node that is called as often its own noise does not explain,
 * relative to its cost and squared; -1: it is no reference. Twice the variance of its calls is left
 * to it: chance must not look like a difference between the runs. The error of the correction is not: a slower
 * machine makes it, and it would hide that the machine is slower. */
static double speed_change(const struct cn_comparison *c, uint32_t node)
{
    static const double smallest = 0.005;
    double a = c->self[CN_SIDE_A][node], b = c->self[CN_SIDE_B][node], level, change;
    double calls[CN_SIDES] = {c->calls[CN_SIDE_A][node], c->calls[CN_SIDE_B][node]};
    double noise = 0;

    if (!(a > smallest * c->whole[CN_SIDE_A]) || !(b > smallest * c->whole[CN_SIDE_B]) ||
        !(calls[CN_SIDE_A] > 1) ||
        fabs(calls[CN_SIDE_B] - calls[CN_SIDE_A]) > same_calls * calls[CN_SIDE_A])
        return -1;
    for (int side = 0; side < CN_SIDES; side++) {
        const struct cn_node_error *error = &c->errors[side][node];

        if (isnan(error->variance))
            return -1;
        noise += error->variance;
    }
    level = level_of(a, b);
    change = (b - a) / level;
    return fmax(change * change - 2 * noise / (level * level), 0);
}

/* The variance of the relative speed of the two runs: at least five percent, by which a function
 * may differ between equal runs although its calls in one run agree, and what the nodes tell that
 * are called as often. Half of them may have changes of their own: the middle one counts. */
static void estimate_speed(struct cn_comparison *c)
{
    static const double least = 0.05 * 0.05;
    double *list = cn_alloc(c->order_count, sizeof(*list)), found = 0;
    size_t count = 0, middle;

    for (size_t i = 0; i < c->order_count; i++) {
        double change = speed_change(c, c->order[i]);

        if (change >= 0)
            list[count++] = change;
    }
    CN_SORT_VALUES(list, count);
    if (count > 1) { /* one alone may be what has changed */
        middle = (count - 1) / 2;
        found = list[middle] /
                square_quantile(((double)middle + 0.7) / ((double)count + 0.4));
    }
    c->speed_variance = least + found;
    c->speed_rest = found * found / fmax((double)count / 2, 1);
    free(list);
}

/* Samples of one or more functions. */
struct sampled {
    double cost[CN_SIDES], variance[CN_SIDES];
};

static void add_sampled(struct sampled *to, const struct sampled *from)
{
    for (int side = 0; side < CN_SIDES; side++) {
        to->cost[side] += from->cost[side];
        to->variance[side] += from->variance[side];
    }
}

/* Enough samples on each side that their ratio says something, and a part of the whole that matters. */
static bool is_enough(const struct sampled *s, const struct cn_comparison *c)
{
    static const double smallest = 0.005, error = 0.2;
    bool is_it = true;

    for (int side = 0; side < CN_SIDES; side++)
        is_it &= s->cost[side] > smallest * c->whole[side] &&
                 s->variance[side] <= error * error * s->cost[side] * s->cost[side];
    return is_it;
}

/* The changes of functions. Those with few samples count together, in an order that neither run has: names
 * that one side alone has are at the end. */
static size_t list_changes(const struct cn_comparison *c, const struct sampled *by_name,
                           double *out)
{
    static const size_t steps[] = {7919, 7927}; /* primes: all names are visited */
    size_t names = c->names.count, step = steps[names % steps[0] == 0], count = 0;
    struct sampled few = {0};

    for (size_t i = 0; i < names; i++) {
        const struct sampled *one = &by_name[i * step % names];
        bool is_alone = is_enough(one, c);

        if (!is_alone)
            add_sampled(&few, one);
        if (is_alone || is_enough(&few, c)) {
            const struct sampled *from = is_alone ? one : &few;

            out[count++] = log(from->cost[CN_SIDE_B] / from->cost[CN_SIDE_A]);
            if (!is_alone)
                few = (struct sampled){0};
        }
    }
    return count;
}

/* The same of samples, which do not tell how much the calls of a node differ: the middle one of the
 * changes of functions. A slower machine changes all of them, and few of them have changes of their own. */
static void estimate_sampled_speed(struct cn_comparison *c)
{
    static const size_t enough = 8;
    struct sampled *by_name = cn_alloc(c->names.count, sizeof(*by_name));
    double *list = cn_alloc(c->names.count, sizeof(*list));

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];
        struct sampled one = {0};

        for (int side = 0; side < CN_SIDES; side++) {
            one.cost[side] = c->self[side][node];
            one.variance[side] = c->errors[side][node].variance;
        }
        add_sampled(&by_name[c->nodes[node].name], &one);
    }
    size_t count = list_changes(c, by_name, list);
    CN_SORT_VALUES(list, count);
    if (count >= enough) {
        double middle = (list[(count - 1) / 2] + list[count / 2]) / 2;

        c->speed_variance = middle * middle;
    }
    free(by_name);
    free(list);
}

/* A slower machine allocates as much. */
static bool is_of_memory(const struct cn_comparison *c)
{
    return cn_heap_metric_find(c->metric) < CN_HEAP_METRIC_COUNT;
}

void cn_call_evidence_prepare(struct cn_comparison *c)
{
    enum cn_compare_over over = cn_comparison_over(c);

    for (int side = 0; side < CN_SIDES; side++) {
        c->errors[side] = cn_alloc(c->node_count, sizeof(*c->errors[side]));
        for (size_t i = 0; i < c->node_count && over == CN_OVER_SAMPLES; i++)
            c->errors[side][i].variance =
                (c->runs[side].sample_weights ? c->runs[side].sample_weights[i]
                                              : c->runs[side].sample_weight) *
                fabs(c->self[side][i]);
        if (over == CN_OVER_CALLS) {
            set_variances(c, (enum cn_side)side);
            set_corrections(c, (enum cn_side)side);
        }
    }
    if (over == CN_OVER_CALLS)
        estimate_speed(c);
    else if (over == CN_OVER_SAMPLES && !is_of_memory(c))
        estimate_sampled_speed(c);
}

void cn_cost_error_add(struct cn_cost_error *sum, const struct cn_comparison *c,
                       uint32_t node)
{
    for (int side = 0; side < CN_SIDES; side++) {
        const struct cn_node_error *error = &c->errors[side][node];

        sum->correction[side] += error->correction;
        if (isnan(error->variance)) {
            sum->unknown[side] += fabs(c->self[side][node]);
        } else {
            sum->variance[side] += error->variance;
            sum->rest[side] += error->rest;
        }
    }
}

void cn_cost_error_merge(struct cn_cost_error *into, const struct cn_cost_error *from)
{
    for (int side = 0; side < CN_SIDES; side++) {
        into->variance[side] += from->variance[side];
        into->rest[side] += from->rest[side];
        into->correction[side] += from->correction[side];
        into->unknown[side] += from->unknown[side];
    }
}

/* The test of a difference where the speeds of the runs act on a cost of `level`. */
static struct cn_difference test_at(const struct cn_comparison *c, double difference,
                                    double variance, double rest, double level)
{
    double square = level * level;

    return cn_sum_test(difference, variance + c->speed_variance * square,
                       rest + c->speed_rest * square * square);
}

struct cn_difference cn_cost_error_test(const struct cn_cost_error *error,
                                        const struct cn_comparison *c,
                                        const double value[CN_SIDES], double factor,
                                        double more)
{
    static const double matters = 0.1;
    double base = factor * value[CN_SIDE_A], variance = 0, rest = 0;
    double difference = value[CN_SIDE_B] - base - more;
    struct cn_difference found, chance;

    for (int side = 0; side < CN_SIDES; side++) {
        double scale = side == CN_SIDE_A ? factor * factor : 1;
        double correction = error->correction[side] * error->correction[side];

        if (scale > 0 && error->unknown[side] > matters * fabs(value[side]))
            return (struct cn_difference){difference, NAN, 1};
        variance += scale * (error->variance[side] + correction);
        rest += scale * scale *
                (error->rest[side] + correction * correction / correction_freedom);
    }
    found =
        test_at(c, difference, variance, rest, (fabs(base) + fabs(value[CN_SIDE_B])) / 2);
    chance =
        test_at(c, difference, variance, rest, level_of(base + more, value[CN_SIDE_B]));
    found.p = chance.p;
    return found;
}

/* What the numbers of calls tell of a change. */
enum calls_tell { CALLS_SAME, CALLS_CHANGED, CALLS_EXPLAIN };

static enum calls_tell ask_calls(const struct cn_call_test *test)
{
    static const double enough = 0.3; /* of the change */
    double a = test->calls[CN_SIDE_A], b = test->calls[CN_SIDE_B];
    double change = fabs(test->value[CN_SIDE_B] - test->value[CN_SIDE_A]);

    if (!(fabs(b - a) > same_calls * fmax(a, b)))
        return CALLS_SAME;
    if (a == 0 || b == 0 ||
        fabs(b / a - 1) * fabs(test->value[CN_SIDE_A]) >= enough * change)
        return CALLS_EXPLAIN;
    return CALLS_CHANGED;
}

/* As a share of the whole. Where memory lies differs between equal runs, and moves samples between
 * functions next to each other: more than their number tells. */
static double least_change(const struct cn_comparison *c)
{
    return cn_comparison_over(c) == CN_OVER_SAMPLES && !is_of_memory(c) ? 0.005 : 0;
}

void cn_call_evidence_find(struct cn_evidence *out, const struct cn_call_test *tests,
                           size_t count, const struct cn_comparison *c)
{
    static const double too_small = 0.001, level = 0.01;
    double whole = (fabs(c->whole[CN_SIDE_A]) + fabs(c->whole[CN_SIDE_B])) / 2, limit;
    double *p = cn_alloc(count, sizeof(*p));
    size_t tested = 0;

    for (size_t i = 0; i < count; i++) {
        const double *value = tests[i].value;

        out[i] = (struct cn_evidence){
            .rank_p = NAN,
            .difference = cn_cost_error_test(&tests[i].error, c, value, 1, 0),
            .verdict = CN_VERDICT_NOISE,
        };
        if ((fabs(value[CN_SIDE_A]) + fabs(value[CN_SIDE_B])) / 2 < too_small * whole)
            out[i].verdict = CN_VERDICT_SMALL;
        else if (ask_calls(&tests[i]) == CALLS_EXPLAIN)
            out[i].verdict = CN_VERDICT_REAL;
        else if (isnan(out[i].difference.half_width))
            out[i].verdict = CN_VERDICT_UNKNOWN;
        else
            p[tested++] = out[i].difference.p;
    }
    limit = cn_significant_p(p, tested, level);
    for (size_t i = 0; i < count; i++) {
        if (out[i].verdict != CN_VERDICT_NOISE)
            continue;
        if (out[i].difference.p <= limit &&
            fabs(out[i].difference.difference) >= least_change(c) * whole)
            out[i].verdict = CN_VERDICT_REAL;
        else if (ask_calls(&tests[i]) == CALLS_CHANGED)
            out[i].verdict = CN_VERDICT_UNKNOWN;
    }
    free(p);
}
