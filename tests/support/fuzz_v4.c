#include "support/fuzz_v4.h"

#include <assert.h>

#include "formats/hpctoolkit/v4/dump/dump.h"
#include "model/contexts/database.h"
#include "support/read_everything.h"
#include "support/tiny_v4.h"

enum { READ_MAX = 100000, DUMP_MAX = 1000000 };

static bool count_item(void *arg, const struct cn_dump_item *item)
{
    size_t *count = arg;

    assert(item->bytes.len >= item->layout->size);
    return ++*count < DUMP_MAX;
}

static struct cn_bytes *file_of(struct cn_hpc_v4_files *files, enum cn_fuzz_v4_file file)
{
    struct cn_bytes *const list[] = {&files->meta, &files->profile, &files->cct,
                                     &files->trace};

    return list[file];
}

static void dump(enum cn_fuzz_v4_file file, struct cn_bytes bytes)
{
    const cn_hpc_dump_fn contents[] = {cn_hpc_v4_dump_meta, cn_hpc_v4_dump_profile,
                                       cn_hpc_v4_dump_cct, cn_hpc_v4_dump_trace};
    struct cn_error err = {0};
    size_t count = 0;

    assert(cn_hpc_dump_bytes("file", contents[file], bytes, count_item, &count, &err) ||
           err.text[0] != '\0');
}

int cn_fuzz_v4_run(enum cn_fuzz_v4_file file, const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_hpc_v4_files files;
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;
    struct cn_tiny_v4 tiny;

    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    cn_tiny_v4_files(&tiny, &files);
    *file_of(&files, file) = bytes;
    if (cn_hpc_v4_open_bytes(&db, &files, &err)) {
        cn_read_everything(db, READ_MAX, &totals, &err);
        cn_database_close(db);
    } else {
        assert(err.kind != CN_ERR_NONE && err.text[0] != '\0');
    }
    dump(file, bytes);
    cn_tiny_v4_done(&tiny);
    return 0;
}

void cn_fuzz_v4_seeds(enum cn_fuzz_v4_file file,
                      void (*emit)(const uint8_t *data, size_t len))
{
    static const struct cn_tiny_options options[] = {
        {.layout = CN_TINY_FINAL},
        {.grow = 8, .minor = 7, .has_garbage = true},
        {.layout = CN_TINY_DRAFT_A},
        {.layout = CN_TINY_DRAFT_B},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct cn_hpc_v4_files files;
        struct cn_tiny_v4 tiny;
        struct cn_bytes *bytes;

        cn_tiny_v4_init(&tiny, &options[i]);
        cn_tiny_v4_files(&tiny, &files);
        bytes = file_of(&files, file);
        emit(bytes->ptr, bytes->len);
        cn_tiny_v4_done(&tiny);
    }
}
