/* Adds files to a store, with all its lanes at once.
 *
 *     files = cn_ingest_files_new(lanes, count);
 *     cn_ingest_files_add(files, path, err) ...
 *     cn_ingest_files_end(files, err)
 *     cn_ingest_files_free(files);
 *
 * Requests are gathered up to a limit of bytes. Then their bodies are looked through and spans
 * are parsed, on all processors; then each lane adds its traces, which a hash of their ids
 * chooses. Every lane reads the symbols of all sessions. What is stored does not depend on the
 * number of lanes.
 *
 * After a refused request everything before it is added, and perhaps some requests after it.
 * Threads: one thread at a time; it starts others.
 */
#ifndef CN_STORE_WRITE_INGEST_FILES_H
#define CN_STORE_WRITE_INGEST_FILES_H

#include "base/error.h"
#include "store/write/writer.h"

struct cn_ingest_files;
struct cn_store_lanes;

/* Borrows the lanes. */
struct cn_ingest_files *cn_ingest_files_new(struct cn_store_lanes *lanes, unsigned count);
void cn_ingest_files_free(struct cn_ingest_files *files); /* NULL is fine */

/* Add a file, now or with later ones. */
CN_CHECK bool cn_ingest_files_add(struct cn_ingest_files *files, const char *path,
                                  struct cn_error *err);

/* Add what is left. */
CN_CHECK bool cn_ingest_files_end(struct cn_ingest_files *files, struct cn_error *err);

struct cn_store_added cn_ingest_files_added(const struct cn_ingest_files *files);

#endif
