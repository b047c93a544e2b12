/* The frame that all files of a database share: header, sections, arrays in them,
 * footer.
 *
 * cn_hpc_sections_open() checks the frame; cn_hpc_table_open() finds an array of
 * records inside a section, stepped by the size the file declares. Messages do not
 * name the file: whoever knows it adds it.
 * Threads: immutable after open; everything borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_SECTIONS_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_SECTIONS_H

#include "base/error.h"
#include "formats/hpctoolkit/span.h"
#include "formats/hpctoolkit/v4/format.h"

/* What tells the four files apart. */
struct cn_hpc_file_kind {
    const char *name;           /* "meta.db" */
    const char *format;         /* CN_HPC_FORMAT_LEN characters behind the magic */
    const char *footer;         /* CN_HPC_FOOTER_LEN characters */
    const char *const *section; /* their names, as the specification calls them */
    size_t section_count;
};

extern const struct cn_hpc_file_kind cn_hpc_meta_kind, cn_hpc_profile_kind,
    cn_hpc_cct_kind, cn_hpc_trace_kind;

struct cn_hpc_sections {
    struct cn_hpc_span file; /* without the footer */
    uint8_t minor;
    struct cn_hpc_span list[CN_HPC_SECTION_MAX];
};

/* An array of records in a section. */
struct cn_hpc_table {
    struct cn_hpc_span span;
    uint32_t count;
    uint32_t stride;
};

/* Whether the bytes start like a file of this kind, whatever its version. */
bool cn_hpc_file_is(struct cn_bytes file, const struct cn_hpc_file_kind *kind);

/* Check magic, version, footer, and that sections lie inside the file, apart. */
CN_CHECK bool cn_hpc_sections_open(struct cn_bytes file,
                                   const struct cn_hpc_file_kind *kind,
                                   struct cn_hpc_sections *out, struct cn_error *err);

/* Where an array is said to be. */
struct cn_hpc_array {
    const char *what; /* "modules" */
    uint64_t off, count, stride;
    uint64_t least; /* the size of a record this reader knows */
};

/* An empty array may be anywhere. */
CN_CHECK bool cn_hpc_table_open(struct cn_hpc_span in, const struct cn_hpc_array *array,
                                struct cn_hpc_table *out, struct cn_error *err);

/* Record `i`, which must exist. */
static inline struct cn_bytes cn_hpc_table_at(const struct cn_hpc_table *table,
                                              uint64_t i)
{
    return cn_bytes_element(table->span.bytes, i, table->stride);
}

static inline uint64_t cn_hpc_table_off(const struct cn_hpc_table *table, uint64_t i)
{
    return table->span.off + i * table->stride;
}

/* The number of the record that starts at `off`. False when none does. */
bool cn_hpc_table_find(const struct cn_hpc_table *table, uint64_t off, uint32_t *out);

#endif
