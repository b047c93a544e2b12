/* What the engines that write values have to know: which database, where to, how.
 * Threads: immutable while files are written; borrows everything.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_VALUE_JOB_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_VALUE_JOB_H

#include <stdint.h>

struct cn_database;
struct cn_write_options;

struct cn_hpc_value_job {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir;        /* where the files go */
    unsigned workers;       /* at least 1 */
    uint32_t context_count; /* ids of contexts are below this */
};

#endif
