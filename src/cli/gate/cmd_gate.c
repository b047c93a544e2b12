/* cairn gate: may a new build ship? */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "cli/gate/gate.h"

enum { RUNS_DEFAULT = 5, RULES_MAX = 1000, RULES_LEN_MAX = 1 << 20 };

struct gate {
    struct cn_comparison c;
    struct cn_rule *rules;
    size_t rule_count, rule_capacity;
    double *percentiles; /* [run][rule] */
    size_t run_count, run_capacity;
    struct cn_rule_result *results;
};

static bool add_rule(struct gate *gate, const char *text, struct cn_error *err)
{
    if (gate->rule_count == RULES_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d rules", RULES_MAX);
    CN_GROW(gate->rules, gate->rule_count, gate->rule_capacity);
    if (!cn_rule_parse(&gate->rules[gate->rule_count], text, err))
        return false;
    gate->rule_count++;
    return true;
}

/* One rule a line; '#' begins a comment. */
static bool add_lines(struct gate *gate, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_text line = {0};
    bool ok = true;

    if (bytes.len > RULES_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "longer than %d bytes", RULES_LEN_MAX);
    for (size_t number = 1; ok && bytes.len > 0; number++) {
        struct cn_bytes whole, rule;

        (void)cn_bytes_take_until(&bytes, '\n', &whole);
        (void)cn_bytes_take_until(&whole, '#', &rule); /* a comment follows */
        cn_text_clear(&line);
        cn_text_add(&line, (const char *)rule.ptr, rule.len);
        if (strspn(line.chars, " \t\r") < line.len)
            ok = add_rule(gate, line.chars, err) || cn_fail_in(err, "%zu", number);
    }
    cn_text_done(&line);
    return ok;
}

static bool add_rules(struct gate *gate, const struct cn_args *args, struct cn_error *err)
{
    struct cn_values texts = cn_args_values(args, "rule");
    struct cn_values files = cn_args_values(args, "rules");

    for (size_t i = 0; i < files.count; i++) {
        struct cn_file file = {0};
        bool ok = cn_file_open(&file, files.list[i], err);

        if (ok && !add_lines(gate, file.bytes, err))
            ok = cn_fail_in(err, "%s", files.list[i]);
        cn_file_close(&file);
        if (!ok)
            return false;
    }
    for (size_t i = 0; i < texts.count; i++)
        if (!add_rule(gate, texts.list[i], err))
            return false;
    return gate->rule_count > 0 ||
           cn_fail(err, CN_ERR_USAGE,
                   "no rules: give --rules FILE, or --rule 'total(*) <= +5%%'");
}

/* Percentiles are read from the database of a run while it is open. */
static bool read_percentiles(void *arg, struct cn_database *db,
                             const struct cn_progress *progress, struct cn_error *err)
{
    struct gate *gate = arg;
    size_t first = gate->run_count * gate->rule_count;

    gate->run_count++;
    gate->percentiles = cn_realloc(gate->percentiles, first + gate->rule_count,
                                   sizeof(*gate->percentiles));
    for (size_t i = 0; i < gate->rule_count; i++) {
        gate->percentiles[first + i] = 0;
        if (cn_rule_fraction(&gate->rules[i]) > 0 &&
            !cn_rule_percentile(&gate->rules[i], db, progress,
                                &gate->percentiles[first + i], err))
            return cn_fail_in(err, "rule '%s'", gate->rules[i].text);
    }
    return true;
}

static bool check(struct gate *gate, const struct cn_args *args, struct cn_error *err)
{
    struct cn_gate_report report = {
        .c = &gate->c, .rules = gate->rules, .count = gate->rule_count};
    double *percentiles = cn_alloc(gate->c.run_count, sizeof(*percentiles));
    bool ok = true;

    gate->results = cn_alloc(gate->rule_count, sizeof(*gate->results));
    report.results = gate->results;
    for (size_t i = 0; i < gate->rule_count && ok; i++) {
        for (size_t r = 0; r < gate->c.run_count; r++)
            percentiles[r] = gate->percentiles[r * gate->rule_count + i];
        ok = cn_rule_check(&gate->rules[i], &gate->c,
                           cn_rule_fraction(&gate->rules[i]) > 0 ? percentiles : NULL,
                           &gate->results[i], err);
    }
    free(percentiles);
    if (!ok)
        return false;
    cn_rules_judge(gate->results, gate->rule_count);
    for (size_t i = 0; i < gate->rule_count; i++)
        report.broken_count += gate->results[i].verdict == CN_RULE_BROKEN;
    cn_gate_print(&report, args);
    return report.broken_count == 0 ||
           cn_fail(err, CN_ERR_REJECTED, "%zu of %zu rule%s broken", report.broken_count,
                   report.count, cn_plural(report.count, "", "s"));
}

static void close_gate(struct gate *gate)
{
    for (size_t i = 0; i < gate->rule_count; i++) {
        if (gate->results)
            cn_rule_result_done(&gate->results[i]);
        cn_rule_done(&gate->rules[i]);
    }
    free(gate->rules);
    free(gate->results);
    free(gate->percentiles);
    cn_comparison_done(&gate->c);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct gate gate = {0};
    struct cn_gate_recordings recordings = {0};
    struct cn_sides sides = {0};
    uint64_t runs;
    bool ok;

    if (!cn_args_u64(args, "runs", 1, 1000, RUNS_DEFAULT, &runs, err))
        return false;
    if (cn_args_has(args, "runs") && !cn_args_has(args, "record"))
        return cn_fail(err, CN_ERR_USAGE, "--runs needs --record");
    cn_comparison_init(&gate.c);
    ok = add_rules(&gate, args, err) &&
         (cn_args_has(args, "record")
              ? cn_gate_record(&recordings, args, (size_t)runs, &sides, err)
              : cn_sides_parse(&sides, args, err)) &&
         cn_sides_add(&gate.c, &sides, args, read_percentiles, &gate, err);
    if (ok) {
        cn_comparison_finish(&gate.c);
        ok = check(&gate, args, err);
        /* Rules that damaged data keeps or breaks decide nothing. */
        if ((ok || err->kind == CN_ERR_REJECTED) && !cn_sides_check(&sides, err))
            ok = false;
    }
    close_gate(&gate);
    cn_gate_recordings_done(&recordings);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION_LIST("rules", 0, "FILE",
                   "check the rules of FILE, one a line; '#' begins a comment"),
    CN_OPTION_LIST("rule", 0, "RULE", "check this rule: 'total(parse) <= +5%'"),
    CN_OPTION("record", 0, NULL,
              "record both sides, in turn: -- OLD [ARGUMENT]... -- NEW [ARGUMENT]..., or "
              "PROGRAM [ARGUMENT]... for both"),
    CN_OPTION("runs", 'n', "N", "with --record: record N runs of each side (default: 5)"),
    CN_COMPARE_OPTIONS,
    CN_OPTION("format", 0, "text|json|junit|markdown|github",
              "print as aligned text (the default), as JSON, as XML of JUnit, as "
              "Markdown, or as annotations of GitHub"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn gate --rule 'calls(malloc) == same' old.data new.data",
     "fail if the number of calls changed"},
    {"cairn gate --rules perf.rules a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5",
     "check rules, with noise measured from five runs on each side"},
    {"cairn gate --rule 'total(*) <= +5%' --record -n 5 -- ./old -- ./new",
     "record both programs in turn and compare them"},
    {0},
};

const struct cn_command cn_cmd_gate = {
    .name = "gate",
    .operands = "[DB]...",
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_DATA,
    .program = "record",
    .summary = "check rules for the difference between two runs",
    .description =
        "Compares a base with a new run, as cairn diff does, and checks rules. The exit "
        "status is 0 if all rules are kept, 4 if one is broken.\n\n"
        "Rules are\n\n"
        "  QUANTITY(PATTERN) OPERATOR LIMIT\n"
        "  new(PATTERN) none\n"
        "  gone(PATTERN) none\n\n"
        "QUANTITY is total, self, calls, p50, p90 or p99 (of the durations of calls), "
        "PATTERN a glob over names of functions, OPERATOR one of <=, <, >=, > and ==. "
        "LIMIT is a number (1000, 20ms), a change of the base (+5%, -10%, +3ms), or "
        "'same'. total(*) is the whole program. new and gone are functions that one side "
        "has alone.\n\n"
        "A rule is broken only if the difference from its limit is more than noise, "
        "which "
        "takes more evidence the more rules there are. At "
        "least two runs on each side tell what noise is; with one run, the durations of "
        "calls or the number of samples do for costs, and every other difference counts. "
        "With --record, the programs see CAIRN_SIDE=base or CAIRN_SIDE=new; a single "
        "program "
        "is both sides, and operands before the first -- are recorded runs of the base. "
        "Options come first." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
