/* cairn why: what the slow calls of a function do that the typical ones do not. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/recording/recording_options.h"
#include "cli/recording/why_print.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "cli/shell/suggest.h"
#include "model/calls/recording.h"

static bool parse_percent(const char *text, char **end, double *out)
{
    double percent = strtod(text, end);

    *out = percent / 100;
    return *end != text && percent >= 0 && percent <= 100;
}

static bool is_end(const char *end)
{
    return end[0] == '\0' || (end[0] == '%' && end[1] == '\0');
}

static bool parse_options(const struct cn_args *args, struct cn_why_options *out,
                          struct cn_error *err)
{
    const char *slowest = cn_args_value(args, "slowest");
    const char *typical = cn_args_value(args, "typical");
    char *end;

    *out = (struct cn_why_options){
        .slowest = 0.01, .typical_from = 0.25, .typical_to = 0.75};
    if (slowest && !(parse_percent(slowest, &end, &out->slowest) && is_end(end) &&
                     out->slowest > 0 && out->slowest <= 0.5))
        return cn_fail(err, CN_ERR_USAGE,
                       "--slowest: '%s' is not a percentage above 0 and up to 50",
                       slowest);
    if (typical && !(parse_percent(typical, &end, &out->typical_from) &&
                     (*end == '-' || strncmp(end, "%-", 2) == 0) &&
                     parse_percent(end + (*end == '-' ? 1 : 2), &end, &out->typical_to) &&
                     is_end(end) && out->typical_from < out->typical_to))
        return cn_fail(err, CN_ERR_USAGE,
                       "--typical: '%s' is not a range of percentages such as 25-75",
                       typical);
    return true;
}

static bool fail_unknown(const struct cn_recording *rec, const char *name,
                         struct cn_error *err)
{
    struct cn_suggestion near = {.typed = name};

    for (uint32_t i = 0; i < rec->function_count; i++)
        cn_suggestion_offer(&near, rec->functions[i].name);
    /* A part of a name is more likely than a mistyped letter. */
    for (uint32_t i = 0; i < rec->function_count && !near.best; i++)
        if (strstr(rec->functions[i].name, name))
            near.best = rec->functions[i].name;
    if (near.best)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s has no function '%s', did you mean '%s'?", rec->path, name,
                       near.best);
    return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no function '%s'; see cairn report",
                   rec->path, name);
}

/* There are no two groups to compare. */
static bool fail_alike(const struct cn_why *why, const char *name, struct cn_error *err)
{
    struct cn_text text = {0};

    if (why->call_count < CN_WHY_CALLS_MIN)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s has %" PRIu64 " calls that returned; at least %d are needed "
                       "to tell slow calls from typical ones",
                       name, why->call_count, CN_WHY_CALLS_MIN);
    cn_duration_print(&text, why->shortest_ns);
    cn_text_str_add(&text, " to ");
    cn_duration_print(&text, why->longest_ns);
    (void)cn_fail(err, CN_ERR_NOT_FOUND,
                  "%s has no slow calls: its %" PRIu64
                  " calls take %s, and fewer than %d "
                  "take longer than the typical ones",
                  name, why->call_count, cn_text_str(&text), CN_WHY_SLOW_MIN);
    cn_text_done(&text);
    return false;
}

static bool show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    struct cn_why_answer answer = {
        .function = arg,
        .data = setup->rec->path,
        .rec = setup->rec,
        .shows_all = cn_args_has(args, "all"),
    };
    struct cn_bar bar;
    bool ok;

    if (!parse_options(args, &answer.options, err))
        return false;
    if (!cn_why_knows(setup->rec, answer.function))
        return fail_unknown(setup->rec, answer.function, err);
    cn_bar_begin(&bar, args);
    setup->query.progress = &bar.progress;
    ok = cn_why_build(&answer.why, &setup->query, answer.function, setup->workers,
                      &answer.options, err);
    setup->query.progress = NULL;
    cn_bar_end(&bar);
    if (ok && answer.why.groups[CN_WHY_SLOW].count > 0) {
        cn_why_rows_build(&answer.rows, &answer.why, answer.function);
        cn_why_signs_find(&answer.signs, &answer.why, setup->rec, NULL, NULL);
        cn_why_times_find(&answer.times, &answer.why);
        cn_why_print(args, &answer);
    }
    if (ok && answer.why.lost_count > 0)
        cn_cli_warn(args, "%" PRIu64 " records were lost while recording",
                    answer.why.lost_count);
    ok = ok && cn_recording_setup_result(setup, &answer.why.damages, err) &&
         (answer.why.groups[CN_WHY_SLOW].count > 0 ||
          fail_alike(&answer.why, answer.function, err));
    cn_why_rows_done(&answer.rows);
    cn_why_signs_done(&answer.signs);
    cn_why_done(&answer.why);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_text name = {0};
    bool ok;

    cn_text_str_add(&name, args->operands[0]);
    ok = cn_recording_show(args, cn_args_find_operand(args, 1), show, name.chars, err);
    cn_text_done(&name);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    {.name = "slowest",
     .value = "PERCENT",
     .help = "the slowest calls to explain (default: 1, at least five calls)"},
    {.name = "typical",
     .value = "FROM-TO",
     .help = "the calls to compare them with, as percentiles of their durations "
             "(default: 25-75)"},
    {.name = "all", .help = "list all contexts, not only those that explain 90 %"},
    CN_RECORDING_THREADS_OPTION,
    {.name = "format",
     .value = "text|json|csv|markdown",
     .help =
         "print sentences and a table (the default), the same as JSON or Markdown, or "
         "the table as CSV"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn why handle_request", "explain the slowest 1 % of its calls"},
    {"cairn why handle_request run.data --slowest 0.1",
     "explain only one call in a thousand"},
    {"cairn why main_loop run.data -r 10s~20s --format markdown",
     "explain the slow calls of ten seconds, for a ticket"},
    {0},
};

const struct cn_command cn_cmd_why = {
    .name = "why",
    .section = CN_SECTION_RECORDING,
    .operands = "FUNC [DIR]",
    .operand_min = 1,
    .operand_max = 2,
    .summary = "show why some calls of a function are slow",
    .description =
        "Compares the slowest 1 % of the calls of FUNC, at least five, with typical "
        "ones: "
        "those between the 25th and the 75th percentile. For each context below FUNC: "
        "the "
        "self time per call of FUNC in both groups, and which share of the difference it "
        "explains. The fewest contexts that explain 90 % come first. Of a recursive "
        "function only the outermost calls count. Calls that did not return are in "
        "neither "
        "group.\n\n"
        "Waiting is blocked or pre-empted if the recording has scheduler events. Locks, "
        "I/O, sleep and memory management are recognised by the names of functions. "
        "Values "
        "of recorded arguments, return values and tasks are listed if slow calls have "
        "them "
        "significantly more often (Fisher's exact test, 1 %, corrected for the number of "
        "values), and times if slow calls are in a run, regular, or parallel.\n\n"
        "Times are corrected for the cost of recording; --raw shows them as "
        "recorded. " CN_RECORDING_THREADS_TEXT "\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
