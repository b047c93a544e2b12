/* Any bytes as what agents send: bodies of all generations, with and without a trace that they
 * go on with, and requests with heads. */

#include <string.h>

#include "formats/zorka/body.h"
#include "formats/zorka/request.h"
#include "support/fuzz.h"

static void read_body(struct cn_bytes bytes, const struct cn_zorka_open *open)
{
    struct cn_zorka_session *session = cn_zorka_session_new();
    struct cn_words words = {0};
    struct cn_trace trace = {0};
    struct cn_zorka_body body;
    struct cn_error err;

    cn_zorka_body_begin(&body, session, bytes);
    body.resume = open;
    while (cn_zorka_body_next(&body, &words, &trace, &err) == CN_ITEM)
        cn_trace_settle(&trace);
    cn_words_rewind(&words, words.count / 2);
    cn_zorka_body_done(&body);
    cn_zorka_session_free(session);
    cn_trace_done(&trace);
    cn_words_done(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct cn_zorka_open open = {.clock_ns = 10, .depth = 2, .part = 1};
    struct cn_bytes bytes = {data, len};
    struct cn_zorka_request request;
    struct cn_error err;

    read_body(bytes, NULL);
    read_body(bytes, &open);
    while (cn_zorka_request_next(&bytes, &request, &err) == CN_ITEM)
        continue;
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01\xc3\x9f\x0a\x01\xc5\x83\x01\x01\x07"
        "\xc6\x82\x01\x82\x01\xa1\x61k\x61v\xc7\x85\x01\x01\x61m\x20\x81\x84\x01\x01\x01"
        "\x05\xc8\x01\xc3\x9f\x0b\x01\xc4\x82\x0d\x01\xff\xc4\x83\x0e\x02\x19\x21\x08"
        "\xff",
        "\xc1\x83\x01\x61x\x05\xc2\x84\x01\x01\x01\x01\xc8\x9f\xca\x48zz\x01zzzzz"
        "\xd8\x21\x83\x0a\x07\x08\xc9\xa1\xc6\x01\x62hi\xcf\x08\xce\xa1\x09\x05"
        "\xd8\x22\x85\x01\xc6\x01\xf6\x20\x80\xd8\x23\x01\xcc\x48zzz\x02zzzz\xff",
        "POST /agent/submit/trc HTTP/1.1\r\nX-Zorka-Session-Id: 1\r\n"
        "X-Zorka-Trace-Id: 00112233445566778899aabbccddeeff\r\nContent-Length: 3\r\n\r\n"
        "\xc1\x82\x01",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
