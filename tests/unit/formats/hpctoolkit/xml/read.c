/* experiment.xml 4.0: the contexts of its elements, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/xml/format.h"
#include "model/contexts/walk.h"
#include "support/read_everything.h"
#include "support/xml_files.h"

static bool open_text(struct cn_database **out, struct cn_bytes text,
                      struct cn_error *err)
{
    struct cn_hpc_xml_files files = {.experiment = text};

    files.values.profile = cn_xml_profile();
    return cn_hpc_xml_open_bytes(out, &files, err);
}

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static void add_context(struct cn_text *text, struct cn_database *db, size_t depth,
                        const struct cn_context *context)
{
    static const char *const kinds[] = {"function", "loop", "line", "instruction",
                                        "entry"};
    static const char *const relations[] = {"", "called ", "inlined "};
    struct cn_source_file file = {.path = "?"};
    struct cn_function function = {.name = "?"};
    struct cn_error err;

    cn_text_fill(text, ' ', 2 * (depth - 1));
    cn_text_printf(text, "%u %s%s", context->id, relations[context->relation],
                   kinds[context->kind]);
    if (context->kind == CN_CONTEXT_ENTRY)
        cn_text_printf(text, " %s", context->entry_name);
    if (context->has_function) {
        assert_true(cn_database_function(db, context->function, &function, &err));
        cn_text_printf(text, " %s+0x%llx:%u", function.name,
                       (unsigned long long)function.offset, function.line);
    }
    if (context->has_source) {
        assert_true(cn_database_file(db, context->file, &file, &err));
        cn_text_printf(text, " %s:%u", file.path, context->line);
    }
    if (context->has_point)
        cn_text_printf(text, " @0x%llx", (unsigned long long)context->offset);
    cn_text_char(text, '\n');
}

/* The tree of a document, one line per context. */
static void print_tree(struct cn_database *db, struct cn_text *text)
{
    struct cn_walk walk = {0};
    const struct cn_context *context;
    enum cn_walk_event event;
    struct cn_error err = {0};

    assert_true(cn_walk_begin(&walk, db, &err));
    while (cn_walk_next(&walk, &event, &context, &err) == CN_ITEM)
        if (event == CN_WALK_ENTER)
            add_context(text, db, walk.depth, context);
    assert_int_equal(err.kind, CN_ERR_NONE);
    cn_walk_done(&walk);
}

static void expect_tree(const char *elements, const char *expected)
{
    char *document = cn_xml_document(elements);
    struct cn_error err = {0};
    struct cn_database *db;
    struct cn_text text = {0};

    if (!open_text(&db, bytes_of(document), &err))
        fail_msg("%s", err.text);
    print_tree(db, &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
    cn_database_close(db);
    free(document);
}

static void expect_failure(const char *elements, enum cn_error_kind kind,
                           const char *message)
{
    char *document = cn_xml_document(elements);
    struct cn_error err = {0};
    struct cn_database *db;

    assert_false(open_text(&db, bytes_of(document), &err));
    if (!strstr(err.text, message))
        fail_msg("\"%s\" does not contain \"%s\"", err.text, message);
    assert_int_equal(err.kind, kind);
    free(document);
}

static void puts_calls_below_the_line_they_are_on(void **state)
{
    (void)state;
    expect_tree("<PF i='1' n='1' s='1' f='2147483647' l='0' lm='1'>"
                "<C i='-1' it='1' f='2147483647' l='0' v='0'>"
                "<PF i='2' n='3' s='3' v='0x10' f='0' l='5' lm='2'>"
                "<S i='3' it='3' f='0' l='6' v='0'/>"
                "<C i='4' it='4' f='0' l='6' v='0x14'>"
                "<PF i='5' n='4' v='0x20' f='1' l='1' lm='2'/></C>"
                "<C i='6' it='6' f='0' l='6' v='0x18'>"
                "<PF i='7' n='4' v='0x20' f='1' l='1' lm='2'/></C>"
                "<C i='8' it='8' f='0' l='7' v='0x1c'>"
                "<PF i='9' n='4' v='0x20' f='1' l='1' lm='2'/></C>"
                "</PF></C></PF>\n",
                "1 entry main thread\n"
                "  2 called function main+0x10:5\n"
                "    3 line a.c:6\n"
                "      5 called function f+0x20:1\n"
                "      7 called function f+0x20:1\n"
                "    8 line a.c:7\n"
                "      9 called function f+0x20:1\n");
}

static void finds_the_line_after_the_call(void **state)
{
    (void)state;
    expect_tree("<PF i='1' n='1'><C i='-1'><PF i='2' n='3' f='0'>"
                "<C i='4' f='0' l='6'><PF i='5' n='4' f='0'/></C>"
                "<S i='3' f='0' l='6'/></PF></C></PF>",
                "1 entry main thread\n"
                "  2 called function main+0x10:0\n"
                "    3 line a.c:6\n"
                "      5 called function f+0x20:0\n");
}

static void recognises_inlined_calls_by_their_wrapper(void **state)
{
    (void)state;
    expect_tree(
        "<PF i='1' n='1'><C i='-1'><PF i='2' n='3' f='0'>"
        "<L i='3' f='0' l='8' v='0'>"
        "<C i='-5' it='5' f='0' l='9' v='0'><PF i='5' n='4' v='0x0' f='1' l='2'/></C>"
        "</L></PF></C></PF>",
        "1 entry main thread\n"
        "  2 called function main+0x10:0\n"
        "    3 loop a.c:8\n"
        "      10 line a.c:9\n"
        "        5 inlined function f+0x0:2\n");
}

static void reads_addresses_without_a_function(void **state)
{
    (void)state;
    expect_tree(
        "<PF i='1' n='1'><C i='-1'><PF i='2' n='5' s='5' l='0' f='2147483647' lm='2'>"
        "<C i='-2' it='2' f='2147483647' l='0' v='0x99'>"
        "<PF i='3' n='3' v='0x10' f='0' l='5' lm='2'/></C></PF></C></PF>",
        "1 entry main thread\n"
        "  2 called instruction @0x99\n"
        "    3 called function main+0x10:5\n");
}

static void leaves_wrappers_and_waiting_out(void **state)
{
    (void)state;
    expect_tree(
        "<PF i='9' n='2'><S i='-9' it='9' f='2147483647' l='0'/></PF>"
        "<PF i='1' n='1'><C i='-1'><PF i='2' n='3' f='0'><S i='-2' it='2'/></PF></C>"
        "</PF>",
        "1 entry main thread\n"
        "  2 called function main+0x10:0\n");
}

static void inherits_the_file_of_the_parent(void **state)
{
    (void)state;
    /* Early writers: attributes in another order, call sites without a file. */
    expect_tree("<PF lm='1' f='2147483647' s='1' n='1' i='1'><C s='1' i='-1' l='0'>"
                "<PF lm='2' l='5' f='0' v='0x10' n='3' s='3' i='2'>"
                "<C v='0x14' l='6' s='9' i='4'>"
                "<PF n='4' i='5' l='1' f='1' v='0x20'/></C></PF></C></PF>",
                "1 entry main thread\n"
                "  2 called function main+0x10:5\n"
                "    4 line a.c:6\n"
                "      5 called function f+0x20:1\n");
}

static void reads_comments_and_spaces(void **state)
{
    (void)state;
    expect_tree("<!-- <PF> --><?pi >?>\n\t<PF i = \"1\"\n n='1' ><!--x--></PF >\r\n",
                "1 entry main thread\n");
}

static void refuses_misplaced_elements(void **state)
{
    (void)state;
    expect_failure("text", CN_ERR_FORMAT, "text between elements");
    expect_failure("<X/>", CN_ERR_FORMAT, "<X> does not belong");
    expect_failure("<PF i='1' n='1'></L>", CN_ERR_FORMAT, "</L> ends an element");
    expect_failure("<PF i='1' n='1'>", CN_ERR_FORMAT,
                   "</SecCallPathProfileData> ends an element");
    expect_failure("<PF i='1' n='77'/>", CN_ERR_FORMAT, "procedure 77 is in no table");
    expect_failure("<PF i='1' n='1' f='7'/>", CN_ERR_FORMAT, "file 7 is in no table");
    expect_failure("<PF i='1' n='1' lm='7'/>", CN_ERR_FORMAT, "module 7 is in no table");
    expect_failure("<PF i='1' i='2' n='1'/>", CN_ERR_FORMAT, "occurs twice");
    expect_failure("<PF i='x' n='1'/>", CN_ERR_FORMAT,
                   "i=\"x\" is not a number, or too large");
    expect_failure("<PF i='99999999999' n='1'/>", CN_ERR_FORMAT,
                   "is not a number, or too large");
    expect_failure("<PF n='1'/>", CN_ERR_FORMAT, "with the id 0");
    expect_failure("<PF i='1'/>", CN_ERR_FORMAT, "without a name");
    expect_failure("<S i='1'/>", CN_ERR_FORMAT, "outside of any procedure");
    expect_failure("<PF i=1 n='1'/>", CN_ERR_FORMAT, "not quoted");
    expect_failure("<PF i='1' n='1/>", CN_ERR_FORMAT, "does not end before a <");
    expect_failure("<![CDATA[x]]>", CN_ERR_FORMAT, "CDATA");
    expect_failure("<PF i='4000000' n='1'/>", CN_ERR_FORMAT, "out of proportion");
}

static void names_line_and_column(void **state)
{
    (void)state;
    expect_failure("<PF i='1' n='1'>\n <X/>\n</PF>\n", CN_ERR_FORMAT,
                   "experiment.xml: line 20, column 2: element <X>");
}

static void refuses_deep_nesting(void **state)
{
    struct cn_text tree = {0};

    (void)state;
    cn_text_str_add(&tree, "<PF i='1' n='1'>");
    for (unsigned i = 0; i < CN_HPC_XML_DEPTH_MAX; i++)
        cn_text_str_add(&tree, "<L i='2' f='0' l='1'>");
    expect_failure(cn_text_str(&tree), CN_ERR_LIMIT, "nested deeper than 65536");
    cn_text_done(&tree);
}

static void refuses_long_tags(void **state)
{
    struct cn_text text = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    cn_text_str_add(&text, "<PF i='1' n='1' x='");
    cn_text_fill(&text, 'x', 1 << 20);
    expect_failure(cn_text_str(&text), CN_ERR_LIMIT, "a tag of more than 262144 bytes");
    cn_text_clear(&text);
    cn_text_str_add(&text, "<?xml version=\"1.0\"?><HPCToolkitExperiment version=\"");
    cn_text_fill(&text, '4', 4 << 20);
    assert_false(open_text(&db, bytes_of(cn_text_str(&text)), &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "line 1, column 22: a tag of more than"));
    cn_text_done(&text);
}

static void refuses_entities(void **state)
{
    static const char bomb[] =
        "<?xml version=\"1.0\"?><!DOCTYPE HPCToolkitExperiment [\n"
        "<!ELEMENT NV EMPTY>\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;&a;&a;\">\n"
        "]><HPCToolkitExperiment version=\"4.0\"><Header n=\"&b;\"/>"
        "</HPCToolkitExperiment>";
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    assert_false(open_text(&db, bytes_of(bomb), &err));
    assert_string_equal(err.text,
                        "experiment.xml: line 3, column 12: declares the entity a; "
                        "files with entities are not supported");
}

static void refuses_other_encodings(void **state)
{
    static const uint8_t wide[] = {0xff, 0xfe, '<', 0, '?', 0};
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    assert_false(open_text(&db, (struct cn_bytes){wide, sizeof(wide)}, &err));
    assert_non_null(strstr(err.text, "encoding UTF-16"));
    assert_false(open_text(
        &db, bytes_of("<?xml version=\"1.0\" encoding=\"EBCDIC-US\"?><a/>"), &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_false(open_text(
        &db, bytes_of("<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a/>"), &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_false(
        open_text(&db, bytes_of("<?xml version=\"1.0\"?><a n=\"\xff\"/>"), &err));
    assert_non_null(strstr(err.text, "not well-formed"));
}

static const char small_tree[] =
    "<PF i='1' n='1' s='1' f='2147483647' l='0' lm='1'>\n"
    "<C i='-1' it='1' f='2147483647' l='0' v='0'>\n"
    "<PF i='2' n='3' s='3' v='0x10' f='0' l='5' lm='2'>\n"
    "<S i='3' it='3' f='0' l='6' v='0'/>\n"
    "<C i='4' it='4' f='0' l='6' v='0x14'>\n"
    "<PF i='5' n='4' v='0x20' f='1' l='1' lm='2'/>\n</C>\n</PF>\n</C>\n</PF>\n";

static void rejects_every_truncation(void **state)
{
    char *document = cn_xml_document(small_tree);
    size_t len = strlen(document) - 1; /* without the last newline it is still whole */
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    for (size_t i = 0; i < len; i++) {
        err = (struct cn_error){0};
        assert_false(open_text(&db, (struct cn_bytes){(uint8_t *)document, i}, &err));
        assert_true(err.kind == CN_ERR_FORMAT);
    }
    assert_true(open_text(&db, (struct cn_bytes){(uint8_t *)document, len}, &err));
    cn_database_close(db);
    free(document);
}

/* Either it fails with a message, or the database is readable. */
static void survives_every_flip_of_a_bit(void **state)
{
    char *document = cn_xml_document(small_tree);
    size_t len = strlen(document);

    (void)state;
    for (size_t i = 0; i < len * 8; i++) {
        struct cn_read_totals totals;
        struct cn_error err = {0};
        struct cn_database *db;

        document[i / 8] = (char)(document[i / 8] ^ (1 << i % 8));
        if (open_text(&db, (struct cn_bytes){(uint8_t *)document, len}, &err)) {
            cn_read_everything(db, 10000, &totals, &err);
            cn_database_close(db);
        } else {
            assert_true(err.kind != CN_ERR_NONE && err.text[0] != '\0');
        }
        document[i / 8] = (char)(document[i / 8] ^ (1 << i % 8));
    }
    free(document);
}

static void refuses_other_versions(void **state)
{
    char *document = cn_xml_document("");
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    strstr(document, "4.0")[0] = '5';
    assert_false(open_text(&db, bytes_of(document), &err));
    assert_int_equal(err.kind, CN_ERR_VERSION);
    assert_string_equal(err.text, "experiment.xml: version 5.0, can read 4.x");
    free(document);
}

static void reads_tables(void **state)
{
    char *document = cn_xml_document("");
    struct cn_error err = {0};
    struct cn_source_file file;
    struct cn_module module;
    struct cn_database *db;

    (void)state;
    assert_true(open_text(&db, bytes_of(document), &err));
    assert_string_equal(db->title, "a <title>");
    assert_int_equal(db->module_count, 1);
    assert_int_equal(db->file_count, 2);
    assert_true(cn_database_module(db, 0, &module, &err));
    assert_string_equal(module.path, "a.out");
    assert_true(cn_database_file(db, 0, &file, &err));
    assert_string_equal(file.path, "a.c");
    assert_false(file.is_copied);
    assert_true(cn_database_file(db, 1, &file, &err));
    assert_string_equal(file.path, "src/b.c");
    assert_true(file.is_copied);
    assert_int_equal(db->metrics.count, 1);
    assert_string_equal(db->metrics.list[0].name, "time");
    assert_int_equal(cn_metric_prop_id(&db->metrics.list[0], 0), 1);
    assert_int_equal(cn_metric_prop_id(&db->metrics.list[0], 1), 2);
    assert_int_equal(cn_metric_stat_id(&db->metrics.list[0], 1, "$$", CN_COMBINE_SUM), 2);
    cn_database_close(db);
    free(document);
}

/* With all statistics, hpcprof gave each PARTIAL the id of the first. */
static void repairs_the_ids_of_statistics(void **state)
{
    static const char extra[] =
        "<Metric i=\"2\" n=\"time:PARTIAL:1 (I)\" t=\"inclusive\" show=\"4\">"
        "<MetricFormula t=\"combine\" frm=\"sum($5, $5)\"/></Metric>"
        "<Metric i=\"2\" n=\"time:PARTIAL:2 (I)\" t=\"inclusive\" show=\"4\">"
        "<MetricFormula t=\"combine\" frm=\"max($8, $8)\"/></Metric>"
        "<Metric i=\"-1\" n=\"time:Mean (I)\" t=\"inclusive\" show=\"0\">"
        "<MetricFormula t=\"view\" frm=\"$2 / $5\"/></Metric>";
    char *document = cn_xml_document("");
    char *at = strstr(document, "</MetricTable>");
    struct cn_text text = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    cn_text_add(&text, document, (size_t)(at - document));
    cn_text_str_add(&text, extra);
    cn_text_str_add(&text, at);
    if (!open_text(&db, bytes_of(cn_text_str(&text)), &err))
        fail_msg("%s", err.text);
    assert_int_equal(cn_metric_stat_id(&db->metrics.list[0], 1, "$$", CN_COMBINE_SUM), 2);
    assert_int_equal(cn_metric_stat_id(&db->metrics.list[0], 1, "1", CN_COMBINE_SUM), 5);
    assert_int_equal(cn_metric_stat_id(&db->metrics.list[0], 1, "$$", CN_COMBINE_MAX), 8);
    assert_non_null(db->warnings);
    cn_database_close(db);
    cn_text_done(&text);
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_calls_below_the_line_they_are_on),
        cmocka_unit_test(finds_the_line_after_the_call),
        cmocka_unit_test(recognises_inlined_calls_by_their_wrapper),
        cmocka_unit_test(reads_addresses_without_a_function),
        cmocka_unit_test(leaves_wrappers_and_waiting_out),
        cmocka_unit_test(inherits_the_file_of_the_parent),
        cmocka_unit_test(reads_comments_and_spaces),
        cmocka_unit_test(refuses_misplaced_elements),
        cmocka_unit_test(names_line_and_column),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(refuses_long_tags),
        cmocka_unit_test(refuses_entities),
        cmocka_unit_test(refuses_other_encodings),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(survives_every_flip_of_a_bit),
        cmocka_unit_test(refuses_other_versions),
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(repairs_the_ids_of_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
