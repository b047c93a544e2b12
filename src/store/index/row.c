#include "store/index/row.h"

#include "base/files/crc32c.h"
#include "model/traces/trace.h"

enum { CHECKED_LEN = cn_store_row_size - sizeof(uint32_t) };

void cn_store_row_put(const struct cn_store_row *row, uint8_t out[cn_store_row_size])
{
    cn_store_row_encode(row, out);
    cn_u32_put(out + CHECKED_LEN, cn_crc32c((struct cn_bytes){out, CHECKED_LEN}));
}

bool cn_store_row_take(struct cn_bytes in, struct cn_store_row *out)
{
    struct cn_store_row row;

    if (!cn_store_row_decode(in, &row) ||
        cn_crc32c((struct cn_bytes){in.ptr, CHECKED_LEN}) != row.checksum)
        return false;
    *out = row;
    return true;
}

bool cn_store_span_has_row(const struct cn_trace *trace, const struct cn_trace_span *span)
{
    return span->node != 0 && span->id != 0 &&
           !(trace->nodes[span->node].flags & CN_TRACE_SENT);
}
