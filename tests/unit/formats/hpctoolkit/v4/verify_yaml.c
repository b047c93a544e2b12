/* The rules of metrics/default.yaml, each with a file that breaks exactly this one. hpcviewer
 * or Hatchet fails on each of these files, and opens those that are accepted here. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/findings.h"
#include "support/tiny_v4.h"

#define INPUT_LINES                                                                    \
    "  - &time {metric: CPUTIME (sec), scope: execution, formula: $$, combine: sum}\n" \
    "  - &self {metric: CPUTIME (sec), scope: function, formula: $$, combine: sum}\n"
#define INPUTS "version: 0\ninputs:\n" INPUT_LINES
#define COSTS  "formula: {inclusive: {standard: *time}, exclusive: {standard: *self}}"
#define SUM    "Sum: {render: [number, percent], " COSTS "}"
#define ROOT   "roots:\n  - name: CPUTIME (sec)\n    variants: {" SUM "}\n"

/* Another root after it, which begins in line 8, with this variant in line 9. */
#define GROUP(variant) INPUTS ROOT "  - name: group\n    variants: {" variant "}\n"
#define DERIVED(formula) \
    GROUP("Sum: {render: number, formula: {inclusive: {standard: " formula "}}}")
#define CHILD(child)                                                       \
    INPUTS ROOT "  - name: group\n    variants: {Sum: {render: hidden}}\n" \
                "    children: [" child "]\n"

#define ERROR(text)   "error metrics/default.yaml 0x0 " text "\n"
#define WARNING(text) "warning metrics/default.yaml 0x0 " text "\n"

/* The findings about the file are exactly these. Ids of statistics have a gap, or, as
 * hpcviewer wants them, none. */
static void expect_with(const char *yaml, bool has_gap, const char *expected)
{
    struct cn_tiny_v4 tiny;
    struct cn_hpc_v4_files files;
    struct cn_text found = {0}, about_yaml = {0};
    size_t error_count;

    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    if (!has_gap)
        cn_tiny_v4_set(&tiny.meta, &cn_hpc_statistic_layout,
                       tiny.statistics_off + cn_hpc_statistic_size, "stat_id", 2);
    cn_tiny_v4_files(&tiny, &files);
    files.yaml[0].text = (struct cn_bytes){(const uint8_t *)yaml, strlen(yaml)};
    cn_findings_list(&files, &found, &error_count);
    for (const char *line = cn_text_str(&found); *line; line = strchr(line, '\n') + 1) {
        size_t len = (size_t)(strchr(line, '\n') - line) + 1;
        const char *file = strstr(line, " metrics/default.yaml ");

        if (file && file < line + len)
            cn_text_add(&about_yaml, line, len);
    }
    if (strcmp(cn_text_str(&about_yaml), expected) != 0)
        fail_msg("%s\nexpected:\n%sfound:\n%s", yaml, expected, cn_text_str(&about_yaml));
    cn_text_done(&about_yaml);
    cn_text_done(&found);
    cn_tiny_v4_done(&tiny);
}

static void expect(const char *yaml, const char *expected)
{
    expect_with(yaml, false, expected);
}

static void accepts_what_readers_open(void **state)
{
    static const char *const good[] = {
        INPUTS ROOT,
        "\xef\xbb\xbf" INPUTS ROOT, /* a byte order mark */
        "---\n" INPUTS ROOT,
        GROUP(""),
        GROUP("Mean: {formula: {inclusive: {standard: {+: [*time, 1]}}}}"),
        GROUP("Sum: {render: hidden, formula: }"),
        DERIVED("{sqrt: [{'-': [*time, 1]}]}"),
        CHILD(""),
        CHILD("{name: h, variants: {}}"),
        CHILD("{name: ~, description: '12', variants: {'12': {render: number}}}"),
        INPUTS ROOT "  - name: group\n    variants: {}\n    children:\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        expect(good[i], "");
}

static void checks_columns(void **state)
{
    (void)state;
    expect(GROUP("Sum: {render: number, formula: {inclusive: {standard: *time}}}"),
           ERROR("yaml-column-twice: group: input 0 is the formula of two columns; "
                 "hpcviewer fails"));
    expect_with(DERIVED("{+: [*time, 1]}"), true,
                ERROR("statistic-id-gap: CPUTIME (sec): statistic id 3, but there are 2 "
                      "statistics: hpcviewer fails when it gives this number to a "
                      "formula"));
}

static void checks_variants(void **state)
{
    static const char *const nameless[] = {"~: {render: number}", "Sum: 12", "Sum: "};

    (void)state;
    expect(INPUTS ROOT "  - name: group\n",
           ERROR("yaml-variants: line 8: group has no variants; hpcviewer fails"));
    expect(CHILD("{name: h}"),
           ERROR("yaml-variants: line 10: h has no variants; hpcviewer fails"));
    for (size_t i = 0; i < sizeof(nameless) / sizeof(*nameless); i++) {
        struct cn_text yaml = {0};

        cn_text_printf(&yaml, CHILD("{name: h, variants: {%s}}"), nameless[i]);
        expect(cn_text_str(&yaml),
               ERROR("yaml-variants: line 10: a variant without a name or a mapping; "
                     "hpcviewer fails"));
        cn_text_done(&yaml);
    }
}

static void checks_formulas(void **state)
{
    static const char *const operators[] = {"{+: [*time, 1, 2]}", "{sqrt: *time}",
                                            "[*time, '*', 2]",
                                            "{'-': [1, {+: [*time, 1, 2]}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        struct cn_text yaml = {0};

        cn_text_printf(&yaml, DERIVED("%s"), operators[i]);
        expect(cn_text_str(&yaml),
               ERROR("yaml-arguments: line 9: not an operator with a list of one or two "
                     "arguments; hpcviewer fails"));
        cn_text_done(&yaml);
    }
    expect(DERIVED("12"),
           ERROR("yaml-number: line 9: a formula that is not an input or an operator; "
                 "hpcviewer fails"));
}

static void checks_texts(void **state)
{
    static const char *const values[] = {"12",   "1.5",  "0x1f", "1:30", "1e3",
                                         ".inf", "true", "Off",  "+1_0", "2001-01-01"};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct cn_text yaml = {0}, finding = {0};

        cn_text_printf(&yaml, CHILD("{name: %s, variants: {}}"), values[i]);
        cn_text_printf(&finding,
                       ERROR("yaml-text: line 10: the name %s is not a text: quote it; "
                             "hpcviewer fails"),
                       values[i]);
        expect(cn_text_str(&yaml), cn_text_str(&finding));
        cn_text_done(&finding);
        cn_text_done(&yaml);
    }
    expect(CHILD("{name: h, description: !!int 12, variants: {}}"),
           ERROR("yaml-text: line 10: the description 12 is not a text: quote it; "
                 "hpcviewer fails"));
    expect(CHILD("{name: h, variants: {12: {render: number}}}"),
           ERROR("yaml-text: line 10: the variant 12 is not a text: quote it; hpcviewer "
                 "fails"));
}

static void checks_the_document(void **state)
{
    (void)state;
    expect("inputs:\n" INPUT_LINES ROOT,
           ERROR("yaml-version: 'version' is not a number; hpcviewer fails"));
    expect("version: '0'\ninputs:\n" INPUT_LINES ROOT,
           ERROR("yaml-version: 'version' is not a number; hpcviewer fails"));
    expect(INPUTS ROOT "---\nmore: 1\n",
           ERROR("yaml-document: something follows the first document; hpcviewer and "
                 "Hatchet fail"));
    expect(CHILD("{name: !own h, variants: {}}"),
           ERROR("yaml-tag: line 10: a tag that is not of YAML; hpcviewer and Hatchet "
                 "fail"));
    expect(INPUTS "  - {metric: CPUTIME (sec), scope: function, combine: sum}\n" ROOT,
           ERROR("yaml-input: line 5: an input without formula; hpcviewer fails"));
    expect(INPUTS "  - {metric: CPUTIME (sec), scope: function, formula: $$}\n" ROOT,
           ERROR("yaml-input: line 5: an input without combine; hpcviewer fails"));
}

static void checks_what_hatchet_reads(void **state)
{
    (void)state;
    expect(GROUP("Sum: {formula: sum}"),
           WARNING("yaml-hatchet: line 9: a root has no 'render'; Hatchet fails"));
    expect(GROUP("'': {render: }"),
           WARNING("yaml-hatchet: line 9: a root has no 'render'; Hatchet fails"));
    expect(GROUP("Sum: {render: [percent]}"),
           WARNING("yaml-hatchet: line 9: a root has a percentage, but no formula; "
                   "Hatchet fails"));
    expect(GROUP("Sum: {render: [percentage]}"),
           WARNING("yaml-hatchet: line 9: a root has 'percentage' in 'render' instead of "
                   "'percent'; Hatchet fails"));
    expect(GROUP("Sum: {render: [percent], formula: {inclusive: {standard: "
                 "{+: [*time, 1]}}}}"),
           WARNING("yaml-hatchet: group has a percentage of a formula; Hatchet fails"));
    expect(INPUTS "roots:\n  - name: other\n    variants: {" SUM "}\n",
           WARNING("yaml-hatchet: no root is a metric with a total and a self cost; "
                   "Hatchet fails"));
    expect(INPUTS ROOT "  - name: CPUTIME (sec)\n    variants: {}\n",
           WARNING("yaml-hatchet: CPUTIME (sec) has the name of a metric, but not both "
                   "costs with a percentage; Hatchet fails"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_readers_open),
        cmocka_unit_test(checks_columns),
        cmocka_unit_test(checks_variants),
        cmocka_unit_test(checks_formulas),
        cmocka_unit_test(checks_texts),
        cmocka_unit_test(checks_the_document),
        cmocka_unit_test(checks_what_hatchet_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
