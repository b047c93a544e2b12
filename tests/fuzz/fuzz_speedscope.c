/* Any bytes as JSON of speedscope: they are read or refused, and what was read can be used. */

#include <assert.h>
#include <string.h>

#include "formats/exchange/import.h"
#include "formats/exchange/readers.h"
#include "model/database.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_import *import = cn_import_new("fuzz", "");
    struct cn_error err = {0};
    struct cn_database *db;

    if (!cn_speedscope_read(import, (struct cn_bytes){data, len}, &err)) {
        assert(err.text[0] != '\0');
        cn_import_free(import);
        return 0;
    }
    if (cn_import_finish(import, &db, &err))
        cn_database_close(db);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    emit((const uint8_t *)cn_test_speedscope, strlen(cn_test_speedscope));
    emit((const uint8_t *)cn_test_speedscope_calls, strlen(cn_test_speedscope_calls));
}
