/* Files of checksummed blocks: sections of bytes that are mapped and checked where they are
 * touched, so that opening costs the same for 1 MB and 10 GB and damage is noticed before it
 * does harm.
 *
 *   header -> sections, each at a multiple of 8 -> checksums of all blocks so far ->
 *   table of sections -> footer
 *
 * Integers are little endian. Block i is bytes i * block_len up to the next block or the
 * checksums. A file is written once and appears under its name when it is complete.
 *
 * Reading: cn_block_file_open(), cn_block_file_section(), and cn_block_file_check() before any
 * byte of a section is believed. Writing: cn_block_writer_open(), for each section
 * cn_block_writer_section() and cn_block_writer_add(), then cn_block_writer_commit().
 *
 * Threads: any thread may check and read an open file; a writer belongs to one thread.
 */
#ifndef CN_BASE_FILES_BLOCKS_H
#define CN_BASE_FILES_BLOCKS_H

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/text.h"

#define CN_BLOCK_FILE_HEADER(F)                           \
    F(0x00, u64, magic, "what the file is, see its user") \
    F(0x08, u32, version, "of its contents")              \
    F(0x0c, u32, block_len, "bytes of a block")
CN_RECORD(cn_block_file_header, CN_BLOCK_FILE_HEADER, 0x10);

#define CN_BLOCK_FILE_SECTION(F)            \
    F(0x00, u32, id, "what the section is") \
    F(0x08, u64, off, "where it begins")    \
    F(0x10, u64, len, "its bytes")
CN_RECORD(cn_block_file_section, CN_BLOCK_FILE_SECTION, 0x18);

#define CN_BLOCK_FILE_FOOTER(F)                                                         \
    F(0x00, u64, checksums_off, "u32 a block: CRC-32C of its bytes; the table follows") \
    F(0x08, u32, section_count, "rows of the table")                                    \
    F(0x0c, u32, checksum, "CRC-32C of header, checksums and table")                    \
    F(0x10, u64, magic, "as in the header: the file is complete")
CN_RECORD(cn_block_file_footer, CN_BLOCK_FILE_FOOTER, 0x18);

enum { CN_BLOCK_LEN = 1 << 16, CN_BLOCK_FILE_SECTIONS_MAX = 64 };

struct cn_block_file {
    struct cn_file file; /* mapped; empty when the bytes are borrowed */
    struct cn_bytes blocks;
    struct cn_bytes checksums, table;
    uint32_t block_len;
    _Atomic(uint8_t) *is_checked; /* a byte each block */
};

/* Understand the header, footer and table of bytes that outlive `file`. */
CN_CHECK bool cn_block_file_init(struct cn_block_file *file, struct cn_bytes bytes,
                                 uint64_t magic, uint32_t version, struct cn_error *err);

/* The same for the file `name` of a source or, if that is NULL, in the folder `dir`. It is mapped.
 * Messages name it. */
CN_CHECK bool cn_block_file_open(struct cn_block_file *file,
                                 struct cn_file_source *source, const char *dir,
                                 const char *name, uint64_t magic, uint32_t version,
                                 struct cn_error *err);
void cn_block_file_close(struct cn_block_file *file); /* safe when never opened */

/* The section, not checked yet. Fails when there is none. */
CN_CHECK bool cn_block_file_section(const struct cn_block_file *file, uint32_t id,
                                    struct cn_bytes *out, struct cn_error *err);

/* Whether the blocks that `part`, bytes of this file, lies in are as they were written. What
 * was found sound once is not looked at again. Fetches the blocks of a file that is elsewhere. */
CN_CHECK bool cn_block_file_check(const struct cn_block_file *file, struct cn_bytes part,
                                  struct cn_error *err);

struct cn_block_writer {
    const struct cn_disk *disk;
    int fd; /* of `temporary`; -1 when it is closed */
    uint8_t *waiting;
    size_t waiting_len;
    uint64_t end_off;
    char *path, *temporary; /* NULL when nothing is to be removed */
    struct cn_block_file_header header;
    struct cn_block_file_section sections[CN_BLOCK_FILE_SECTIONS_MAX];
    uint32_t section_count;
    uint8_t *checksums;
    size_t checksums_len, checksums_capacity;
    uint32_t crc;    /* of the block under construction */
    size_t in_block; /* its bytes so far */
};

/* Everything goes through `disk`. */
CN_CHECK bool cn_block_writer_open(struct cn_block_writer *writer,
                                   const struct cn_disk *disk, const char *dir,
                                   const char *name, uint64_t magic, uint32_t version,
                                   struct cn_error *err);

/* What is added from now on belongs to section `id`. */
CN_CHECK bool cn_block_writer_section(struct cn_block_writer *writer, uint32_t id,
                                      struct cn_error *err);
CN_CHECK bool cn_block_writer_add(struct cn_block_writer *writer, const void *data,
                                  size_t len, struct cn_error *err);

/* The file while it is written, in the folder `dir`. */
#define CN_BLOCK_WRITER_ENDING ".tmp"

/* Append `len` bytes that other processes write into the file at its `end_off`, of which these
 * are the checksums: u32 each block, of the bytes in it. */
CN_CHECK bool cn_block_writer_add_written(struct cn_block_writer *writer,
                                          struct cn_bytes checksums, uint64_t len,
                                          struct cn_error *err);

/* The checksums for that, of more bytes, which begin at `off` of the file. `*crcs` has those of
 * the bytes before, which begin at `first_off`. */
void cn_block_checksums_add(uint64_t first_off, uint64_t off, struct cn_bytes bytes,
                            struct cn_text *crcs);

/* Complete the file, wait until it is on the disk and give it its name, replacing an earlier
 * file. The writer is released in any case. */
CN_CHECK bool cn_block_writer_commit(struct cn_block_writer *writer,
                                     struct cn_error *err);

/* Remove what was written; safe after a commit and when never opened. */
void cn_block_writer_abandon(struct cn_block_writer *writer);

#endif
