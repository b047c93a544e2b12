/* Write the prototype's meta.db.
 *
 * Sections are in the order in which they refer to each other, so that every pointer is
 * known when it is written:
 *   General, Metrics, Strings, Modules, Files, Functions, Contexts
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_META_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_META_WRITER_H

#include "base/files/out.h"
#include "formats/hpctoolkit/entries.h"
#include "formats/hpctoolkit/proto/format.h"
#include "formats/hpctoolkit/strings.h"
#include "model/contexts/database.h"
#include "model/format.h"

struct cn_hpc_proto_writing {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir; /* of the file */
    struct cn_out out;
    struct cn_hpc_strings strings;
    uint64_t modules_off, files_off, functions_off; /* record 0 of each table */
    struct cn_names entry_functions; /* after those of the database: entry points */

    uint64_t context_count;
    uint32_t largest_id;
    uint64_t no_file_count, no_module_count, masked_count, odd_entry_count;
};

/* The name of the function that represents an entry point. */
const char *cn_hpc_proto_root_name(const struct cn_context *entry);

/* Write meta.db into w->dir and set the counts. */
CN_CHECK bool cn_hpc_proto_meta_write(struct cn_hpc_proto_writing *w,
                                      struct cn_error *err);

/* The section of metrics, at the end of the file. */
CN_CHECK bool cn_hpc_proto_metrics_write(struct cn_hpc_proto_writing *w,
                                         struct cn_error *err);

/* The section of contexts, at the end of the file. */
CN_CHECK bool cn_hpc_proto_contexts_write(struct cn_hpc_proto_writing *w,
                                          struct cn_error *err);

#endif
