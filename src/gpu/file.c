#include "gpu/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/shared.h"

static struct {
    struct cn_gpu_head *head; /* NULL: nothing is written */
    int fd;
    uint32_t pid, image;
    const struct cn_gpu_table *table; /* of this process; NULL: not found yet */
} file = {.fd = -1};

bool cn_gpu_file_open(const char *path)
{
    struct cn_gpu_head first;
    struct timespec now;
    struct stat status;
    void *at = MAP_FAILED;

    file.fd = open(path, O_RDWR | O_CLOEXEC);
    if (file.fd < 0)
        return false;
    if (pread(file.fd, &first, sizeof(first), 0) == (ssize_t)sizeof(first) &&
        first.magic == CN_GPU_FILE_MAGIC && first.version == CN_GPU_FILE_VERSION &&
        first.block_len == CN_GPU_BLOCK_LEN && first.blocks_off >= CN_GPU_FILE_HEAD_LEN &&
        fstat(file.fd, &status) == 0 && (uint64_t)status.st_size >= first.blocks_off)
        at = mmap(NULL, (size_t)first.blocks_off, PROT_READ | PROT_WRITE, MAP_SHARED,
                  file.fd, 0);
    if (at == MAP_FAILED) {
        (void)close(file.fd);
        file.fd = -1;
        return false;
    }
    file.head = at;
    file.pid = (uint32_t)getpid();
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    file.image = (uint32_t)now.tv_sec << 10 | (uint32_t)(now.tv_nsec >> 20);
    return true;
}

bool cn_gpu_file_is_open(void)
{
    return file.head != NULL;
}

void cn_gpu_file_abandon(void)
{
    if (file.head)
        (void)munmap(file.head, (size_t)file.head->blocks_off);
    if (file.fd >= 0)
        (void)close(file.fd);
    file.fd = -1;
    file.head = NULL;
    file.table = NULL;
}

uint32_t cn_gpu_file_flags(void)
{
    return file.head ? file.head->flags : 0;
}

const struct cn_frame_table *cn_gpu_file_table(void)
{
    const struct cn_gpu_table *tables;

    if (!file.head || file.head->blocks_off < CN_GPU_BLOCKS_OFF)
        return NULL;
    if (file.table &&
        atomic_load_explicit(&file.table->pid, memory_order_acquire) == file.pid)
        return &file.table->table;
    tables = (const struct cn_gpu_table *)(const void *)((const uint8_t *)file.head +
                                                         CN_GPU_TABLES_OFF);
    for (size_t i = 0; i < CN_GPU_TABLES; i++)
        if (atomic_load_explicit(&tables[i].pid, memory_order_acquire) == file.pid) {
            file.table = &tables[i];
            return &tables[i].table;
        }
    return NULL;
}

/* Give the file memory for a block: writing to a mapping without it would kill the program. */
static bool allocate(uint64_t off)
{
    static const uint8_t zeros[4096];

    if (fallocate(file.fd, 0, (off_t)off, CN_GPU_BLOCK_LEN) == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    for (uint64_t at = off; at < off + CN_GPU_BLOCK_LEN; at += sizeof(zeros))
        if (pwrite(file.fd, zeros, sizeof(zeros), (off_t)at) != (ssize_t)sizeof(zeros))
            return false;
    return true;
}

static bool next_block(struct cn_gpu_writer *writer)
{
    struct cn_gpu_head *head = file.head;
    uint64_t off, limit;

    cn_gpu_writer_close(writer);
    /* A block that is taken is used: others of the program wait for room as well. */
    off = atomic_load_explicit(&head->next_off, memory_order_relaxed);
    do {
        limit = atomic_load_explicit(&head->limit_off, memory_order_relaxed);
        if (off >= limit || limit - off < CN_GPU_BLOCK_LEN)
            return false;
    } while (
        !atomic_compare_exchange_weak(&head->next_off, &off, off + CN_GPU_BLOCK_LEN));
    if (!allocate(off))
        return false;
    void *at = mmap(NULL, CN_GPU_BLOCK_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd,
                    (off_t)off);
    if (at == MAP_FAILED)
        return false;
    writer->block = at;
    writer->used = sizeof(*writer->block);
    writer->block->pid = file.pid;
    writer->block->image = file.image;
    writer->block->tid = (uint32_t)syscall(SYS_gettid);
    atomic_store_explicit(&writer->block->used, (uint32_t)writer->used,
                          memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    writer->block->magic = CN_GPU_BLOCK_MAGIC;
    return true;
}

uint8_t *cn_gpu_writer_begin(struct cn_gpu_writer *writer, unsigned type, size_t len)
{
    if (!file.head)
        return NULL;
    len = (len + 7) / 8 * 8;
    if ((!writer->block || writer->used + len > CN_GPU_BLOCK_LEN) &&
        (len > CN_GPU_BLOCK_LEN - cn_gpu_block_size || !next_block(writer))) {
        atomic_fetch_add_explicit(&file.head->lost_count, 1, memory_order_relaxed);
        return NULL;
    }
    writer->pending =
        (struct cn_gpu_record){.type = (uint16_t)type, .len = (uint32_t)len};
    return (uint8_t *)writer->block + writer->used;
}

void cn_gpu_writer_end(struct cn_gpu_writer *writer)
{
    cn_gpu_record_encode(&writer->pending, (uint8_t *)writer->block + writer->used);
    writer->used += writer->pending.len;
    atomic_store_explicit(&writer->block->used, (uint32_t)writer->used,
                          memory_order_release);
}

void cn_gpu_writer_close(struct cn_gpu_writer *writer)
{
    if (!writer->block)
        return;
    if (file.head) /* after a fork, the block is still the parent's */
        atomic_store_explicit(&writer->block->is_full, 1, memory_order_release);
    (void)munmap(writer->block, CN_GPU_BLOCK_LEN);
    writer->block = NULL;
}

void cn_gpu_write_name(struct cn_gpu_writer *writer, uint32_t id, const char *text)
{
    size_t len = strnlen(text, CN_GPU_NAME_LEN_MAX);
    uint8_t *at = cn_gpu_writer_begin(writer, CN_GPU_IS_NAME, cn_gpu_name_size + len + 1);

    if (!at)
        return;
    cn_gpu_name_encode(&(struct cn_gpu_name){.id = id}, at);
    memcpy(at + cn_gpu_name_size, text, len);
    cn_gpu_writer_end(writer);
}

void cn_gpu_write_note(struct cn_gpu_writer *writer, uint64_t count, const char *text)
{
    size_t len = strnlen(text, CN_GPU_NAME_LEN_MAX);
    uint8_t *at = cn_gpu_writer_begin(writer, CN_GPU_IS_NOTE, cn_gpu_note_size + len + 1);

    if (!at)
        return;
    cn_gpu_note_encode(&(struct cn_gpu_note){.count = count}, at);
    memcpy(at + cn_gpu_note_size, text, len);
    cn_gpu_writer_end(writer);
}
