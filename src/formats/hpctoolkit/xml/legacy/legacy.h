/* An opened experiment.xml 2.x database; such databases are only read.
 *
 * The values of the summary are in experiment.xml; those of threads, and their samples, are in
 * files beside it, see legacy_format.h. Contexts and costs become the same as for 4.0.
 * The caller owns the database; bytes given to cn_hpc_legacy_open_bytes() must outlive it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_LEGACY_LEGACY_H
#define CN_FORMATS_HPCTOOLKIT_XML_LEGACY_LEGACY_H

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_database;
struct cn_file;
struct dirent;

struct cn_hpc_legacy_file {
    const char *name; /* NULL: there is none */
    struct cn_bytes bytes;
};

struct cn_hpc_legacy_files {
    struct cn_bytes experiment;
    bool is_mapped;                          /* pages that were read may be given back */
    const struct cn_hpc_legacy_file *values; /* *.metric-db */
    size_t value_count;
    struct cn_hpc_legacy_file packed; /* experiment-N.mdb */
    struct cn_hpc_legacy_file traces; /* experiment.mt */
};

/* Unreadable files of threads are left out, with a warning. */
CN_CHECK bool cn_hpc_legacy_open_bytes(struct cn_database **out,
                                       const struct cn_hpc_legacy_files *files,
                                       struct cn_error *err);

/* The files of a directory, mapped. */
struct cn_hpc_legacy_maps {
    struct cn_hpc_legacy_files files;
    struct dirent **names; /* of the files with values */
    int name_count;
    struct cn_hpc_legacy_file *values;
    struct cn_file *mapped; /* those with values, then the others */
    size_t mapped_count;
};

/* Map a directory with an experiment.xml. On failure there is nothing to unmap. */
CN_CHECK bool cn_hpc_legacy_map(struct cn_hpc_legacy_maps *out, const char *dir,
                                struct cn_error *err);
void cn_hpc_legacy_unmap(struct cn_hpc_legacy_maps *maps);

/* Map the files of a directory, or of the directory that contains the file `path`. */
CN_CHECK bool cn_hpc_legacy_open(struct cn_database **out, const char *path,
                                 struct cn_error *err);

#endif
