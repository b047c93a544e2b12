#include "support/proto_files.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/sparse/open.h"
#include "support/read_everything.h"
#include "support/sample.h"

enum { READ_MAX = 20000, DUMP_MAX = 200000 };

static const char *const names[CN_PROTO_FILE_COUNT] = {"meta.db", "profile.db", "cct.db",
                                                       "trace.db"};

void cn_proto_files_load(struct cn_proto_files *files, const char *dir)
{
    *files = (struct cn_proto_files){0};
    for (size_t i = 0; i < CN_PROTO_FILE_COUNT; i++) {
        struct cn_file file = {0};
        struct cn_error ignored;

        if (!cn_file_open_at(&file, dir, names[i], &ignored))
            continue;
        files->len[i] = file.bytes.len;
        files->bytes[i] = cn_alloc(file.bytes.len, 1);
        memcpy(files->bytes[i], file.bytes.ptr, file.bytes.len);
        cn_file_close(&file);
    }
}

void cn_proto_files_init(struct cn_proto_files *files)
{
    char root[] = "/tmp/cairn-proto-XXXXXX", dir[64], path[96];
    struct cn_database *db = cn_sample_database();
    struct cn_write_options options = {.workers = 1};
    struct cn_error err;

    assert(mkdtemp(root));
    (void)snprintf(dir, sizeof(dir), "%s/db", root);
    if (!cn_hpc_proto_write(db, dir, &options, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
    cn_database_close(db);
    cn_proto_files_load(files, dir);
    for (size_t i = 0; i < CN_PROTO_FILE_COUNT; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    (void)rmdir(root);
}

void cn_proto_files_done(struct cn_proto_files *files)
{
    for (size_t i = 0; i < CN_PROTO_FILE_COUNT; i++)
        free(files->bytes[i]);
}

struct cn_hpc_proto_files cn_proto_files_view(const struct cn_proto_files *files)
{
    struct cn_bytes list[CN_PROTO_FILE_COUNT];

    for (size_t i = 0; i < CN_PROTO_FILE_COUNT; i++)
        list[i] = (struct cn_bytes){files->bytes[i], files->len[i]};
    return (struct cn_hpc_proto_files){
        .meta = list[CN_PROTO_META],
        .values = {.profile = list[CN_PROTO_PROFILE],
                   .cct = list[CN_PROTO_CCT],
                   .trace = list[CN_PROTO_TRACE],
                   .has_cct = list[CN_PROTO_CCT].ptr,
                   .has_trace = list[CN_PROTO_TRACE].ptr},
    };
}

static bool count_item(void *arg, const struct cn_dump_item *item)
{
    size_t *count = arg;

    assert(item->bytes.len >= item->layout->size);
    return ++*count < DUMP_MAX;
}

static void dump(enum cn_proto_file file, struct cn_bytes bytes)
{
    cn_hpc_dump_fn contents = file == CN_PROTO_META
                                  ? cn_hpc_proto_dump_meta
                                  : cn_hpc_sparse_dumps[file - CN_PROTO_PROFILE].contents;
    struct cn_error err = {0};
    size_t count = 0;

    assert(cn_hpc_dump_bytes(names[file], contents, bytes, count_item, &count, &err) ||
           err.text[0] != '\0');
}

static void on_finding(void *arg, const struct cn_finding *finding)
{
    size_t *count = arg;

    assert(finding->rule && finding->text && finding->file);
    ++*count;
}

static struct cn_hpc_proto_files replace(const struct cn_proto_files *files,
                                         enum cn_proto_file file, struct cn_bytes bytes)
{
    struct cn_hpc_proto_files view = cn_proto_files_view(files);
    struct cn_bytes *const list[CN_PROTO_FILE_COUNT] = {
        &view.meta, &view.values.profile, &view.values.cct, &view.values.trace};

    *list[file] = bytes;
    return view;
}

bool cn_proto_files_read(const struct cn_proto_files *files, enum cn_proto_file file,
                         struct cn_bytes bytes)
{
    struct cn_hpc_proto_files view = replace(files, file, bytes);
    struct cn_read_totals totals = {0};
    struct cn_error err = {0};
    struct cn_database *db;
    bool ok;

    if (!cn_hpc_proto_open_bytes(&db, &view, &err)) {
        assert(err.kind != CN_ERR_NONE && err.text[0] != '\0');
        return false;
    }
    cn_read_everything(db, READ_MAX, &totals, &err);
    ok = totals.failures == 0 && !db->warnings;
    cn_database_close(db);
    return ok;
}

bool cn_proto_files_try(const struct cn_proto_files *files, enum cn_proto_file file,
                        struct cn_bytes bytes)
{
    struct cn_hpc_proto_files view = replace(files, file, bytes);
    struct cn_error err = {0};
    size_t found = 0;

    assert(cn_hpc_proto_verify_bytes(&view, NULL, on_finding, &found, &err));
    dump(file, bytes);
    return cn_proto_files_read(files, file, bytes);
}

/* Written once: a fuzz target runs many thousand times. */
static const struct cn_proto_files *good_files(void)
{
    static struct cn_proto_files files;

    if (!files.bytes[CN_PROTO_META])
        cn_proto_files_init(&files);
    return &files;
}

int cn_proto_fuzz_run(enum cn_proto_file file, const uint8_t *data, size_t len)
{
    (void)cn_proto_files_try(good_files(), file, (struct cn_bytes){data, len});
    return 0;
}

void cn_proto_fuzz_seeds(enum cn_proto_file file,
                         void (*emit)(const uint8_t *data, size_t len))
{
    const struct cn_proto_files *files = good_files();

    emit(files->bytes[file], files->len[file]);
}
