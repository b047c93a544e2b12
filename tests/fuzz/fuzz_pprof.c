/* Any bytes as a profile of pprof: they are read or refused, and what was read can be used. */

#include <stdlib.h>

#include "formats/exchange/read/readers.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"
#include "support/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_fuzz_import(cn_pprof_read, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t len;
    uint8_t *bytes = cn_test_pprof(&len);

    emit(bytes, len);
    free(bytes);
}
