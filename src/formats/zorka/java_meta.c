#include "formats/zorka/java_meta.h"

bool cn_java_meta_slots(struct cn_bytes file, struct cn_bytes *slots,
                        struct cn_error *err)
{
    struct cn_java_meta_header head;
    struct cn_bytes all;

    if (!cn_java_meta_header_decode(file, &head) || head.magic != CN_JAVA_META_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a quick index: it does not begin with MQI0");
    (void)cn_bytes_from(file, cn_java_meta_header_size, &all);
    if (head.end_off >= cn_java_meta_header_size &&
        head.end_off - cn_java_meta_header_size < all.len)
        all.len = head.end_off - cn_java_meta_header_size;
    all.len -= all.len % cn_java_meta_slot_size;
    *slots = all;
    return true;
}
