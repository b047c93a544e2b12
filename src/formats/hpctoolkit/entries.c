#include "formats/hpctoolkit/entries.h"

#include "base/list.h"
#include "model/contexts/context.h"

static const char *const functions[CN_HPC_ENTRY_COUNT] = {
    [CN_ENTRY_UNKNOWN] = "<partial call paths>",
    [CN_ENTRY_MAIN_THREAD] = "<program root>",
    [CN_ENTRY_APPLICATION_THREAD] = "<thread root>",
};

const char *cn_hpc_entry_function(unsigned entry)
{
    return entry < CN_HPC_ENTRY_COUNT ? functions[entry] : NULL;
}

bool cn_hpc_entry_find(const char *function, uint16_t *entry)
{
    size_t at = cn_list_find(functions, CN_HPC_ENTRY_COUNT, function);

    if (at < CN_HPC_ENTRY_COUNT)
        *entry = (uint16_t)at;
    return at < CN_HPC_ENTRY_COUNT;
}
