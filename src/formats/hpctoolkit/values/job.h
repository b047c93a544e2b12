/* A job of the engines that write values: the database, the directory, the options.
 * Threads: immutable while files are written; borrows everything.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_JOB_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct cn_database;
struct cn_transpose_rank;
struct cn_write_options;

struct cn_hpc_value_job {
    struct cn_database *db;
    const struct cn_transpose_rank *rank; /* this process in cct.db; NULL: all of it */
    const struct cn_write_options *options;
    const char *dir;        /* of the files */
    unsigned workers;       /* at least 1 */
    uint32_t context_count; /* ids of contexts are below this */

    void *arg;               /* for the encoding's functions */
    const bool *is_left_out; /* profiles whose values are dropped; NULL: none */
};

#endif
