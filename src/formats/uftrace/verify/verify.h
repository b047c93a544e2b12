/* Every rule of a uftrace data directory, checked; every violation reported.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_VERIFY_VERIFY_H
#define CN_FORMATS_UFTRACE_VERIFY_VERIFY_H

#include "model/format.h"

/* Report each broken rule of the directory at `path`, and go on where that is
 * possible. */
CN_CHECK bool cn_uft_verify(const char *path, const struct cn_progress *progress,
                            cn_finding_fn report, void *arg, struct cn_error *err);

/* A check in progress. */
struct cn_uft_checking {
    const struct cn_uft_directory *dir;
    struct cn_findings f;
};

/* The text files, and the files of records. */
void cn_uft_check_texts(struct cn_uft_checking *c);
CN_CHECK bool cn_uft_check_records(struct cn_uft_checking *c,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

#endif
