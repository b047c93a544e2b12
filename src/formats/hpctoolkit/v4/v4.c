#include "formats/hpctoolkit/v4/v4.h"

#include "formats/hpctoolkit/v4/dump/dump.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "formats/hpctoolkit/v4/write/writer.h"

const struct cn_format cn_format_hpctoolkit_v4 = {
    .name = "hpctoolkit-v4",
    .summary = "HPCToolkit 4.0 database: meta.db, profile.db, cct.db, trace.db",
    .holds = "database",
    .probe = cn_hpc_v4_probe,
    .open_database = cn_hpc_v4_open,
    .write_database = cn_hpc_v4_write,
    .verify = cn_hpc_v4_verify,
    .dump = cn_hpc_v4_dump,
};
