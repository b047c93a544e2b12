/* Adds files to a store, with all its lanes at once.
 *
 * Requests are gathered up to a limit of bytes. Then their bodies are looked through and spans
 * are parsed, on all processors; then each lane adds its traces, which a hash of their ids
 * chooses, while the next requests are gathered. Every lane reads the symbols of all sessions.
 * What is stored does not depend on the number of lanes.
 *
 * After a refused request everything before it is added, and perhaps some requests after it.
 * Threads: one thread at a time; it starts others.
 */
#ifndef CN_STORE_WRITE_INGEST_FILES_H
#define CN_STORE_WRITE_INGEST_FILES_H

#include "base/error.h"
#include "store/write/writer.h"

struct cn_store_lanes;

/* Add files in this order to the first `lane_count` lanes. `added` receives what was added, also on
 * failure; it is not committed yet. */
CN_CHECK bool cn_store_ingest_files(struct cn_store_lanes *lanes, unsigned lane_count,
                                    const char *const *paths, size_t path_count,
                                    struct cn_store_added *added, struct cn_error *err);

#endif
