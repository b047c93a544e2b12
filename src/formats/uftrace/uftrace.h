/* The uftrace data directory as a format, with its records plain (TID.dat) or packed
 * (TID.zts, see docs/formats/packed.md).
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_UFTRACE_H
#define CN_FORMATS_UFTRACE_UFTRACE_H

#include "model/format.h"

extern const struct cn_format cn_format_uftrace, cn_format_uftrace_packed;

#endif
