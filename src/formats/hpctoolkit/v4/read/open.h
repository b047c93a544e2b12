/* An HPCToolkit v4 database, opened: four files behind the interface of
 * model/contexts/database.h.
 *
 * Opening costs what metrics, kinds and scopes cost; profiles, contexts, functions
 * and values are decoded when asked for. Messages start with the file's name; a
 * directory's opener puts the path before it.
 * The caller owns the database; bytes given to cn_hpc_v4_open_bytes() must outlive
 * it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_OPEN_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/v4/format.h"

struct cn_database;
struct cn_hpc_maps;
struct dirent;

struct cn_hpc_v4_yaml {
    const char *name; /* "default.yaml" */
    struct cn_bytes text;
};

struct cn_hpc_v4_files {
    struct cn_bytes meta, profile, cct, trace;
    bool has_cct, has_trace;
    struct cn_hpc_v4_yaml yaml[CN_HPC_YAML_MAX]; /* default.yaml first, if it exists */
    size_t yaml_count;
};

/* Those of a directory, without metrics/. */
void cn_hpc_v4_files_init(struct cn_hpc_v4_files *files, const struct cn_hpc_maps *maps);

/* The YAML files of metrics/, mapped. */
struct cn_hpc_v4_yaml_maps {
    struct dirent **names;
    int name_count, skipped_count;
    struct cn_error damage; /* why a file was skipped; CN_ERR_NONE: there were too many */
    struct cn_file maps[CN_HPC_YAML_MAX];
};

/* Add the files of `dir` to `files`. To be unmapped in any case. */
void cn_hpc_v4_yaml_map(struct cn_hpc_v4_yaml_maps *yaml, const char *dir,
                        struct cn_hpc_v4_files *files);
void cn_hpc_v4_yaml_unmap(struct cn_hpc_v4_yaml_maps *yaml);

/* meta.db and profile.db must be readable. Without cct.db, planes of contexts are
 * not there; a damaged trace.db fails when timelines are asked for; both leave a
 * warning. */
CN_CHECK bool cn_hpc_v4_open_bytes(struct cn_database **out,
                                   const struct cn_hpc_v4_files *files,
                                   struct cn_error *err);

/* Map the files of a directory, or of the directory that holds the file `path`. */
CN_CHECK bool cn_hpc_v4_open(struct cn_database **out, const char *path,
                             struct cn_error *err);

/* Whether `path` is such a directory, or one of its files. */
bool cn_hpc_v4_probe(const char *path);

#endif
