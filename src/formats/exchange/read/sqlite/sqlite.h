/* SQLite databases of GPU profilers: recordings of the calls of threads, with the work of GPUs below the
 * calls that launched it. Only read. Not in builds without the library.
 *
 * nsight: `nsys export --type sqlite` of Nsight Systems, by its tables CUPTI_ACTIVITY_KIND_*.
 * rocpd: what rocprofv3 of ROCm writes, by its views kernels, memory_copies and regions.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_SQLITE_SQLITE_H
#define CN_FORMATS_EXCHANGE_READ_SQLITE_SQLITE_H

#include "model/format.h"

extern const struct cn_format cn_format_nsight;
extern const struct cn_format cn_format_rocpd;

#endif
