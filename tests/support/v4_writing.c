#include "support/v4_writing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "support/compare.h"

struct cn_database *cn_v4_must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_v4_open(&db, path, &err))
        fail_msg("%s", err.text);
    return db;
}

void cn_v4_must_write(struct cn_database *db, const char *path,
                      struct cn_write_options options)
{
    struct cn_error err = {0};

    if (!cn_hpc_v4_write(db, path, &options, &err))
        fail_msg("%s", err.text);
}

void cn_v4_must_hold_the_same(struct cn_database *from, struct cn_database *written)
{
    struct cn_error err = {0};

    if (!cn_compare_databases(from, written, false, &err) ||
        !cn_compare_planes(written, &err))
        fail_msg("%s", err.text);
}
