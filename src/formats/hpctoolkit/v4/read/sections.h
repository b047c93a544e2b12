/* The frame of all files of a v4 database: header, sections, footer.
 *
 * Messages do not name the file.
 * Threads: immutable after open; everything borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_SECTIONS_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_SECTIONS_H

#include "base/error.h"
#include "base/files/content.h"
#include "formats/hpctoolkit/meta/shapes.h"
#include "formats/hpctoolkit/v4/format.h"

/* What differs between the four files. */
struct cn_hpc_file_kind {
    const char *name;           /* "meta.db" */
    const char *format;         /* CN_HPC_FORMAT_LEN characters after the magic */
    const char *footer;         /* CN_HPC_FOOTER_LEN characters */
    const char *const *section; /* names in the specification */
    size_t section_count;
    /* Of the value files: section 0 starts with this, and has these records. */
    const struct cn_record_layout *head;
    const char *records; /* "profiles" */
    size_t record_len;   /* at least */
};

extern const char *const cn_hpc_meta_sections[CN_HPC_META_SECTION_COUNT];
extern const struct cn_hpc_file_kind cn_hpc_meta_kind, cn_hpc_profile_kind,
    cn_hpc_cct_kind, cn_hpc_trace_kind;

/* The length of the file header with its section headers. */
static inline uint64_t cn_hpc_header_len(const struct cn_hpc_file_kind *kind)
{
    return cn_hpc_file_header_size + (uint64_t)kind->section_count * cn_hpc_section_size;
}

struct cn_hpc_sections {
    const struct cn_hpc_file_kind *kind;
    struct cn_content file; /* without the footer */
    uint8_t minor;
    struct cn_hpc_span list[CN_HPC_SECTION_MAX];
};

/* True if the bytes start like a file of this kind, of any version. */
bool cn_hpc_file_is(struct cn_bytes file, const struct cn_hpc_file_kind *kind);

/* Check magic, version and footer, and that sections lie inside the file and do not
 * overlap. */
CN_CHECK bool cn_hpc_sections_open(struct cn_content file,
                                   const struct cn_hpc_file_kind *kind,
                                   struct cn_hpc_sections *out, struct cn_error *err);

/* Where the records of a value file are. Fails if section 0 is shorter than its header. */
CN_CHECK bool cn_hpc_sections_records(const struct cn_hpc_sections *sections,
                                      struct cn_hpc_array *out, struct cn_error *err);

#endif
