#include "formats/hpctoolkit/meas/meas.h"

#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/verify/verify.h"

const struct cn_format cn_format_hpctoolkit_meas = {
    .name = "hpctoolkit-meas",
    .summary = "HPCToolkit measurement directory: profiles and traces of hpcrun",
    .holds = "measurements",
    .is_measured = true,
    .probe = cn_hpc_meas_probe,
    .verify = cn_hpc_meas_verify,
    .dump = cn_hpc_meas_dump,
};
