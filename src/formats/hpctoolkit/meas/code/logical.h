/* Names of logical frames, which are no machine code, from files in logical/: functions of an
 * interpreter, GPU kernels without a binary.
 *
 * A zeroed struct is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_LOGICAL_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_LOGICAL_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/tables.h"
#include "model/contexts/samples.h"

struct cn_hpc_logical_frame {
    uint32_t function; /* or CN_NONE */
    uint32_t file;     /* or CN_NONE */
};

struct cn_hpc_logical {
    struct cn_map slots; /* id -> index in `frames` */
    struct cn_hpc_logical_frame *frames;
    size_t count, capacity;
};

/* Functions whose fields are all equal are one function, also across files. On failure the
 * frames before the damage have been read. */
CN_CHECK bool cn_hpc_logical_read(struct cn_hpc_logical *logical, struct cn_bytes file,
                                  uint32_t module, struct cn_hpc_tables *tables,
                                  struct cn_error *err);

/* The one or two scopes of an address; returns their count. */
size_t cn_hpc_logical_scopes(const struct cn_hpc_logical *logical, uint64_t address,
                             struct cn_code_scope out[2]);

void cn_hpc_logical_done(struct cn_hpc_logical *logical);

#endif
