/* Paths as they are taken inside programs: the sources of the library are part of this test. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/file.c"
#include "gpu/path.c"

#define KEPT __attribute__((noinline, noclone))

static struct cn_gpu_thread thread;
static volatile int sink;

/* A file that asks for stacks. */
static int open_file(void **state)
{
    struct cn_gpu_file_head head = {
        .magic = CN_GPU_FILE_MAGIC,
        .version = CN_GPU_FILE_VERSION,
        .block_len = CN_GPU_BLOCK_LEN,
        .blocks_off = CN_GPU_FILE_HEAD_LEN,
        .next_off = CN_GPU_FILE_HEAD_LEN,
        .limit_off = 1 << 30,
        .flags = CN_GPU_WANTS_STACKS,
    };
    uint8_t bytes[CN_GPU_FILE_HEAD_LEN] = {0};
    char path[] = "/tmp/cairn-test-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    (void)cn_gpu_file_head_encode(&head, bytes);
    if (fd < 0 || write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
        return 1;
    (void)close(fd);
    bool ok = cn_gpu_file_open(path);
    (void)unlink(path);
    return !ok;
}

KEPT static uint32_t take(void)
{
    bool has_call;
    uint32_t number = cn_gpu_path_take(&thread, &has_call);

    sink++;
    return number;
}

KEPT static uint32_t inner(void)
{
    uint32_t number = take();

    sink++;
    return number;
}

KEPT static uint32_t by_one(void)
{
    uint32_t number = inner();

    sink += 1;
    return number;
}

KEPT static uint32_t by_other(void)
{
    uint32_t number = inner();

    sink += 2;
    return number;
}

/* A frame of another size. */
KEPT static uint32_t by_larger(size_t len)
{
    volatile char room[512];

    room[len] = 1;
    uint32_t number = inner();
    sink += room[len];
    return number;
}

static void the_same_path_has_one_number(void **state)
{
    uint32_t first = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        uint32_t number = by_one();

        assert_int_not_equal(number, 0);
        assert_true(i == 0 || number == first);
        first = number;
    }
}

static void another_caller_is_another_path(void **state)
{
    uint32_t numbers[3] = {0};

    (void)state;
    for (int i = 0; i < 30; i++) {
        uint32_t now[3];

        now[0] = by_one();
        now[1] = by_other();
        now[2] = by_larger((size_t)i);
        if (i > 0)
            assert_memory_equal(now, numbers, sizeof(now));
        memcpy(numbers, now, sizeof(now));
    }
    assert_int_not_equal(numbers[0], numbers[1]);
    assert_int_not_equal(numbers[1], numbers[2]);
    assert_int_not_equal(numbers[0], numbers[2]);
}

KEPT static size_t addresses_of(uintptr_t *out, size_t most)
{
    const struct known_stack *known = thread.paths->last;
    size_t count = known->count < most ? known->count : most;

    for (size_t i = 0; i < count; i++)
        out[i] = address_in(known->slots[i].value);
    return known->count;
}

static void a_path_that_joins_another_is_whole(void **state)
{
    uintptr_t whole[64], joined[64];

    (void)state;
    thread.paths->last = NULL;
    memset(thread.paths->known, 0, sizeof(thread.paths->known));
    (void)by_larger(1);
    size_t whole_count = addresses_of(whole, 64);
    memset(thread.paths->known, 0, sizeof(thread.paths->known));
    (void)by_one(); /* the last one, of which main() and what calls it stay */
    memset(thread.paths->known, 0, sizeof(thread.paths->known));
    (void)by_larger(1);
    assert_int_equal(addresses_of(joined, 64), whole_count);
    assert_true(whole_count >= 4);
    /* Calls of this function return to different places. */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(joined[i], whole[i]);
    for (size_t i = 4; i < whole_count && i < 64; i++)
        assert_int_equal(joined[i], whole[i]);
}

static void what_is_no_memory_is_no_fault(void **state)
{
    struct cn_frame_walk *walk = &thread.paths->walk;
    uint8_t page[2 * PAGE_LEN], bytes[16];

    (void)state;
    assert_false(copy_own(walk, bytes, sizeof(bytes), 0));
    assert_false(copy_own(walk, bytes, sizeof(bytes), 0x30));
    assert_false(copy_own(walk, bytes, sizeof(bytes), PAGE_LEN - 8));
    assert_false(copy_own(walk, bytes, sizeof(bytes), UINT64_MAX - 4));
    memset(page, 7, sizeof(page));
    assert_true(copy_own(walk, bytes, sizeof(bytes), (uint64_t)(uintptr_t)page));
    assert_int_equal(bytes[15], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_path_has_one_number),
        cmocka_unit_test(another_caller_is_another_path),
        cmocka_unit_test(a_path_that_joins_another_is_whole),
        cmocka_unit_test(what_is_no_memory_is_no_fault),
    };

    return cmocka_run_group_tests(tests, open_file, NULL);
}
