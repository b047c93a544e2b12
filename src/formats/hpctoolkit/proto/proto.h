/* The format of databases of HPCToolkit's prototype.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_PROTO_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_PROTO_H

#include "base/error.h"
#include "formats/hpctoolkit/dump.h"
#include "model/format.h"

struct cn_hpc_proto_files;
struct cn_database;
struct cn_write_options;

extern const struct cn_format cn_format_hpctoolkit_proto;

/* The structures of a prototype's database, file by file, in the order in which they refer
 * to each other, for `cairn dump`. */

/* Dump all files of a directory, or the file `path`. At damage the dump fails, after what
 * comes before it. */
CN_CHECK bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg,
                                struct cn_error *err);

/* The structures of a meta.db. */
CN_CHECK bool cn_hpc_proto_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err);

/* Check every rule of a prototype's database; report each violation. */

/* Check the database at `path`. Fails only if files cannot be read or the user asks to
 * stop. */
CN_CHECK bool cn_hpc_proto_verify(const char *path, const struct cn_progress *progress,
                                  cn_finding_fn report, void *arg, struct cn_error *err);

/* The same for files in memory; missing files have a NULL pointer. */
CN_CHECK bool cn_hpc_proto_verify_bytes(const struct cn_hpc_proto_files *files,
                                        const struct cn_progress *progress,
                                        cn_finding_fn report, void *arg,
                                        struct cn_error *err);

/* Write a database of HPCToolkit's prototype, into a directory that appears when it is
 * complete.
 *
 * meta.db has the 7 sections of the specification. Contexts and metrics keep their ids.
 * Memory grows with contexts, threads and names, not with values or samples.
 * Threads: one thread at a time for each database; works on options->workers threads.
 */

/* A failure removes what was written and leaves an earlier database at `path` unchanged.
 * What the format cannot contain is passed to options->on_loss. */
CN_CHECK bool cn_hpc_proto_write(struct cn_database *db, const char *path,
                                 const struct cn_write_options *options,
                                 struct cn_error *err);

#endif
