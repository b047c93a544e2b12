/* The rules of a meta.db of v4 or of the prototype.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_META_VERIFY_H

#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/values/dump.h"
#include "model/contexts/database.h"

struct cn_hpc_meta;

/* A check in progress. Set the first group, zero the rest. */
struct cn_hpc_meta_check {
    struct cn_hpc_check c;
    const char *dir; /* whose files are mapped; NULL: they are in memory */

    struct cn_database head; /* kinds and metrics; nothing where they cannot be read */
    struct cn_hpc_set prop_ids, stat_ids, contexts;
    struct cn_zero_ids zero_ids[2]; /* of threads, of the summary */
};

/* Check everything after the frame of the file. */
void cn_hpc_meta_verify(struct cn_hpc_meta_check *check, const struct cn_hpc_meta *meta);
void cn_hpc_meta_check_done(struct cn_hpc_meta_check *check);

/* The structures of a meta.db, for `cairn dump`. */

/* Everything after the header of the file. */
CN_CHECK bool cn_hpc_meta_dump(struct cn_hpc_dump *dump, const struct cn_hpc_meta *meta,
                               struct cn_error *err);

#endif
