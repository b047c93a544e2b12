/* Maintenance of a store: seal, recover, expire, pin, compact, verify.
 *
 * All functions except cn_store_verify() and cn_store_pin() take the lock of the writer, and fail if
 * another process has it. A collector that runs removes and joins segments itself
 * (store/pipeline/keeper.h).
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_MAINTENANCE_MAINTENANCE_H
#define CN_STORE_MAINTENANCE_MAINTENANCE_H

#include <stdint.h>

#include "base/error.h"
#include "base/findings.h"
#include "store/segment/config.h"

struct cn_care_runs;
struct cn_progress;
struct cn_text;

/* Seal every segment that has rows, several at a time. `count` receives the number of newly sealed ones.
 * If some fail, the others are sealed, and the first failure is returned. */
CN_CHECK bool cn_store_seal(const char *path, uint32_t *count, struct cn_error *err);

struct cn_store_recovery {
    uint32_t segments;
    uint64_t rows;       /* made from the data */
    uint64_t bad_chunks; /* unreadable */
    uint64_t bad_records;
    uint64_t lost_words; /* numbers without a word */
    uint64_t cut_len;    /* bytes cut off after the last sound chunk */
    uint32_t alive;      /* segments of collectors that are not gone: left to them */
};

/* Rebuild all indexes: rows from traces.dat, words from text.log. */
CN_CHECK bool cn_store_recover(const char *path, struct cn_store_recovery *out,
                               struct cn_error *err);

/* Limits of a store; 0: no limit. */
struct cn_store_limits {
    uint64_t before_ns; /* remove traces from before this time, since the epoch */
    uint64_t len_max;   /* bytes of all segments */
    uint64_t count_max; /* traces */
    double disk_max;    /* share of its file system that is used, by anything; to 1 */
};

struct cn_store_expiry {
    uint32_t segments;
    uint64_t rows, len;    /* removed */
    uint64_t pinned_count; /* traces that were copied because they are pinned */
};

/* Append "removed 2 segments with 1234 traces and spans, 1.2 MiB; kept 1 pinned trace". */
void cn_store_expiry_print(struct cn_text *out, const struct cn_store_expiry *expiry);

/* Remove whole segments, the oldest first, until the limits are met. A segment is removed if all
 * its traces are too old, or if the others have enough bytes or traces. Its pinned traces stay, in a
 * segment of their own. */
CN_CHECK bool cn_store_expire(const char *path, const struct cn_store_limits *limits,
                              struct cn_store_expiry *out, struct cn_error *err);

/* Pin or unpin a trace, also while another process writes to the store; pinned traces do not
 * expire. `is_new` receives false if nothing changed. */
CN_CHECK bool cn_store_pin(const char *path, uint64_t id_high, uint64_t id_low,
                           bool is_pinned, bool *is_new, struct cn_error *err);

struct cn_store_compaction {
    uint32_t before, after; /* segments */
    uint64_t rows;          /* copied */
    uint64_t len_before, len_after;
    uint32_t damaged;       /* not rewritten in another form: they are left as they are */
    struct cn_error damage; /* of the first of these */
    bool has_new_form;      /* versions up to 0.9 cannot read the store any more */
};

/* Append "segments: 9 before, 2 after; size: 12.0 MiB before, 9.1 MiB after", and what else there is
 * to say. */
void cn_store_compaction_print(struct cn_text *out,
                               const struct cn_store_compaction *compaction);

/* Join consecutive small sealed segments into segments of full size. Those whose chunks have another
 * form are rewritten; it is that of new segments, too. */
CN_CHECK bool cn_store_compact(const char *path, enum cn_store_form form,
                               struct cn_store_compaction *out, struct cn_error *err);

/* Report everything that breaks a rule, in files like "00002a/traces.dat". Fails only when the store cannot be looked at. */
CN_CHECK bool cn_store_verify(const char *path, const struct cn_progress *progress,
                              cn_finding_fn report, void *arg, struct cn_error *err);

/* Care of a store in object storage: the functions of store/maintenance/maintenance.h for an address.
 *
 * No lock: each takes a snapshot of the manifest, and conditional puts decide. All are safe to
 * kill, to run twice, and to run on two machines at once. */

CN_CHECK bool cn_bucket_expire(const char *address, const struct cn_store_limits *limits,
                               struct cn_store_expiry *out, struct cn_error *err);
CN_CHECK bool
cn_bucket_compact(const char *address, enum cn_store_form form,
                  const struct cn_care_runs *runs, /* of store/maintenance/care.h */
                  struct cn_store_compaction *out, struct cn_error *err);
CN_CHECK bool cn_bucket_verify(const char *address, const struct cn_progress *progress,
                               cn_finding_fn report, void *arg, struct cn_error *err);

/* Name segments whose entries were lost or are damaged, from their files. */
CN_CHECK bool cn_bucket_recover(const char *address, struct cn_store_recovery *out,
                                struct cn_error *err);

#endif
