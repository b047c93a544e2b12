/* Any bytes as the message of a call, in pieces of any length: whole, refused, or not whole yet, and the same for all
 * pieces. */

#include <assert.h>
#include <string.h>

#include "server/grpc/message.h"
#include "support/fuzz.h"

enum { PIECES_MAX = 3 };

/* What was read, with pieces of `step` bytes. */
static bool read_all(struct cn_bytes bytes, size_t step, struct cn_grpc_message *message,
                     struct cn_error *err)
{
    struct cn_bytes piece;

    while (bytes.len > 0) {
        if (!cn_bytes_take(&bytes, bytes.len < step ? bytes.len : step, &piece))
            return false;
        if (!cn_grpc_message_take(message, piece, err))
            return false;
        assert(message->body.len <= message->len);
    }
    return cn_grpc_message_end(message, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const size_t steps[PIECES_MAX] = {1, 7, SIZE_MAX};
    bool ok[PIECES_MAX];
    char text[64] = {0};
    struct cn_text encoded = {0};
    uint64_t ns;

    for (size_t i = 0; i < PIECES_MAX; i++) {
        struct cn_grpc_message message = {0};
        struct cn_error err = {0};

        ok[i] = read_all((struct cn_bytes){data, len}, steps[i], &message, &err);
        assert(ok[i] == ok[0] && ok[i] == (err.text[0] == '\0'));
        assert(!ok[i] || message.len == len - CN_GRPC_PREFIX_LEN);
        cn_grpc_message_done(&message);
    }
    if (len > 0)
        memcpy(text, data, len < sizeof(text) - 1 ? len : sizeof(text) - 1);
    (void)!cn_grpc_timeout_parse(text, &ns);
    cn_grpc_text_encode(&encoded, text);
    for (size_t i = 0; i < encoded.len; i++)
        assert(encoded.chars[i] >= ' ' && encoded.chars[i] < 0x7f);
    cn_text_done(&encoded);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    emit((const uint8_t *)"\0\0\0\0\x03span", 8);
    emit((const uint8_t *)"\1\0\0\0\0", 5);
    emit((const uint8_t *)"\0\1\0\0\1x", 6);
    emit((const uint8_t *)"99999999H", 9);
}
