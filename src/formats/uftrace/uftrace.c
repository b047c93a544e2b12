#include "formats/uftrace/uftrace.h"

#include "base/files/outdir.h"
#include "formats/uftrace/directory/checksums.h"
#include "formats/uftrace/directory/open.h"
#include "formats/uftrace/packed/file.h"
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

/* Write it plain to a temporary folder and pack it there, file by file. */
static bool write_packed(const struct cn_recording *rec, const char *path,
                         const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_write_options plain = options ? *options : (struct cn_write_options){0};
    struct cn_outdir dir = {0};

    if (!cn_outdir_begin(&dir, path, plain.replace, err))
        return false;
    plain.replace = true; /* the folder that was just created */
    bool ok = cn_uft_write(rec, dir.path, &plain, err) &&
              cn_uft_pack_directory(dir.path, rec->is_big_endian, plain.workers,
                                    plain.progress, err) &&
              cn_uft_checksums_write(dir.path, err) && cn_outdir_commit(&dir, err);
    cn_outdir_abandon(&dir);
    return ok;
}

const struct cn_format cn_format_uftrace_packed = {
    .name = "uftrace-packed",
    .summary = "uftrace data directory with packed records: info, task.txt, TID.zts",
    .holds = "recording",
    .probe = cn_uft_packed_probe,
    .open_recording = cn_uft_open,
    .write_recording = write_packed,
    .verify = cn_uft_verify,
};
