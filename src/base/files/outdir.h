/* A directory under construction: it appears under its final name complete, or not at
 * all.
 *
 * cn_outdir_begin() makes a hidden directory beside the target; write into `path`, then
 * cn_outdir_commit() renames it. Zero-initialised means "not begun".
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FILES_OUTDIR_H
#define CN_BASE_FILES_OUTDIR_H

#include "base/error.h"
#include "base/memory.h"

/* It stays where it is until it is committed or abandoned. */
struct cn_outdir {
    struct cn_held held; /* first: abandoned by it */
    char *target;        /* the final name */
    char *path;          /* where to write until then */
    bool replace;
};

/* Fails when the target exists, unless `replace` says that it may be replaced. */
CN_CHECK bool cn_outdir_begin(struct cn_outdir *dir, const char *target, bool replace,
                              struct cn_error *err);

/* Make it visible under its final name; an earlier one is exchanged in one step and then
 * removed. On failure the earlier one is untouched and the new one is gone. */
CN_CHECK bool cn_outdir_commit(struct cn_outdir *dir, struct cn_error *err);

/* Remove what was written. Safe when never begun and after a commit. */
void cn_outdir_abandon(struct cn_outdir *dir);

/* Remove a directory and everything in it, as far as that is possible. */
void cn_outdir_remove(const char *path);

/* The folder for temporary files: $TMPDIR, or /tmp. */
const char *cn_temporary_folder(void);

/* Make a directory "cairn-NAME-XXXXXX" there, for this user alone. Release the path with
 * free(); NULL on failure. */
char *cn_temporary_make(const char *name, struct cn_error *err);

#endif
