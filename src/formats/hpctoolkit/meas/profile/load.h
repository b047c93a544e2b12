/* Files read whole, one after the other: small ones into a buffer that is used
 * again, which takes a third of the time of mapping them; large ones are mapped.
 *
 * Zero-initialised means empty. The bytes are valid until the next load.
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

/* A missing file is CN_ERR_NOT_FOUND. Messages do not name the path. */
CN_CHECK bool cn_hpc_load(struct cn_hpc_load *load, const char *path,
                          struct cn_error *err);
void cn_hpc_load_done(struct cn_hpc_load *load);

#endif
