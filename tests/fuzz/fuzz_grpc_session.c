/* Any bytes as the client's side of an HTTP/2 connection: calls are answered or dropped, none is lost, and what all of them
 * hold is given back. The first byte chooses when calls come back from the collector. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "server/access/guard.h"
#include "server/grpc/session.h"
#include "support/fuzz.h"
#include "support/http2.h"

enum { WAITING_MAX = 8, STEP = 61 };

static struct cn_grpc_totals totals;
static struct cn_grpc_call *waiting[WAITING_MAX];
static size_t waiting_count;

static bool submit(void *arg, struct cn_grpc_call *call)
{
    (void)arg;
    if (waiting_count == WAITING_MAX) {
        cn_otlp_outcome_busy(&call->outcome);
        return false;
    }
    waiting[waiting_count++] = call;
    return true;
}

static void give_back(const struct cn_grpc_service *service)
{
    while (waiting_count > 0) {
        struct cn_grpc_call *call = waiting[--waiting_count];

        cn_otlp_outcome_set(&call->outcome, CN_COLLECTED, 0, NULL);
        cn_grpc_call_drop_message(call, service);
        (void)cn_h2_session_back(call, service);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct cn_guard guard = {.token = ""};
    struct cn_grpc_service service = {
        .guard = &guard, .counts = &totals, .held_max = 1 << 20, .submit = submit};
    struct cn_h2_session *session = cn_h2_session_new(&service, "fuzz");
    struct cn_bytes rest = {data, len}, piece;
    struct cn_text out = {0};
    unsigned when = len > 0 ? data[0] : 0;

    if (len > 0)
        (void)cn_bytes_take(&rest, 1, &piece);
    for (unsigned turn = 0; rest.len > 0; turn++) {
        (void)cn_bytes_take(&rest, rest.len < STEP ? rest.len : STEP, &piece);
        if (!cn_h2_session_receive(session, piece))
            break;
        if (turn % 3 == when % 3)
            give_back(&service);
        if (turn % 5 == when % 5)
            (void)cn_h2_session_check(session, UINT64_MAX - 1);
        cn_text_clear(&out);
        cn_h2_session_output(session, &out, 1 << 16);
    }
    cn_h2_session_shut(session);
    cn_h2_session_drop_arriving(session);
    cn_h2_session_output(session, &out, SIZE_MAX);
    assert(cn_h2_session_call_count(session) <= 100);
    if (when & 1)
        give_back(&service);
    cn_h2_session_free(session);
    give_back(&service); /* calls that outlive their connection */
    assert(atomic_load(&totals.held_len) == 0);
    cn_text_done(&out);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_text text = {0};

    for (unsigned kind = 0; kind < CN_TEST_HTTP2_COUNT; kind++) {
        cn_text_clear(&text);
        cn_text_char(&text, (char)kind);
        cn_test_http2(&text, kind);
        emit((const uint8_t *)text.chars, text.len);
    }
    cn_text_done(&text);
}
