/* TraceQL: what is a query, what is none and where, how operators bind, and what the indexes are
 * asked. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "store/traceql/program.h"

static struct cn_tql_program *parse(const char *text)
{
    struct cn_error err = {0};
    struct cn_tql_program *program = NULL;

    if (!cn_tql_parse(&program, text, &err))
        fail_msg("%s: %s", text, err.text);
    return program;
}

static void takes_what_the_language_has(void **state)
{
    static const char *const queries[] = {
        "{}",
        "{ true }",
        "{ .a }",
        "{ span.http.route = \"/pay\" && resource.k8s.pod != `x` }",
        "{ .\"with a blank\" = \"v\" || span.\"q\\\"uote\\\\\" = 1 }",
        "{ event:name = \"exception\" && event.exception.type =~ \"java[.].*\" }",
        "{ link:traceID = \"1\" && instrumentation:version != \"2\" }",
        "{ duration > 1h30m && traceDuration < 1.5s && span:duration != 10us }",
        "{ nil = .a && .b != nil }",
        "{ (-.a + 2) * 3 % 4 ^ 2 >= -1.5e3 }",
        "{ kind = server } >> { status = error } | count() > 2",
        "({ .a } | avg(duration) > 1s) && ({ .b })",
        "{ .a } && ({ .b } | count() > 1)",
        "{ .a } !> { .b } &<< { .c } ~ { .d }",
        "{} | by(resource.service.name) | max(duration) > 1s | coalesce() | select(name, "
        ".x)",
        "by(name) | count() > 1",
        "count() > 1 | { .a }",
        "({ .a } | count()) > ({ .b } | count()) + ({ .c } | count())",
        "{} | sum(.bytes) / count() > 100",
        "{ parent.a = 1 && parent.span.b = 2 && parent.resource.c = 3 && parent.duration "
        "> 1s }",
        "{} | rate() by (resource.service.name, name) | topk(3) >= 0.5 | bottomk(1)",
        "{} | quantile_over_time(duration, 0, .5, 0.99, 1) by (.a)",
        "{} | histogram_over_time(span.bytes) by (name) with(exemplars=true, sample=0.1)",
        "{} | compare({ status = error }, 5, 1700000000000000000, 1700000001000000000)",
        "100 * ({ status = error } | rate()) / ({} | rate()) > 1 | topk(5)",
        "({} | max_over_time(duration) > 1s) - -2",
        "{ .a // to the end of the line\n = /* here */ 1 }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        cn_tql_program_free(parse(queries[i]));
}

static void says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *query, *says;
    } wrong[] = {
        {"", "column 1: expected '{', '(', a function or a number, found the end"},
        {"{ status = err }", "column 12: unknown name 'err'"},
        {"{ staus = error }", "column 3: unknown name 'staus'; did you mean status;"},
        {"{ span:nme = 1 }", "column 3: there is no 'span:nme'; did you mean span:name"},
        {"{ .a = 1", "column 9: expected an operator or '}', found the end of the query"},
        {"{ . = 1 }", "column 4: missing name of an attribute"},
        {"{ .a == 1 }", "column 7: expected an attribute, an intrinsic or a value"},
        {"{ .a = 1x }", "column 8: not a number"},
        {"{ .a = 99999999999999999999 }", "column 8: the number is too large"},
        {"{ .a = \"x }", "column 8: missing closing quote"},
        {"{ 1 }", "column 3: braces need a condition, not a value"},
        {"{ status > error }", "column 10: > cannot be used with a status and a status"},
        {"{ name = 1 }", "column 8: = cannot be used with a text and a number"},
        {"{ -name = \"a\" }", "column 3: - cannot be used with a text"},
        {"{ name = nil }", "column 3: this is never nil"},
        {"{ .a =~ \"[\" }", "column 9: pattern '['"},
        {"{ .a =~ \"\\\\pL\" }", "column 9: pattern '\\pL': \\p is not supported"},
        {"{ .a =~ .b }", "column 9: =~ and !~ need a pattern as text"},
        {"{} + {}", "column 4: the operator does not fit the two sides"},
        {"{} | count()", "column 1: a number is no answer: compare it"},
        {"{} | cuont() > 1",
         "column 6: there is no function 'cuont'; did you mean count"},
        {"{} | coalesce() }", "column 17: expected the end of the query, found '}'"},
        {"coalesce() | {}", "column 1: a pipeline cannot begin with this"},
        {"{} | max(3) > 1", "column 10: an aggregate needs a field of the span"},
        {"{} | topk(3)", "column 6: this cannot be a stage of a pipeline"},
        {"{} | rate() | topk(0)", "column 20: the limit must be above 0"},
        {"{} | rate() | rate()", "column 15: only topk() and bottomk() follow metrics"},
        {"{} | rate() + 1", "column 13: expected the end of the query, found '+'"},
        {"{} | quantile_over_time(duration, 2)",
         "column 35: expected a quantile from 0 to 1"},
        {"{} | rate() by (.a,.b,.c,.d,.e,.f)",
         "column 6: by() takes at most 5 fields here"},
        {"({} | rate()) * 10s", "column 15: a duration cannot be combined with metrics"},
        {"({} | rate()) > 1s + 1s", "column 20: durations cannot be computed with here"},
        {"{} | compare({ .a }) | topk(2)", "column 6: compare() cannot be combined"},
        {"{} with(1=2)", "column 9: expected the name of a hint, found '1'"},
        {"{ \"\xc3\xa4\" = .a && b }", "column 15: unknown name 'b'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cn_tql_program *program;
        struct cn_error err = {0};

        if (cn_tql_parse(&program, wrong[i].query, &err))
            fail_msg("%s: accepted", wrong[i].query);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("%s: %s", wrong[i].query, err.text);
    }
}

/* Steps as letters: v value, f field, s skip, and operators. */
static void assert_steps(const char *text, const char *wanted)
{
    struct cn_tql_program *program = parse(text);
    struct cn_text steps = {0};

    for (size_t i = 0; i < program->step_count; i++) {
        const struct cn_tql_step *step = &program->steps[i];

        if (step->kind == CN_TQL_PUSH || step->kind == CN_TQL_FIELD)
            cn_text_char(&steps, step->kind == CN_TQL_PUSH ? 'v' : 'f');
        else if (step->kind == CN_TQL_SKIP)
            cn_text_char(&steps, 's');
        else
            cn_text_str_add(&steps,
                            step->op == CN_TQL_NEGATE ? "_" : cn_tql_op_sign(step->op));
    }
    assert_string_equal(cn_text_str(&steps), wanted);
    cn_text_done(&steps);
    cn_tql_program_free(program);
}

static void binds_operators_as_tempo_does(void **state)
{
    (void)state;
    assert_steps("{ .a = 1 && .b = 2 || .c = 3 }", "fv=sfv=&&sfv=||");
    assert_steps("{ .a = 1 || .b = 2 && .c = 3 }", "fv=sfv=||sfv=&&");
    assert_steps("{ .a + .b * .c = 1 }", "fff*+v=");
    assert_steps("{ .a - .b - .c = 1 }", "ff-f-v=");
    assert_steps("{ .a ^ .b ^ .c = 1 }", "fff^^v=");
    assert_steps("{ -.a * .b = 1 }", "ff*_v=");
    assert_steps("{ -.a + .b = 1 }", "f_f+v=");
    assert_steps("{ !.a = .b }", "f!f=");
    assert_steps("{ !(.a = .b) }", "ff=!");
    assert_steps("{ 1 + 2 = 3 }", "v");
    assert_steps("{ .a = 2 * 3 + 1 }", "fv=");
    assert_steps("{ .a != nil }", "f!= nil");
}

static void assert_condition(const char *text, const char *wanted, bool is_exact)
{
    struct cn_tql_program *program = parse(text);

    assert_string_equal(program->filters[0].condition, wanted);
    assert_int_equal(program->filters[0].is_exact, is_exact);
    cn_tql_program_free(program);
}

static void asks_the_indexes_what_they_know(void **state)
{
    (void)state;
    assert_condition("{}", "", true);
    assert_condition("{ duration >= 2ms }", "duration >= 2000000ns", true);
    assert_condition("{ span.a = \"x\" }", "root.a = \"x\"", true);
    assert_condition("{ span.a = \"200\" }", "root.a = \"200\"", false);
    assert_condition("{ span.event.a = \"x\" }", "root.event.a = \"x\"", false);
    assert_condition("{ span.a = \"q\\\"\" }", "root.a = \"q\\\"\"", true);
    assert_condition("{ !(span.a = \"x\") }", "", false);
    assert_condition("{ span.a > 5 }", "root.a > 5 or root.a = inf", false);
    assert_condition("{ 5 > span.a }", "root.a < 5 or root.a = -inf", false);
    assert_condition("{ span.a != 5 }", "root.a exists", false);
    assert_condition("{ span.a =~ \"x.*\" }", "root.a ~ \"^(x.*)$\"", false);
    assert_condition("{ span.a =~ \"(?i)x\" }", "root.a exists", false);
    assert_condition("{ span.\"a b\" = 1 }", "", false);
    assert_condition("{ resource.service.name = \"cart\" }", "service = \"cart\"", true);
    assert_condition("{ kind != client }", "not type = client", true);
    assert_condition("{ status = error }", "errors", false);
    assert_condition("{ trace:id = \"00af\" }", "id = af", false);
    assert_condition("{ trace:id = \"nonsense\" }", "", true);
    assert_condition("{ span.a = 1 && duration > 1ns || kind = server }",
                     "root.a = \"1\" and duration > 1ns or type = server", false);
    assert_condition("{ (span.a = 1 || kind = server) && duration > 1ns }",
                     "(root.a = \"1\" or type = server) and duration > 1ns", false);
    assert_condition("{ !(duration > 1ns) }", "not (duration > 1ns)", true);
    assert_condition("{ !(span.a = 1) && kind = server }", "type = server", false);
    assert_condition("{ rootName = \"x\" && kind = server }", "type = server", false);
    assert_condition("{ span.a = 1 || rootName = \"x\" }", "", false);
    assert_condition("{ span.a = span.b }", "", false);
}

static void refuses_what_is_too_deep_or_long(void **state)
{
    struct cn_text text = {0};
    struct cn_tql_program *program;
    struct cn_error err = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        cn_text_char(&text, '(');
    cn_text_str_add(&text, "{}");
    assert_false(cn_tql_parse(&program, cn_text_str(&text), &err));
    assert_non_null(strstr(err.text, "parentheses nest too deeply"));

    cn_text_clear(&text);
    cn_text_str_add(&text, "{ .a");
    for (int i = 0; i < 3000; i++)
        cn_text_str_add(&text, " || .a = 1");
    cn_text_str_add(&text, " }");
    assert_false(cn_tql_parse(&program, cn_text_str(&text), &err));
    assert_non_null(strstr(err.text, "too many conditions"));

    cn_text_clear(&text);
    cn_text_str_add(&text, "{}");
    for (int i = 0; i < 2000; i++)
        cn_text_str_add(&text, " && {}");
    assert_false(cn_tql_parse(&program, cn_text_str(&text), &err));
    assert_non_null(strstr(err.text, "too many parts"));

    cn_text_fill(&text, ' ', CN_TQL_LEN_MAX);
    assert_false(cn_tql_parse(&program, cn_text_str(&text), &err));
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_the_language_has),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(binds_operators_as_tempo_does),
        cmocka_unit_test(asks_the_indexes_what_they_know),
        cmocka_unit_test(refuses_what_is_too_deep_or_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
