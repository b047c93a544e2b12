/* Files and bodies that may be compressed with gzip or zstd, or text in UTF-16: recognised by
 * their first bytes, and decompressed or converted to UTF-8.
 *
 *     cn_unpacked_open(&unpacked, path, err) ... unpacked.bytes ... cn_unpacked_close()
 *
 * A compressed file is decompressed into a nameless file in $TMPDIR, which is mapped:
 * memory does not depend on its size.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FILES_UNPACK_H
#define CN_BASE_FILES_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/files/spool.h"
#include "base/text.h"

#define CN_UNPACKED_LEN_MAX (UINT64_C(1) << 38) /* of a file */

struct cn_unpacked {
    struct cn_bytes bytes;
    struct cn_file file;   /* as it is stored */
    struct cn_spool spool; /* of what was compressed */
};

/* True if the bytes begin like gzip or zstd, or with the byte order mark of UTF-16. */
bool cn_is_packed(struct cn_bytes bytes);

/* Zero-initialised means "not open". Messages name the path. */
CN_CHECK bool cn_unpacked_open(struct cn_unpacked *unpacked, const char *path,
                               struct cn_error *err);

/* The same for what is before damage of a compressed file, if anything is: `damage` then says
 * what is wrong and where, else its kind is CN_ERR_NONE. */
CN_CHECK bool cn_unpacked_open_beginning(struct cn_unpacked *unpacked, const char *path,
                                         struct cn_error *damage, struct cn_error *err);

/* The same for a stream of zstd in memory, which may lack its end; fails beyond
 * `len_max` bytes. Does not refer to the stream afterwards. */
CN_CHECK bool cn_unpacked_stream(struct cn_unpacked *unpacked, struct cn_bytes stream,
                                 uint64_t len_max, struct cn_error *err);
void cn_unpacked_close(struct cn_unpacked *unpacked);

/* Append the decompressed bytes to `out`; fails beyond `len_max` bytes. Bytes that are not
 * compressed are appended unchanged. */
CN_CHECK bool cn_unpack(struct cn_bytes bytes, size_t len_max, struct cn_text *out,
                        struct cn_error *err);

/* As much of the beginning as fits into `out`; it ends at damage. */
size_t cn_unpack_beginning(struct cn_bytes bytes, uint8_t *out, size_t room);

#endif
