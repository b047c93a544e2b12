/* Any bytes as names of logical frames: what is whole is kept, and what it names is there. */

#include <assert.h>
#include <string.h>

#include "formats/hpctoolkit/meas/code/logical.h"
#include "formats/hpctoolkit/meas/format.h"
#include "support/fuzz.h"
#include "support/made_run.h"

static void look(const struct cn_hpc_logical *logical, const struct cn_hpc_tables *tables,
                 uint32_t id)
{
    struct cn_code_scope scopes[2];
    size_t count = cn_hpc_logical_scopes(logical, (uint64_t)id << 32 | 1, scopes);

    assert(count == 1 || count == 2);
    for (size_t i = 0; i < count; i++)
        assert(scopes[i].function == CN_NONE ||
               scopes[i].function < tables->function_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_hpc_logical logical = {0};
    struct cn_hpc_tables tables = {0};
    struct cn_error err = {0};

    if (!cn_hpc_logical_read(&logical, (struct cn_bytes){data, len}, 0, &tables, &err))
        assert(err.text[0] != '\0');
    for (uint32_t id = 0; id < 300; id++)
        look(&logical, &tables, id);
    cn_hpc_logical_done(&logical);
    cn_hpc_tables_done(&tables);
    return 0;
}

static void put_frame(struct cn_text *to, uint32_t id, const char *function,
                      char mangling, const char *file)
{
    cn_put_u32_be(to, id);
    cn_put_u32_be(to, (uint32_t)strlen(function));
    cn_text_str_add(to, function);
    cn_text_char(to, mangling);
    cn_put_u32_be(to, (uint32_t)strlen(file));
    cn_text_str_add(to, file);
    cn_put_u32_be(to, 10);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_HPC_LOGICAL_MAGIC);
    put_frame(&text, 1, "run", 0, "/app.py");
    put_frame(&text, 2, "", 0, "/lib.py");
    put_frame(&text, 3, "_Z4workIiEvT_", 1, "");
    put_frame(&text, 4, "", 0, "");
    emit((const uint8_t *)text.chars, text.len);
    cn_text_done(&text);
}
