/* states.db, byte by byte: what each thread does over time. HPCToolkit has no such file; its
 * readers ignore it.
 *
 * A file of checksummed blocks (base/files/blocks.h) with two sections: a record for each
 * profile of profile.db, and the changes of the profiles one after the other, in the order of time.
 * A state lasts until the next change of its profile; the last one is "no data".
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_STATES_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_V4_STATES_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_STATES_NAME  "states.db"
#define CN_HPC_STATES_MAGIC UINT64_C(0x7365746174736e63) /* "cnstates" */

enum { CN_HPC_STATES_VERSION = 1 };

enum cn_hpc_states_section { CN_HPC_STATES_PROFILES = 1, CN_HPC_STATES_CHANGES };

#define CN_HPC_STATES_PROFILE(F) \
    F(0x00, u64, end,            \
      "index after its last change; its first is where the one before ends")
CN_RECORD(cn_hpc_states_profile, CN_HPC_STATES_PROFILE, 0x08);

#define CN_HPC_STATES_CHANGE(F)              \
    F(0x00, u64, time_ns, "since the epoch") \
    F(0x08, u8, state, "0 running, 1 blocked, 2 pre-empted, 3 no data")
CN_RECORD(cn_hpc_states_change, CN_HPC_STATES_CHANGE, 0x09);

#endif
