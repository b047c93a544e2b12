#include "formats/hpctoolkit/proto/proto.h"

#include "formats/hpctoolkit/proto/open.h"

const struct cn_format cn_format_hpctoolkit_proto = {
    .name = "hpctoolkit-proto",
    .summary = "HPCToolkit prototype database: big-endian meta.db, profile.db, cct.db, "
               "trace.db",
    .holds = "database",
    .probe = cn_hpc_proto_probe,
    .open_database = cn_hpc_proto_open,
    .write_database = cn_hpc_proto_write,
    .verify = cn_hpc_proto_verify,
    .dump = cn_hpc_proto_dump,
};
