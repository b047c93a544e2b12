#include "support/fuzz_import.h"

#include <assert.h>

#include "model/contexts/database.h"

void cn_fuzz_import(cn_import_fn read, const uint8_t *data, size_t len)
{
    struct cn_import *import = cn_import_new("fuzz", "");
    struct cn_error err = {0};
    struct cn_database *db;

    if (!read(import, (struct cn_bytes){data, len}, &err)) {
        assert(err.text[0] != '\0');
        cn_import_free(import);
        return;
    }
    if (cn_import_finish(import, &db, &err))
        cn_database_close(db);
}
