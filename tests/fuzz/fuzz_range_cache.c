/* Any damage of a cached file: what is read from it is what is elsewhere.
 *
 * An input is a length, u24, that the file is cut or extended to, then changes of it: u24 offset,
 * u8 value each. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cache/ranges.h"
#include "support/fuzz.h"

enum {
    BLOCK = CN_RANGE_BLOCK_LEN,
    LEN = BLOCK + 1000,
    FILE_LEN = 3 * BLOCK + 1, /* sums, two blocks, and the byte after them */
    CHANGE_LEN = 4,
};

/* Elsewhere. */
static uint8_t content[LEN];

static bool fetch(void *arg, const struct cn_range *ranges, size_t count,
                  struct cn_error *err)
{
    (void)arg;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        assert(ranges[i].off < LEN && ranges[i].len <= LEN - ranges[i].off);
        memcpy(ranges[i].out, content + ranges[i].off, (size_t)ranges[i].len);
    }
    return true;
}

static void read_all(const char *path)
{
    struct cn_range_cache *cache;
    struct cn_error err = {0};
    struct cn_bytes all;

    if (!cn_range_cache_open(&cache, path, LEN, fetch, NULL, &err))
        abort();
    all = cn_range_cache_bytes(cache);
    assert(all.len == LEN);
    if (!cn_range_cache_need(cache, &all, 1, &err))
        abort();
    assert(memcmp(all.ptr, content, LEN) == 0);
    cn_range_cache_close(cache);
}

static uint32_t u24(const uint8_t *data)
{
    return (uint32_t)(data[0] | data[1] << 8 | data[2] << 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[32];
    int fd = memfd_create("range", MFD_CLOEXEC); /* not on a disk: that takes longer */

    if (fd < 0)
        abort();
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < LEN; i++)
        content[i] = (uint8_t)(i * 7 / 3);
    read_all(path);
    if (len >= 3 && ftruncate(fd, u24(data)) < 0)
        abort();
    for (size_t i = 3; i + CHANGE_LEN <= len; i += CHANGE_LEN)
        if (pwrite(fd, data + i + 3, 1, u24(data + i) % FILE_LEN) != 1)
            abort();
    read_all(path);
    (void)close(fd);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const uint8_t seeds[][11] = {
        {1, 0, 3, 4, 0, 0, 0, 12, 0, 0, 0},      /* both blocks are no longer there */
        {1, 0, 3, 5, 0, 1, 99, 2, 0, 2, 1},      /* bytes of both changed */
        {232, 3, 2, 0, 0, 0, 1, 1, 0, 0, 1},     /* cut */
        {255, 255, 255, 8, 0, 0, 1, 9, 0, 0, 1}, /* extended */
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        emit(seeds[i], sizeof(seeds[i]));
}
