/* One file being written from its beginning to its end: to a path, where it appears
 * complete or not at all, or to standard output ("-"); compressed when the path ends
 * in ".gz" or ".zst".
 *
 *     cn_sink_open(&sink, "out.json.gz", false, err)
 *     cn_sink_write(&sink, data, len, err) ...
 *     cn_sink_commit(&sink, err)       or cn_sink_abandon(&sink)
 *
 * Zero-initialised means "not open". Memory does not depend on how much is written.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FILES_SINK_H
#define CN_BASE_FILES_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

struct cn_text;
struct cn_sink_coder;

/* It stays where it is until it is committed or abandoned. */
struct cn_sink {
    struct cn_held held;         /* first: abandoned by it */
    int fd;                      /* 0 when not open: standard input is never an output */
    char *target;                /* "-" for standard output */
    char *path;                  /* where it lies until it is complete; NULL for "-" */
    bool replace;                /* what lies at the target may be replaced */
    uint8_t *buffer;             /* of what goes to the file next */
    size_t pending;              /* bytes in it */
    uint64_t written;            /* bytes taken, before compression */
    struct cn_sink_coder *coder; /* NULL: not compressed */
};

/* True if the path is "-", standard output. */
bool cn_sink_is_stdout(const char *path);

/* The length of the path without ".gz" or ".zst". */
size_t cn_sink_plain_len(const char *path);

/* Begin. A target that exists fails with CN_ERR_USAGE unless `replace`. */
CN_CHECK bool cn_sink_open(struct cn_sink *sink, const char *target, bool replace,
                           struct cn_error *err);

/* The same, compressed with gzip whatever the path says. */
CN_CHECK bool cn_sink_open_gzip(struct cn_sink *sink, const char *target, bool replace,
                                struct cn_error *err);

CN_CHECK bool cn_sink_write(struct cn_sink *sink, const void *data, size_t len,
                            struct cn_error *err);

/* Write the contents of a text and empty it. */
CN_CHECK bool cn_sink_text(struct cn_sink *sink, struct cn_text *text,
                           struct cn_error *err);

/* The same if the text is long enough to be worth a write. */
CN_CHECK bool cn_sink_text_some(struct cn_sink *sink, struct cn_text *text,
                                struct cn_error *err);

/* Write what is buffered and put the file in place. On failure nothing is left. */
CN_CHECK bool cn_sink_commit(struct cn_sink *sink, struct cn_error *err);

/* Discard what was written; safe on a sink that never opened and after a commit. */
void cn_sink_abandon(struct cn_sink *sink);

#endif
