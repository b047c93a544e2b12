#include "formats/uftrace/uftrace.h"

#include "formats/uftrace/directory/open.h"
#include "formats/uftrace/verify/verify.h"
#include "formats/uftrace/write/writer.h"

const struct cn_format cn_format_uftrace = {
    .name = "uftrace",
    .summary = "uftrace data directory: info, task.txt, TID.dat",
    .holds = "recording",
    .probe = cn_uft_probe,
    .open_recording = cn_uft_open,
    .write_recording = cn_uft_write,
    .verify = cn_uft_verify,
};
