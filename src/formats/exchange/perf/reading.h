/* The samples of one file, added to a database that is being made.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_READING_H
#define CN_FORMATS_EXCHANGE_PERF_READING_H

#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/latency.h"
#include "formats/exchange/perf/names.h"
#include "formats/exchange/perf/threads.h"

struct cn_import;

/* The file of a rank, or of CN_PERF_NO_RANK. Of several files, `symbols` and `latency` are the same. */
CN_CHECK bool cn_perf_read_rank(struct cn_import *import, struct cn_perf_symbols *symbols,
                                struct cn_perf_latency *latency, struct cn_bytes bytes,
                                const struct cn_perf_part *parts, size_t part_count,
                                uint64_t rank, struct cn_error *err);

#endif
