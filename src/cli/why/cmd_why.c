/* cairn why: what the slow calls of a function do that the typical ones do not. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/shell/progress.h"
#include "cli/why/print.h"
#include "cli/why/traces.h"
#include "model/calls/recording.h"
#include "store/write/java_import.h"

#define WAITING_SHARE 0.3 /* of the difference: ask what other tasks did */

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

/* The one call that is asked for cannot be explained. */
static bool fail_one(const struct cn_why *why, const char *name, struct cn_error *err)
{
    const struct cn_why_calls *one = &why->groups[CN_WHY_SLOW];
    const struct cn_why_calls *typical = &why->groups[CN_WHY_TYPICAL];
    struct cn_text text = {0};

    if (one->count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "no call of %s that returned is there; see cairn replay", name);
    if (one->count > 1)
        return cn_fail(err, CN_ERR_USAGE,
                       "%" PRIu64 " tasks have a call of %s then; choose one with --tid",
                       one->count, name);
    cn_duration_print(&text, one->total_ns);
    cn_text_str_add(&text, ", typical ones ");
    cn_duration_print(&text, typical->shortest_ns);
    cn_text_str_add(&text, " to ");
    cn_duration_print(&text, typical->longest_ns);
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "this call of %s is not slow: it takes %s", name,
                  cn_text_str(&text));
    cn_text_done(&text);
    return false;
}

/* There are no two groups to compare. */
static bool fail_alike(const struct cn_why *why, const char *name, struct cn_error *err)
{
    struct cn_text text = {0};

    if (why->call_count < CN_WHY_CALLS_MIN)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s has %" PRIu64 " call%s that returned; at least %d are needed "
                       "to tell slow calls from typical ones",
                       name, why->call_count, cn_plural(why->call_count, "", "s"),
                       CN_WHY_CALLS_MIN);
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

struct request {
    const char *function;
    struct cn_why_options options;
    struct cn_why_traces *traces; /* of a store; NULL: a recording */
};

/* True if there is something to explain. */
static bool is_explained(const struct cn_why_answer *answer)
{
    const struct cn_why_calls *slow = &answer->why.groups[CN_WHY_SLOW];
    const struct cn_why_calls *typical = &answer->why.groups[CN_WHY_TYPICAL];

    return answer->is_of_one ? slow->count == 1 && typical->count > 0 &&
                                   slow->total_ns > typical->longest_ns
                             : slow->count > 0;
}

/* NULL if all traces of both groups were loaded; to be released with free(). */
static char *print_note(const struct cn_why_traces *traces)
{
    struct cn_text text = {0};

    if (traces->loaded < traces->wanted) {
        cn_text_str_add(&text, "Estimated: means and shares are those of ");
        cn_count_print(&text, traces->loaded);
        cn_text_str_add(&text, " of ");
        cn_count_print_of(&text, traces->wanted, traces->is_root ? "call" : "trace");
        cn_text_str_add(&text, traces->is_root
                                   ? ", chosen evenly by duration from both groups."
                                   : ", chosen evenly over time.");
    }
    return text.chars;
}

/* True if slow calls wait so much longer that another task may be the reason. */
static bool is_waiting(const struct cn_why_rows *rows)
{
    static const enum cn_why_kind kinds[] = {CN_WHY_BLOCKED, CN_WHY_LOCK,
                                             CN_WHY_PREEMPTED};
    double whole = rows->mean_ns[CN_WHY_SLOW] - rows->mean_ns[CN_WHY_TYPICAL], waits = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        waits += rows->kinds_ns[kinds[i]][CN_WHY_SLOW] -
                 rows->kinds_ns[kinds[i]][CN_WHY_TYPICAL];
    return waits >= WAITING_SHARE * whole;
}

static bool find_reasons(struct cn_why_answer *answer,
                         const struct cn_recording_setup *setup,
                         struct cn_why_traces *traces, struct cn_error *err)
{
    bool ok = true;

    cn_why_rows_build(&answer->rows, &answer->why, answer->function);
    cn_why_signs_find(&answer->signs, &answer->why, answer->rec,
                      traces ? cn_why_traces_values : NULL, traces);
    cn_why_times_find(&answer->times, &answer->why);
    cn_why_gpu_find(&answer->gpu, &answer->why, answer->rec,
                    answer->rows.mean_ns[CN_WHY_SLOW] -
                        answer->rows.mean_ns[CN_WHY_TYPICAL]);
    /* Neighbours of the traces that were loaded were not. */
    if (traces && traces->loaded < traces->wanted)
        answer->times.period_ns = answer->times.overlapping = 0;
    if (!traces)
        ok = cn_why_memory_find(&answer->memory, &answer->why, &setup->query,
                                setup->workers, err);
    if (ok && !traces && setup->query.task_count > 1 && is_waiting(&answer->rows))
        ok = cn_why_others_find(&answer->others, &answer->why, &setup->query,
                                setup->workers, err);
    return ok;
}

static bool show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct request *request = arg;
    struct cn_why_traces *traces = request->traces;
    const struct cn_args *args = setup->args;
    char *note = traces ? print_note(traces) : NULL;
    struct cn_why_answer answer = {
        .function = request->function,
        .data = setup->rec->path,
        .rec = setup->rec,
        .options = request->options,
        .is_of_one = cn_args_has(args, "at") || cn_args_has(args, "id"),
        .shows_all = cn_args_has(args, "all"),
        .note = note,
        .add_command = traces ? cn_why_traces_command : NULL,
        .arg = traces,
        .slow_share = traces && traces->is_root
                          ? (double)traces->slow_count / (double)traces->found
                          : 0,
    };
    struct cn_bar bar;
    bool ok = cn_why_knows(setup->rec, answer.function) ||
              fail_unknown(setup->rec, answer.function, err);

    if (ok && cn_args_has(args, "at")) {
        answer.options.has_at = true;
        ok = cn_recording_setup_time(setup, cn_args_value(args, "at"),
                                     &answer.options.at_ns, err) ||
             cn_fail_in(err, "--at");
    }
    if (ok) {
        cn_bar_begin(&bar, args);
        setup->query.progress = &bar.progress;
        ok = cn_why_build(&answer.why, &setup->query, answer.function, setup->workers,
                          &answer.options, err);
        setup->query.progress = NULL;
        cn_bar_end(&bar);
    }
    if (ok && is_explained(&answer)) {
        ok = find_reasons(&answer, setup, traces, err);
        if (ok)
            cn_why_print(args, &answer);
    }
    if (ok)
        cn_cli_warn_lost(args, answer.why.lost_count);
    ok = ok && cn_recording_setup_result(setup, &answer.why.damages, err) &&
         (is_explained(&answer) ||
          (answer.is_of_one && answer.why.call_count >= CN_WHY_CALLS_MIN
               ? fail_one(&answer.why, answer.function, err)
               : fail_alike(&answer.why, answer.function, err)));
    cn_why_rows_done(&answer.rows);
    cn_signs_done(&answer.signs);
    cn_signs_done(&answer.others);
    cn_why_done(&answer.why);
    free(note);
    return ok;
}

/* Traces of a store. What is damaged is missing, and reported at the end. */
static bool show_store(const struct cn_args *args, const char *path,
                       struct request *request, struct cn_error *err)
{
    struct cn_why_traces traces;
    struct cn_recording_setup setup;
    struct cn_error damage;
    bool is_whole =
        cn_why_traces_open(&traces, path, cn_args_value(args, "query"), request->function,
                           cn_args_value(args, "id"), &request->options, &damage);
    bool ok = false;

    if (traces.unknown.len > 0)
        cn_cli_warn(args, "%s", cn_text_str(&traces.unknown));
    if (!is_whole)
        *err = damage;
    if (traces.found == 0 && is_whole) {
        ok = cn_fail(err, CN_ERR_NOT_FOUND,
                     "%s: no trace has calls of %s; see cairn store search %s --group-by "
                     "root",
                     path, request->function, path);
    } else if (traces.rec && traces.loaded > 0) {
        struct cn_recording *rec = traces.rec;

        traces.rec = NULL;
        request->traces = &traces;
        ok = cn_recording_setup_apply(
                 &setup, args, &(struct cn_recording_source){.path = path}, rec, err) &&
             show(&setup, request, err);
        cn_recording_setup_done(&setup);
        if (ok && !is_whole) {
            *err = damage;
            ok = false;
        }
    }
    cn_why_traces_close(&traces);
    return ok;
}

/* Data without single calls has no slow ones. */
static bool check_calls(const struct cn_args *args, const struct cn_opened *found,
                        bool is_store, struct cn_error *err)
{
    if (!cn_cli_check_kinds(args, found, err))
        return false;
    if (!(found->contains & CN_CALLS))
        return cn_fail(
            err, CN_ERR_USAGE,
            "%s (%s) has costs of contexts, not single calls; use the recording or "
            "the store that it was made from",
            found->path, found->format->name);
    return is_store || (!cn_args_has(args, "id") && !cn_args_has(args, "query")) ||
           cn_fail(err, CN_ERR_USAGE,
                   "%s cannot be searched; copy it with cairn store import first",
                   found->path);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct request request = {.function = args->operands[0]};
    struct cn_recording_source source = {0};
    struct cn_opened found;
    bool is_store, ok;

    if (!parse_options(args, &request.options, err) ||
        !cn_args_exclusive(args, "at", "slowest", err) ||
        !cn_args_exclusive(args, "id", "slowest", err) ||
        !cn_data_path_after_function(args, &source.path, err) ||
        !cn_recording_find(&found, args, source.path, err))
        return false;
    is_store = (found.contains & CN_TRACES) && !cn_java_store_probe(source.path);
    ok = check_calls(args, &found, is_store, err);
    if (ok && !is_store)
        return cn_recording_show_found(args, &source, &found, show, &request, err);
    ok = ok && show_store(args, source.path, &request, err);
    cn_opened_close(&found);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_OPTION("slowest", 0, "PERCENT",
              "the slowest calls to explain (default: 1, at least five calls)"),
    CN_OPTION("typical", 0, "FROM-TO",
              "the calls to compare them with, as percentiles of their durations "
              "(default: 25-75)"),
    CN_OPTION_FOR(CN_FOR_RECORDINGS, "at", 0, "TIME",
                  "explain the one call during TIME, a timestamp (600.5) or elapsed time "
                  "(10ms); --tid chooses the task"),
    CN_OPTION_FOR(
        CN_FOR_STORES, "id", 0, "ID",
        "explain the one trace with this id, or the longest call of FUNC in it"),
    CN_OPTION_FOR(CN_FOR_STORES, "query", 0, "QUERY",
                  "only traces that match; see cairn-store-search(1)"),
    CN_OPTION("all", 0, NULL, "list all contexts, not only those that explain 90 %"),
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
    {"cairn why com.shop.Cart.checkout traces --query 'last 1h'",
     "explain slow requests in a store of traces"},
    {"cairn why handle_request run.data --at 51842.648028861", "explain this one call"},
    {"cairn why com.shop.Cart.checkout traces --id 4bf92f3577b34da6a3ce929d0e0e4736",
     "explain this one trace"},
    {"cairn why main_loop run.data -r 10s~20s --format markdown",
     "explain the slow calls of ten seconds, for a ticket"},
    {0},
};

const struct cn_command cn_cmd_why = {
    .name = "why",
    .operands = "FUNC [DATA]",
    .operand_min = 1,
    .operand_max = 2,
    .scope = CN_FOR_CALLS,
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
        "In a store, the slowest traces that begin with the method FUNC are compared "
        "with "
        "typical ones; their durations come from the index, and at most 1,000 traces of "
        "each group are loaded. For a method inside of traces, 4,000 traces are. "
        "Attributes of traces are what arguments are for functions.\n\n"
        "Times are corrected for the cost of recording; --raw shows them as "
        "recorded. " CN_RECORDING_THREADS_TEXT "\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
