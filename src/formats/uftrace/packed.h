/* The format "uftrace-packed": a uftrace data directory whose records are packed, TID.zts
 * instead of TID.dat; see docs/formats/packed.md.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_H
#define CN_FORMATS_UFTRACE_PACKED_H

#include "model/format.h"

extern const struct cn_format cn_format_uftrace_packed;

#endif
