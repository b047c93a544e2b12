#include "cli/why/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/duration.h"
#include "base/size.h"
#include "cli/print/quantity.h"
#include "model/calls/recording.h"

enum {
    ROWS_TOLD = 3, /* contexts that have a sentence of their own */
    SIGNS_TOLD = 3,
    NS_A_SECOND = 1000000000,
};
#define CALLS_RATIO_MIN 1.5  /* more calls than typical */
#define KIND_SHARE_MIN  0.05 /* kinds below are not told */
#define SPREAD_SHARE    0.5  /* the first contexts explain less: it is spread over many */
#define NARROW_SHARE    0.6  /* of the difference, in the total of one context */

static struct cn_text *next_sentence(struct cn_why_sentences *sentences)
{
    return &sentences->list[sentences->count < CN_WHY_SENTENCES_MAX
                                ? sentences->count++
                                : CN_WHY_SENTENCES_MAX - 1];
}

void cn_why_ns_add(struct cn_text *text, double ns)
{
    if (ns < 0)
        cn_text_char(text, '-');
    cn_duration_print(text, (uint64_t)llround(fabs(ns)));
}

/* "98", "0.4", "<0.1" percent, without the sign. */
void cn_why_percent_add(struct cn_text *text, double share)
{
    double percent = 100 * share;

    if (percent > 0 && percent < 0.1)
        cn_text_str_add(text, "<0.1");
    else
        cn_text_printf(text,
                       fabs(percent) < 10 && fabs(percent - round(percent)) >= 0.05
                           ? "%.1f"
                           : "%.0f",
                       percent);
    cn_text_str_add(text, " %");
}

void cn_why_times_add(struct cn_text *text, double calls)
{
    cn_text_printf(text, calls >= 100 ? "%.0f" : calls >= 10 ? "%.1f" : "%.2f", calls);
}

static const char *context_name(const struct cn_why_answer *answer, uint32_t context)
{
    const struct cn_why_context *at = &answer->why.contexts[context];

    return context == 0 ? answer->function
           : at->name   ? at->name
                        : (at->is_preempted ? "(pre-empted)" : "(blocked)");
}

/* "parse > read > (blocked)", below the function; the middle of a long path is left out. */
void cn_why_path_add(struct cn_text *text, const struct cn_why_answer *answer,
                     uint32_t context, size_t len_max)
{
    const struct cn_why_context *contexts = answer->why.contexts;
    uint32_t depth = 0, shown, *path;
    size_t len = 0;

    for (uint32_t at = context; at != 0; at = contexts[at].parent)
        depth++;
    if (depth == 0) {
        cn_utf8_add_printable(text, answer->function);
        return;
    }
    path = cn_alloc(depth, sizeof(*path));
    for (uint32_t at = context, i = depth; at != 0; at = contexts[at].parent)
        path[--i] = at;
    /* The innermost contexts that fit, and the outermost one. */
    for (shown = depth; shown > 0; shown--) {
        len += strlen(context_name(answer, path[shown - 1])) + 3;
        if (len > len_max && shown < depth)
            break;
    }
    for (uint32_t i = 0; i < depth; i++) {
        if (i > 0 && i < shown) {
            if (i == 1)
                cn_text_str_add(text, " > ...");
            continue;
        }
        cn_text_str_add(text, i > 0 ? " > " : "");
        cn_utf8_add_printable(text, context_name(answer, path[i]));
    }
    free(path);
}

static void add_seconds(struct cn_text *text, uint64_t ns)
{
    cn_text_printf(text, "%" PRIu64 ".%09" PRIu64, ns / NS_A_SECOND, ns % NS_A_SECOND);
}

void cn_why_command_add(struct cn_text *text, const struct cn_why_answer *answer,
                        const struct cn_why_call *call)
{
    if (answer->add_command) {
        answer->add_command(answer->arg, call, text);
        return;
    }
    cn_text_printf(text, "cairn replay --tid %" PRIu32 " -r ",
                   answer->rec->tasks[call->task].tid);
    add_seconds(text, call->begin_ns);
    cn_text_char(text, '~');
    add_seconds(text, call->end_ns);
    cn_text_char(text, ' ');
    cn_utf8_add_printable(text, answer->data);
}

/* "This call of handle takes 1.2 ms, ". */
static void add_this_call(struct cn_text *text, const struct cn_why_answer *answer)
{
    cn_text_str_add(text, "This call of ");
    cn_utf8_add_printable(text, answer->function);
    cn_text_str_add(text, " takes ");
    cn_why_ns_add(text, answer->rows.mean_ns[CN_WHY_SLOW]);
    cn_text_str_add(text, ", ");
}

/* "30 slow calls of handle (the slowest 1 %, 28 us or longer) take 1.8 ms on average, ". */
static void add_slow_calls(struct cn_text *text, const struct cn_why_answer *answer)
{
    const struct cn_why_calls *slow = &answer->why.groups[CN_WHY_SLOW];

    cn_count_print_of(text, slow->count, "slow call");
    cn_text_str_add(text, " of ");
    cn_utf8_add_printable(text, answer->function);
    cn_text_str_add(text, " (the slowest ");
    cn_why_percent_add(text, answer->slow_share > 0
                                 ? answer->slow_share
                                 : (double)slow->count / (double)answer->why.call_count);
    cn_text_str_add(text, ", ");
    cn_duration_print(text, slow->shortest_ns);
    cn_text_str_add(text, " or longer) take ");
    cn_why_ns_add(text, answer->rows.mean_ns[CN_WHY_SLOW]);
    cn_text_str_add(text, " on average, ");
}

static void tell_groups(struct cn_why_sentences *sentences,
                        const struct cn_why_answer *answer)
{
    const struct cn_why_calls *typical = &answer->why.groups[CN_WHY_TYPICAL];
    const double *mean_ns = answer->rows.mean_ns;
    struct cn_text *text = next_sentence(sentences);

    if (answer->is_of_one)
        add_this_call(text, answer);
    else
        add_slow_calls(text, answer);
    cn_count_print_of(text, typical->count, "typical call");
    cn_text_str_add(text, " (");
    cn_duration_print(text, typical->shortest_ns);
    cn_text_str_add(text, " to ");
    cn_duration_print(text, typical->longest_ns);
    cn_text_str_add(text, ") ");
    cn_why_ns_add(text, mean_ns[CN_WHY_TYPICAL]);
    if (mean_ns[CN_WHY_TYPICAL] > 0)
        cn_text_printf(text, ": %.*f times as long",
                       mean_ns[CN_WHY_SLOW] < 10 * mean_ns[CN_WHY_TYPICAL] ? 2 : 0,
                       mean_ns[CN_WHY_SLOW] / mean_ns[CN_WHY_TYPICAL]);
    cn_text_char(text, '.');
}

/* The outermost context on the path that slow calls call more often; 0: none. */
static uint32_t find_branch(const struct cn_why_answer *answer, uint32_t context)
{
    const struct cn_why *why = &answer->why;
    uint32_t found = 0;

    for (uint32_t at = context; at != 0; at = why->contexts[at].parent) {
        const struct cn_why_cost *costs = why->contexts[at].costs;
        double slow =
            (double)costs[CN_WHY_SLOW].calls / (double)why->groups[CN_WHY_SLOW].count;
        double typical = (double)costs[CN_WHY_TYPICAL].calls /
                         (double)why->groups[CN_WHY_TYPICAL].count;

        if (why->contexts[at].name && slow >= CALLS_RATIO_MIN * typical)
            found = at;
    }
    return found;
}

static double calls_of(const struct cn_why_answer *answer, uint32_t context, int group)
{
    return (double)answer->why.contexts[context].costs[group].calls /
           (double)answer->why.groups[group].count;
}

/* " Slow calls call X 2.00 times, typical ones never." */
static void add_branch(struct cn_text *text, const struct cn_why_answer *answer,
                       uint32_t branch)
{
    if (branch == 0)
        return;
    cn_text_str_add(text, answer->is_of_one ? " It calls " : " Slow calls call ");
    cn_utf8_add_printable(text, context_name(answer, branch));
    cn_text_char(text, ' ');
    cn_why_times_add(text, calls_of(answer, branch, CN_WHY_SLOW));
    cn_text_str_add(text, " times, typical ones ");
    if (answer->why.contexts[branch].costs[CN_WHY_TYPICAL].calls == 0)
        cn_text_str_add(text, "never");
    else
        cn_why_times_add(text, calls_of(answer, branch, CN_WHY_TYPICAL));
    cn_text_char(text, '.');
}

static void tell_row(struct cn_why_sentences *sentences,
                     const struct cn_why_answer *answer, const struct cn_why_row *row)
{
    struct cn_text *text = next_sentence(sentences);
    const struct cn_why_context *context = &answer->why.contexts[row->context];

    cn_why_percent_add(text, row->share);
    cn_text_str_add(text, " of the difference is ");
    if (row->context == 0) {
        cn_text_str_add(text, "self time of ");
        cn_utf8_add_printable(text, answer->function);
    } else if (!context->name) {
        cn_text_printf(text, "time %s in ",
                       context->is_preempted ? "pre-empted" : "blocked");
        if (row->kind == CN_WHY_LOCK || row->kind == CN_WHY_IO ||
            row->kind == CN_WHY_SLEEP)
            cn_text_printf(text, "the %s call ", cn_why_kind_names[row->kind]);
        cn_why_path_add(text, answer, context->parent, CN_WHY_PATH_MAX);
    } else {
        cn_text_str_add(text, "self time of ");
        cn_why_path_add(text, answer, row->context, CN_WHY_PATH_MAX);
    }
    cn_text_str_add(text, ": ");
    cn_why_ns_add(text, row->self_ns[CN_WHY_SLOW]);
    cn_text_str_add(text, " a call, typically ");
    cn_why_ns_add(text, row->self_ns[CN_WHY_TYPICAL]);
    cn_text_char(text, '.');
    add_branch(text, answer, find_branch(answer, row->context));
}

/* No context explains much alone: name the one that it is below, and how many calls that is. */
static void tell_spread(struct cn_why_sentences *sentences,
                        const struct cn_why_answer *answer)
{
    const struct cn_why_rows *rows = &answer->rows;
    const struct cn_why_row *row = cn_why_rows_narrow(rows, &answer->why, NARROW_SHARE);
    double whole = rows->mean_ns[CN_WHY_SLOW] - rows->mean_ns[CN_WHY_TYPICAL];
    struct cn_text *text = next_sentence(sentences);

    cn_text_str_add(text, "The difference is spread over ");
    cn_count_print_of(text, rows->explaining_count, "context");
    if (row->context != 0) {
        cn_text_str_add(text, "; ");
        cn_why_percent_add(
            text, (row->total_ns[CN_WHY_SLOW] - row->total_ns[CN_WHY_TYPICAL]) / whole);
        cn_text_str_add(text, " of it is in ");
        cn_why_path_add(text, answer, row->context, CN_WHY_PATH_MAX);
        cn_text_str_add(text, " and what it calls: ");
        cn_why_ns_add(text, row->total_ns[CN_WHY_SLOW]);
        cn_text_str_add(text, " a call, typically ");
        cn_why_ns_add(text, row->total_ns[CN_WHY_TYPICAL]);
    }
    cn_text_char(text, '.');
    add_branch(text, answer, find_branch(answer, row->context));
    text = next_sentence(sentences);
    cn_text_str_add(text, answer->is_of_one ? "It makes " : "Slow calls make ");
    cn_why_times_add(text, rows->inner_calls[CN_WHY_SLOW]);
    cn_text_str_add(text, answer->is_of_one ? " calls, typical ones "
                                            : " calls each, typical ones ");
    cn_why_times_add(text, rows->inner_calls[CN_WHY_TYPICAL]);
    cn_text_char(text, '.');
}

static void tell_rows(struct cn_why_sentences *sentences,
                      const struct cn_why_answer *answer)
{
    const struct cn_why_rows *rows = &answer->rows;
    size_t told = rows->explaining_count < ROWS_TOLD ? rows->explaining_count : ROWS_TOLD;
    double share = 0;

    if (told == 0) {
        cn_text_str_add(
            next_sentence(sentences),
            "No context differs by more than its own times do: the table with "
            "--all is noise.");
        return;
    }
    for (size_t i = 0; i < told; i++)
        share += rows->list[i].share;
    if (share < SPREAD_SHARE) {
        tell_spread(sentences, answer);
        return;
    }
    share = 0;
    for (size_t i = 0; i < told; i++)
        tell_row(sentences, answer, &rows->list[i]);
    for (size_t i = told; i < rows->explaining_count; i++)
        share += rows->list[i].share;
    if (told < rows->explaining_count) {
        struct cn_text *text = next_sentence(sentences);

        cn_count_print_of(text, rows->explaining_count - told, "more context");
        cn_text_str_add(text, " explain ");
        cn_why_percent_add(text, share);
        cn_text_char(text, '.');
    }
}

/* How much of the difference is waiting, and for what. */
static void tell_kinds(struct cn_why_sentences *sentences,
                       const struct cn_why_answer *answer)
{
    static const char *const words[CN_WHY_KINDS] = {
        [CN_WHY_RUNNING] = "running",
        [CN_WHY_BLOCKED] = "blocked",
        [CN_WHY_PREEMPTED] = "pre-empted",
        [CN_WHY_LOCK] = "in locks",
        [CN_WHY_IO] = "in I/O",
        [CN_WHY_SLEEP] = "asleep",
        [CN_WHY_MEMORY] = "managing memory",
    };
    const struct cn_why_rows *rows = &answer->rows;
    double whole = rows->mean_ns[CN_WHY_SLOW] - rows->mean_ns[CN_WHY_TYPICAL];
    bool has_waits = false, is_any = false;
    struct cn_text list = {0};

    for (size_t i = 0; i < answer->why.context_count; i++)
        has_waits |= i > 0 && !answer->why.contexts[i].name;
    for (int i = 0; i < CN_WHY_KINDS; i++) {
        double share =
            whole > 0
                ? (rows->kinds_ns[i][CN_WHY_SLOW] - rows->kinds_ns[i][CN_WHY_TYPICAL]) /
                      whole
                : 0;

        if (share < KIND_SHARE_MIN)
            continue;
        cn_text_str_add(&list, list.len > 0 ? ", " : "");
        cn_why_percent_add(&list, share);
        cn_text_printf(&list, " %s",
                       i == CN_WHY_RUNNING && !has_waits ? "running or waiting"
                                                         : words[i]);
        is_any |= i != CN_WHY_RUNNING;
    }
    if (is_any || has_waits)
        cn_text_printf(next_sentence(sentences), "By kind, the difference is %s.",
                       cn_text_str(&list));
    if (!has_waits && !answer->add_command) /* traces never have them */
        cn_text_str_add(next_sentence(sentences),
                        "There are no scheduler events: blocked and pre-empted time is "
                        "part of self time.");
    cn_text_done(&list);
}

static void tell_signs(struct cn_why_sentences *sentences,
                       const struct cn_why_answer *answer)
{
    for (size_t i = 0; i < answer->signs.count && i < SIGNS_TOLD; i++) {
        const struct cn_sign *sign = &answer->signs.list[i];
        struct cn_text *text = next_sentence(sentences);

        cn_utf8_add_printable(text, sign->key);
        cn_text_printf(text, " %c ", sign->relation);
        cn_utf8_add_printable(text, sign->value);
        cn_text_str_add(text, " in ");
        if (answer->is_of_one) {
            cn_text_str_add(text, "this call");
        } else {
            cn_count_print(text, sign->has[CN_WHY_SLOW]);
            cn_text_str_add(text, " of ");
            cn_count_print_of(text, sign->of[CN_WHY_SLOW], "slow call");
        }
        cn_text_str_add(text, " and ");
        cn_why_percent_add(text, (double)sign->has[CN_WHY_TYPICAL] /
                                     (double)sign->of[CN_WHY_TYPICAL]);
        cn_text_str_add(text, " of typical ones.");
    }
}

static void tell_others(struct cn_why_sentences *sentences,
                        const struct cn_why_answer *answer)
{
    const struct cn_sign *sign = answer->others.list;

    if (answer->others.count == 0)
        return;
    struct cn_text *text = next_sentence(sentences);
    cn_text_str_add(text, "During ");
    cn_count_print(text, sign->has[CN_WHY_SLOW]);
    cn_text_str_add(text, " of ");
    cn_count_print_of(text, sign->of[CN_WHY_SLOW], "slow call");
    cn_text_str_add(text, " another task was in ");
    cn_utf8_add_printable(text, sign->value);
    cn_text_str_add(text, ", and during ");
    cn_why_percent_add(text, (double)sign->has[CN_WHY_TYPICAL] /
                                 (double)sign->of[CN_WHY_TYPICAL]);
    cn_text_str_add(text, " of typical ones.");
}

static void tell_gpu(struct cn_why_sentences *sentences,
                     const struct cn_why_answer *answer)
{
    const struct cn_why_gpu *gpu = &answer->gpu;
    double whole_ns =
        answer->rows.mean_ns[CN_WHY_SLOW] - answer->rows.mean_ns[CN_WHY_TYPICAL];
    struct cn_text *text;

    if (gpu->ran) {
        text = next_sentence(sentences);
        cn_why_percent_add(
            text, (gpu->ran_ns[CN_WHY_SLOW] - gpu->ran_ns[CN_WHY_TYPICAL]) / whole_ns);
        cn_text_printf(text, " of the difference is waiting while GPU %" PRIu32 " ran ",
                       gpu->device);
        cn_utf8_add_printable(text, gpu->ran);
        cn_text_str_add(text, ": ");
        cn_why_ns_add(text, gpu->ran_ns[CN_WHY_SLOW]);
        cn_text_str_add(text, " a call, typically ");
        cn_why_ns_add(text, gpu->ran_ns[CN_WHY_TYPICAL]);
        cn_text_char(text, '.');
    }
    if (gpu->late) {
        text = next_sentence(sentences);
        cn_utf8_add_printable(text, gpu->late);
        cn_text_str_add(text, " begins ");
        cn_why_ns_add(text, gpu->late_ns[CN_WHY_SLOW]);
        cn_text_str_add(text, " after its launch, typically ");
        cn_why_ns_add(text, gpu->late_ns[CN_WHY_TYPICAL]);
        if (gpu->before) {
            cn_text_str_add(text, "; the GPU runs ");
            cn_utf8_add_printable(text, gpu->before);
            cn_text_str_add(text, " meanwhile");
        }
        cn_text_char(text, '.');
    }
}

static void add_allocations(struct cn_text *text, double count)
{
    if (count >= 100)
        cn_count_print(text, (uint64_t)(count + 0.5));
    else
        cn_text_printf(text, "%.3g", count);
}

/* "A slow call allocates 12 MiB in 3,000 allocations, a typical one 4 KiB in 2: 98 % of the difference in
 * load_table." */
static void tell_memory(struct cn_why_sentences *sentences,
                        const struct cn_why_answer *answer)
{
    const struct cn_why_memory *memory = &answer->memory;
    struct cn_text *text;

    if (!memory->is_more)
        return;
    text = next_sentence(sentences);
    cn_text_str_add(text, answer->is_of_one ? "It allocates " : "A slow call allocates ");
    cn_size_print(text, (uint64_t)memory->bytes[CN_WHY_SLOW]);
    cn_text_str_add(text, " in ");
    add_allocations(text, memory->allocations[CN_WHY_SLOW]);
    cn_text_printf(text, " allocation%s, a typical one ",
                   memory->allocations[CN_WHY_SLOW] == 1 ? "" : "s");
    cn_size_print(text, (uint64_t)memory->bytes[CN_WHY_TYPICAL]);
    cn_text_str_add(text, " in ");
    add_allocations(text, memory->allocations[CN_WHY_TYPICAL]);
    if (memory->function) {
        cn_text_str_add(text, ": ");
        cn_why_percent_add(text, memory->share < 1 ? memory->share : 1);
        cn_text_str_add(text, " of the difference in ");
        cn_utf8_add_printable(text, memory->function);
    }
    cn_text_char(text, '.');
}

static void tell_times(struct cn_why_sentences *sentences,
                       const struct cn_why_answer *answer)
{
    const struct cn_why_times *times = &answer->times;
    const struct cn_why_calls *slow = &answer->why.groups[CN_WHY_SLOW];
    struct cn_text *text;

    if (times->cluster.slow > 0) {
        text = next_sentence(sentences);
        cn_count_print(text, times->cluster.slow);
        cn_text_str_add(text, " of ");
        cn_count_print_of(text, slow->sample_count, "slow call");
        cn_text_str_add(text, times->cluster.is_first ? " begin in the first "
                                                      : " begin within ");
        cn_duration_print(text, times->cluster.end_ns - (times->cluster.is_first
                                                             ? answer->why.begin_ns
                                                             : times->cluster.begin_ns));
        cn_text_str_add(text, ", when ");
        cn_why_percent_add(text, times->cluster.typical_share);
        cn_text_str_add(text, " of typical calls do (-r ");
        add_seconds(text, times->cluster.begin_ns);
        cn_text_char(text, '~');
        add_seconds(text, times->cluster.end_ns);
        cn_text_str_add(text, ").");
    }
    if (times->period_ns > 0) {
        text = next_sentence(sentences);
        cn_text_str_add(text, "A slow call begins about every ");
        cn_duration_print(text, times->period_ns);
        cn_text_char(text, '.');
    }
    if (2 * times->overlapping > slow->count) {
        text = next_sentence(sentences);
        cn_text_str_add(text, "During ");
        cn_count_print(text, times->overlapping);
        cn_text_str_add(text, " of ");
        cn_count_print_of(text, slow->count, "slow call");
        cn_text_str_add(text, ", another task had one as well.");
    }
}

void cn_why_tell(struct cn_why_sentences *sentences, const struct cn_why_answer *answer)
{
    static const char *const titles[CN_WHY_GROUPS] = {"A typical call", "A slow call"};

    tell_groups(sentences, answer);
    tell_rows(sentences, answer);
    tell_kinds(sentences, answer);
    tell_gpu(sentences, answer);
    tell_memory(sentences, answer);
    tell_signs(sentences, answer);
    if (!answer->is_of_one) {
        tell_others(sentences, answer);
        tell_times(sentences, answer);
    }
    if (answer->why.open_count > 0) {
        struct cn_text *text = next_sentence(sentences);

        cn_count_print_of(text, answer->why.open_count, "call");
        cn_text_str_add(text, " did not return and is not counted.");
    }
    if (answer->note)
        cn_text_str_add(next_sentence(sentences), answer->note);
    for (int i = CN_WHY_GROUPS - 1; i >= 0; i--) {
        struct cn_text *text = next_sentence(sentences);

        cn_text_printf(text, "%s: ",
                       answer->is_of_one && i == CN_WHY_SLOW ? "This call" : titles[i]);
        cn_why_command_add(text, answer, &answer->why.groups[i].example);
    }
}
