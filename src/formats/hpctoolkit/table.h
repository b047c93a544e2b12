/* An array of records in a section of a file.
 *
 * Records are stepped by the size the file declares, so that later versions can add fields.
 * Threads: immutable after open; borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_TABLE_H
#define CN_FORMATS_HPCTOOLKIT_TABLE_H

#include "formats/hpctoolkit/span.h"

struct cn_hpc_table {
    struct cn_hpc_span span;
    uint32_t count;
    uint32_t stride;
};

/* Where a file says that an array is. */
struct cn_hpc_array {
    const char *what; /* "modules" */
    uint64_t off, count, stride;
    uint64_t least; /* the size of the record that this reader knows */
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

/* The index of the record that starts at `off`; `what` names it in the message. */
CN_CHECK bool cn_hpc_table_find(const struct cn_hpc_table *table, uint64_t off,
                                const char *what, uint32_t *out, struct cn_error *err);

/* The same for a pointer that may be 0: CN_NONE. */
CN_CHECK bool cn_hpc_table_find_optional(const struct cn_hpc_table *table, uint64_t off,
                                         const char *what, uint32_t *out,
                                         struct cn_error *err);

#endif
