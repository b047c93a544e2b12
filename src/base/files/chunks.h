/* Chunk files: a header, then chunks that each carry their length and checksum (the layout is
 * in base/files/chunk_format.h).
 *
 * Reading: cn_chunk_file_init() on the content of a file, then cn_chunk_walk_next() for all chunks
 * in turn, or cn_chunk_file_at() for the chunk at an offset, and cn_chunk_read() for what is
 * in it. Damage costs the chunk it is in: after a failure the walk continues after it.
 *
 * Writing: cn_chunk_writer_create() for a new file or cn_chunk_writer_reopen() for one that
 * exists, cn_chunk_writer_add(), cn_chunk_writer_close(). Each chunk is written whole.
 *
 * Threads: an open file is immutable; each walk, decompressor and writer belongs to one
 * thread at a time.
 */
#ifndef CN_BASE_FILES_CHUNKS_H
#define CN_BASE_FILES_CHUNKS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/chunk_format.h"
#include "base/files/compress.h"
#include "base/files/file.h"

/* The meaning of the flags of a file. */
enum cn_chunk_dialect {
    CN_CHUNK_DIALECT_SPEC,     /* as specified */
    CN_CHUNK_DIALECT_ORIGINAL, /* LZ4 and deflate exchanged */
    CN_CHUNK_DIALECT_STORE,    /* as specified, or packed */
};

struct cn_chunk_file {
    struct cn_content content;     /* borrowed */
    struct cn_file_source *source; /* of mapped bytes; NULL: they are there */
    enum cn_compression compression;
    bool has_checksums;
    bool
        is_packed; /* the owner of the file reads its chunks (store/segment/chunk_data.h) */
};

struct cn_chunk {
    uint64_t off;           /* of its header */
    struct cn_bytes stored; /* a slice of the content */
    uint32_t plain_len;
    uint32_t checksum;
};

struct cn_chunk_walk {
    const struct cn_chunk_file *file;
    uint64_t off;        /* where the next chunk is expected */
    uint64_t lost_len;   /* bytes that belong to no sound chunk, up to now */
    uint64_t wasted_len; /* bytes of unsound chunks that were checked in vain */
};

/* Read the file header. */
CN_CHECK bool cn_chunk_file_init(struct cn_chunk_file *file, struct cn_content content,
                                 enum cn_chunk_dialect dialect, struct cn_error *err);

/* The same for a file that may be elsewhere; its chunks are fetched when they are read. */
CN_CHECK bool cn_chunk_file_init_from(struct cn_chunk_file *file,
                                      const struct cn_file *mapped,
                                      enum cn_chunk_dialect dialect,
                                      struct cn_error *err);

/* The chunk whose header is at `off`. Its checksum is not checked. */
CN_CHECK bool cn_chunk_file_at(const struct cn_chunk_file *file, uint64_t off,
                               struct cn_chunk *out, struct cn_error *err);

/* True if the stored bytes match the checksum. True for files without checksums. */
CN_CHECK bool cn_chunk_check(const struct cn_chunk_file *file,
                             const struct cn_chunk *chunk, struct cn_error *err);

/* Check and decompress a chunk to `out`, which has room for chunk->plain_len bytes. */
CN_CHECK bool cn_chunk_read(const struct cn_chunk_file *file,
                            const struct cn_chunk *chunk,
                            struct cn_decompressor *decompressor, uint8_t *out,
                            struct cn_error *err);

/* All chunks: from the first, or from the one at `off`. */
void cn_chunk_walk_begin(struct cn_chunk_walk *walk, const struct cn_chunk_file *file);
void cn_chunk_walk_begin_at(struct cn_chunk_walk *walk, const struct cn_chunk_file *file,
                            uint64_t off);

bool cn_chunk_walk_is_at_end(const struct cn_chunk_walk *walk);

/* The next chunk; not to be called at the end. With `is_checked` its checksum must hold;
 * without, only headers are read. Fails at damage; the next call continues after
 * it. All checks of a walk together are linear in the length of the file. */
CN_CHECK bool cn_chunk_walk_next(struct cn_chunk_walk *walk, bool is_checked,
                                 struct cn_chunk *out, struct cn_error *err);

struct cn_chunk_writer {
    int fd; /* 0 when not open */
    char *path;
    uint64_t end_off; /* of what was written */
    bool has_checksums;
    struct cn_compressor *compressor;
    uint8_t *buffer; /* a chunk with its header */
    size_t capacity;
};

/* Create `path`, which must not exist. `flags` as in the file; `level` as for a compressor. */
CN_CHECK bool cn_chunk_writer_create(struct cn_chunk_writer *writer, const char *path,
                                     uint32_t flags, int level, struct cn_error *err);

/* Continue a file of the specified dialect. What a crash left after the last whole chunk
 * is cut off: `cut_len` bytes. */
CN_CHECK bool cn_chunk_writer_reopen(struct cn_chunk_writer *writer, const char *path,
                                     int level, uint64_t *cut_len, struct cn_error *err);

/* Append a chunk. After a failure the file is as it was before. */
CN_CHECK bool cn_chunk_writer_add(struct cn_chunk_writer *writer, struct cn_bytes plain,
                                  struct cn_error *err);

CN_CHECK bool cn_chunk_writer_close(struct cn_chunk_writer *writer, struct cn_error *err);

/* Close, whatever the file contains; safe on a writer that never opened. */
void cn_chunk_writer_abandon(struct cn_chunk_writer *writer);

#endif
