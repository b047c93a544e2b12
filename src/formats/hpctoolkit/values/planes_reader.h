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

/* The values of one key. */
struct cn_hpc_plane_run {
    uint32_t key;
    uint64_t start, end;
    int32_t twice; /* a metric with two values; CN_NO_ID */
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
    const struct cn_record_layout *record,
        *draft; /* `draft`: where records are shorter */
    /* Two fields each: a value and its id, in either order; a key and where it starts. */
    const struct cn_record_layout *value, *index;
    unsigned id_field; /* of a value: 0 or 1 */
    bool is_sorted;    /* metrics of a context ascend; else they are sorted here */
    const struct cn_record_layout *tuple, *identity; /* of profile.db */
    bool has_end;     /* the last entry of an index is a marker */
    bool is_end_read; /* readers refuse a block without it */
    uint32_t end_key; /* of the marker */

    struct cn_hpc_plane_record (*decode_record)(struct cn_bytes bytes, uint32_t number);
    bool (*decode_identity)(struct cn_bytes bytes, struct cn_identity *out,
                            struct cn_error *err);

    /* Decode until the batch is full or the range of keys ends, or skip keys without values that
     * are wanted. False at damage, after the values before it. */
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

/* Value `i`, which must exist. */
struct cn_hpc_plane_value cn_hpc_block_value(const struct cn_hpc_block *block,
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

/* For `fill`: say which profile of a context does not exist, the one at cursor->at; say which
 * metric of a run has two values; deliver a part of a run that is longer than a batch: cursor->at
 * is then the first metric of the next part. */
bool cn_hpc_planes_no_profile(const struct cn_hpc_plane_read *read, struct cn_error *err);
bool cn_hpc_planes_twice(const struct cn_hpc_plane_read *read,
                         const struct cn_hpc_plane_run *run, struct cn_error *err);
CN_CHECK bool cn_hpc_planes_long_run(struct cn_hpc_plane_read *read,
                                     struct cn_hpc_plane_run *run, struct cn_error *err);

#endif
