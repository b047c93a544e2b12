/* Functions and source files of measurement directories, numbered over all sources of names.
 *
 * A zeroed table is empty. Strings are copied and live until cn_hpc_tables_done().
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_TABLES_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_TABLES_H

#include "base/map.h"
#include "model/contexts/context.h"

struct cn_hpc_tables {
    struct cn_names files;
    struct cn_names texts; /* names of functions */
    struct cn_function *functions;
    size_t function_count, function_capacity;
    struct cn_names keys; /* fields of the functions of cn_hpc_tables_function() */
    uint32_t *keyed;      /* their numbers */
    size_t keyed_capacity;
};

/* The number of a file; the same path has the same number. */
uint32_t cn_hpc_tables_file(struct cn_hpc_tables *tables, const char *path);

/* Add a function, even if another has the same fields. */
uint32_t cn_hpc_tables_add_function(struct cn_hpc_tables *tables,
                                    struct cn_function function);

/* The number of the function with these fields, which is added when it is new. */
uint32_t cn_hpc_tables_function(struct cn_hpc_tables *tables,
                                struct cn_function function);

void cn_hpc_tables_done(struct cn_hpc_tables *tables);

#endif
