#include "formats/hpctoolkit/span.h"

#include <inttypes.h>
#include <string.h>

bool cn_hpc_span_slice(struct cn_hpc_span span, uint64_t off, uint64_t len,
                       struct cn_bytes *out)
{
    return off >= span.off && cn_bytes_slice(span.bytes, off - span.off, len, out);
}

bool cn_hpc_spans_overlap(struct cn_hpc_span a, struct cn_hpc_span b)
{
    return a.bytes.len > 0 && b.bytes.len > 0 && a.off < b.off + b.bytes.len &&
           b.off < a.off + a.bytes.len;
}

bool cn_hpc_spans_check(const struct cn_hpc_span *list, const char *const *names,
                        size_t count, struct cn_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (cn_hpc_spans_overlap(list[i], list[j]))
                return cn_fail(err, CN_ERR_FORMAT,
                               "sections %s at 0x%" PRIx64 " and %s at 0x%" PRIx64
                               " overlap",
                               names[j], list[j].off, names[i], list[i].off);
    return true;
}

bool cn_hpc_span_string(struct cn_hpc_span span, uint64_t off, const char *what,
                        const char **out, struct cn_error *err)
{
    struct cn_bytes rest;

    if (off < span.off || !cn_bytes_from(span.bytes, off - span.off, &rest))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " lies outside its section, 0x%" PRIx64
                       " to 0x%" PRIx64,
                       what, off, span.off, span.off + span.bytes.len);
    /* Many records may point at one long string: looking for its end has a limit. */
    if (rest.len > CN_HPC_STRING_MAX)
        rest.len = CN_HPC_STRING_MAX;
    const char *string = cn_bytes_string(rest, 0);
    if (!string)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " does not end within %zu bytes", what, off,
                       rest.len);
    *out = string;
    return true;
}

bool cn_hpc_span_take(struct cn_hpc_span *span, size_t len, const char *what,
                      struct cn_bytes *out, struct cn_error *err)
{
    if (!cn_bytes_take(&span->bytes, len, out))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s of %zu bytes at 0x%" PRIx64
                       " does not fit the %zu bytes left of its section",
                       what, len, span->off, span->bytes.len);
    span->off += len;
    return true;
}

bool cn_hpc_span_take_string(struct cn_hpc_span *span, const char *what, const char **out,
                             struct cn_error *err)
{
    struct cn_bytes ignored;
    const char *string;

    if (!cn_hpc_span_string(*span, span->off, what, &string, err) ||
        !cn_hpc_span_take(span, strlen(string) + 1, what, &ignored, err))
        return false;
    *out = string;
    return true;
}
