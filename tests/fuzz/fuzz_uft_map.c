/* Any bytes as the map of a session. */

#include <assert.h>

#include "formats/uftrace/text/task_reader.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_uft_lines lines;
    struct cn_uft_map_line line;
    struct cn_error err = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, (struct cn_bytes){data, len});
    while ((step = cn_uft_map_next(&lines, &line, &err)) != CN_END) {
        if (step == CN_FAIL)
            assert(err.text[0] != '\0');
        else
            assert(line.begin <= line.end && line.path.len + line.build_id.len < len);
    }
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char text[] =
        "aaaa0000-aaaa1000 r-xp 00000000 00:00 0          /bin/a b build-id:0123abcd\n"
        "00400000-00401000 r-xp 00000000 08:01 11729337   /bin/x\n"
        "7ffe0000-7fff0000 rw-p 00000000 00:00 0          [stack]\n"
        "7ffe0000-7fff0000 rw-p 00000000 00:00 0\n";

    emit((const uint8_t *)text, sizeof(text) - 1);
}
