#include "formats/hpctoolkit/meas/tables.h"

#include <stdlib.h>

#include "base/alloc.h"

uint32_t cn_hpc_tables_file(struct cn_hpc_tables *tables, const char *path)
{
    return cn_names_add(&tables->files, path);
}

uint32_t cn_hpc_tables_add_function(struct cn_hpc_tables *tables,
                                    struct cn_function function)
{
    uint32_t name = cn_names_add(&tables->texts, function.name);

    tables->functions = cn_grow(tables->functions, tables->function_count,
                                &tables->function_capacity, sizeof(*tables->functions));
    function.name = tables->texts.list[name];
    tables->functions[tables->function_count] = function;
    return (uint32_t)tables->function_count++;
}

void cn_hpc_tables_done(struct cn_hpc_tables *tables)
{
    cn_names_done(&tables->files);
    cn_names_done(&tables->texts);
    free(tables->functions);
    *tables = (struct cn_hpc_tables){0};
}
