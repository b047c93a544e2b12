/* Any bytes as a heap profile of heaptrack, massif or heapprofd: they are read or refused, and what was read can be
 * used. */

#include <stdlib.h>
#include <string.h>

#include "formats/exchange/read/readers.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"
#include "support/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_fuzz_import(cn_heaptrack_read, data, len);
    cn_fuzz_import(cn_massif_read, data, len);
    cn_fuzz_import(cn_heapprofd_read, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t len;
    uint8_t *heapprofd = cn_test_heapprofd(&len);

    emit(heapprofd, len);
    free(heapprofd);
    emit((const uint8_t *)cn_test_heaptrack, strlen(cn_test_heaptrack));
    emit((const uint8_t *)cn_test_massif, strlen(cn_test_massif));
}
