/* Any bytes as a .hpcstruct file: whatever was read answers for every address. */
#include <assert.h>
#include <stdlib.h>

#include "formats/hpctoolkit/meas/code/structure.h"
#include "support/fuzz.h"
#include "support/gpu_run.h"
#include "support/tiny_meas.h"

static void ask_everywhere(const struct cn_hpc_structures *structures,
                           const struct cn_hpc_tables *tables)
{
    struct cn_hpc_call_paths paths = {0};
    struct cn_code_scope *scopes = NULL;
    size_t capacity = 0;

    for (size_t i = 0; i < structures->count; i++) {
        const struct cn_hpc_structure *structure = &structures->list[i];

        for (size_t k = 0; k < structure->ranges.count; k++) {
            const struct cn_hpc_range *range = &structure->ranges.list[k];
            size_t count =
                cn_hpc_structure_scopes(structure, range->end - 1, &scopes, &capacity);

            assert(k == 0 || structure->ranges.list[k - 1].end <= range->begin);
            assert(count > 0 && scopes[0].kind == CN_CONTEXT_FUNCTION);
            assert(scopes[0].function < tables->function_count);
            if (cn_hpc_structure_paths(structure, tables, range->begin, &paths))
                assert(paths.count > 0 && paths.list[0].entry < structure->graph.count);
        }
    }
    free(scopes);
    cn_hpc_call_paths_done(&paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_hpc_structures structures = {0};
    struct cn_hpc_tables tables = {0};
    struct cn_error err = {0};

    if (!cn_hpc_structures_read(&structures, (struct cn_bytes){data, len}, &tables, &err))
        assert(err.text[0] != '\0');
    ask_everywhere(&structures, &tables);
    cn_hpc_structures_done(&structures);
    cn_hpc_tables_done(&tables);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_tiny_meas tiny;
    struct cn_text text = {0};

    cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){0});
    emit((const uint8_t *)tiny.structure.chars, tiny.structure.len);
    cn_tiny_meas_done(&tiny);
    cn_gpu_structure_add(&text, "1", "0x600");
    emit((const uint8_t *)text.chars, text.len);
    cn_text_done(&text);
}
