/* Reads stores of the original Java implementation, both generations.
 *
 * Words are in text-*.wal and text-*.fmi, traces in traces.dat, their ids in qmeta.idx. Stores
 * without that file have ids in a MapDB, which is not read: the id is then a hash of the trace.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_JAVA_IMPORT_H
#define CN_STORE_WRITE_JAVA_IMPORT_H

#include <stdint.h>

#include "base/error.h"
#include "store/segment/java_probe.h"
#include "store/write/writer.h"

struct cn_java_import_counts {
    uint32_t segments;
    uint64_t disk_len; /* bytes of all its files */
    uint64_t bad_chunks, bad_files;
    struct cn_error first_chunk, first_file; /* of these, with its file */
    struct cn_store_added added;
};

/* Add all its traces. Damaged chunks and files are skipped and counted. */
CN_CHECK bool cn_java_store_import(struct cn_store_writer *writer, const char *path,
                                   struct cn_java_import_counts *out,
                                   struct cn_error *err);

/* Fail with what is damaged and where the first of it is; true if nothing is. */
bool cn_java_import_damage(const struct cn_java_import_counts *counts,
                           struct cn_error *err);

/* Called for every trace, with words of the Java store, and the offset of its chunk. Return false
 * to stop. */
typedef bool (*cn_java_visit)(void *arg, const struct cn_trace *trace, uint64_t data_off,
                              struct cn_error *err);
CN_CHECK bool cn_java_store_walk(const char *path, cn_java_visit visit, void *arg,
                                 struct cn_java_import_counts *out, struct cn_error *err);

#endif
