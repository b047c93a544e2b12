#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/access/guard.h"
#include "server/grpc/session.h"
#include "support/http2.h"

static struct cn_grpc_totals totals;
static struct cn_grpc_call *submitted;

static bool keep(void *arg, struct cn_grpc_call *call)
{
    (void)arg;
    submitted = call;
    return true;
}

static const struct cn_guard guard = {.token = ""};
static const struct cn_grpc_service service = {
    .guard = &guard, .counts = &totals, .held_max = 1 << 20, .submit = keep};

static struct cn_h2_session *connect_with(unsigned kind)
{
    struct cn_h2_session *session = cn_h2_session_new(&service, "10.0.0.7");
    struct cn_text sent = {0};

    submitted = NULL;
    cn_test_http2(&sent, kind);
    assert_true(cn_h2_session_receive(
        session, (struct cn_bytes){(const uint8_t *)sent.chars, sent.len}));
    cn_text_done(&sent);
    return session;
}

static void give_back(struct cn_grpc_call *call)
{
    cn_otlp_outcome_set(&call->outcome, CN_COLLECTED, 0, NULL);
    cn_grpc_call_drop_message(call, &service);
    (void)cn_h2_session_back(call, &service);
}

static void a_call_is_answered_when_it_comes_back(void **state)
{
    struct cn_h2_session *session = connect_with(3);
    struct cn_text out = {0};

    (void)state;
    cn_h2_session_free(session);
    give_back(submitted); /* the first call was reset; it was submitted all the same */
    session = connect_with(4);
    assert_non_null(submitted);
    assert_int_equal(atomic_load(&totals.held_len), 9);
    assert_int_equal(cn_h2_session_call_count(session), 1);
    give_back(submitted);
    assert_int_equal(cn_h2_session_call_count(session), 0);
    assert_int_equal(atomic_load(&totals.held_len), 0);
    cn_h2_session_output(session, &out, SIZE_MAX);
    assert_true(out.len > 0 && !cn_h2_session_is_over(session));
    cn_text_done(&out);
    cn_h2_session_free(session);
}

static void a_call_may_outlive_its_connection(void **state)
{
    struct cn_h2_session *session = connect_with(4);

    (void)state;
    cn_h2_session_free(session);
    assert_int_equal(atomic_load(&totals.held_len), 9);
    give_back(submitted);
    assert_int_equal(atomic_load(&totals.held_len), 0);
}

static void a_call_that_is_late_is_answered_once(void **state)
{
    struct cn_h2_session *session = connect_with(4);
    uint64_t failed = atomic_load(&totals.failed);

    (void)state;
    assert_true(cn_h2_session_check(session, UINT64_MAX - 1) == UINT64_MAX);
    assert_int_equal(cn_h2_session_call_count(session), 0);
    assert_int_equal(atomic_load(&totals.failed), failed + 1);
    give_back(submitted);
    assert_int_equal(atomic_load(&totals.failed), failed + 1);
    cn_h2_session_free(session);
}

static void other_protocols_are_told(void **state)
{
    static const char request[] = "GET / HTTP/1.1\r\n\r\n";
    struct cn_h2_session *session = cn_h2_session_new(&service, "");
    struct cn_text out = {0};

    (void)state;
    assert_false(cn_h2_session_receive(
        session, (struct cn_bytes){(const uint8_t *)request, sizeof(request) - 1}));
    cn_h2_session_output(session, &out, SIZE_MAX);
    assert_int_equal(strncmp(cn_text_str(&out), "HTTP/1.1 400 ", 13), 0);
    assert_true(cn_h2_session_is_over(session));
    cn_text_done(&out);
    cn_h2_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered_when_it_comes_back),
        cmocka_unit_test(a_call_may_outlive_its_connection),
        cmocka_unit_test(a_call_that_is_late_is_answered_once),
        cmocka_unit_test(other_protocols_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
