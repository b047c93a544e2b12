#include "formats/hpctoolkit/proto/entries.h"

#include <stddef.h>
#include <string.h>

#include "model/contexts/context.h"

static const struct {
    const char *function, *name;
} entries[CN_HPC_PROTO_ENTRY_COUNT] = {
    [CN_ENTRY_UNKNOWN] = {"<partial call paths>", "unknown entry"},
    [CN_ENTRY_MAIN_THREAD] = {"<program root>", "main thread"},
    [CN_ENTRY_APPLICATION_THREAD] = {"<thread root>", "application thread"},
};

const char *cn_hpc_proto_entry_function(unsigned entry)
{
    return entry < CN_HPC_PROTO_ENTRY_COUNT ? entries[entry].function : NULL;
}

const char *cn_hpc_proto_entry_name(unsigned entry)
{
    return entry < CN_HPC_PROTO_ENTRY_COUNT ? entries[entry].name : NULL;
}

bool cn_hpc_proto_entry_find(const char *function, uint16_t *entry)
{
    for (uint16_t i = 0; i < CN_HPC_PROTO_ENTRY_COUNT; i++)
        if (strcmp(function, entries[i].function) == 0) {
            *entry = i;
            return true;
        }
    return false;
}
