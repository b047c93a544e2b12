/* The costs of lines that make calls, which the files list without the calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "support/compare.h"
#include "support/xml_files.h"

enum { FUNCTION = 1, EXECUTION = 2 };

static struct cn_database *open_tree(const char *tree, char **document)
{
    struct cn_hpc_xml_files files = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    *document = cn_xml_document(tree);
    files.experiment = (struct cn_bytes){(const uint8_t *)*document, strlen(*document)};
    files.values.profile = cn_xml_profile();
    if (!cn_hpc_xml_open_bytes(&db, &files, &err))
        fail_msg("%s", err.text);
    return db;
}

/* The value of the first context of a range; all values must be sorted. */
static double value_of(struct cn_database *db, uint32_t context, uint16_t metric)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    double value = 0;

    assert_true(cn_profile_values(db, 1, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            assert_int_equal(batch.values[i].key, context);
            if (batch.values[i].metric == metric)
                value = batch.values[i].value;
        }
    assert_int_equal(err.kind, CN_ERR_NONE);
    return value;
}

static void lines_include_their_calls(void **state)
{
    char *document;
    struct cn_database *db =
        open_tree("<PF i='1' n='1'><C i='-1'><PF i='2' n='3' f='0'>"
                  "<S i='3' f='0' l='6'/><C i='4' f='0' l='6'><PF i='5' n='4' f='0'/></C>"
                  "<C i='6' f='0' l='6'><PF i='7' n='4' f='0'/></C>"
                  "<C i='-8' it='8' f='0' l='9'><PF i='8' n='4' f='0'/></C>"
                  "</PF></C></PF>",
                  &document);
    struct cn_error err = {0};

    (void)state;
    assert_true(value_of(db, 3, FUNCTION) == 3);
    assert_true(value_of(db, 3, EXECUTION) == 3 + 5 + 7);
    assert_true(value_of(db, 5, EXECUTION) == 5);
    /* The line of the inlined call got the next free id. */
    assert_true(value_of(db, 10, FUNCTION) == 0);
    assert_true(value_of(db, 10, EXECUTION) == 8);
    assert_int_equal(db->context_limit, 11);
    if (!cn_compare_planes(db, &err))
        fail_msg("%s", err.text);
    cn_database_close(db);
    free(document);
}

/* Many lines: line k has the id 3 k, its call site 3 k + 1, its callee 3 k + 2. */
static char *many_lines(unsigned count)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, "<PF i='1' n='1'><C i='-1'><PF i='2' n='3' f='0'>");
    for (unsigned k = 1; k <= count; k++)
        cn_text_printf(&text,
                       "<S i='%u' f='0' l='%u'/><C i='%u' f='0' l='%u'>"
                       "<PF i='%u' n='4' f='0'/></C>",
                       3 * k, k, 3 * k + 1, k, 3 * k + 2);
    cn_text_str_add(&text, "</PF></C></PF>");
    return text.chars;
}

/* The whole plane: sorted, each value once, with the right sums. */
static void expect_plane(struct cn_database *db, uint32_t first, uint32_t last)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    uint64_t before = 0;
    size_t count = 0;

    assert_true(cn_profile_values(db, 1, first, last, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_value *value = &batch.values[i];
            uint64_t position = (uint64_t)value->key << 16 | value->metric;
            double expected = value->key;

            if (value->key == 3 && value->metric == EXECUTION)
                expected = 3 + 5;
            if (value->key == 6 && value->metric == EXECUTION)
                expected = 6 + 8;
            assert_true(position > before);
            assert_true(value->value == expected);
            before = position;
            count++;
        }
    assert_int_equal(err.kind, CN_ERR_NONE);
    assert_int_equal(count, 2 * (CN_XML_CONTEXTS - (first > 0 ? first - 1 : 0)));
}

static void few_values_among_many_lines_are_found(void **state)
{
    static const unsigned counts[] = {3, 60, 64, 65, 100, 200, 3000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        char *tree = many_lines(counts[i]), *document;
        struct cn_database *db = open_tree(tree, &document);

        expect_plane(db, 0, UINT32_MAX);
        expect_plane(db, 4, UINT32_MAX);
        expect_plane(db, 5, 3 * counts[i]);
        cn_database_close(db);
        free(document);
        free(tree);
    }
}

static void planes_of_contexts_agree(void **state)
{
    char *tree = many_lines(100), *document;
    struct cn_database *db = open_tree(tree, &document);
    struct cn_error err = {0};

    (void)state;
    if (!cn_compare_planes(db, &err))
        fail_msg("%s", err.text);
    cn_database_close(db);
    free(document);
    free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_include_their_calls),
        cmocka_unit_test(few_values_among_many_lines_are_found),
        cmocka_unit_test(planes_of_contexts_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
