/* Files we write: appended to through a buffer, or filled in at known offsets.
 *
 * Use it as: cn_out_open(), then any of cn_out_write() / cn_out_pad() for a sequential
 * file, or cn_out_reserve() + cn_out_write_at() for parts written by several threads,
 * then cn_out_close(). Zero-initialised means "not open".
 * Threads: one thread at a time; cn_out_write_at() from any thread.
 */
#ifndef CN_BASE_FILES_OUT_H
#define CN_BASE_FILES_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_lock;

struct cn_out {
    int fd; /* 0 when not open: standard input is never an output */
    char *path;
    uint8_t *buffer;
    size_t pending;       /* bytes in the buffer */
    uint64_t end_off;     /* where the next append goes, buffered bytes included */
    struct cn_lock *lock; /* of writes */
};

/* Create `path`; it must not exist yet. */
CN_CHECK bool cn_out_open(struct cn_out *out, const char *path, struct cn_error *err);
CN_CHECK bool cn_out_open_at(struct cn_out *out, const char *dir, const char *name,
                             struct cn_error *err);

/* Open a file that another process has created, to fill in bytes at known offsets. It is
 * never appended to nor cut: cn_out_abandon() closes it. */
CN_CHECK bool cn_out_join_at(struct cn_out *out, const char *dir, const char *name,
                             struct cn_error *err);

/* Make `name` in `dir` a file with these bytes: written under another name, then renamed.
 * A failure leaves the file that was there. Nothing is synced. */
CN_CHECK bool cn_out_replace(const char *dir, const char *name, const void *data,
                             size_t len, struct cn_error *err);

/* Append. */
CN_CHECK bool cn_out_write(struct cn_out *out, const void *data, size_t len,
                           struct cn_error *err);

/* Append a record (base/bytes/record.h). */
#define CN_OUT_RECORD(out, record, value, err)                                 \
    cn_out_write((out), record##_encode((value), (uint8_t[record##_size]){0}), \
                 record##_size, (err))

/* Append zeros up to the next multiple of `align`, a power of two. */
CN_CHECK bool cn_out_pad(struct cn_out *out, size_t align, struct cn_error *err);

/* Leave room for `len` bytes at the end and return its offset. Bytes never written
 * there read as zero. */
CN_CHECK bool cn_out_reserve(struct cn_out *out, uint64_t len, uint64_t *off,
                             struct cn_error *err);

/* The file will end there, and most of it is written by cn_out_write_at(): that is a fifth faster
 * in blocks that are allocated at once. It does not matter if the file system cannot do that, and
 * cn_out_close() cuts what was too much. */
void cn_out_expect(const struct cn_out *out, uint64_t end_off);

/* Fill in bytes that were reserved or appended before. */
CN_CHECK bool cn_out_write_at(const struct cn_out *out, uint64_t off, const void *data,
                              size_t len, struct cn_error *err);

/* Write what is buffered and close. A false result means the file is incomplete. */
CN_CHECK bool cn_out_close(struct cn_out *out, struct cn_error *err);

/* Close, whatever the file contains; safe on a file that never opened. */
void cn_out_abandon(struct cn_out *out);

#endif
