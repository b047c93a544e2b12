/* Functions and source files that the parts of a measurement directory speak of,
 * numbered over all of them.
 *
 * A zeroed one is ready for use. Strings are copied and live until done.
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
    struct cn_names keys; /* of functions that are one when their fields are equal */
    uint32_t *keyed;      /* their numbers */
    size_t keyed_capacity;
};

/* The same path has the same number. */
uint32_t cn_hpc_tables_file(struct cn_hpc_tables *tables, const char *path);

/* A function of its own, even if another has the same name and place. */
uint32_t cn_hpc_tables_add_function(struct cn_hpc_tables *tables,
                                    struct cn_function function);

/* The function with these fields: those that are equal are one. */
uint32_t cn_hpc_tables_function(struct cn_hpc_tables *tables,
                                struct cn_function function);

void cn_hpc_tables_done(struct cn_hpc_tables *tables);

#endif
