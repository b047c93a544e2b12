/* Any bytes as the records of memory of a task: times ascend, and damage has a place. */

#include <assert.h>
#include <string.h>

#include "formats/memory/format.h"
#include "formats/memory/reader.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_heap_log log = {.name = "1.mem", .file = {data, len}};
    struct cn_heap_event event;
    struct cn_error err = {0};
    uint64_t last_ns = 0;
    enum cn_step step;

    while ((step = cn_memory_log_next(&log, &event, &err)) == CN_ITEM) {
        assert(event.time_ns >= last_ns);
        assert(event.address >> CN_MEMORY_KIND_AT == 0);
        assert(event.size >> CN_MEMORY_KIND_AT == 0);
        last_ns = event.time_ns;
    }
    assert(step == CN_END ? log.off == len
                          : strncmp(err.text, "1.mem: record ", 14) == 0);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    uint8_t file[CN_MEMORY_KIND_COUNT * cn_memory_record_size];

    for (uint64_t kind = 0; kind < CN_MEMORY_KIND_COUNT; kind++) {
        /* BEGIN is the first one. */
        struct cn_memory_record record = {
            .time_ns = 1000 + kind,
            .place = (kind < 2 ? 1 - kind : kind) << CN_MEMORY_KIND_AT | (0x1000 + kind),
            .size = 16,
            .usable_size = 24,
        };

        (void)cn_memory_record_encode(&record, file + kind * cn_memory_record_size);
    }
    emit(file, sizeof(file));
    emit(file, 0);
}
