/* The verifier of experiment.xml: each violation, with its position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/xml/verify/verify.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "model/contexts/database.h"
#include "support/scratch.h"
#include "support/xml_files.h"

static void add_finding(void *arg, const struct cn_finding *finding)
{
    cn_text_printf(arg, "%s %s %s: %s\n", finding->is_error ? "error" : "warning",
                   finding->file, finding->rule, finding->text);
}

static void verify_text(const char *text, struct cn_text *out)
{
    struct cn_hpc_xml_files files = {.experiment = {(const uint8_t *)text, strlen(text)}};
    struct cn_error err = {0};

    files.values.profile = cn_xml_profile();
    assert_true(cn_hpc_xml_verify_bytes(&files, NULL, add_finding, out, &err));
}

static void expect(const char *elements, const char *expected)
{
    char *document = cn_xml_document(elements);
    struct cn_text text = {0};

    verify_text(document, &text);
    if (!strstr(cn_text_str(&text), expected))
        fail_msg("\"%s\" is not in:\n%s", expected, cn_text_str(&text));
    cn_text_done(&text);
    free(document);
}

/* The same with a part of the document replaced. */
static void expect_with(const char *old, const char *new, const char *expected)
{
    char *document = cn_xml_document("<PF i='1' n='1'/>");
    char *at = strstr(document, old);
    struct cn_text changed = {0}, text = {0};

    assert_non_null(at);
    cn_text_add(&changed, document, (size_t)(at - document));
    cn_text_str_add(&changed, new);
    cn_text_str_add(&changed, at + strlen(old));
    verify_text(cn_text_str(&changed), &text);
    if (!strstr(cn_text_str(&text), expected))
        fail_msg("\"%s\" is not in:\n%s", expected, cn_text_str(&text));
    cn_text_done(&changed);
    cn_text_done(&text);
    free(document);
}

static void reports_elements_out_of_place(void **state)
{
    (void)state;
    expect("<X/>", "error experiment.xml element-known: line 19: <X> is no element");
    expect("<S i='1'/>", "error experiment.xml element-place: line 19: <S> inside "
                         "<SecCallPathProfileData>");
    expect("<PF i='1' n='1'><M n='1' v='2'/></PF>",
           "error experiment.xml element-version: line 19: <M> belongs to version 2.x");
}

static void reports_attributes(void **state)
{
    (void)state;
    expect("<PF i='1'/>",
           "error experiment.xml attribute-missing: line 19: <PF> has no n");
    expect("<PF i='1' n='1' l='x'/>", "error experiment.xml attribute-number: line 19: "
                                      "l=\"x\" of <PF> is no whole number");
    expect("<PF i='1' n='1' lm='9'/>",
           "error experiment.xml reference: line 19: lm=\"9\" of <PF> is in no table");
    expect("<PF i='1' n='9'/>",
           "error experiment.xml reference: line 19: n=\"9\" of <PF> is in no table");
}

static void reports_ids(void **state)
{
    (void)state;
    expect("<PF i='1' n='1'/><PF i='1' n='1'/>",
           "error experiment.xml context-unique: line 19: there is another context 1");
    expect("<PF i='-1' n='1'/>",
           "error experiment.xml context-id: line 19: <PF> with the id -1");
    expect("<PF i='99999' n='1'/>", "error experiment.xml context-id: line 19: context "
                                    "99999 is out of proportion to the file");
    expect("<PF i='1' n='1'><S i='2' it='3'/></PF>",
           "warning experiment.xml sample-id: line 19: it=\"3\" of context 2");
}

static void reports_tables(void **state)
{
    (void)state;
    expect_with("<File i=\"0\"", "<File i=\"1\"",
                "error experiment.xml row-unique: line 14: there is another <File> 1");
    expect_with("sum($2, $2)", "sum($7, $2)",
                "error experiment.xml formula: the formula's 7 is no <Metric>");
    expect_with("partner=\"1\"", "partner=\"5\"",
                "error experiment.xml metric-partner: partner 5 is no <Metric>");
    expect_with("<MetricDB i=\"2\"", "<MetricDB i=\"40000\"",
                "error experiment.xml metric-id: line 11: metric id 40000, limit 32767");
    expect_with(
        "<MetricDB i=\"2\"", "<MetricDB i=\"1\"",
        "error experiment.xml row-unique: line 11: there is another <MetricDB> 1");
    expect_with("<Identifier i=\"0\"", "<Identifier i=\"300\"",
                "error experiment.xml kind: line 6: identifier kind 300, limit 255");
    expect_with("<TraceDBTable>",
                "<TraceDBTable><TraceDB i=\"0\" db-min-time=\"5\" db-max-time=\"4\"/>",
                "error experiment.xml time-range: line 12: times from 5 to 4");
}

static void reports_invalid_xml(void **state)
{
    (void)state;
    expect("<PF i='1' n='1'>",
           "error experiment.xml xml: line 19, column 19: mismatched tag");
    expect_with("version=\"4.0\"", "version=\"9.0\"",
                "error experiment.xml version: version 9");
}

static bool count_element(void *arg, const struct cn_dump_item *item)
{
    cn_text_printf(arg, "%llu %s\n", (unsigned long long)item->off, item->text);
    return true;
}

static void dumps_tags_with_their_positions(void **state)
{
    static const char text[] = "<a>\n <b c='d'/>\n</a>";
    struct cn_text out = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(
        cn_hpc_dump_bytes("experiment.xml", cn_hpc_xml_dump_document,
                          (struct cn_bytes){(const uint8_t *)text, sizeof(text) - 1},
                          count_element, &out, &err));
    assert_string_equal(cn_text_str(&out), "0 <a>\n5 <b c='d'/>\n");
    cn_text_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_elements_out_of_place),
        cmocka_unit_test(reports_attributes),
        cmocka_unit_test(reports_ids),
        cmocka_unit_test(reports_tables),
        cmocka_unit_test(reports_invalid_xml),
        cmocka_unit_test(dumps_tags_with_their_positions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
