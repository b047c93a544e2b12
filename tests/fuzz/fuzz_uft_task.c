/* Any bytes as task.txt. */

#include <assert.h>

#include "formats/uftrace/format.h"
#include "formats/uftrace/text/task_reader.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_uft_lines lines;
    struct cn_uft_task_line line;
    struct cn_error err = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, (struct cn_bytes){data, len});
    while ((step = cn_uft_task_next(&lines, &line, &err)) != CN_END) {
        assert(lines.off < len);
        if (step == CN_FAIL)
            assert(err.text[0] != '\0');
        else if (line.kind == CN_UFT_SESS || line.kind == CN_UFT_DLOP)
            assert(line.sid.len == CN_UFT_SID_LEN && line.path.len < len);
    }
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char text[] =
        "SESS timestamp=1.000000001 pid=7 sid=0123456789abcdef exename=\"/bin/x\"\n"
        "TASK timestamp=1.000000002 tid=7 pid=7\n"
        "FORK timestamp=1.000000003 pid=8 ppid=7\n"
        "DLOP timestamp=1.4 tid=7 sid=0123456789ABCDEF base=7f00 libname=\"a \"b\".so\"\n"
        "SESS timestamp=2.0 tid=8 sid=fedcba9876543210 exename=\"\"\n";

    emit((const uint8_t *)text, sizeof(text) - 1);
}
