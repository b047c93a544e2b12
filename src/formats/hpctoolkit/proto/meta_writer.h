/* Writing the prototype's meta.db.
 *
 * The sections in the order in which they refer to each other, so that every pointer
 * is known when it is written:
 *   General, Metrics, Strings, Modules, Files, Functions, Contexts
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_META_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_META_WRITER_H

#include "base/files/out.h"
#include "base/map.h"
#include "formats/hpctoolkit/proto/entries.h"
#include "formats/hpctoolkit/proto/format.h"
#include "model/contexts/database.h"
#include "model/format.h"

struct cn_hpc_proto_writing {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir; /* where the file goes */
    struct cn_out out;

    /* Strings of the section of that name, each kept once. */
    struct cn_names names;
    uint64_t *name_offs;
    size_t name_capacity;
    uint64_t next_name_off;

    /* Where record 0 of each table is. */
    uint64_t modules_off, files_off, functions_off;
    /* Functions behind those of the database that stand for entry points. */
    struct cn_names entry_functions;

    /* What was found on the way. */
    uint64_t context_count;
    uint32_t largest_id;
    uint64_t no_file_count, no_module_count, masked_count, odd_entry_count;
};

/* The name of the function that stands for an entry point. */
const char *cn_hpc_proto_root_name(const struct cn_context *entry);

/* Write meta.db into w->dir. Sets what was found on the way. */
CN_CHECK bool cn_hpc_proto_meta_write(struct cn_hpc_proto_writing *w,
                                      struct cn_error *err);

/* The section of metrics, at the end of the file. */
CN_CHECK bool cn_hpc_proto_metrics_write(struct cn_hpc_proto_writing *w,
                                         struct cn_error *err);

/* The section of contexts, at the end of the file. */
CN_CHECK bool cn_hpc_proto_contexts_write(struct cn_hpc_proto_writing *w,
                                          struct cn_error *err);

#endif
