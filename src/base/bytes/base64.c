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
