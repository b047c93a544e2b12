/* Memory of sampled processes, which are not trusted and run on meanwhile.
 *
 *     cn_memory_begin(&memory, pid, bytes);      for each sample: what was read is stale
 *     if (cn_memory_u64(&memory, address, &pointer)) ...
 *
 * Blocks that were read are kept until the next cn_memory_begin(), and no more is read than
 * was granted there. A zeroed one is ready for use. A number that was read is a claim: check it before it is used as a
 * length, and bound every loop over pointers.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_MEMORY_H
#define CN_SAMPLER_LANGUAGES_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes/bytes.h"

enum { CN_MEMORY_BLOCK_LEN = 1024, CN_MEMORY_BLOCKS = 64 };

/* Copy bytes of a process; false if they are not all there. */
typedef bool (*cn_memory_copy)(void *arg, uint64_t address, void *out, size_t len);

struct cn_memory {
    pid_t pid;
    cn_memory_copy copy; /* NULL: by process_vm_readv() */
    void *arg;
    size_t left;            /* bytes that may still be read */
    uint64_t round;         /* blocks of earlier ones are stale */
    struct cn_bytes copies; /* nothing else is read, if there are any */
    bool is_refused;        /* this user may not read the memory of a process */
    struct cn_memory_block {
        uint64_t begin, round;
        uint8_t bytes[CN_MEMORY_BLOCK_LEN];
    } blocks[CN_MEMORY_BLOCKS];
};

/* Forget what was read, and allow as many bytes of a process. */
void cn_memory_begin(struct cn_memory *memory, pid_t pid, size_t bytes);

/* Read from copies that were made at a sample until the next cn_memory_begin(): each has its
 * address, its length in bytes and these, padded to 8. */
void cn_memory_begin_copies(struct cn_memory *memory, pid_t pid, struct cn_bytes copies);

/* False if the bytes are not all there, or no more may be read. */
bool cn_memory_read(struct cn_memory *memory, uint64_t address, void *out, size_t len);
bool cn_memory_u64(struct cn_memory *memory, uint64_t address, uint64_t *out);
bool cn_memory_u32(struct cn_memory *memory, uint64_t address, uint32_t *out);
bool cn_memory_u16(struct cn_memory *memory, uint64_t address, uint16_t *out);
bool cn_memory_u8(struct cn_memory *memory, uint64_t address, uint8_t *out);

/* A string with its NUL, of at most `size` bytes. */
bool cn_memory_string(struct cn_memory *memory, uint64_t address, char *out, size_t size);

#endif
