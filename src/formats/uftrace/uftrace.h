/* The uftrace data directory as a format.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_UFTRACE_H
#define CN_FORMATS_UFTRACE_UFTRACE_H

#include "model/format.h"

extern const struct cn_format cn_format_uftrace;

#endif
