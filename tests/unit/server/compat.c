#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text.h"
#include "server/api/request.h"
#include "server/compat/common/find.h"
#include "server/compat/jaeger/jaeger.h"
#include "server/compat/link.h"
#include "server/compat/route.h"
#include "server/compat/tempo/tempo.h"
#include "server/compat/zipkin/zipkin.h"

#define NOW_NS UINT64_C(1700000000000000000)

/* A call with the parameters of an address. */
struct asked {
    char address[512];
    struct cn_request request;
    struct cn_compat_call call;
};

static const struct cn_compat_call *ask(struct asked *asked, const char *address)
{
    *asked = (struct asked){0};
    (void)snprintf(asked->address, sizeof(asked->address), "%s", address);
    cn_request_parse(&asked->request, asked->address);
    asked->call = (struct cn_compat_call){
        .request = &asked->request, .accept = "", .now_ns = NOW_NS};
    return &asked->call;
}

static void searches_of_jaeger_are_queries(void **state)
{
    struct cn_error err = {0};
    struct cn_find find;
    struct asked asked;

    (void)state;
    ask(&asked,
        "/?service=a%20%22b%22&operation=GET&minDuration=1m0.5s&maxDuration=2h&limit=9999"
        "&start=1700000000000000&tags={%22error%22:%22true%22,%22n%22:5}&tag=k:v:w");
    assert_true(cn_jaeger_parse(&asked.call, &find, &err));
    assert_string_equal(
        cn_text_str(&find.query),
        "service = \"a \\\"b\\\"\" root = \"GET\" since \"2023-11-14 "
        "22:13:20.000000000\" errors @\"n\" = \"5\" @\"k\" = \"v:w\" duration >= "
        "\"60500000000ns\" duration <= \"7200000000000ns\"");
    assert_int_equal(find.limit, CN_FIND_MAX);
    assert_string_equal(find.name, "GET");
    cn_find_done(&find);
    ask(&asked, "/?operation=x");
    assert_false(cn_jaeger_parse(&asked.call, &find, &err));
    assert_string_equal(err.text, "parameter 'service' is required");
}

static void searches_of_zipkin_are_queries(void **state)
{
    struct cn_error err = {0};
    struct cn_find find;
    struct asked asked;

    (void)state;
    ask(&asked,
        "/?spanName=all&annotationQuery=error+AND+a%3Db+and+cache+miss&lookback=1000");
    assert_true(cn_zipkin_parse(&asked.call, &find, &err));
    assert_string_equal(cn_text_str(&find.query),
                        "errors @\"a\" = \"b\" ( @\"cache miss\" exists OR @annotation = "
                        "\"cache miss\" OR @event = \"cache miss\") "
                        "since \"2023-11-14 22:13:19.000000000\" until \"2023-11-14 "
                        "22:13:20.000999999\"");
    assert_int_equal(find.limit, 10);
    cn_find_done(&find);
}

static void tags_of_tempo_are_traceql(void **state)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_tempo_tags_to_query("service.name=a  x=\"b \\\"c\" n=1.5 error=true",
                                       5, UINT64_MAX, &text, &err));
    assert_string_equal(cn_text_str(&text),
                        "{ (resource.service.name = \"a\") && (.\"x\" = \"b \\\"c\") && "
                        "(.\"n\" = \"1.5\" || .\"n\" = 1.5) && status = error && "
                        "traceDuration >= 5ns }");
    cn_text_clear(&text);
    assert_false(cn_tempo_tags_to_query("a=b =c", 0, UINT64_MAX, &text, &err));
    assert_string_equal(err.text,
                        "invalid tags: expected key=value, or key=\"value\", at '=c'");
    cn_text_done(&text);
}

static void times_are_seconds_nanoseconds_or_dates(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } times[] = {
        {"1700000000", NOW_NS},
        {"1700000000000000000", NOW_NS},
        {"1.5", 1500000000},
        {"2023-11-14T22:13:20Z", NOW_NS},
    };
    struct cn_error err = {0};
    struct asked asked;
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_true(cn_tempo_time_parse(times[i].text, &ns, &err));
        assert_int_equal(ns, times[i].ns);
    }
    assert_false(cn_tempo_time_parse("noon", &ns, &err));
    assert_true(cn_tempo_step(ask(&asked, "/?step=0.5"), 1, &ns, &err));
    assert_int_equal(ns, 500000000);
    assert_true(cn_tempo_step(ask(&asked, "/?step=1m30s"), 1, &ns, &err));
    assert_int_equal(ns, UINT64_C(90000000000));
    assert_true(cn_tempo_step(ask(&asked, "/?step="), 7, &ns, &err));
    assert_int_equal(ns, 7);
    assert_false(cn_tempo_step(ask(&asked, "/?step=-1"), 1, &ns, &err));
}

static void addresses_lead_to_an_api(void **state)
{
    (void)state;
    assert_true(cn_compat_is_address("/api/services"));
    assert_true(cn_compat_is_address("/api/services/a/b/operations"));
    assert_true(cn_compat_is_address("/tempo/nosuch"));
    assert_true(cn_compat_is_address("/api/v2/traces/abc"));
    assert_false(cn_compat_is_address("/api/services/operations"));
    assert_false(cn_compat_is_address("/api/v1/sources"));
    assert_false(cn_compat_is_address("/tempo"));
    assert_false(cn_compat_is_address("/"));
    assert_string_equal(cn_compat_link_id("/jaeger/trace/AbC1"), "AbC1");
    assert_null(cn_compat_link_id("/trace/"));
    assert_null(cn_compat_link_id("/trace/123456789012345678901234567890123"));
    assert_null(cn_compat_link_id("/trace/1/2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_of_jaeger_are_queries),
        cmocka_unit_test(searches_of_zipkin_are_queries),
        cmocka_unit_test(tags_of_tempo_are_traceql),
        cmocka_unit_test(times_are_seconds_nanoseconds_or_dates),
        cmocka_unit_test(addresses_lead_to_an_api),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
