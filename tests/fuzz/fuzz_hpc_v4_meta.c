/* Any bytes as meta.db of an HPCToolkit v4 database. */
#include "support/fuzz.h"
#include "support/fuzz_v4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return cn_fuzz_v4_run(CN_FUZZ_V4_META, data, len);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    cn_fuzz_v4_seeds(CN_FUZZ_V4_META, emit);
}
