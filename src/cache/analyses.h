/* The folder of an analysis: in the user's cache directory (cache/directory.h), where the next
 * process finds it, or temporary.
 *
 *     if (!cn_cached_folder_find(&cached, "run.data", 0)) {
 *         cn_cached_folder_begin(&cached, false, err) ... write to cached.path ...
 *         cn_cached_folder_commit(&cached, err)
 *     }
 *     ... read from cached.path ...
 *     cn_cached_folder_close(&cached);
 *
 * The name in the cache contains a hash of the path, and one of the names, sizes and times of all
 * files there: changed data is analysed again, and its earlier folder is removed. When all folders
 * take up more than a gibibyte (or CAIRN_CACHE_MIB), those that were not used for longest are
 * removed, but none that is open.
 * Threads: one thread at a time; other processes may do the same at the same time.
 */
#ifndef CN_CACHE_ANALYSES_H
#define CN_CACHE_ANALYSES_H

#include "base/error.h"
#include "base/files/outdir.h"
#include "base/memory.h"

/* Zero-initialised means "none". */
struct cn_cached_folder {
    struct cn_held held;  /* first: of a temporary folder, while it is filled */
    char *path;           /* the folder; NULL: there is none so far */
    char *target;         /* its name in the cache; NULL: it is temporary */
    struct cn_outdir dir; /* while it is written */
    int lock;             /* a file: no other process removes the folder; 0: none */
};

/* True if what was made of the data at `source` is in the cache; things that are made of the same data
 * have different `variant`s. `source` is NULL if it cannot be cached. */
bool cn_cached_folder_find(struct cn_cached_folder *out, const char *source,
                           unsigned variant);

/* Make a folder to write to, after it was not found; a temporary one where the cache cannot be
 * written, or if `is_temporary`. */
CN_CHECK bool cn_cached_folder_begin(struct cn_cached_folder *cached, bool is_temporary,
                                     struct cn_error *err);

/* The folder is complete. If another process was faster, `path` is what that one wrote. */
CN_CHECK bool cn_cached_folder_commit(struct cn_cached_folder *cached,
                                      struct cn_error *err);

/* Remove a folder that cannot be read. */
void cn_cached_folder_drop(struct cn_cached_folder *cached);

/* Remove a temporary folder, and one that is not complete. */
void cn_cached_folder_close(struct cn_cached_folder *cached);

#endif
