/* The planes of profile.db or cct.db, of any generation of the format.
 *
 * Both files have an array of records, and for each record a block: values, and an index
 * that says where the values of each key start. In profile.db a record is a profile, its
 * keys are contexts, and a value belongs to a metric; in cct.db a record is a context, its
 * keys are metrics, and a value belongs to a profile. An encoding describes the bytes;
 * each generation opens its files as a struct cn_hpc_planes.
 *
 * Everything borrows the bytes of the file. Messages do not name the file.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_PLANES_READER_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_PLANES_READER_H

#include "base/bytes/record.h"
#include "base/files/content.h"
#include "formats/hpctoolkit/table.h"
#include "formats/hpctoolkit/values/metric_ids.h"
#include "model/contexts/database.h"

/* What a record says; nothing is checked. */
struct cn_hpc_plane_record {
    uint64_t value_count, values_off, index_off;
    uint32_t key_count;
    uint64_t tuple_off; /* identity of a profile; 0: none */
    bool is_summary;
};

struct cn_hpc_plane_entry {
    uint32_t key;
    uint64_t start; /* index of the key's first value */
};

struct cn_hpc_plane_value {
    double value;
    uint32_t id; /* metric or profile */
};

struct cn_hpc_plane_encoding;

/* The block of one record; it lies inside the file. */
struct cn_hpc_block {
    const struct cn_hpc_plane_encoding *encoding;
    struct cn_bytes values, index;
    uint64_t value_count, values_off, index_off;
    uint32_t key_count;
};

/* A batch being filled. */
struct cn_hpc_plane_read {
    struct cn_hpc_block block;
    const struct cn_hpc_metric_ids *ids;
    uint32_t
        limit; /* contexts of a profile, or profiles of a context, from here on fail */
    struct cn_value_cursor *cursor;
    size_t count; /* values in the cursor's batch */
};

struct cn_hpc_plane_encoding {
    const char *owner, *key; /* "profile", "context" */
    const struct cn_record_layout *value, *index;
    const struct cn_record_layout *tuple, *identity; /* of profile.db */
    bool has_end;     /* the last entry of an index is a marker */
    bool is_end_read; /* readers refuse a block without it */
    uint32_t end_key; /* of the marker */

    struct cn_hpc_plane_record (*decode_record)(struct cn_bytes bytes, uint32_t number);
    struct cn_hpc_plane_entry (*decode_entry)(struct cn_bytes bytes);
    struct cn_hpc_plane_value (*decode_value)(struct cn_bytes bytes);
    uint16_t (*decode_id_count)(struct cn_bytes tuple);
    bool (*decode_identity)(struct cn_bytes bytes, struct cn_identity *out,
                            struct cn_error *err);

    /* Decode until the batch is full or the range of keys ends. False at damage, after
     * the values before it. */
    bool (*fill)(struct cn_hpc_plane_read *read, struct cn_error *err);
};

struct cn_hpc_planes {
    const struct cn_hpc_plane_encoding *encoding;
    struct cn_content file; /* without the footer */
    uint64_t file_len;      /* with it */
    struct cn_hpc_table records;
    struct cn_hpc_span tuples; /* of profile.db */
};

/* Record `number`, which must exist. */
struct cn_hpc_plane_record cn_hpc_planes_record(const struct cn_hpc_planes *planes,
                                                uint32_t number);

/* Its block, which may be empty. */
CN_CHECK bool cn_hpc_planes_block(const struct cn_hpc_planes *planes, uint32_t number,
                                  struct cn_hpc_block *out, struct cn_error *err);

/* Entry `i` of the index; after the last one, the number of values. */
struct cn_hpc_plane_entry cn_hpc_block_entry(const struct cn_hpc_block *block,
                                             uint64_t i);

/* The first entry whose key is not below `key`. */
uint64_t cn_hpc_block_find(const struct cn_hpc_block *block, uint64_t key);

/* Say why entry `i` of the index cannot be used; keys from `limit` on do not exist. */
bool cn_hpc_block_bad_entry(const struct cn_hpc_block *block, uint64_t i, uint64_t limit,
                            struct cn_error *err);

/* A profile of profile.db, which must exist. */
CN_CHECK bool cn_hpc_planes_profile(const struct cn_hpc_planes *planes, uint32_t number,
                                    struct cn_profile *out, struct cn_error *err);

/* The ids of the identity tuple at `off`, and their bytes. */
CN_CHECK bool cn_hpc_planes_tuple(const struct cn_hpc_planes *planes, uint64_t off,
                                  uint16_t *id_count, struct cn_bytes *ids,
                                  struct cn_error *err);

/* The plane of cursor->owner, which must exist, with metric ids as `ids` says; zeroed: as
 * in the file. Keys of a profile, or profiles of a context, from `limit` on fail. */
CN_CHECK bool cn_hpc_planes_begin(const struct cn_hpc_planes *planes,
                                  struct cn_value_cursor *cursor, struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_planes_next(const struct cn_hpc_planes *planes,
                                         const struct cn_hpc_metric_ids *ids,
                                         uint32_t limit, struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out,
                                         struct cn_error *err);

/* Say which profile of a context does not exist: the one at cursor->at. */
bool cn_hpc_planes_no_profile(const struct cn_hpc_plane_read *read, struct cn_error *err);

/* Move to the values of the next metric of a context. False when its entry is damaged. */
static inline bool cn_hpc_context_run_begin(struct cn_hpc_plane_read *read,
                                            const struct cn_hpc_plane_encoding *encoding)
{
    const struct cn_hpc_block *block = &read->block;
    struct cn_value_cursor *cursor = read->cursor;
    struct cn_hpc_plane_entry entry, next = {.start = block->value_count};
    uint64_t i = cursor->index_at;
    size_t len = encoding->index->size;

    entry = encoding->decode_entry(cn_bytes_element(block->index, i, len));
    if (i + 1 < block->key_count)
        next = encoding->decode_entry(cn_bytes_element(block->index, i + 1, len));
    if (entry.start > next.start || next.start > block->value_count ||
        (i > 0 &&
         entry.key <=
             encoding->decode_entry(cn_bytes_element(block->index, i - 1, len)).key))
        return false;
    cursor->index_at++;
    /* Values of metrics that are dropped are skipped. */
    if (cn_hpc_metric_ids_find(read->ids, (uint16_t)entry.key, &cursor->metric)) {
        cursor->at = entry.start;
        cursor->run_end = next.start;
    }
    return true;
}

/* `fill` of a cct.db, here so that the compiler sees through the encoding's functions. */
static inline bool cn_hpc_context_fill(struct cn_hpc_plane_read *read,
                                       const struct cn_hpc_plane_encoding *encoding,
                                       struct cn_error *err)
{
    struct cn_value_cursor *cursor = read->cursor;
    const struct cn_bytes values = read->block.values;
    size_t value_len = encoding->value->size, count = 0;
    bool ok = true;

    while (ok && count < CN_VALUE_BATCH) {
        uint64_t at = cursor->at;
        uint64_t end = cursor->run_end;
        uint16_t metric = cursor->metric;

        if (end - at > CN_VALUE_BATCH - count)
            end = at + CN_VALUE_BATCH - count;
        for (; at < end; at++) {
            struct cn_hpc_plane_value value =
                encoding->decode_value(cn_bytes_element(values, at, value_len));

            if (value.id >= read->limit)
                break;
            cursor->batch[count++] = (struct cn_value){value.value, value.id, metric};
        }
        cursor->at = at;
        read->count = count;
        if (at < end)
            return cn_hpc_planes_no_profile(read, err);
        if (cursor->at < cursor->run_end)
            continue;
        if (cursor->index_at == cursor->index_end)
            break;
        ok = cn_hpc_context_run_begin(read, encoding);
    }
    return ok || cn_hpc_block_bad_entry(&read->block, cursor->index_at, UINT64_MAX, err);
}

#endif
