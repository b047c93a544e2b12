#include "support/effort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t cn_test_seed(uint64_t usual)
{
    const char *given = getenv("CAIRN_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : usual;

    printf("CAIRN_SEED=%" PRIu64 "\n", seed);
    (void)fflush(stdout);
    return seed;
}

bool cn_test_is_thorough(void)
{
    const char *given = getenv("CAIRN_THOROUGH");

    return given && strcmp(given, "1") == 0;
}

uint32_t cn_test_seeds(uint32_t all)
{
    return cn_test_is_thorough() ? all : (all + 4) / 5;
}

size_t cn_test_bit_step(void)
{
    enum { ONE_OF_THREE_BYTES = 23 };

    return cn_test_is_thorough() ? 1 : ONE_OF_THREE_BYTES;
}
