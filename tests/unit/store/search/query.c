/* The language of searches, and the patterns in it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/search/query.h"

static const uint64_t now_ns = UINT64_C(1767225600000000000); /* 2026-01-01 */
static const uint64_t hour_ns = UINT64_C(3600000000000);

static struct cn_query *parse(const char *text)
{
    struct cn_error err = {0};
    struct cn_query *query = NULL;

    if (!cn_query_parse(&query, text, now_ns, &err))
        fail_msg("%s: %s", text, err.text);
    return query;
}

/* Steps as letters: t term, & | ! and s for skip. */
static void assert_shape(const char *text, const char *shape)
{
    struct cn_query *query = parse(text);
    char letters[64] = "";

    for (size_t i = 0; i < query->count && i + 1 < sizeof(letters); i++)
        letters[i] = "t&|!s"[query->steps[i].kind];
    assert_string_equal(letters, shape);
    cn_query_free(query);
}

static void binds_not_before_and_before_or(void **state)
{
    (void)state;
    assert_shape("", "");
    assert_shape("  ", "");
    assert_shape("a", "t");
    assert_shape("a b", "tst&");
    assert_shape("a AND b or c", "tst&t|");
    assert_shape("a or b and c", "ttst&|");
    assert_shape("not a b", "t!st&");
    assert_shape("not not a", "t");
    assert_shape("not (a or b)", "tt|!");
    assert_shape("(a)(b)", "tst&");
    assert_shape("notable", "t");
    assert_shape("order", "t");
}

static struct cn_query_term only_term(struct cn_query **query, const char *text)
{
    *query = parse(text);
    assert_int_equal((*query)->count, 1);
    return (*query)->steps[0].term;
}

static void assert_range(const char *text, uint64_t first, uint64_t last)
{
    struct cn_query *query;
    struct cn_query_term term = only_term(&query, text);

    assert_int_equal(term.first.low, first);
    assert_int_equal(term.last.low, last);
    cn_query_free(query);
}

static void understands_numbers_and_times(void **state)
{
    uint64_t day_ns = 24 * hour_ns;

    (void)state;
    assert_range("duration > 100ms", 100000001, UINT64_MAX);
    assert_range("duration<=1.5s", 0, 1500000000);
    assert_range("duration = 2", 2000000000, 2000000000);
    assert_range("errors", 1, UINT64_MAX);
    assert_range("errors >= 2", 2, UINT64_MAX);
    assert_range("calls < 10", 0, 9);
    assert_range("last 2h", now_ns - 2 * hour_ns, UINT64_MAX);
    assert_range("since 2026-01-01", now_ns, UINT64_MAX);
    assert_range("until \"2026-01-01 10:00\"", 0,
                 now_ns + 10 * hour_ns + hour_ns / 60 - 1);
    assert_range("time = 2026-01-01", now_ns, now_ns + day_ns - 1);
    assert_range("time > 2026-01-01T10", now_ns + 11 * hour_ns, UINT64_MAX);
    assert_range("time < 2026-01-01T10:00:00.5Z", 0, now_ns + 10 * hour_ns + 499999999);
    assert_range("time >= '2026-01-01 02:00+02:00'", now_ns, UINT64_MAX);
    assert_range("time >= 2024-02-29", UINT64_C(1709164800000000000), UINT64_MAX);
    assert_range("records < 0", 1, 0);
    assert_range("span = ff", 0xff, 0xff);
    assert_range("span starts 4c", UINT64_C(0x4c00000000000000),
                 UINT64_C(0x4cffffffffffffff));
}

static void understands_ids_and_names(void **state)
{
    struct cn_query *query;
    struct cn_query_term term =
        only_term(&query, "id = fac42cedeefc05e92fe6c9df7d84a440");

    (void)state;
    assert_true(term.first.high == UINT64_C(0xfac42cedeefc05e9));
    assert_true(term.last.low == UINT64_C(0x2fe6c9df7d84a440));
    cn_query_free(query);
    term = only_term(&query, "http.url=/a?b=c&d=(x");
    assert_int_equal(term.field, CN_QUERY_ATTRIBUTE);
    assert_string_equal(term.name, "http.url");
    assert_string_equal((const char *)term.text.ptr, "/a?b=c&d=(x");
    cn_query_free(query);
    term = only_term(&query, "@type != 'it\\'s \\\\'");
    assert_int_equal(term.field, CN_QUERY_ATTRIBUTE);
    assert_true(term.is_negated);
    assert_string_equal((const char *)term.text.ptr, "it's \\");
    cn_query_free(query);
    term = only_term(&query, "@\"a (b) = \\\"c\\\"\" ~ 'x y'");
    assert_int_equal(term.field, CN_QUERY_ATTRIBUTE);
    assert_string_equal(term.name, "a (b) = \"c\"");
    assert_int_equal(term.op, CN_QUERY_MATCHES);
    cn_query_free(query);
    term = only_term(&query, "@'type' exists");
    assert_int_equal(term.field, CN_QUERY_ATTRIBUTE);
    assert_string_equal(term.name, "type");
    cn_query_free(query);
    term = only_term(&query, "root.user exists");
    assert_int_equal(term.field, CN_QUERY_ROOT_ATTRIBUTE);
    assert_string_equal(term.name, "user");
    cn_query_free(query);
}

static void assert_fails(const char *text, const char *message)
{
    struct cn_error err = {0};
    struct cn_query *query = NULL;

    assert_false(cn_query_parse(&query, text, now_ns, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(err.kind, CN_ERR_USAGE);
}

static void points_at_the_column_of_a_mistake(void **state)
{
    struct cn_text deep = {0};

    (void)state;
    assert_fails("a and (b or", "query, column 12: missing condition");
    assert_fails("a and (b", "query, column 7: '(' without ')'");
    assert_fails("@\"a b\" c",
                 "query, column 8: missing operator after the name of an attribute");
    assert_fails("a)", "query, column 2: ')' without '('");
    assert_fails("user = ", "query, column 6: missing value");
    assert_fails("x duration > soon",
                 "query, column 14: 'soon' is not a duration such as 1.5s");
    assert_fails("duration > 3parsec",
                 "query, column 12: 'parsec' in duration '3parsec' is not one of ns, us, "
                 "ms, s, m, h, d, w");
    assert_fails(
        "since 2026-02-30",
        "query, column 7: '2026-02-30' is not a time such as \"2026-01-31 23:59:59\"");
    assert_fails("id = xyz", "query, column 6: 'xyz' is not a hexadecimal number");
    assert_fails("\"abc", "query, column 1: missing closing quote");
    assert_fails("m ~ [a", "query, column 5: pattern '[a': column 3: '[' without ']'");
    assert_fails("= 5", "query, column 1: missing condition");
    cn_text_fill(&deep, '(', 100);
    assert_fails(cn_text_str(&deep), "query, column 65: parentheses nest too deeply");
    cn_text_done(&deep);
}

static bool matches(const char *query_text, const char *value)
{
    struct cn_query *query;
    struct cn_query_term term = only_term(&query, query_text);
    bool result = cn_query_text_matches(
        &term, (struct cn_bytes){(const uint8_t *)value, strlen(value)});

    cn_query_free(query);
    return result;
}

static void compares_numbers_as_numbers_and_texts_as_texts(void **state)
{
    (void)state;
    assert_true(matches("a > 9", "10"));
    assert_false(matches("a > 9", "x"));
    assert_true(matches("a < -1.5", "-2e0"));
    assert_true(matches("a > abc", "abd"));
    assert_true(matches("a >= abc", "abc"));
    assert_false(matches("a < abc", "abcd"));
    assert_true(matches("a contains bc", "abcd"));
    assert_true(matches("a starts ab", "abcd"));
    assert_false(matches("a ends abcde", "bcde"));
    assert_true(matches("a ends de", "bcde"));
    assert_true(matches("a ~ ^b.*e$", "bcde"));
    assert_false(matches("a = 1", "1.0"));
}

static void knows_which_times_can_match(void **state)
{
    struct cn_query *query = parse("since 2026-01-01 until 2026-01-02 errors");

    (void)state;
    assert_int_equal(query->first_ns, now_ns);
    assert_int_equal(query->last_ns, now_ns + 48 * hour_ns - 1);
    cn_query_free(query);
    query = parse("time = 2026-01-01 or (time = 2026-01-03 and a)");
    assert_int_equal(query->first_ns, now_ns);
    assert_int_equal(query->last_ns, now_ns + 72 * hour_ns - 1);
    cn_query_free(query);
    query = parse("not time = 2026-01-01");
    assert_int_equal(query->first_ns, 0);
    assert_true(query->last_ns == UINT64_MAX);
    cn_query_free(query);
}

static void knows_which_trace_can_match(void **state)
{
    static const struct {
        const char *query;
        bool has_id;
    } cases[] = {
        {"id = 0123456789abcdef0123456789abcdef", true},
        {"errors id = 0123456789abcdef0123456789abcdef duration > 1ms", true},
        {"not id = 0123456789abcdef0123456789abcdef", false},
        {"id != 0123456789abcdef0123456789abcdef", false},
        {"id = 0123456789abcdef0123456789abcdef or errors", false},
        {"id = 0123456789abcdef0123456789abcdef or id = 1123456789abcdef0123456789abcdef",
         false},
        {"(id = 0123456789abcdef0123456789abcdef errors) or id = "
         "0123456789abcdef0123456789abcdef",
         true},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_query *query = parse(cases[i].query);

        assert_int_equal(query->has_id, cases[i].has_id);
        if (query->has_id) {
            assert_true(query->id.high == UINT64_C(0x0123456789abcdef));
            assert_true(query->id.low == UINT64_C(0x0123456789abcdef));
        }
        cn_query_free(query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binds_not_before_and_before_or),
        cmocka_unit_test(understands_numbers_and_times),
        cmocka_unit_test(understands_ids_and_names),
        cmocka_unit_test(points_at_the_column_of_a_mistake),
        cmocka_unit_test(compares_numbers_as_numbers_and_texts_as_texts),
        cmocka_unit_test(knows_which_times_can_match),
        cmocka_unit_test(knows_which_trace_can_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
