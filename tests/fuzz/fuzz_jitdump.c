/* Any bytes as jitdump: what was read can be looked up. */

#include <assert.h>
#include <stdlib.h>

#include "support/fuzz.h"
#include "support/jit_files.h"
#include "symbols/jit_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_jit_code code = {0};
    struct cn_error err = {0};

    if (!cn_jit_code_read_dump(&code, (struct cn_bytes){data, len}, &err))
        assert(err.text[0] != '\0');
    for (size_t i = 0; i < code.count; i++) {
        uint64_t last = code.list[i].end - 1;
        const struct cn_jit_function *found = cn_jit_code_find(&code, last, UINT64_MAX);

        if (found)
            (void)cn_jit_function_line(found, last);
    }
    cn_jit_code_done(&code);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t len;
    uint8_t *bytes = cn_test_jitdump(&len);

    emit(bytes, len);
    free(bytes);
}
