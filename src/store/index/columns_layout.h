/* What the reader and the writer of meta.dat agree on; its layout is in columns.h. */
#ifndef CN_STORE_INDEX_COLUMNS_LAYOUT_H
#define CN_STORE_INDEX_COLUMNS_LAYOUT_H

#include <stdint.h>

#include "store/index/columns.h"

enum {
    CN_META_HEAD_LEN = 24,
    CN_META_PAD_LEN = 8,
    CN_META_SECTION_COUNT_ID = 0,
    CN_META_SECTION_SLOTS_ID = 64,
    CN_META_SECTION_STARTS_ID = 65,
    CN_META_SECTION_START_BITS_ID = 66
};
/* Of a column with codes. */
enum { CN_META_CODES_MAX = 256 };
enum {
    CN_META_SLOT_LEN = sizeof(uint32_t),
    CN_META_HAS_GROUPS = 256,
    CN_META_HAS_REFERENCES = 512,
    CN_META_HAS_BITS = 1024,
    CN_META_HAS_BASES = 2048,
    CN_META_IN_CHUNKS = 4096,
    CN_META_HAS_CODES = 8192,
    CN_META_HAS_SLOPES = 16384,
    CN_META_IS_SAME = 32768,
    CN_META_IS_NUMBERED = 65536,
    CN_META_SHARES_GROUPS = 131072,
    CN_META_WORD_BITS = 64,
    /* A value of fewer bits is inside of the 8 bytes that its first byte begins. */
    CN_META_BITS_MAX = 57,
};

/* Values of a column that refers to spans. */
enum { CN_META_REFERS_TO_NONE, CN_META_REFERS_TO_EXCEPTION, CN_META_REFERS_FROM };

static inline uint64_t cn_meta_slot_count(uint32_t row_count)
{
    return row_count + (uint64_t)row_count / 3 + 1;
}

static inline uint64_t cn_meta_first_slot(uint64_t id_low, uint64_t slot_count)
{
    return (id_low * UINT64_C(0x9e3779b97f4a7c15) >> 32) * slot_count >> 32;
}

static inline uint64_t cn_meta_groups_len(uint32_t row_count)
{
    return ((uint64_t)row_count + CN_COLUMN_GROUP_ROWS - 1) / CN_COLUMN_GROUP_ROWS *
           CN_COLUMN_GROUP_LEN;
}

static inline uint64_t cn_meta_exception_rows_len(uint64_t count)
{
    return (count * sizeof(uint32_t) + CN_META_PAD_LEN - 1) / CN_META_PAD_LEN *
           CN_META_PAD_LEN;
}

#endif
