/* The file that this process writes its records to (formats/gpu/format.h).
 *
 *     cn_gpu_file_open(path)
 *     at = cn_gpu_writer_begin(&writer, CN_GPU_IS_CALL, cn_gpu_call_size);
 *     cn_gpu_call_encode(&call, at);
 *     cn_gpu_writer_end(&writer);
 *
 * A writer belongs to one thread. Its blocks are mapped from the file, so that records survive the
 * process. Where there is no room, a record is lost and counted.
 */
#ifndef CN_GPU_FILE_H
#define CN_GPU_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/gpu/format.h"

struct cn_gpu_writer {
    struct cn_gpu_block_head *block; /* NULL: none */
    size_t used;                     /* bytes of the block */
    struct cn_gpu_record pending;    /* that is written */
};

/* False if there is no such file, or cairn's version is another. */
bool cn_gpu_file_open(const char *path);

bool cn_gpu_file_is_open(void);

/* After a fork: the blocks belong to the parent. Nothing is written until another one
 * is opened. */
void cn_gpu_file_abandon(void);

/* What cairn asks for (shared.h). */
uint32_t cn_gpu_file_flags(void);

/* How frames of interpreters are read in this process; NULL: unknown. */
const struct cn_frame_table *cn_gpu_file_table(void);

/* Room for a record of `len` bytes, of which the head is written at the end; what is not written
 * is zero. NULL: it is lost. */
uint8_t *cn_gpu_writer_begin(struct cn_gpu_writer *writer, unsigned type, size_t len);
void cn_gpu_writer_end(struct cn_gpu_writer *writer);

/* Release the block, as the thread ends. */
void cn_gpu_writer_close(struct cn_gpu_writer *writer);

/* A record with a text at its end. */
void cn_gpu_write_name(struct cn_gpu_writer *writer, uint32_t id, const char *text);
void cn_gpu_write_note(struct cn_gpu_writer *writer, uint64_t count, const char *text);

#endif
