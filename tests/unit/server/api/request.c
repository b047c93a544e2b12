#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/api/request.h"

static void splits_and_decodes_an_address(void **state)
{
    char address[] =
        "/api/v1/sources/0/rows?view=flat&q=a%20b%2Bc+d&thread=1&thread=2&row";
    struct cn_request request = {0};

    (void)state;
    cn_request_parse(&request, address);
    assert_string_equal(request.path, "/api/v1/sources/0/rows");
    assert_int_equal(request.parameter_count, 5);
    assert_string_equal(cn_request_value(&request, "view"), "flat");
    assert_string_equal(cn_request_value(&request, "q"), "a b+c d");
    assert_string_equal(cn_request_value_at(&request, "thread", 1), "2");
    assert_string_equal(cn_request_value(&request, "row"), "");
    assert_null(cn_request_value(&request, "sort"));
}

static void leaves_what_is_not_encoded(void **state)
{
    char address[] = "/api/v1/sources?q=100%&r=%4&s=%zz&t=%4a";
    struct cn_request request = {0};

    (void)state;
    cn_request_parse(&request, address);
    assert_string_equal(cn_request_value(&request, "q"), "100%");
    assert_string_equal(cn_request_value(&request, "r"), "%4");
    assert_string_equal(cn_request_value(&request, "s"), "%zz");
    assert_string_equal(cn_request_value(&request, "t"), "J");
}

static void ignores_parameters_after_the_last_one(void **state)
{
    char address[1024] = "/?";
    struct cn_request request = {0};

    (void)state;
    for (int i = 0; i < CN_REQUEST_PARAMETER_MAX + 1; i++)
        strcat(address, i < CN_REQUEST_PARAMETER_MAX ? "a=1&" : "b=1");
    cn_request_parse(&request, address);
    assert_int_equal(request.parameter_count, CN_REQUEST_PARAMETER_MAX);
    assert_null(cn_request_value(&request, "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_and_decodes_an_address),
        cmocka_unit_test(leaves_what_is_not_encoded),
        cmocka_unit_test(ignores_parameters_after_the_last_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
