/* What the parts of the verifier share: findings, the frame of a file, what other
 * files need to know about meta.db and profile.db.
 *
 * verify.c runs the parts in order: frames, meta.db, profile.db, cct.db, trace.db,
 * the YAML files, and, where nothing was wrong so far, the values of one file
 * against those of the others. Work is linear in the size of the files: what several
 * records point at is checked once and reported as an overlap.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_PARTS_H
#define CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_PARTS_H

#include "base/arena.h"
#include "base/run/progress.h"
#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/metric.h"
#include "model/format.h"

enum {
    /* Sizes of records and metric ids are signed numbers in the Java reader. */
    CN_VERIFY_STRIDE_MAX = 127,
    CN_VERIFY_METRIC_ID_MAX = 32767,
};

struct cn_verify_file {
    const struct cn_hpc_file_kind *kind;
    struct cn_bytes bytes;
    bool is_readable; /* the frame is right */
    struct cn_hpc_sections sections;
};

struct cn_verify {
    const char *dir; /* whose files are mapped; NULL: they are in memory */
    const struct cn_hpc_v4_files *files;
    const struct cn_progress *progress;
    struct cn_findings f;
    uint64_t touched_len; /* of mapped files, since their memory was given back */

    struct cn_verify_file meta, profile, cct, trace;

    /* What meta.db said. */
    bool is_draft;
    bool has_metrics, has_contexts; /* these could be read */
    uint32_t kind_count;
    struct cn_arena arena;
    struct cn_metrics metrics;
    struct cn_hpc_set prop_ids, stat_ids;
    struct cn_hpc_set contexts;
    uint32_t context_last; /* the largest id */
    uint64_t string_budget;

    /* What profile.db said. */
    bool has_profiles;
    uint32_t profile_count;
    struct cn_hpc_set summaries; /* profiles that are not threads */
    uint32_t value_context_last; /* the largest id that has values */
};

/* `len` more bytes of a mapped file were looked at: give its memory back now and
 * then. */
void cn_verify_forget(struct cn_verify *v, const struct cn_verify_file *file,
                      uint64_t len);

/* Header, footer, version and sections of a file. */
void cn_verify_frame(struct cn_verify *v, struct cn_verify_file *file);

/* An array of records; false when it is not inside `in`. */
bool cn_verify_table(struct cn_verify *v, struct cn_hpc_span in,
                     const struct cn_hpc_array *array, struct cn_hpc_table *out);

/* A string that must end inside `in` and be UTF-8; NULL, after a report, when it
 * does not. */
const char *cn_verify_string(struct cn_verify *v, struct cn_hpc_span in, uint64_t off,
                             const char *what);

void cn_verify_aligned(struct cn_verify *v, uint64_t off, unsigned align,
                       const char *what);

/* A block of values and, behind it, where the values of each key start: the keys are the
 * contexts of a profile, or the metrics of a context. */
struct cn_verify_shape {
    const char *owner, *key, *keys; /* "profile", "context", "contexts" */
    const char *index_name;         /* "index of contexts" */
    const char *empty_rule;         /* of a key without values */
    uint8_t value_len, value_align, index_len, index_align;
};

struct cn_verify_block {
    const struct cn_verify_shape *shape;
    uint32_t owner;
    uint64_t values_off, value_count, index_off;
    uint32_t index_count;
    struct cn_bytes values, index; /* set when it is opened */
};

/* The blocks of a file: where they are, and how much may still be looked at. */
struct cn_verify_blocks {
    struct cn_hpc_extents spans;
    uint64_t budget;
};

/* Find and check the place of a block whose record is at `off`. False when there is nothing
 * to look at in it. */
bool cn_verify_block_open(struct cn_verify *v, const struct cn_verify_file *file,
                          struct cn_verify_blocks *blocks, struct cn_verify_block *b,
                          uint64_t off);

/* The values start..end of entry `i` of the index; false when they are not in the block. */
bool cn_verify_block_range(struct cn_verify *v, const struct cn_verify_block *b,
                           uint32_t i, uint32_t key, uint64_t start, uint64_t end);

void cn_verify_number(struct cn_verify *v, double value, uint64_t off);

void cn_verify_meta(struct cn_verify *v);
void cn_verify_metrics(struct cn_verify *v);
void cn_verify_contexts(struct cn_verify *v, const struct cn_hpc_table *modules,
                        const struct cn_hpc_table *files,
                        const struct cn_hpc_table *functions);

/* These fail only when the user asks to stop. */
CN_CHECK bool cn_verify_profile(struct cn_verify *v, struct cn_error *err);
CN_CHECK bool cn_verify_cct(struct cn_verify *v, struct cn_error *err);
CN_CHECK bool cn_verify_trace(struct cn_verify *v, struct cn_error *err);
void cn_verify_yaml(struct cn_verify *v);

/* cct.db against profile.db, and the summary against the threads. */
CN_CHECK bool cn_verify_values(struct cn_verify *v, struct cn_error *err);

#endif
