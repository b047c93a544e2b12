/* Files we read: mapped whole, decoded lazily, so that opening costs the same for 1 MB
 * and 100 GB.
 *
 * Zero-initialised means "not open".
 * Threads: immutable after open.
 */
#ifndef CN_BASE_FILES_FILE_H
#define CN_BASE_FILES_FILE_H

#include <string.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/content.h"

struct cn_file;

/* Files that are elsewhere: mapped whole like others, but filled where they are needed. Bytes that
 * were not asked for are zero.
 * Threads: any thread. */
struct cn_file_source {
    CN_CHECK bool (*open)(struct cn_file_source *source, const char *name,
                          struct cn_file *out, struct cn_error *err);
    CN_CHECK bool (*need)(struct cn_file_source *source, struct cn_bytes part,
                          struct cn_error *err);
};

struct cn_file {
    struct cn_bytes bytes;
    struct cn_file_source *source; /* NULL: a local file, all of it is there */
    struct cn_ranges *ranges;      /* NULL: mapped; else `bytes` is empty */
};

/* True for an address in object storage, "s3://BUCKET/PREFIX", which is no path here. */
static inline bool cn_path_is_address(const char *path)
{
    return strncmp(path, "s3://", 5) == 0;
}

/* Map a regular file. Messages name the path. */
CN_CHECK bool cn_file_open(struct cn_file *file, const char *path, struct cn_error *err);

/* The file `name` in the directory `dir`. */
CN_CHECK bool cn_file_open_at(struct cn_file *file, const char *dir, const char *name,
                              struct cn_error *err);

/* The same for large files, of which cn_file_content() is read and not `bytes`: where files are read by
 * range, none of it is read yet. */
CN_CHECK bool cn_file_open_content(struct cn_file *file, const char *path,
                                   struct cn_error *err);
CN_CHECK bool cn_file_open_content_at(struct cn_file *file, const char *dir,
                                      const char *name, struct cn_error *err);

static inline struct cn_content cn_file_content(const struct cn_file *file)
{
    return cn_content_in(file->bytes, file->ranges);
}

static inline bool cn_file_is_open(const struct cn_file *file)
{
    return file->ranges || file->bytes.ptr;
}

/* The file `name` in `dir`, mapped, or of a source, unless that is NULL. */
CN_CHECK bool cn_file_open_from(struct cn_file *file, struct cn_file_source *source,
                                const char *dir, const char *name, struct cn_error *err);

/* Fetch a part of the file, before its bytes are read. */
static inline CN_CHECK bool cn_file_need(const struct cn_file *file, struct cn_bytes part,
                                         struct cn_error *err)
{
    return !file->source || file->source->need(file->source, part, err);
}

/* Release the pages of a mapped file; they are read again when accessed. Keeps memory
 * small during a long walk over a large file. `part` need not be aligned. */
void cn_file_forget(struct cn_bytes part);

void cn_file_close(struct cn_file *file); /* safe on a file that never opened */

#endif
