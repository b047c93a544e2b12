/* Any bytes as perf.data: they are read or refused, and what was read can be used. */

#include <stdlib.h>

#include "formats/exchange/perf/perf.h"
#include "support/fuzz.h"
#include "support/fuzz_import.h"
#include "support/perf_inputs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_fuzz_import(cn_perf_read, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t switches_len, copies_len, gpu_len, memory_len, io_len;
    uint8_t *switches = cn_test_perf_switches(&switches_len);
    uint8_t *copies = cn_test_perf_copies(&copies_len);
    uint8_t *gpu = cn_test_perf_gpu(&gpu_len);
    uint8_t *memory = cn_test_perf_memory(&memory_len);
    uint8_t *io = cn_test_perf_io(&io_len);

    emit(switches, switches_len);
    free(switches);
    emit(copies, copies_len);
    free(copies);
    emit(gpu, gpu_len);
    free(gpu);
    emit(memory, memory_len);
    free(memory);
    emit(io, io_len);
    free(io);
    for (enum cn_test_perf_form form = 0; form < CN_TEST_PERF_FORMS; form++) {
        size_t len;
        uint8_t *bytes = cn_test_perf(form, &len);

        emit(bytes, len);
        free(bytes);
    }
}
