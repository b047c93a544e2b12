#include "sampler/languages/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/bytes/record.h"

void cn_memory_begin(struct cn_memory *memory, pid_t pid, size_t bytes)
{
    memory->pid = pid;
    memory->round++;
    memory->left = bytes;
    memory->copies = (struct cn_bytes){0};
}

void cn_memory_begin_copies(struct cn_memory *memory, pid_t pid, struct cn_bytes copies)
{
    cn_memory_begin(memory, pid, 0);
    memory->copies = copies;
}

static bool read_copy(struct cn_bytes copies, uint64_t address, void *out, size_t len)
{
    struct cn_bytes head, bytes;

    while (cn_bytes_take(&copies, 2 * sizeof(uint64_t), &head)) {
        uint64_t begin = cn_u64_get(head.ptr), size = cn_u64_get(head.ptr + 8);

        if (size > copies.len || !cn_bytes_take(&copies, (size + 7) / 8 * 8, &bytes))
            return false;
        if (address < begin || address - begin > size || len > size - (address - begin))
            continue;
        memcpy(out, bytes.ptr + (address - begin), len);
        return true;
    }
    return false;
}

static bool copy(struct cn_memory *memory, uint64_t address, void *out, size_t len)
{
    struct iovec to = {out, len}, from = {(void *)(uintptr_t)address, len};

    if (len > memory->left)
        return false;
    memory->left -= len;
    if (memory->copy)
        return memory->copy(memory->arg, address, out, len);
    if (process_vm_readv(memory->pid, &to, 1, &from, 1, 0) == (ssize_t)len)
        return true;
    memory->is_refused |= errno == EPERM;
    return false;
}

/* The block that begins at `begin`; NULL if it can not be read. */
static const struct cn_memory_block *block_at(struct cn_memory *memory, uint64_t begin)
{
    uint64_t number = begin / CN_MEMORY_BLOCK_LEN;
    struct cn_memory_block *block =
        &memory->blocks[(number ^ number >> 6 ^ number >> 12) % CN_MEMORY_BLOCKS];

    if (block->begin == begin && block->round == memory->round)
        return block;
    block->begin = begin;
    block->round = memory->round;
    if (copy(memory, begin, block->bytes, CN_MEMORY_BLOCK_LEN))
        return block;
    block->round = 0;
    return NULL;
}

bool cn_memory_read(struct cn_memory *memory, uint64_t address, void *out, size_t len)
{
    uint8_t *to = out;

    if (address > UINT64_MAX - len)
        return false;
    if (memory->copies.len > 0)
        return read_copy(memory->copies, address, out, len);
    if (len > 2 * (size_t)CN_MEMORY_BLOCK_LEN)
        return copy(memory, address, out, len);
    while (len > 0) {
        size_t off = (size_t)(address % CN_MEMORY_BLOCK_LEN);
        size_t part = CN_MEMORY_BLOCK_LEN - off < len ? CN_MEMORY_BLOCK_LEN - off : len;
        const struct cn_memory_block *block = block_at(memory, address - off);

        if (!block)
            return false;
        memcpy(to, block->bytes + off, part);
        to += part;
        address += part;
        len -= part;
    }
    return true;
}

bool cn_memory_u64(struct cn_memory *memory, uint64_t address, uint64_t *out)
{
    return cn_memory_read(memory, address, out, sizeof(*out));
}

bool cn_memory_u32(struct cn_memory *memory, uint64_t address, uint32_t *out)
{
    return cn_memory_read(memory, address, out, sizeof(*out));
}

bool cn_memory_u16(struct cn_memory *memory, uint64_t address, uint16_t *out)
{
    return cn_memory_read(memory, address, out, sizeof(*out));
}

bool cn_memory_u8(struct cn_memory *memory, uint64_t address, uint8_t *out)
{
    return cn_memory_read(memory, address, out, sizeof(*out));
}

bool cn_memory_string(struct cn_memory *memory, uint64_t address, char *out, size_t size)
{
    size_t len = 0;

    while (len < size) {
        size_t off = (size_t)((address + len) % CN_MEMORY_BLOCK_LEN);
        size_t part = CN_MEMORY_BLOCK_LEN - off;

        part = part < size - len ? part : size - len;
        if (!cn_memory_read(memory, address + len, out + len, part))
            return false;
        if (memchr(out + len, '\0', part))
            return true;
        len += part;
    }
    return false;
}
