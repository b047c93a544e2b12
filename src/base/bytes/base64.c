#include "base/bytes/base64.h"

#include "base/text.h"

void cn_base64_add(struct cn_text *out, struct cn_bytes bytes)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    if (bytes.len == 0)
        return;
    (void)cn_text_room(out, (bytes.len + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t group = (uint32_t)bytes.ptr[i] << 16 |
                         (left > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes.ptr[i + 2] : 0);
        char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                        left > 1 ? digits[group >> 6 & 63] : '=',
                        left > 2 ? digits[group & 63] : '='};

        cn_text_add(out, four, sizeof(four));
    }
}

/* The value of a digit; 64 if it is none. */
static uint32_t value_of(uint8_t digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - (uint32_t)'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - (uint32_t)'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - (uint32_t)'0' + 52;
    if (digit == '+' || digit == '-')
        return 62;
    return digit == '/' || digit == '_' ? 63 : 64;
}

bool cn_base64_decode(struct cn_text *out, struct cn_bytes text)
{
    uint32_t group = 0;
    unsigned bits = 0;

    for (unsigned i = 0; i < 2 && text.len > 0 && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        uint32_t value = value_of(text.ptr[i]);

        if (value == 64)
            return false;
        group = group << 6 | value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            cn_text_char(out, (char)(group >> bits & 255));
        }
    }
    return bits < 6;
}
