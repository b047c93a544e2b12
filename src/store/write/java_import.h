/* Stores of the original Java implementation, both generations, read in.
 *
 * Words come from text-*.wal and text-*.fmi, traces from traces.dat; their ids from qmeta.idx,
 * where there is one. In stores without it (their ids are in a MapDB) a trace is known by its
 * spans, and its id is made from its bytes.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_JAVA_IMPORT_H
#define CN_STORE_WRITE_JAVA_IMPORT_H

#include <stdint.h>

#include "base/error.h"
#include "store/write/writer.h"

struct cn_java_import_counts {
    uint32_t segments;
    uint64_t disk_len; /* bytes of all its files */
    uint64_t bad_chunks, bad_files;
    struct cn_store_added added;
};

/* Whether a directory is a Java store: a base with numbered directories, or one of them. */
bool cn_java_store_probe(const char *path);

/* Add all its traces. Damage costs what it hits and is counted. */
CN_CHECK bool cn_java_store_import(struct cn_store_writer *writer, const char *path,
                                   struct cn_java_import_counts *out,
                                   struct cn_error *err);

/* Called for every trace, whose words are the store's own; `data_off` is where its chunk is.
 * False stops. */
struct cn_trace;
typedef bool (*cn_java_visit)(void *arg, const struct cn_trace *trace, uint64_t data_off,
                              struct cn_error *err);
CN_CHECK bool cn_java_store_walk(const char *path, cn_java_visit visit, void *arg,
                                 struct cn_java_import_counts *out, struct cn_error *err);

#endif
