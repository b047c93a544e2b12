/* Any bytes as a callgrind profile: they are read or refused, and what was read can be used. */

#include <string.h>

#include "formats/exchange/read/readers.h"
#include "support/fuzz.h"
#include "support/fuzz_import.h"

static const char seed[] = "# callgrind format\nversion: 1\ncreator: cairn\npositions: "
                           "instr line\nevent: time_(sec) : "
                           "nanoseconds\nevents: time_(sec) Ir\nsummary: 820\n\nob=(1) "
                           "app\nfl=(1) a.c\nfn=(1) main\n"
                           "0x10 16 20 3\ncfn=(2) f\ncalls=1 0x20 50\n+3 * 400\ncfi=(2) "
                           "b.c\ncfn=(3) g\ncalls=3 0 20\n"
                           "* +2 400 7\n\nfn=(2)\n0x20 -1 100 "
                           "1\ncfi=(2)\ncfn=(3)\ncalls=2 0 20\n* 51 300\ncfn=(2)\n"
                           "calls=1 0 50\n* 52 60\n\nfl=(2)\nfn=(3)\n0 20 700 "
                           "9\ncfn=(1)\ncalls=1 0 16\n* 21 5\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_fuzz_import(cn_callgrind_read, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    emit((const uint8_t *)seed, strlen(seed));
}
