/* What the fuzz targets of sampled exchange formats share.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FUZZ_IMPORT_H
#define CN_TEST_FUZZ_IMPORT_H

#include "formats/exchange/read/stacks/import.h"

/* The bytes are read or refused with a reason, and what was read becomes a database. */
void cn_fuzz_import(cn_import_fn read, const uint8_t *data, size_t len);

#endif
