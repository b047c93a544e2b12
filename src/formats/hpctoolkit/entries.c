#include "formats/hpctoolkit/entries.h"

#include "base/list.h"

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

void cn_hpc_entry_make(struct cn_context *root, const char *function)
{
    struct cn_context entry = {
        .id = root->id,
        .kind = CN_CONTEXT_ENTRY,
        .entry = CN_ENTRY_UNKNOWN,
        .entry_name = function ? function : cn_entry_name(CN_ENTRY_UNKNOWN),
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .children_at = root->children_at,
        .children_len = root->children_len,
    };

    if (function && cn_hpc_entry_find(function, &entry.entry))
        entry.entry_name = cn_entry_name(entry.entry);
    *root = entry;
}
