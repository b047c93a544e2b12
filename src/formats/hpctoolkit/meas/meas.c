#include "formats/hpctoolkit/meas/meas.h"

#include "formats/hpctoolkit/meas/dump.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/verify/verify.h"

static bool open_one(struct cn_measurements **out, const char *path, struct cn_error *err)
{
    return cn_hpc_meas_open(out, &path, 1, NULL, err);
}

const struct cn_format cn_format_hpctoolkit_meas = {
    .name = "hpctoolkit-meas",
    .summary = "HPCToolkit measurement directory: profiles and traces of hpcrun",
    .holds = "measurements",
    .probe = cn_hpc_meas_probe,
    .open_measurements = open_one,
    .verify = cn_hpc_meas_verify,
    .dump = cn_hpc_meas_dump,
};
