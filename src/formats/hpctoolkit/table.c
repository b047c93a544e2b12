#include "formats/hpctoolkit/table.h"

#include <inttypes.h>

#include "model/contexts/context.h"

bool cn_hpc_table_open(struct cn_hpc_span in, const struct cn_hpc_array *array,
                       struct cn_hpc_table *out, struct cn_error *err)
{
    struct cn_bytes bytes;
    uint64_t len;

    if (array->count == 0) {
        *out = (struct cn_hpc_table){0};
        return true;
    }
    if (array->stride < array->least || array->stride > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s of %" PRIu64 " bytes each are too short, %" PRIu64 " needed",
                       array->what, array->stride, array->least);
    if (!cn_u64_mul(array->count, array->stride, &len) || array->count > UINT32_MAX ||
        !cn_hpc_span_slice(in, array->off, len, &bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " %s of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit their section, 0x%" PRIx64 " to 0x%" PRIx64,
                       array->count, array->what, array->stride, array->off, in.off,
                       in.off + in.bytes.len);
    *out = (struct cn_hpc_table){
        {bytes, array->off}, (uint32_t)array->count, (uint32_t)array->stride};
    return true;
}

bool cn_hpc_table_find(const struct cn_hpc_table *table, uint64_t off, const char *what,
                       uint32_t *out, struct cn_error *err)
{
    uint64_t distance = off - table->span.off;

    if (off < table->span.off || distance >= table->span.bytes.len ||
        distance % table->stride != 0)
        return cn_fail(err, CN_ERR_FORMAT, "0x%" PRIx64 " is not the start of a %s", off,
                       what);
    *out = (uint32_t)(distance / table->stride);
    return true;
}

bool cn_hpc_table_find_optional(const struct cn_hpc_table *table, uint64_t off,
                                const char *what, uint32_t *out, struct cn_error *err)
{
    *out = CN_NONE;
    return off == 0 || cn_hpc_table_find(table, off, what, out, err);
}
