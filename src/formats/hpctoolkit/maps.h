/* The four files of a database of any generation, mapped: the tree (meta.db or
 * experiment.xml), profile.db, cct.db and trace.db.
 *
 * A zeroed struct has nothing mapped; bytes.ptr tells whether a file is there.
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
    CN_HPC_FILE_COUNT,
};

struct cn_hpc_maps {
    struct cn_file file[CN_HPC_FILE_COUNT];
};

/* Why files that need not be there cannot be read although they are; CN_ERR_NONE when
 * they can, or are not there. */
struct cn_hpc_damage {
    struct cn_error cct, trace;
};

/* Something that is there and is a directory, or is not one. */
bool cn_hpc_is_directory(const char *path);
bool cn_hpc_is_file(const char *path);

/* The directory of a database, given it or one of its files; released with free(). */
char *cn_hpc_directory(const char *path);

/* Map what is there. A file that is there but cannot be read is a failure. To be closed
 * in any case. */
CN_CHECK bool cn_hpc_maps_open(struct cn_hpc_maps *maps, const char *dir,
                               const char *tree_name, struct cn_error *err);
void cn_hpc_maps_forget(const struct cn_hpc_maps *maps);
void cn_hpc_maps_close(struct cn_hpc_maps *maps);

/* Open the database of a directory, or of the directory that holds the file `path`. The
 * tree and profile.db must be there; `open` makes a database of what is mapped, which
 * takes the maps over when it succeeds. */
typedef bool (*cn_hpc_open_fn)(struct cn_database **out, const struct cn_hpc_maps *maps,
                               const char *dir, const struct cn_hpc_damage *damage,
                               struct cn_error *err);
CN_CHECK bool cn_hpc_maps_open_database(struct cn_database **out, const char *path,
                                        const char *tree_name, cn_hpc_open_fn open,
                                        struct cn_error *err);

#endif
