/* Any text as perf-PID.map: every function that was read is found. */

#include <assert.h>
#include <string.h>

#include "support/fuzz.h"
#include "symbols/jit_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_jit_code code = {0};

    cn_jit_code_read_map(&code, (struct cn_bytes){data, len});
    for (size_t i = 0; i < code.count; i++)
        assert(cn_jit_code_find(&code, code.list[i].begin, UINT64_MAX));
    cn_jit_code_done(&code);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "1000 20 first\n0x1020 10 with spaces\n2ff0 1010 over pages",
        "7f00 100 JS:*fib /a/b.js:1:13\n7f40 20 py::run:/a/b.py\n7f00 100 JS:~ x:1:1\n",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
