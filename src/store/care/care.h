/* Looking after a store: sealing, recovering, checking, forgetting, tidying up.
 *
 * All but cn_store_verify() take the lock of the writer and fail while another process has it.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_CARE_CARE_H
#define CN_STORE_CARE_CARE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/findings.h"

struct cn_progress;
struct cn_store_writer;

/* Seal every segment that has rows. `count` is how many were. */
CN_CHECK bool cn_store_seal(const char *path, uint32_t *count, struct cn_error *err);

struct cn_store_recovery {
    uint32_t segments;
    uint64_t rows;       /* found in the data */
    uint64_t bad_chunks; /* that could not be read */
    uint64_t bad_records;
    uint64_t lost_words; /* numbers whose word is gone */
    uint64_t cut_len;    /* bytes behind the last sound chunk */
};

/* Make all indexes again: rows from traces.dat alone, the files of the words from text.log. */
CN_CHECK bool cn_store_recover(const char *path, struct cn_store_recovery *out,
                               struct cn_error *err);

/* What is to be kept; 0: no limit. */
struct cn_store_limits {
    uint64_t before_ns; /* traces from this time on, since the epoch */
    uint64_t len_max;   /* bytes of all segments */
    uint64_t count_max; /* traces */
};

struct cn_store_expiry {
    uint32_t segments;
    uint64_t rows, len;    /* gone */
    uint64_t pinned_count; /* copied, because they are pinned */
};

/* Remove whole segments, the oldest first, until the limits hold: one goes when all its traces
 * are too old, or when the others have enough bytes or traces. The newest is sealed first when
 * it has to go. Pinned traces are copied into the newest segment before. */
CN_CHECK bool cn_store_expire(const char *path, const struct cn_store_limits *limits,
                              struct cn_store_expiry *out, struct cn_error *err);

/* A pinned trace outlives its segment. False in `is_new` when it was (or was not) pinned
 * already. */
CN_CHECK bool cn_store_pin(const char *path, uint64_t id_high, uint64_t id_low,
                           bool is_pinned, bool *is_new, struct cn_error *err);

struct cn_store_compaction {
    uint32_t before, after; /* segments */
    uint64_t rows;          /* copied */
    uint64_t len_before, len_after;
};

/* Join small sealed segments that follow each other into segments of full size. */
CN_CHECK bool cn_store_compact(const char *path, struct cn_store_compaction *out,
                               struct cn_error *err);

/* Report everything that breaks a rule, in files like "00002a/traces.dat". Fails only when the store cannot be looked at. */
CN_CHECK bool cn_store_verify(const char *path, const struct cn_progress *progress,
                              cn_finding_fn report, void *arg, struct cn_error *err);

#endif
