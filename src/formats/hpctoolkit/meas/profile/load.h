/* Files read whole, one after the other. Small files are read into a buffer that the next
 * file reuses, which takes a third of the time of mapping them; large files are mapped.
 *
 * A zeroed struct has nothing loaded. The bytes are valid until the next load.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_LOAD_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_LOAD_H

#include "base/files/file.h"

struct cn_hpc_load {
    struct cn_bytes bytes;
    uint8_t *buffer;
    struct cn_file mapped;
};

/* A missing file is CN_ERR_NOT_FOUND. Messages do not name the path. On failure `bytes` is
 * empty. */
CN_CHECK bool cn_hpc_load(struct cn_hpc_load *load, const char *path,
                          struct cn_error *err);
void cn_hpc_load_done(struct cn_hpc_load *load);

#endif
