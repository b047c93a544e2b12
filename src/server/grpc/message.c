#include "server/grpc/message.h"

#include <string.h>

enum { COMPRESSED = 1, TIMEOUT_DIGITS_MAX = 8 };

bool cn_grpc_message_has_prefix(const struct cn_grpc_message *message)
{
    return message->prefix_len == CN_GRPC_PREFIX_LEN;
}

/* The five bytes are there: what they say. */
static bool read_prefix(struct cn_grpc_message *message, struct cn_error *err)
{
    const uint8_t *prefix = message->prefix;

    message->len = (uint32_t)prefix[1] << 24 | (uint32_t)prefix[2] << 16 |
                   (uint32_t)prefix[3] << 8 | prefix[4];
    message->is_compressed = prefix[0] == COMPRESSED;
    if (prefix[0] > COMPRESSED)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the message begins with %u; expected 0 or 1 (compressed)",
                       prefix[0]);
    if (message->len > CN_GRPC_MESSAGE_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "the message has %u bytes; at most %d are allowed: send smaller "
                       "batches",
                       message->len, CN_GRPC_MESSAGE_MAX);
    return true;
}

bool cn_grpc_message_take(struct cn_grpc_message *message, struct cn_bytes bytes,
                          struct cn_error *err)
{
    if (bytes.len == 0)
        return true;
    if (!cn_grpc_message_has_prefix(message)) {
        size_t missing = CN_GRPC_PREFIX_LEN - message->prefix_len;
        struct cn_bytes head;

        (void)cn_bytes_take(&bytes, bytes.len < missing ? bytes.len : missing, &head);
        memcpy(message->prefix + message->prefix_len, head.ptr, head.len);
        message->prefix_len += head.len;
        if (!cn_grpc_message_has_prefix(message))
            return true;
        if (!read_prefix(message, err))
            return false;
    }
    if (bytes.len > message->len - message->body.len)
        return cn_fail(err, CN_ERR_FORMAT, "bytes follow the message of %u bytes",
                       message->len);
    cn_text_add(&message->body, (const char *)bytes.ptr, bytes.len);
    return true;
}

bool cn_grpc_message_end(const struct cn_grpc_message *message, struct cn_error *err)
{
    if (message->prefix_len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the call has no message");
    if (!cn_grpc_message_has_prefix(message))
        return cn_fail(err, CN_ERR_FORMAT, "the call ends in the prefix of a message");
    if (message->body.len < message->len)
        return cn_fail(err, CN_ERR_FORMAT, "the call ends after %zu of %u bytes",
                       message->body.len, message->len);
    return true;
}

void cn_grpc_message_done(struct cn_grpc_message *message)
{
    cn_text_done(&message->body);
}

void cn_grpc_prefix_put(uint8_t prefix[CN_GRPC_PREFIX_LEN], uint32_t len)
{
    prefix[0] = 0;
    prefix[1] = (uint8_t)(len >> 24);
    prefix[2] = (uint8_t)(len >> 16);
    prefix[3] = (uint8_t)(len >> 8);
    prefix[4] = (uint8_t)len;
}

bool cn_grpc_timeout_parse(const char *text, uint64_t *ns)
{
    static const struct {
        char unit;
        uint64_t ns;
    } units[] = {
        {'H', UINT64_C(3600000000000)},
        {'M', UINT64_C(60000000000)},
        {'S', 1000000000},
        {'m', 1000000},
        {'u', 1000},
        {'n', 1},
    };
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;

    if (digits == 0 || digits > TIMEOUT_DIGITS_MAX || strlen(text) != digits + 1)
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (units[i].unit == text[digits]) {
            *ns = value * units[i].ns;
            return true;
        }
    return false;
}

void cn_grpc_text_encode(struct cn_text *out, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= ' ' && c < 0x7f && c != '%') {
            cn_text_char(out, *text);
        } else {
            cn_text_char(out, '%');
            cn_text_char(out, hex[c >> 4]);
            cn_text_char(out, hex[c & 15]);
        }
    }
}
