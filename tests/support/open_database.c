#include "support/open_database.h"

#include <assert.h>

#include "open/open.h"

bool cn_open_database(const char *path, struct cn_database **out, struct cn_error *err)
{
    struct cn_opened opened;

    if (!cn_open(&opened, path, CN_CONTEXTS, NULL, err))
        return false;
    assert(!opened.folder.path);
    *out = opened.db;
    opened.db = NULL;
    cn_opened_close(&opened);
    return true;
}
