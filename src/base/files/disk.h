/* Changes of files that must survive a crash: a table of functions, so that tests can
 * simulate a disk that loses what was not synced.
 *
 * Paths are whole paths. Files are written at offsets; nothing is read through this table.
 * Threads: as the implementation says; cn_disk_files: any thread.
 */
#ifndef CN_BASE_FILES_DISK_H
#define CN_BASE_FILES_DISK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_disk {
    void *arg;
    /* Open for writing; made when it does not exist. */
    bool (*open)(void *arg, const char *path, int *fd, struct cn_error *err);
    bool (*write)(void *arg, int fd, uint64_t off, const void *data, size_t len,
                  struct cn_error *err);
    bool (*truncate)(void *arg, int fd, uint64_t len, struct cn_error *err);
    /* Returns when what was written is on the disk. */
    bool (*sync)(void *arg, int fd, struct cn_error *err);
    /* False, with errno, if what was written and not synced may be lost. */
    bool (*close)(void *arg, int fd);
    bool (*make_dir)(void *arg, const char *path, struct cn_error *err);
    bool (*rename)(void *arg, const char *from, const char *to, struct cn_error *err);
    /* A file that does not exist is removed already. */
    bool (*remove)(void *arg, const char *path, struct cn_error *err);
    /* Names made, renamed and removed in a directory are on the disk. */
    bool (*sync_dir)(void *arg, const char *path, struct cn_error *err);
};

/* The files of the system. */
extern const struct cn_disk cn_disk_files;

/* Replace the contents of `name` in `dir`, completely or not at all: written under another
 * name, synced and renamed. */
CN_CHECK bool cn_disk_replace(const struct cn_disk *io, const char *dir, const char *name,
                              const void *data, size_t len, struct cn_error *err);

#endif
