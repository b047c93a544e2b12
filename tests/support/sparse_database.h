/* A database that has values but no tree: profile.db, cct.db and trace.db of
 * HPCToolkit's older generations alone.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_SPARSE_DATABASE_H
#define CN_TEST_SPARSE_DATABASE_H

#include "formats/hpctoolkit/sparse/open.h"
#include "formats/hpctoolkit/values/database.h"

/* `out` is released with cn_sparse_database_done(), also after a failure. */
CN_CHECK bool cn_sparse_database_open(struct cn_hpc_database *out,
                                      const struct cn_hpc_sparse_files *files,
                                      const struct cn_hpc_sparse_options *options,
                                      struct cn_error *err);
void cn_sparse_database_done(struct cn_hpc_database *db);

/* All values of a plane as text: "context metric value" a line, or of a context
 * "profile metric value". Released with free(). */
char *cn_sparse_database_profile(struct cn_hpc_database *db, uint32_t profile);
char *cn_sparse_database_context(struct cn_hpc_database *db, uint32_t context);

#endif
