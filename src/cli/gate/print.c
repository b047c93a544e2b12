#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/gate/gate.h"
#include "cli/print/quantity.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"

static const char *const verdicts[] = {"ok", "ok, noise", "BROKEN"};
static const char *const verdict_keys[] = {"kept", "noise", "broken"};

/* Times are in seconds: percentiles, and metrics that say so. */
static bool is_time(const struct cn_gate_report *report, const struct cn_rule *rule)
{
    if (cn_rule_fraction(rule) > 0)
        return true;
    return rule->quantity != CN_RULE_CALLS && cn_ends_with(report->c->metric, "(sec)");
}

static void add_value(struct cn_text *text, double value, bool is_a_time)
{
    if (isnan(value)) {
        cn_text_char(text, '-');
    } else if (is_a_time && value >= 0 && value < 1e9) {
        cn_duration_print(text, (uint64_t)(value * 1e9 + 0.5));
    } else if (value >= 0 && value < 1e15 && value == floor(value)) {
        cn_count_print(text, (uint64_t)value);
    } else {
        cn_text_printf(text, "%.6g", value);
    }
}

/* "1.2 s → 1.5 s (+25.0% ±2.1%), limit 1.26 s"; "MPI_Send, MPI_Recv". */
static void add_reason(struct cn_text *text, const struct cn_gate_report *report,
                       size_t i)
{
    const struct cn_rule *rule = &report->rules[i];
    const struct cn_rule_result *result = &report->results[i];
    double a = result->value[CN_SIDE_A], b = result->value[CN_SIDE_B];
    bool is_a_time = is_time(report, rule);

    if (rule->quantity == CN_RULE_NEW || rule->quantity == CN_RULE_GONE) {
        cn_text_str_add(text, result->name_count ? cn_text_str(&result->names) : "none");
        return;
    }
    if (isnan(a) && isnan(b)) {
        cn_text_str_add(text, "no function matches");
        return;
    }
    add_value(text, a, is_a_time);
    cn_text_str_add(text, " → ");
    add_value(text, b, is_a_time);
    if (a > 0 && isfinite(b)) {
        cn_text_printf(text, " (%+.1f%%", 100 * (b / a - 1));
        if (isfinite(result->half_width))
            cn_text_printf(text, " ±%.1f%%", 100 * result->half_width / a);
        cn_text_char(text, ')');
    } else if (isfinite(result->half_width) && result->half_width > 0) {
        cn_text_str_add(text, " (±");
        add_value(text, result->half_width, is_a_time);
        cn_text_char(text, ')');
    }
    if (isfinite(result->limit)) {
        cn_text_str_add(text, ", limit ");
        add_value(text, result->limit, is_a_time);
    }
}

static void add_number(struct cn_table *table, double value)
{
    if (isfinite(value))
        cn_table_f64(table, value);
    else
        cn_table_none(table);
}

static void print_table(const struct cn_gate_report *report, const struct cn_args *args)
{
    static const struct cn_column columns[] = {
        {.name = "verdict", .title = "VERDICT", .kind = CN_COLUMN_TEXT},
        {.name = "rule", .title = "RULE", .kind = CN_COLUMN_TEXT},
        {.name = "base", .kind = CN_COLUMN_F64},
        {.name = "new", .kind = CN_COLUMN_F64},
        {.name = "limit", .kind = CN_COLUMN_F64},
        {.name = "plus_minus", .kind = CN_COLUMN_F64},
        {.name = "base_runs", .kind = CN_COLUMN_U64},
        {.name = "new_runs", .kind = CN_COLUMN_U64},
        {.name = "text", .title = "BASE → NEW", .kind = CN_COLUMN_TEXT},
    };
    bool is_json = cn_cli_format(args) == CN_TABLE_JSON;
    struct cn_text text = {0};
    struct cn_table *table =
        cn_cli_table(args, columns, sizeof(columns) / sizeof(*columns));

    for (size_t i = 0; i < report->count; i++) {
        const struct cn_rule_result *result = &report->results[i];

        cn_table_paint(table,
                       result->verdict == CN_RULE_BROKEN ? CN_COLOR_RED : CN_COLOR_GREEN);
        cn_table_str(table, (is_json ? verdict_keys : verdicts)[result->verdict]);
        cn_table_str(table, report->rules[i].text);
        add_number(table, result->value[CN_SIDE_A]);
        add_number(table, result->value[CN_SIDE_B]);
        add_number(table, result->limit);
        add_number(table, result->half_width);
        cn_table_u64(table, report->c->side_runs[CN_SIDE_A]);
        cn_table_u64(table, report->c->side_runs[CN_SIDE_B]);
        cn_text_clear(&text);
        add_reason(&text, report, i);
        cn_table_str(table, cn_text_str(&text));
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

/* How much is known about noise. */
static void add_runs(struct cn_text *text, const struct cn_comparison *c)
{
    if (c->side_runs[CN_SIDE_A] > 1 && c->side_runs[CN_SIDE_B] > 1)
        cn_text_printf(text, "noise measured from %zu and %zu runs",
                       c->side_runs[CN_SIDE_A], c->side_runs[CN_SIDE_B]);
    else if (cn_compare_over_is_single(cn_comparison_over(c)))
        cn_text_printf(text, "one run each: noise of costs estimated from %s",
                       cn_compare_over_name(cn_comparison_over(c)));
    else
        cn_text_str_add(text, "one run: noise is unknown, every difference counts");
}

static void print_summary(const struct cn_gate_report *report, bool is_markdown)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%s%zu of %zu rule%s broken; ", is_markdown ? "\n" : "",
                   report->broken_count, report->count,
                   cn_plural(report->count, "", "s"));
    add_runs(&text, report->c);
    cn_text_char(&text, '\n');
    cn_text_flush(&text, stdout);
    cn_text_done(&text);
}

static void add_xml(struct cn_text *text, const char *str)
{
    struct cn_text printable = {0};

    cn_utf8_add_printable(&printable, str);
    for (const char *c = cn_text_str(&printable); *c; c++) {
        if (*c == '&')
            cn_text_str_add(text, "&amp;");
        else if (*c == '<')
            cn_text_str_add(text, "&lt;");
        else if (*c == '>')
            cn_text_str_add(text, "&gt;");
        else if (*c == '"')
            cn_text_str_add(text, "&quot;");
        else
            cn_text_char(text, *c);
    }
    cn_text_done(&printable);
}

static void print_junit(const struct cn_gate_report *report)
{
    struct cn_text out = {0}, reason = {0};

    cn_text_printf(&out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                   "<testsuite name=\"cairn gate\" tests=\"%zu\" failures=\"%zu\">\n",
                   report->count, report->broken_count);
    for (size_t i = 0; i < report->count; i++) {
        const char *tag =
            report->results[i].verdict == CN_RULE_BROKEN ? "failure" : "system-out";

        cn_text_clear(&reason);
        add_reason(&reason, report, i);
        cn_text_str_add(&out, "  <testcase classname=\"cairn.gate\" name=\"");
        add_xml(&out, report->rules[i].text);
        cn_text_printf(&out, "\"><%s>", tag);
        add_xml(&out, cn_text_str(&reason));
        cn_text_printf(&out, "</%s></testcase>\n", tag);
    }
    cn_text_str_add(&out, "</testsuite>\n");
    cn_text_flush(&out, stdout);
    cn_text_done(&out);
    cn_text_done(&reason);
}

/* Workflow commands of GitHub end at a newline, and use %XX for some characters. */
static void add_github(struct cn_text *text, const char *str)
{
    struct cn_text printable = {0};

    cn_utf8_add_printable(&printable, str);
    for (const char *c = cn_text_str(&printable); *c; c++) {
        if (*c == '%')
            cn_text_str_add(text, "%25");
        else
            cn_text_char(text, *c);
    }
    cn_text_done(&printable);
}

static void print_github(const struct cn_gate_report *report)
{
    struct cn_text out = {0}, reason = {0};

    for (size_t i = 0; i < report->count; i++) {
        if (report->results[i].verdict != CN_RULE_BROKEN)
            continue;
        cn_text_clear(&reason);
        cn_text_printf(&reason, "%s: ", report->rules[i].text);
        add_reason(&reason, report, i);
        cn_text_str_add(&out, "::error title=cairn gate::");
        add_github(&out, cn_text_str(&reason));
        cn_text_char(&out, '\n');
    }
    cn_text_printf(&out, "::notice title=cairn gate::%zu of %zu rule%s broken; ",
                   report->broken_count, report->count,
                   cn_plural(report->count, "", "s"));
    add_runs(&out, report->c);
    cn_text_char(&out, '\n');
    cn_text_flush(&out, stdout);
    cn_text_done(&out);
    cn_text_done(&reason);
}

void cn_gate_print(const struct cn_gate_report *report, const struct cn_args *args)
{
    const char *format = cn_args_value(args, "format");
    enum cn_table_format table = cn_cli_format(args);

    if (format && strcmp(format, "junit") == 0) {
        print_junit(report);
    } else if (format && strcmp(format, "github") == 0) {
        print_github(report);
    } else {
        print_table(report, args);
        if (table != CN_TABLE_JSON)
            print_summary(report, table == CN_TABLE_MARKDOWN);
    }
}
