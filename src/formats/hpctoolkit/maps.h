/* The files of a database of any generation, mapped: the tree (meta.db or experiment.xml),
 * profile.db, cct.db, trace.db, latency.db, states.db and origin.txt.
 *
 * A zeroed struct has nothing mapped; bytes.ptr is NULL for a file that does not exist.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MAPS_H
#define CN_FORMATS_HPCTOOLKIT_MAPS_H

#include "base/error.h"
#include "base/files/file.h"

struct cn_database;

enum {
    CN_HPC_TREE_FILE,
    CN_HPC_PROFILE_FILE,
    CN_HPC_CCT_FILE,
    CN_HPC_TRACE_FILE,
    CN_HPC_LATENCY_FILE,
    CN_HPC_STATES_FILE,
    CN_HPC_ORIGIN_FILE,
    CN_HPC_FILE_COUNT,
};

struct cn_hpc_maps {
    struct cn_file file[CN_HPC_FILE_COUNT];
};

/* Why optional files cannot be read; CN_ERR_NONE for those that can, or do not exist. */
struct cn_hpc_damage {
    struct cn_error cct, trace, latency, states, origin;
};

/* True if `path` is a directory with a file `tree_name` that is_tree() accepts, or a file in
 * such a directory that is_member() accepts. */
bool cn_hpc_maps_probe(const char *path, const char *tree_name,
                       bool (*is_tree)(struct cn_bytes),
                       bool (*is_member)(struct cn_bytes));

/* The directory of a database, given the directory or one of its files. The caller frees
 * it. */
char *cn_hpc_directory(const char *path);

/* Map the files that exist. Fails if one of them cannot be read. Close the maps also after
 * a failure. */
CN_CHECK bool cn_hpc_maps_open(struct cn_hpc_maps *maps, const char *dir,
                               const char *tree_name, struct cn_error *err);
void cn_hpc_maps_forget(const struct cn_hpc_maps *maps);
void cn_hpc_maps_close(struct cn_hpc_maps *maps);

/* Open the database at `path`, a directory or a file in it. The tree and profile.db must
 * exist; `open` makes a database from the maps, which takes them over if it succeeds. */
typedef bool (*cn_hpc_open_fn)(struct cn_database **out, const struct cn_hpc_maps *maps,
                               const char *dir, const struct cn_hpc_damage *damage,
                               struct cn_error *err);
CN_CHECK bool cn_hpc_maps_open_database(struct cn_database **out, const char *path,
                                        const char *tree_name, cn_hpc_open_fn open,
                                        struct cn_error *err);

#endif
