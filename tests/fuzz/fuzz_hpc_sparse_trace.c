/* Any bytes as trace.db of an HPCToolkit prototype database. */
#include "support/fuzz.h"
#include "support/proto_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return cn_proto_fuzz_run(CN_PROTO_TRACE, data, len);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    cn_proto_fuzz_seeds(CN_PROTO_TRACE, emit);
}
