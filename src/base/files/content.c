#include "base/files/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

/* Bytes of a file, which follow the struct. Those in the cache are pages, or what crosses the border of
 * a page. */
struct content_part {
    const struct cn_ranges *owner;
    uint64_t off;
    size_t len;
    struct content_part *older, *newer; /* by last use; `older` also links what is kept */
    struct content_part *next;          /* of the same hash */
};

struct cn_ranges {
    int fd;
    char *path;
    uint64_t len;
    struct content_part *kept;
};

enum { CHAINS = 4096, PART_COST = sizeof(struct content_part) + 32 };

/* The cache of the process, as the kernel has one of mapped files. */
static struct {
    size_t page_len; /* 0: files are mapped */
    uint64_t len_max, len;
    size_t count;
    struct content_part *oldest, *newest;
    struct content_part *chains[CHAINS];
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

static struct content_part **chain_of(const struct cn_ranges *owner, uint64_t off,
                                      size_t len)
{
    uint64_t key =
        (off ^ (uint64_t)len << 40 ^ (uintptr_t)owner) * UINT64_C(0x9e3779b97f4a7c15);

    return &cache.chains[key >> 52];
}

static void unlink_used(struct content_part *part)
{
    *(part->older ? &part->older->newer : &cache.oldest) = part->newer;
    *(part->newer ? &part->newer->older : &cache.newest) = part->older;
}

static void link_newest(struct content_part *part)
{
    part->older = cache.newest;
    part->newer = NULL;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = part;
    cache.newest = part;
}

static void evict(struct content_part *part)
{
    struct content_part **at = chain_of(part->owner, part->off, part->len);

    while (*at != part)
        at = &(*at)->next;
    *at = part->next;
    unlink_used(part);
    cache.len -= part->len + PART_COST;
    cache.count--;
    free(part);
}

static struct content_part *find(const struct cn_ranges *owner, uint64_t off, size_t len)
{
    struct content_part *part = *chain_of(owner, off, len);

    while (part && (part->owner != owner || part->off != off || part->len != len))
        part = part->next;
    return part;
}

static uint8_t *bytes_of(struct content_part *part)
{
    return (uint8_t *)(part + 1);
}

static struct content_part *read_part(const struct cn_ranges *ranges, uint64_t off,
                                      uint64_t len)
{
    /* More than there are addresses: it fails as any allocation does. */
    size_t room = len < SIZE_MAX - sizeof(struct content_part)
                      ? (size_t)len + sizeof(struct content_part)
                      : SIZE_MAX;
    struct content_part *part = cn_realloc(NULL, room, 1);
    size_t done = 0;

    *part = (struct content_part){.owner = ranges, .off = off, .len = (size_t)len};
    while (done < part->len) {
        ssize_t got = pread(ranges->fd, bytes_of(part) + done, part->len - done,
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
    return part;
}

static struct content_part *cached(const struct cn_ranges *ranges, uint64_t off,
                                   uint64_t len)
{
    struct content_part *part = len <= SIZE_MAX ? find(ranges, off, (size_t)len) : NULL,
                        **chain;

    if (part == cache.newest && part)
        return part;
    if (part) {
        unlink_used(part);
        link_newest(part);
        return part;
    }
    /* Room is made first: more than the limit is only there for parts that are larger. */
    while (cache.count > CN_CONTENT_SLICES && cache.len + len > cache.len_max)
        evict(cache.oldest);
    part = read_part(ranges, off, len);
    chain = chain_of(ranges, off, part->len);
    part->next = *chain;
    *chain = part;
    link_newest(part);
    cache.len += part->len + PART_COST;
    cache.count++;
    return part;
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
    struct content_part *part = cached(ranges, begin, page_len);
    return (struct cn_bytes){bytes_of(part) + (off - begin), (size_t)len};
}

struct cn_bytes cn_ranges_keep(struct cn_ranges *ranges, uint64_t off, uint64_t len)
{
    struct content_part *part = read_part(ranges, off, len);

    part->older = ranges->kept;
    ranges->kept = part;
    return (struct cn_bytes){bytes_of(part), part->len};
}

void cn_ranges_close(struct cn_ranges *ranges)
{
    struct content_part *part, *next;

    if (!ranges)
        return;
    for (part = cache.oldest; part; part = next) {
        next = part->newer;
        if (part->owner == ranges)
            evict(part);
    }
    for (part = ranges->kept; part; part = next) {
        next = part->older;
        free(part);
    }
    (void)close(ranges->fd);
    free(ranges->path);
    free(ranges);
}
