#include "base/files/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

/* Bytes of a file, which follow the struct. Those in the cache are pages, or what crosses the border of
 * a page. */
struct content_block {
    const struct cn_ranges *owner;
    uint64_t off;
    size_t len;
    struct content_block *older,
        *newer;                 /* by last use; `older` also links what is kept */
    struct content_block *next; /* of the same hash */
};

struct cn_ranges {
    int fd;
    char *path;
    uint64_t len;
    struct content_block *kept;
};

enum { CHAINS = 4096, BLOCK_COST = sizeof(struct content_block) + 32 };

/* The cache of the process, as the kernel has one of mapped files. */
static struct {
    size_t page_len; /* 0: files are mapped */
    uint64_t len_max, len;
    size_t count;
    struct content_block *oldest, *newest;
    struct content_block *chains[CHAINS];
} cache;

void cn_ranges_begin(size_t page_len, uint64_t cached_len)
{
    cache.page_len = page_len;
    cache.len_max = cached_len;
}

size_t cn_ranges_page_len(void)
{
    return cache.page_len;
}

struct cn_ranges *cn_ranges_open(int fd, const char *path, uint64_t len)
{
    struct cn_ranges *ranges;

    if (cache.page_len == 0)
        return NULL;
    ranges = cn_alloc(1, sizeof(*ranges));
    *ranges = (struct cn_ranges){.fd = fd, .path = cn_strdup(path), .len = len};
    return ranges;
}

struct cn_content cn_ranges_content(struct cn_ranges *ranges)
{
    return (struct cn_content){.len = ranges->len, .ranges = ranges};
}

static struct content_block **chain_of(const struct cn_ranges *owner, uint64_t off,
                                       size_t len)
{
    uint64_t key =
        (off ^ (uint64_t)len << 40 ^ (uintptr_t)owner) * UINT64_C(0x9e3779b97f4a7c15);

    return &cache.chains[key >> 52];
}

static void unlink_used(struct content_block *block)
{
    *(block->older ? &block->older->newer : &cache.oldest) = block->newer;
    *(block->newer ? &block->newer->older : &cache.newest) = block->older;
}

static void link_newest(struct content_block *block)
{
    block->older = cache.newest;
    block->newer = NULL;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = block;
    cache.newest = block;
}

static void evict(struct content_block *block)
{
    struct content_block **at = chain_of(block->owner, block->off, block->len);

    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    unlink_used(block);
    cache.len -= block->len + BLOCK_COST;
    cache.count--;
    free(block);
}

static struct content_block *find(const struct cn_ranges *owner, uint64_t off, size_t len)
{
    struct content_block *block = *chain_of(owner, off, len);

    while (block && (block->owner != owner || block->off != off || block->len != len))
        block = block->next;
    return block;
}

static uint8_t *bytes_of(struct content_block *block)
{
    return (uint8_t *)(block + 1);
}

static struct content_block *read_block(const struct cn_ranges *ranges, uint64_t off,
                                        uint64_t len)
{
    /* More than there are addresses: it fails as any allocation does. */
    size_t room = len < SIZE_MAX - sizeof(struct content_block)
                      ? (size_t)len + sizeof(struct content_block)
                      : SIZE_MAX;
    struct content_block *block = cn_realloc(NULL, room, 1);
    size_t done = 0;

    *block = (struct content_block){.owner = ranges, .off = off, .len = (size_t)len};
    while (done < block->len) {
        ssize_t got = pread(ranges->fd, bytes_of(block) + done, block->len - done,
                            (off_t)(off + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            (void)fprintf(stderr,
                          "cairn: %s: cannot read %" PRIu64 " bytes at 0x%" PRIx64
                          ": it changed or is gone\n",
                          ranges->path, len, off);
            exit(EXIT_FAILURE);
        }
        done += (size_t)got;
    }
    return block;
}

static struct content_block *cached(const struct cn_ranges *ranges, uint64_t off,
                                    uint64_t len)
{
    struct content_block *block = len <= SIZE_MAX ? find(ranges, off, (size_t)len) : NULL,
                         **chain;

    if (block == cache.newest && block)
        return block;
    if (block) {
        unlink_used(block);
        link_newest(block);
        return block;
    }
    /* Room is made first: more than the limit is only there for blocks that are larger. */
    while (cache.count > CN_CONTENT_SLICES && cache.len + len > cache.len_max)
        evict(cache.oldest);
    block = read_block(ranges, off, len);
    chain = chain_of(ranges, off, block->len);
    block->next = *chain;
    *chain = block;
    link_newest(block);
    cache.len += block->len + BLOCK_COST;
    cache.count++;
    return block;
}

struct cn_bytes cn_ranges_read(struct cn_ranges *ranges, uint64_t off, uint64_t len)
{
    uint64_t begin = off - off % cache.page_len;
    uint64_t page_len =
        ranges->len - begin < cache.page_len ? ranges->len - begin : cache.page_len;

    if (len == 0)
        return (struct cn_bytes){(const uint8_t *)"", 0};
    if (off - begin + len > page_len)
        return (struct cn_bytes){bytes_of(cached(ranges, off, len)), (size_t)len};
    struct content_block *block = cached(ranges, begin, page_len);
    return (struct cn_bytes){bytes_of(block) + (off - begin), (size_t)len};
}

struct cn_bytes cn_ranges_keep(struct cn_ranges *ranges, uint64_t off, uint64_t len)
{
    struct content_block *block = read_block(ranges, off, len);

    block->older = ranges->kept;
    ranges->kept = block;
    return (struct cn_bytes){bytes_of(block), block->len};
}

void cn_ranges_close(struct cn_ranges *ranges)
{
    struct content_block *block, *next;

    if (!ranges)
        return;
    for (block = cache.oldest; block; block = next) {
        next = block->newer;
        if (block->owner == ranges)
            evict(block);
    }
    for (block = ranges->kept; block; block = next) {
        next = block->older;
        free(block);
    }
    (void)close(ranges->fd);
    free(ranges->path);
    free(ranges);
}
