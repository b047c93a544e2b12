/* Open an HPCToolkit v4 database.
 *
 * Opening reads metrics, kinds and scopes; profiles, contexts, functions and values are
 * decoded on demand. Messages start with the file's name, and with the path if the database
 * was opened by path.
 * The caller owns the database; bytes given to cn_hpc_v4_open_bytes() must outlive it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_OPEN_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/meta/database.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"

struct cn_database;
struct cn_hpc_maps;
struct dirent;

struct cn_hpc_v4_yaml {
    const char *name; /* "default.yaml" */
    struct cn_bytes text;
};

struct cn_hpc_v4_files {
    struct cn_bytes meta, profile, cct, trace, latency, states, origin;
    /* In place of the bytes of those that are read by range; else NULL. */
    struct cn_ranges *profile_ranges, *cct_ranges, *trace_ranges;
    bool has_cct, has_trace, has_latency, has_states;
    bool is_mapped;                              /* pages can be given back */
    struct cn_hpc_v4_yaml yaml[CN_HPC_YAML_MAX]; /* default.yaml first, if it exists */
    size_t yaml_count;
};

/* The files of a directory, without metrics/. */
void cn_hpc_v4_files_init(struct cn_hpc_v4_files *files, const struct cn_hpc_maps *maps);

/* The YAML files of metrics/, mapped. */
struct cn_hpc_v4_yaml_maps {
    struct dirent **names;
    int name_count, skipped_count;
    struct cn_error damage; /* why a file was skipped; CN_ERR_NONE: there were too many */
    struct cn_file maps[CN_HPC_YAML_MAX];
};

/* Add the files of `dir` to `files`. Files that cannot be read are skipped. */
void cn_hpc_v4_yaml_map(struct cn_hpc_v4_yaml_maps *yaml, const char *dir,
                        struct cn_hpc_v4_files *files);
void cn_hpc_v4_yaml_unmap(struct cn_hpc_v4_yaml_maps *yaml);

/* meta.db and profile.db must be readable. Without cct.db there are no planes of contexts;
 * a damaged trace.db fails when timelines are asked for; without the tables of latency.db
 * there are no percentiles; without states.db no states over time. Each leaves a warning. */
CN_CHECK bool cn_hpc_v4_open_bytes(struct cn_database **out,
                                   const struct cn_hpc_v4_files *files,
                                   struct cn_error *err);

/* Map the files of the directory `path`, or of the directory of the file `path`. */
CN_CHECK bool cn_hpc_v4_open(struct cn_database **out, const char *path,
                             struct cn_error *err);

/* The same without latency.db. */
CN_CHECK bool cn_hpc_v4_open_plain(struct cn_database **out, const char *path,
                                   struct cn_error *err);

/* True if `path` is such a directory, or one of its files. */
bool cn_hpc_v4_probe(const char *path);

/* The struct of an opened v4 database, for the code of this format. */

struct cn_hpc_v4 {
    struct cn_hpc_meta_database tree; /* first, so that one points to both */
    struct cn_database_ops ops;
    struct cn_hpc_latency latency; /* zeroed without a latency.db */
};

static inline struct cn_hpc_v4 *cn_hpc_v4_of(struct cn_database *db)
{
    return (struct cn_hpc_v4 *)db;
}

#endif
