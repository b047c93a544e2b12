/* Files that are filled from elsewhere, block by block.
 * Label: threads. */

#include "cache/ranges.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/run/pool.h"
#include "support/scratch.h"

enum { BLOCK = CN_RANGE_BLOCK_LEN, LEN = 5 * BLOCK + 1000 };

/* Elsewhere: byte i is i * 7 / 3. */
struct elsewhere {
    unsigned fetches, blocks;
    bool is_away;
};

static uint8_t byte_at(uint64_t off)
{
    return (uint8_t)(off * 7 / 3);
}

static bool fetch(void *arg, const struct cn_range *ranges, size_t count,
                  struct cn_error *err)
{
    struct elsewhere *elsewhere = arg;

    if (elsewhere->is_away)
        return cn_fail(err, CN_ERR_IO, "away");
    for (size_t i = 0; i < count; i++) {
        elsewhere->fetches++;
        elsewhere->blocks += (unsigned)((ranges[i].len + BLOCK - 1) / BLOCK);
        assert_int_equal(ranges[i].off % BLOCK, 0);
        assert_true(ranges[i].off + ranges[i].len <= LEN);
        for (uint64_t k = 0; k < ranges[i].len; k++)
            ranges[i].out[k] = byte_at(ranges[i].off + k);
    }
    return true;
}

static struct cn_range_cache *open_cache(struct elsewhere *elsewhere)
{
    struct cn_range_cache *cache;
    struct cn_error err = {0};

    assert_true(cn_range_cache_open(&cache, "cache", LEN, fetch, elsewhere, &err));
    return cache;
}

static bool need(struct cn_range_cache *cache, uint64_t off, size_t len)
{
    struct cn_bytes part = {cn_range_cache_bytes(cache).ptr + off, len};
    struct cn_error err = {0};

    if (!cn_range_cache_need(cache, &part, 1, &err))
        return false;
    for (size_t i = 0; i < len; i++)
        assert_int_equal(part.ptr[i], byte_at(off + i));
    return true;
}

static void fetches_what_is_needed_once(void **state)
{
    struct elsewhere elsewhere = {0};
    struct cn_range_cache *cache = open_cache(&elsewhere);

    (void)state;
    assert_true(need(cache, BLOCK - 1, 2));
    assert_int_equal(elsewhere.fetches, 1);
    assert_int_equal(elsewhere.blocks, 2);
    assert_true(need(cache, 10, 2 * BLOCK));
    assert_int_equal(elsewhere.blocks, 3);
    assert_true(need(cache, LEN - 1, 1));
    assert_int_equal(elsewhere.blocks, 4);
    assert_true(need(cache, 0, LEN));
    assert_int_equal(elsewhere.blocks, 6);
    assert_true(need(cache, 17, 0));
    cn_range_cache_close(cache);
    cache = open_cache(&elsewhere);
    elsewhere.is_away = true;
    assert_true(need(cache, 0, LEN));
    cn_range_cache_close(cache);
}

static void says_why_nothing_came(void **state)
{
    struct elsewhere elsewhere = {.is_away = true};
    struct cn_range_cache *cache;

    (void)state;
    cache = open_cache(&elsewhere);
    assert_false(need(cache, 0, 1));
    elsewhere.is_away = false;
    assert_true(need(cache, 0, 1));
    cn_range_cache_close(cache);
}

static void fetches_damaged_blocks_again(void **state)
{
    struct elsewhere elsewhere = {0};
    struct cn_range_cache *cache;
    int fd;

    (void)state;
    cache = open_cache(&elsewhere);
    assert_true(need(cache, 0, LEN));
    cn_range_cache_close(cache);
    /* A flipped byte of the second block, and a cut end: the last two blocks are gone. */
    fd = open("cache", O_RDWR);
    assert_int_equal(pwrite(fd, "x", 1, BLOCK + BLOCK + 5), 1);
    assert_int_equal(ftruncate(fd, BLOCK + 4 * BLOCK), 0);
    assert_int_equal(close(fd), 0);
    elsewhere = (struct elsewhere){0};
    cache = open_cache(&elsewhere);
    assert_true(need(cache, 0, LEN));
    assert_int_equal(elsewhere.blocks, 3);
    cn_range_cache_close(cache);
}

/* Threads that need parts of each other, each with a cache of its own or a shared one. */
struct readers {
    struct cn_range_cache *caches[2];
};

static void read_parts(void *arg, size_t job, unsigned worker)
{
    struct readers *readers = arg;

    (void)worker;
    for (size_t i = 0; i < 6; i++) {
        struct cn_range_cache *cache = readers->caches[job % 2];
        size_t off = (job * 7 + i * 5) % 5 * BLOCK + job;
        struct cn_bytes part = {cn_range_cache_bytes(cache).ptr + off, BLOCK};
        struct cn_error err = {0};

        if (!cn_range_cache_need(cache, &part, 1, &err))
            abort();
        for (size_t k = 0; k < part.len; k++)
            if (part.ptr[k] != byte_at(off + k))
                abort();
    }
}

static void serves_threads_and_other_caches_of_the_file(void **state)
{
    struct elsewhere elsewhere[2] = {0};
    struct readers readers = {{open_cache(&elsewhere[0]), open_cache(&elsewhere[1])}};
    struct cn_jobs jobs = {.count = 8, .arg = &readers, .run = read_parts};

    (void)state;
    cn_pool_run(&jobs, 4);
    for (size_t i = 0; i < 2; i++) {
        assert_true(elsewhere[i].blocks <= 6);
        cn_range_cache_close(readers.caches[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(fetches_what_is_needed_once),
        CN_SCRATCH_TEST(says_why_nothing_came),
        CN_SCRATCH_TEST(fetches_damaged_blocks_again),
        CN_SCRATCH_TEST(serves_threads_and_other_caches_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
