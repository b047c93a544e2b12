/* Write states.db.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_STATES_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_STATES_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* Write states.db, unless the database does not know states over time. */
CN_CHECK bool cn_hpc_states_write(const struct cn_hpc_writing *w, struct cn_error *err);

#endif
