#include "formats/hpctoolkit/meas/code/tables.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

uint32_t cn_hpc_tables_file(struct cn_hpc_tables *tables, const char *path)
{
    return cn_names_add(&tables->files, path);
}

uint32_t cn_hpc_tables_add_function(struct cn_hpc_tables *tables,
                                    struct cn_function function)
{
    uint32_t name = cn_names_add(&tables->texts, function.name);

    CN_GROW(tables->functions, tables->function_count, tables->function_capacity);
    function.name = tables->texts.list[name];
    tables->functions[tables->function_count] = function;
    return (uint32_t)tables->function_count++;
}

uint32_t cn_hpc_tables_function(struct cn_hpc_tables *tables, struct cn_function function)
{
    size_t known = tables->keys.count;
    char *key = cn_strprintf("%u %u %u %s", function.module, function.file, function.line,
                             function.name);
    uint32_t number = cn_names_add(&tables->keys, key);

    free(key);
    if (number == known) {
        CN_GROW(tables->keyed, known, tables->keyed_capacity);
        tables->keyed[number] = cn_hpc_tables_add_function(tables, function);
    }
    return tables->keyed[number];
}

void cn_hpc_tables_done(struct cn_hpc_tables *tables)
{
    cn_names_done(&tables->keys);
    free(tables->keyed);
    cn_names_done(&tables->files);
    cn_names_done(&tables->texts);
    free(tables->functions);
    *tables = (struct cn_hpc_tables){0};
}
