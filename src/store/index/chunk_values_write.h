/* Gathers what a column of meta.dat has whose values are in chunks (store/index/chunk_values.h).
 *
 * Internal to columns_write.c. Threads: any thread.
 */
#ifndef CN_STORE_INDEX_CHUNK_VALUES_WRITE_H
#define CN_STORE_INDEX_CHUNK_VALUES_WRITE_H

#include "base/text.h"
#include "store/index/chunk_values.h"

/* `entries` and `here` belong to the caller. */
struct cn_chunk_values_text {
    struct cn_text entries, here;
    uint32_t count; /* of entries */
    bool is_worth;  /* most values are in chunks */
};

/* `before` is how many bytes of the section come before the number of entries. Only values that are
 * found at their place are referred to. */
void cn_chunk_values_gather(struct cn_chunk_values_text *out, uint64_t before,
                            uint32_t row_count, const struct cn_store_column *column,
                            const struct cn_store_column *data_off, bool has_groups,
                            const struct cn_chunk_places *places,
                            enum cn_chunk_field field);

#endif
