#include "cache/ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/files/crc32c.h"
#include "base/run/lock.h"

enum {
    ENTRY_LEN = 8,
    IS_THERE = 1,
    RUN_MAX = 4 << 20,    /* bytes of a range */
    BATCH_MAX = 64 << 20, /* bytes that are fetched together */
};

struct cn_range_cache {
    int fd;
    char *path;
    uint64_t len, block_count, head_len;
    uint8_t *map; /* of the whole file, read only */
    size_t map_len;
    _Atomic(uint8_t) *is_checked; /* a byte each block, by this process */
    cn_range_fetch fetch;
    void *arg;
    struct cn_lock lock; /* taken while blocks are fetched */
};

void cn_range_cache_close(struct cn_range_cache *cache)
{
    if (!cache)
        return;
    if (cache->map)
        (void)munmap(cache->map, cache->map_len);
    if (cache->fd >= 0)
        (void)close(cache->fd);
    free((void *)(uintptr_t)cache->is_checked);
    free(cache->path);
    cn_lock_done(&cache->lock);
    free(cache);
}

/* The shared lock keeps the file from being removed. A file that was removed in between is made
 * again. */
static bool open_file(struct cn_range_cache *cache, struct cn_error *err)
{
    struct stat opened, named;

    for (unsigned i = 0; i < 8; i++) {
        cache->fd = open(cache->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (cache->fd < 0)
            return cn_fail_errno(err, "%s", cache->path);
        if (flock(cache->fd, LOCK_SH | LOCK_NB) == 0 && fstat(cache->fd, &opened) == 0 &&
            stat(cache->path, &named) == 0 && opened.st_ino == named.st_ino) {
            (void)futimens(cache->fd, NULL);
            return ftruncate(cache->fd, (off_t)cache->map_len) == 0 ||
                   cn_fail_errno(err, "%s", cache->path);
        }
        (void)close(cache->fd);
        cache->fd = -1;
    }
    return cn_fail(err, CN_ERR_IO, "%s: other processes keep removing it", cache->path);
}

bool cn_range_cache_open(struct cn_range_cache **out, const char *path, uint64_t len,
                         cn_range_fetch fetch, void *arg, struct cn_error *err)
{
    struct cn_range_cache *cache = cn_alloc(1, sizeof(*cache));

    cn_lock_init(&cache->lock);
    cache->fd = -1;
    cache->path = cn_strdup(path);
    cache->len = len;
    cache->fetch = fetch;
    cache->arg = arg;
    cache->block_count = (len + CN_RANGE_BLOCK_LEN - 1) / CN_RANGE_BLOCK_LEN;
    cache->head_len = cn_align_up(cache->block_count * ENTRY_LEN, CN_RANGE_BLOCK_LEN);
    cache->map_len =
        (size_t)(cache->head_len + cache->block_count * CN_RANGE_BLOCK_LEN + 1);
    if (!open_file(cache, err)) {
        cn_range_cache_close(cache);
        return false;
    }
    void *map = mmap(NULL, cache->map_len, PROT_READ, MAP_SHARED, cache->fd, 0);
    if (map == MAP_FAILED) {
        (void)cn_fail_errno(err, "%s", path);
        cn_range_cache_close(cache);
        return false;
    }
    cache->map = map;
    cache->is_checked = cn_alloc((size_t)cache->block_count, 1);
    *out = cache;
    return true;
}

struct cn_bytes cn_range_cache_bytes(const struct cn_range_cache *cache)
{
    return (struct cn_bytes){cache->map + cache->head_len, (size_t)cache->len};
}

/* The block, without what is after the end of the file. */
static struct cn_bytes block_at(const struct cn_range_cache *cache, uint64_t i)
{
    uint64_t off = i * CN_RANGE_BLOCK_LEN, rest = cache->len - off;

    return (struct cn_bytes){cache->map + cache->head_len + off,
                             rest < CN_RANGE_BLOCK_LEN ? (size_t)rest
                                                       : CN_RANGE_BLOCK_LEN};
}

static bool is_known(const struct cn_range_cache *cache, uint64_t i)
{
    return atomic_load_explicit(&cache->is_checked[i], memory_order_acquire);
}

static void know(struct cn_range_cache *cache, uint64_t i)
{
    atomic_store_explicit(&cache->is_checked[i], 1, memory_order_release);
}

/* True if the block is there and sound. */
static bool find_block(struct cn_range_cache *cache, uint64_t i)
{
    const uint8_t *entry = cache->map + i * ENTRY_LEN;

    if (is_known(cache, i))
        return true;
    if (cn_u32_get(entry + 4) != IS_THERE ||
        cn_u32_get(entry) != cn_crc32c(block_at(cache, i)))
        return false;
    know(cache, i);
    return true;
}

static bool write_at(const struct cn_range_cache *cache, uint64_t off,
                     const uint8_t *data, size_t len, struct cn_error *err)
{
    while (len > 0) {
        ssize_t n = pwrite(cache->fd, data, len, (off_t)off);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return cn_fail_errno(err, "%s", cache->path);
        data += n;
        off += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

static bool save_range(struct cn_range_cache *cache, const struct cn_range *range,
                       struct cn_error *err)
{
    uint64_t first = range->off / CN_RANGE_BLOCK_LEN;
    uint8_t entry[ENTRY_LEN];

    if (!write_at(cache, cache->head_len + range->off, range->out, (size_t)range->len,
                  err))
        return false;
    for (uint64_t off = 0; off < range->len; off += CN_RANGE_BLOCK_LEN) {
        uint64_t i = first + off / CN_RANGE_BLOCK_LEN;
        struct cn_bytes block = {range->out + off, block_at(cache, i).len};

        cn_u32_put(entry, cn_crc32c(block));
        cn_u32_put(entry + 4, IS_THERE);
        if (!write_at(cache, i * ENTRY_LEN, entry, sizeof(entry), err))
            return false;
        know(cache, i);
    }
    return true;
}

/* Ranges that are fetched together. */
struct range_batch {
    struct cn_range *list;
    size_t count, capacity;
    uint64_t len;
};

static bool fetch_batch(struct cn_range_cache *cache, struct range_batch *batch,
                        struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; i < batch->count; i++)
        batch->list[i].out = cn_alloc((size_t)batch->list[i].len, 1);
    ok = batch->count == 0 || cache->fetch(cache->arg, batch->list, batch->count, err);
    for (size_t i = 0; i < batch->count; i++) {
        ok = ok && save_range(cache, &batch->list[i], err);
        free(batch->list[i].out);
    }
    batch->count = 0;
    batch->len = 0;
    return ok;
}

static bool add_block(struct cn_range_cache *cache, struct range_batch *batch, uint64_t i,
                      struct cn_error *err)
{
    uint64_t off = i * CN_RANGE_BLOCK_LEN, len = block_at(cache, i).len;
    struct cn_range *last = batch->count > 0 ? &batch->list[batch->count - 1] : NULL;

    for (size_t k = 0; k < batch->count; k++) /* parts may overlap */
        if (off >= batch->list[k].off && off - batch->list[k].off < batch->list[k].len)
            return true;
    batch->len += len;
    if (last && last->off + last->len == off && last->len < RUN_MAX) {
        last->len += len;
        return true;
    }
    if (batch->len > BATCH_MAX && !fetch_batch(cache, batch, err))
        return false;
    CN_PUSH(batch->list, batch->count, batch->capacity,
            (struct cn_range){.off = off, .len = len});
    return true;
}

static bool need(struct cn_range_cache *cache, const struct cn_bytes *parts, size_t count,
                 struct cn_error *err)
{
    struct range_batch batch = {0};
    bool ok = true;

    cn_lock_take(&cache->lock);
    for (size_t k = 0; ok && k < count; k++) {
        uint64_t off = (uint64_t)(parts[k].ptr - cache->map) - cache->head_len;
        uint64_t end = off + parts[k].len;

        for (uint64_t i = off / CN_RANGE_BLOCK_LEN;
             ok && parts[k].len > 0 && i * CN_RANGE_BLOCK_LEN < end; i++)
            ok = find_block(cache, i) || add_block(cache, &batch, i, err);
    }
    ok = ok && fetch_batch(cache, &batch, err);
    free(batch.list);
    cn_lock_release(&cache->lock);
    return ok;
}

bool cn_range_cache_need(struct cn_range_cache *cache, const struct cn_bytes *parts,
                         size_t count, struct cn_error *err)
{
    for (size_t k = 0; k < count; k++) {
        uint64_t off = (uint64_t)(parts[k].ptr - cache->map) - cache->head_len;
        uint64_t end = off + parts[k].len;

        for (uint64_t i = off / CN_RANGE_BLOCK_LEN;
             parts[k].len > 0 && i * CN_RANGE_BLOCK_LEN < end; i++)
            if (!is_known(cache, i))
                return need(cache, parts, count, err);
    }
    return true;
}
