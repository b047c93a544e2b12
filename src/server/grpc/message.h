/* The message of a unary call of gRPC, taken from bytes as they arrive: five bytes say whether it
 * is compressed, and how long it is.
 *
 * Zero-initialised is ready for use. The message owns its body; cn_grpc_message_done() frees it.
 * A failure leaves what was read before.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_GRPC_MESSAGE_H
#define CN_SERVER_GRPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"

enum {
    CN_GRPC_PREFIX_LEN = 5,
    CN_GRPC_MESSAGE_MAX = 16 << 20, /* bytes of a message, as it is sent */
};

struct cn_grpc_message {
    uint8_t prefix[CN_GRPC_PREFIX_LEN];
    size_t prefix_len; /* bytes of it that are there */
    bool is_compressed;
    uint32_t len; /* of the body */
    struct cn_text body;
};

/* The next bytes. CN_ERR_LIMIT if the message is too long, CN_ERR_FORMAT if a flag is unknown or
 * something follows the message. */
CN_CHECK bool cn_grpc_message_take(struct cn_grpc_message *message, struct cn_bytes bytes,
                                   struct cn_error *err);

/* No more bytes come: fails unless one whole message is there. */
CN_CHECK bool cn_grpc_message_end(const struct cn_grpc_message *message,
                                  struct cn_error *err);

/* True if the prefix is there: is_compressed and len are set. */
bool cn_grpc_message_has_prefix(const struct cn_grpc_message *message);

void cn_grpc_message_done(struct cn_grpc_message *message);

/* Write the prefix of a message that is not compressed. */
void cn_grpc_prefix_put(uint8_t prefix[CN_GRPC_PREFIX_LEN], uint32_t len);

/* The value of grpc-timeout: up to eight digits and a unit. */
CN_CHECK bool cn_grpc_timeout_parse(const char *text, uint64_t *ns);

/* Append text as grpc-message has it: printable ASCII, everything else as %XX. */
void cn_grpc_text_encode(struct cn_text *out, const char *text);

#endif
