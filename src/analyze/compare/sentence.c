#include "analyze/compare/explain.h"

#include <math.h>
#include <string.h>

#include "base/count.h"
#include "base/duration.h"
#include "base/size.h"
#include "base/text.h"

static bool is_time(const struct cn_comparison *c)
{
    return cn_ends_with(c->metric, "(sec)");
}

/* True for sizes of memory; those of events are counted. */
static bool is_bytes(const struct cn_comparison *c)
{
    return cn_ends_with(c->metric, " (B)");
}

/* The size of a cost: "22.5 ms" with three digits, "1,200". */
static void add_size(struct cn_text *text, const struct cn_comparison *c, double value)
{
    double size = fabs(value);

    if (is_time(c) && size < 1e9) {
        double ns = size * 1e9, unit = 1;

        while (ns / unit >= 1000)
            unit *= 10;
        cn_duration_print(text, (uint64_t)(round(ns / unit) * unit));
    } else if (is_bytes(c) && size < 1e18) {
        cn_size_print(text, (uint64_t)size);
    } else if (size < 1e15 && size == floor(size)) {
        cn_count_print(text, (uint64_t)size);
    } else {
        cn_text_printf(text, "%.6g", size);
    }
}

/* Counts of calls are whole numbers, or means of several runs. */
static uint64_t count_of(double calls)
{
    return calls < 1e18 ? (uint64_t)round(calls) : UINT64_MAX;
}

/* ", new, 12 calls", ", called 200 times instead of 100", ", 12 calls as before". */
static void add_kind(struct cn_text *text, const struct cn_comparison *c,
                     const struct cn_change *change)
{
    double a = change->calls[CN_SIDE_A], b = change->calls[CN_SIDE_B];

    if (change->kind != CN_CHANGE_SELF && change->kind != CN_CHANGE_CALLS)
        cn_text_printf(text, ", %s", cn_change_kind_name(change->kind));
    if (!c->has_calls)
        return;
    if (a == 0 || b == 0) {
        cn_text_str_add(text, ", ");
        cn_count_print_of(text, count_of(a + b), "call");
    } else if (fabs(b - a) > 0.01 * fmax(a, b)) {
        cn_text_str_add(text, ", called ");
        cn_count_print_of(text, count_of(b), "time");
        cn_text_str_add(text, " instead of ");
        cn_count_print(text, count_of(a));
    } else {
        cn_text_str_add(text, ", ");
        cn_count_print_of(text, count_of(b), "call");
        cn_text_str_add(text, " as before");
    }
}

static void add_change(struct cn_text *text, const struct cn_comparison *c,
                       const struct cn_change *change)
{
    uint32_t caller = c->nodes[change->node].parent;
    double difference = cn_change_of(change);

    cn_comparison_label_add(text, c, change->node);
    add_kind(text, c, change);
    if (cn_change_has_path(change) && caller != CN_NONE &&
        c->names.list[c->nodes[caller].name][0] != '<')
        cn_text_printf(text, " from %s", c->names.list[c->nodes[caller].name]);
    cn_text_str_add(text, difference < 0 ? ", -" : ", +");
    add_size(text, c, difference);
}

static void add_scaling(struct cn_text *text, const struct cn_comparison *c)
{
    static const char *const per[] = {
        [CN_SCALE_NOT] = "",
        [CN_SCALE_PER_CALL] = "per call, ",
        [CN_SCALE_PER_THREAD] = "per thread, ",
        [CN_SCALE_PER_SECOND] = "per second, ",
        [CN_SCALE_PER_TRACE] = "per trace, ",
        [CN_SCALE_STRONG] = "beyond strong scaling, ",
        [CN_SCALE_WEAK] = "beyond weak scaling, ",
    };

    cn_text_str_add(text, per[c->scaling]);
}

/* "B is 9.8 ms slower", "B has 300 fewer samples". */
static void add_whole(struct cn_text *text, const struct cn_comparison *c)
{
    double difference = c->whole[CN_SIDE_B] - c->whole[CN_SIDE_A];

    if (is_time(c)) {
        cn_text_str_add(text, "B is ");
        add_size(text, c, difference);
        cn_text_str_add(text, difference < 0 ? " faster" : " slower");
    } else if (is_bytes(c)) {
        cn_text_str_add(text, "B has ");
        add_size(text, c, difference);
        cn_text_str_add(text, difference < 0 ? " less " : " more ");
        cn_text_add(text, c->metric, strlen(c->metric) - strlen(" (B)"));
    } else {
        cn_text_str_add(text, "B has ");
        add_size(text, c, difference);
        cn_text_printf(text, difference < 0 ? " fewer %s" : " more %s", c->metric);
    }
}

/* "149 ms and 160 ms", "300 and 310 samples". */
static void add_both(struct cn_text *text, const struct cn_comparison *c)
{
    add_size(text, c, c->whole[CN_SIDE_A]);
    cn_text_str_add(text, " and ");
    add_size(text, c, c->whole[CN_SIDE_B]);
    if (is_bytes(c)) {
        cn_text_char(text, ' ');
        cn_text_add(text, c->metric, strlen(c->metric) - strlen(" (B)"));
    } else if (!is_time(c)) {
        cn_text_printf(text, " %s", c->metric);
    }
}

void cn_explanation_sentence_add(struct cn_text *text, const struct cn_comparison *c,
                                 const struct cn_explanation *e)
{
    bool is_tested = e->over != CN_OVER_NOTHING;
    enum cn_verdict whole = e->whole.evidence.verdict;
    /* A change may be certain where the whole is not. */
    bool has_whole = !is_tested || whole == CN_VERDICT_REAL;
    size_t count = is_tested ? e->real_count : e->shown;

    if (e->changed_count == 0) {
        cn_text_str_add(text, "no difference");
        return;
    }
    add_scaling(text, c);
    if (count == 0 && !has_whole) {
        cn_text_str_add(text, "A and B differ by no more than noise: ");
        add_both(text, c);
        return;
    }
    if (has_whole)
        add_whole(text, c);
    if (count == 0) {
        cn_text_str_add(text, ", but no single change is more than noise");
        return;
    }
    cn_text_str_add(text, has_whole ? ": " : "");
    add_change(text, c, &e->list[0]);
    if (count > 1)
        cn_text_printf(text, " and %zu more change%s", count - 1, count > 2 ? "s" : "");
    if (!is_tested)
        cn_text_str_add(text, "; whether that is noise is unknown");
    if (has_whole)
        return;
    cn_text_str_add(text, whole == CN_VERDICT_UNKNOWN
                              ? "; whether the whole differs is unknown: "
                              : "; the whole differs by no more than noise: ");
    add_both(text, c);
}
