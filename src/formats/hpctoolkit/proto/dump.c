#include "formats/hpctoolkit/proto/dump.h"

#include "base/files/file.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/proto/meta_reader.h"
#include "formats/hpctoolkit/sparse/dump.h"

static bool dump_bytes(struct cn_bytes file, cn_dump_fn emit, void *arg,
                       struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = cn_hpc_sparse_kind_of(file);
    struct cn_hpc_dump dump = {
        .emit = emit, .arg = arg, .file = "meta.db", .bytes = file};
    bool is_stopped;

    if (cn_hpc_proto_meta_is(file))
        return cn_hpc_proto_dump_meta(&dump, err) || dump.is_stopped;
    if (kind)
        return cn_hpc_sparse_dump_bytes(kind, file, emit, arg, &is_stopped, err);
    return cn_fail(err, CN_ERR_FORMAT, "not a file of an HPCToolkit prototype database");
}

bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg};
    struct cn_file file = {0};
    bool ok;

    if (!cn_hpc_is_file(path))
        return cn_hpc_dump_file(&dump, path, "meta.db", false, cn_hpc_proto_dump_meta,
                                err) &&
               cn_hpc_sparse_dump_directory(&dump, path, err);
    if (!cn_file_open(&file, path, err))
        return false;
    ok = dump_bytes(file.bytes, emit, arg, err) || cn_fail_in(err, "%s", path);
    cn_file_close(&file);
    return ok;
}
