/* Files we read: mapped whole, decoded lazily, so that opening costs the same for 1 MB
 * and 100 GB.
 *
 * Zero-initialised means "not open".
 * Threads: immutable after open.
 */
#ifndef CN_BASE_FILES_FILE_H
#define CN_BASE_FILES_FILE_H

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_file {
    struct cn_bytes bytes;
};

/* Map a regular file. Messages name the path. */
CN_CHECK bool cn_file_open(struct cn_file *file, const char *path, struct cn_error *err);

/* The file `name` in the directory `dir`. */
CN_CHECK bool cn_file_open_at(struct cn_file *file, const char *dir, const char *name,
                              struct cn_error *err);

/* Release the pages of a mapped file; they are read again when accessed. Keeps memory
 * small during a long walk over a large file. `part` need not be aligned. */
void cn_file_forget(struct cn_bytes part);

void cn_file_close(struct cn_file *file); /* safe on a file that never opened */

#endif
