#include "formats/hpctoolkit/proto/meta_reader.h"

#include <inttypes.h>

#include "formats/hpctoolkit/proto/context_reader.h"
#include "formats/hpctoolkit/proto/entries.h"

const char *const cn_hpc_proto_section_names[CN_HPC_PROTO_SECTION_COUNT] = {
    [CN_HPC_PROTO_GENERAL] = "General Properties",
    [CN_HPC_PROTO_KINDS] = "Hierarchical Identifiers",
    [CN_HPC_PROTO_METRICS] = "Performance Metrics",
    [CN_HPC_PROTO_CONTEXTS] = "Context Tree",
    [CN_HPC_PROTO_STRINGS] = "Context Attribute Strings",
    [CN_HPC_PROTO_MODULES] = "Application Binaries",
    [CN_HPC_PROTO_FILES] = "Source Files",
    [CN_HPC_PROTO_FUNCTIONS] = "Functions",
};

bool cn_hpc_proto_meta_is(struct cn_bytes file)
{
    struct cn_bytes magic;

    return cn_bytes_slice(file, 0, CN_HPC_PROTO_MAGIC_LEN, &magic) &&
           memcmp(magic.ptr, CN_HPC_PROTO_MAGIC, CN_HPC_PROTO_MAGIC_LEN) == 0;
}

bool cn_hpc_proto_span_slice(struct cn_hpc_proto_span span, uint64_t off, uint64_t len,
                             struct cn_bytes *out)
{
    return off >= span.off && cn_bytes_slice(span.bytes, off - span.off, len, out);
}

bool cn_hpc_proto_span_string(struct cn_hpc_proto_span span, uint64_t off,
                              const char *what, const char **out, struct cn_error *err)
{
    struct cn_bytes rest;
    const char *string;

    if (off < span.off || !cn_bytes_from(span.bytes, off - span.off, &rest))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " lies outside its section, 0x%" PRIx64
                       " to 0x%" PRIx64,
                       what, off, span.off, span.off + span.bytes.len);
    /* Many records may point at one long string: looking for its end has a limit. */
    if (rest.len > CN_HPC_PROTO_STRING_MAX)
        rest.len = CN_HPC_PROTO_STRING_MAX;
    string = cn_bytes_string(rest, 0);
    if (!string)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " does not end within %zu bytes", what, off,
                       rest.len);
    *out = string;
    return true;
}

bool cn_hpc_proto_span_take(struct cn_hpc_proto_span *span, size_t len, const char *what,
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

bool cn_hpc_proto_span_take_string(struct cn_hpc_proto_span *span, const char *what,
                                   const char **out, struct cn_error *err)
{
    struct cn_bytes ignored;
    const char *string;

    return cn_hpc_proto_span_string(*span, span->off, what, &string, err) &&
           cn_hpc_proto_span_take(span, strlen(string) + 1, what, &ignored, err) &&
           (*out = string, true);
}

static bool read_section(const struct cn_hpc_proto_meta *meta, uint64_t at,
                         const char *name, struct cn_hpc_section_place *out,
                         struct cn_error *err);

/* Where the header says a section is. */
struct cn_hpc_section_place {
    uint64_t len, off;
};

static bool read_section(const struct cn_hpc_proto_meta *meta, uint64_t at,
                         const char *name, struct cn_hpc_section_place *out,
                         struct cn_error *err)
{
    struct cn_hpc_proto_section section;
    struct cn_bytes bytes;

    if (!cn_bytes_slice(meta->file, at, cn_hpc_proto_section_size, &bytes) ||
        !cn_hpc_proto_section_decode(bytes, &section))
        return cn_fail(err, CN_ERR_FORMAT, "no header of section %s at 0x%" PRIx64, name,
                       at);
    *out = (struct cn_hpc_section_place){section.len, section.off};
    return true;
}
