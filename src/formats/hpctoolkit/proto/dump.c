#include "formats/hpctoolkit/proto/dump.h"

#include <sys/stat.h>

#include "base/file.h"
#include "formats/hpctoolkit/proto/meta_reader.h"
#include "formats/hpctoolkit/sparse/dump.h"

static const struct cn_hpc_sparse_kind *const kinds[] = {
    &cn_hpc_sparse_profile_kind, &cn_hpc_sparse_cct_kind, &cn_hpc_sparse_trace_kind};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static bool dump_directory(const char *dir, cn_dump_fn emit, void *arg,
                           struct cn_error *err)
{
    struct cn_file file = {0};
    bool is_stopped = false;
    bool ok;

    if (!cn_file_open_at(&file, dir, "meta.db", err))
        return false;
    ok = cn_hpc_proto_dump_meta(file.bytes, emit, arg, &is_stopped, err) ||
         cn_fail_in(err, "%s/meta.db", dir);
    cn_file_close(&file);
    for (size_t i = 0; ok && i < KIND_COUNT && !is_stopped; i++) {
        file = (struct cn_file){0};
        if (!cn_file_open_at(&file, dir, kinds[i]->name, err)) {
            if (i > 0 && err->kind == CN_ERR_NOT_FOUND)
                continue;
            return false;
        }
        ok =
            cn_hpc_sparse_dump_bytes(kinds[i], file.bytes, emit, arg, &is_stopped, err) ||
            cn_fail_in(err, "%s/%s", dir, kinds[i]->name);
        cn_file_close(&file);
    }
    return ok;
}

static bool dump_bytes(struct cn_bytes file, cn_dump_fn emit, void *arg,
                       struct cn_error *err)
{
    bool is_stopped;

    if (cn_hpc_proto_meta_is(file))
        return cn_hpc_proto_dump_meta(file, emit, arg, &is_stopped, err);
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (cn_hpc_sparse_file_is(file, kinds[i]))
            return cn_hpc_sparse_dump_bytes(kinds[i], file, emit, arg, &is_stopped, err);
    return cn_fail(err, CN_ERR_FORMAT, "not a file of an HPCToolkit prototype database");
}

bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_file file = {0};
    struct stat st;
    bool ok;

    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return dump_directory(path, emit, arg, err);
    if (!cn_file_open(&file, path, err))
        return false;
    ok = dump_bytes(file.bytes, emit, arg, err) || cn_fail_in(err, "%s", path);
    cn_file_close(&file);
    return ok;
}
