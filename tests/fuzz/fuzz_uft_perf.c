/* Any bytes as the events of a processor, in both byte orders. */

#include <assert.h>
#include <string.h>

#include "formats/uftrace/format.h"
#include "formats/uftrace/records/perf_reader.h"
#include "support/fuzz.h"

static void read_all(struct cn_bytes file, bool is_big_endian)
{
    struct cn_uft_perf_event event;
    struct cn_error err = {0};
    uint64_t off = 0, before = 0;
    enum cn_step step;

    while ((step = cn_uft_perf_next(file, is_big_endian, &off, &event, &err)) ==
           CN_ITEM) {
        assert(off > before && off <= file.len && event.bytes.len == off - before);
        assert(event.name.len < event.bytes.len);
        before = off;
    }
    assert(step == CN_END || err.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    read_all((struct cn_bytes){data, len}, false);
    read_all((struct cn_bytes){data, len}, true);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    uint8_t file[24 + 48 + 40 + 24] = {0};

    cn_uft_perf_header_encode(
        &(struct cn_uft_perf_header){CN_UFT_PERF_SWITCH, CN_UFT_PERF_MISC_OUT, 24}, file);
    cn_uft_perf_header_encode(&(struct cn_uft_perf_header){CN_UFT_PERF_FORK, 0, 48},
                              file + 24);
    cn_uft_perf_header_encode(&(struct cn_uft_perf_header){CN_UFT_PERF_COMM, 0, 40},
                              file + 72);
    memcpy(file + 72 + 16, "program", 8);
    cn_uft_perf_header_encode(&(struct cn_uft_perf_header){CN_UFT_PERF_LOST, 0, 24},
                              file + 112);
    emit(file, sizeof(file));
}
