/* Any bytes as the memory of a process that runs PHP: frames are walked, named and merged with a
 * stack, within bounds of memory and time. */

#include "support/fuzz.h"
#include "support/interpreted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_test_interpreted_fuzz(&cn_test_php, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    cn_test_interpreted_seeds(&cn_test_php, emit);
}
