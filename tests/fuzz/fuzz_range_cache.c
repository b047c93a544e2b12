/* Any damage of a cached file: what is read from it is what is elsewhere.
 *
 * An input is a length, u24, that the file is cut or extended to, then changes of it: u24 offset,
 * u8 value each. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/range_cache.h"
#include "support/fuzz.h"

enum {
    BLOCK = CN_RANGE_BLOCK_LEN,
    LEN = BLOCK + 1000,
    FILE_LEN = 3 * BLOCK + 1, /* sums, two blocks, and the byte after them */
    CHANGE_LEN = 4,
};

static uint8_t byte_at(uint64_t off)
{
    return (uint8_t)(off * 7 / 3);
}

static bool fetch(void *arg, const struct cn_range *ranges, size_t count,
                  struct cn_error *err)
{
    (void)arg;
    (void)err;
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < ranges[i].len; k++)
            ranges[i].out[k] = byte_at(ranges[i].off + k);
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
    for (uint64_t i = 0; i < LEN; i++)
        assert(all.ptr[i] == byte_at(i));
    cn_range_cache_close(cache);
}

static uint32_t u24(const uint8_t *data)
{
    return (uint32_t)(data[0] | data[1] << 8 | data[2] << 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[] = "/tmp/cairn-fuzz-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        abort();
    read_all(path);
    if (len >= 3 && ftruncate(fd, u24(data)) < 0)
        abort();
    for (size_t i = 3; i + CHANGE_LEN <= len; i += CHANGE_LEN)
        if (pwrite(fd, data + i + 3, 1, u24(data + i) % FILE_LEN) != 1)
            abort();
    read_all(path);
    (void)close(fd);
    (void)unlink(path);
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
