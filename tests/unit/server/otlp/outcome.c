#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "server/otlp/outcome.h"

static void check_body(const struct cn_otlp_outcome *outcome, bool is_json,
                       const char *expected, size_t len)
{
    struct cn_text body = {0};

    cn_otlp_outcome_body(outcome, is_json, &body);
    assert_int_equal(body.len, len);
    assert_memory_equal(cn_text_str(&body), expected, len);
    cn_text_done(&body);
}

static void check_json(const struct cn_otlp_outcome *outcome, const char *expected)
{
    check_body(outcome, true, expected, strlen(expected));
}

static void success_is_an_empty_message(void **state)
{
    struct cn_otlp_outcome outcome;

    (void)state;
    cn_otlp_outcome_set(&outcome, CN_COLLECTED, 0, NULL);
    assert_int_equal(outcome.http_status, 200);
    check_body(&outcome, false, "", 0);
    check_json(&outcome, "{}");
}

static void partial_success_counts_spans(void **state)
{
    struct cn_otlp_outcome outcome;
    struct cn_error err;

    (void)state;
    (void)cn_fail(&err, CN_ERR_FORMAT, "no ids");
    cn_otlp_outcome_set(&outcome, CN_COLLECTED, 3, &err);
    check_body(&outcome, false, "\x0a\x0a\x08\x03\x12\x06no ids", 12);
    check_json(&outcome, "{\n\"partialSuccess\": {\"rejectedSpans\": \"3\","
                         "\"errorMessage\": \"no ids\"}\n}\n");
}

static void busy_says_when_to_come_back(void **state)
{
    struct cn_otlp_outcome outcome;
    struct cn_text body = {0};
    static const char retry[] =
        "type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02\x08\x01";

    (void)state;
    cn_otlp_outcome_busy(&outcome);
    assert_int_equal(outcome.http_status, 429);
    assert_int_equal(outcome.code, CN_RPC_RESOURCE_EXHAUSTED);
    cn_otlp_outcome_body(&outcome, false, &body);
    assert_non_null(memmem(body.chars, body.len, retry, sizeof(retry) - 1));
    cn_text_done(&body);
    check_json(
        &outcome,
        "{\n\"code\": 8,\n\"message\": \"too many requests are waiting; try again in "
        "a second\",\n\"details\": [{\"@type\": "
        "\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\": \"1s\"}]\n}\n");
}

static void errors_have_statuses(void **state)
{
    static const struct {
        enum cn_collected how;
        enum cn_error_kind kind;
        enum cn_rpc_code code;
        unsigned status;
    } cases[] = {
        {CN_COLLECTED_NOT, CN_ERR_FORMAT, CN_RPC_INVALID_ARGUMENT, 400},
        {CN_COLLECTED_NOT, CN_ERR_LIMIT, CN_RPC_RESOURCE_EXHAUSTED, 413},
        {CN_COLLECTED_NOT, CN_ERR_NO_MEMORY, CN_RPC_UNAVAILABLE, 503},
        {CN_COLLECTED_NOT_SAVED, CN_ERR_IO, CN_RPC_UNAVAILABLE, 503},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_otlp_outcome outcome;
        struct cn_error err;

        (void)cn_fail(&err, cases[i].kind, "why");
        cn_otlp_outcome_set(&outcome, cases[i].how, 0, &err);
        assert_int_equal(outcome.code, cases[i].code);
        assert_int_equal(outcome.http_status, cases[i].status);
        assert_int_equal(outcome.retry_s, cases[i].status == 503);
        assert_string_equal(outcome.message, "why");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_an_empty_message),
        cmocka_unit_test(partial_success_counts_spans),
        cmocka_unit_test(busy_says_when_to_come_back),
        cmocka_unit_test(errors_have_statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
