/* Names for frames that are no machine code, from files in logical/: functions of an
 * interpreter, GPU kernels without a binary.
 *
 * A zeroed one is ready for reading.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_LOGICAL_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_LOGICAL_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/tables.h"
#include "model/contexts/samples.h"

struct cn_hpc_logical_frame {
    uint32_t function; /* CN_NONE: it has none */
    uint32_t file;     /* CN_NONE: it has none */
};

struct cn_hpc_logical {
    struct cn_map numbers; /* by id */
    struct cn_hpc_logical_frame *frames;
    size_t count, capacity;
};

/* Functions that are equal in all fields are one, in other files too. */
CN_CHECK bool cn_hpc_logical_read(struct cn_hpc_logical *logical, struct cn_bytes file,
                                  uint32_t module, struct cn_hpc_tables *tables,
                                  struct cn_error *err);

/* The one or two places that an address stands for; returns how many. */
size_t cn_hpc_logical_places(const struct cn_hpc_logical *logical, uint64_t address,
                             struct cn_code_scope out[2]);

void cn_hpc_logical_done(struct cn_hpc_logical *logical);

#endif
