/* Care of a store in object storage: the functions of store/maintenance/maintenance.h for an address.
 *
 * No lock: each takes a snapshot of the manifest, and conditional puts decide. All are safe to
 * kill, to run twice, and to run on two machines at once.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_MAINTENANCE_OBJECT_STORAGE_H
#define CN_STORE_MAINTENANCE_OBJECT_STORAGE_H

#include "store/maintenance/maintenance.h"

CN_CHECK bool cn_bucket_expire(const char *address, const struct cn_store_limits *limits,
                               struct cn_store_expiry *out, struct cn_error *err);
CN_CHECK bool cn_bucket_compact(const char *address, struct cn_store_compaction *out,
                                struct cn_error *err);
CN_CHECK bool cn_bucket_verify(const char *address, const struct cn_progress *progress,
                               cn_finding_fn report, void *arg, struct cn_error *err);

/* Name segments whose entries were lost or are damaged, from their files. */
CN_CHECK bool cn_bucket_recover(const char *address, struct cn_store_recovery *out,
                                struct cn_error *err);

#endif
