#include "formats/hpctoolkit/proto/proto.h"

#include "formats/hpctoolkit/meta/verify.h"
#include "formats/hpctoolkit/proto/meta.h"
#include "formats/hpctoolkit/sparse/open.h"

bool cn_hpc_proto_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_proto_header head;
    struct cn_hpc_meta meta;
    bool has_footer;

    if (!cn_hpc_proto_meta_is(dump->bytes) ||
        !cn_hpc_proto_header_decode(dump->bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT, "not a prototype's meta.db");
    return cn_hpc_dump_item(dump, &cn_hpc_proto_header_layout, 0, 0, NULL, err) &&
           cn_hpc_dump_records(dump, &cn_hpc_proto_section_layout,
                               cn_hpc_proto_header_size, head.section_count, err) &&
           cn_hpc_proto_meta(dump->bytes, &meta, &has_footer, err) &&
           cn_hpc_meta_dump(dump, &meta, err);
}

bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    static const struct cn_hpc_dump_kind meta = {"meta.db", cn_hpc_proto_meta_is,
                                                 cn_hpc_proto_dump_meta, false};

    return cn_hpc_sparse_dump(path, &meta, emit, arg, err);
}
