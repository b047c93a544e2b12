#include "sampler/languages/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "sampler/languages/file.h"
#include "sampler/languages/languages.h"
#include "support/skip.h"

enum { ROOM = 1 << 14 };

static struct cn_memory memory;
static uint8_t *room; /* followed by a page that can not be read */

int cn_language_memory_test_data = 1;

static int set_up(void **state)
{
    (void)state;
    room = mmap(NULL, ROOM + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room + ROOM, 65536, PROT_NONE), 0);
    for (size_t i = 0; i < ROOM; i++)
        room[i] = (uint8_t)(i * 7 + 1 + i / 256);
    return 0;
}

static void reads_any_length_at_any_address(void **state)
{
    uint64_t begin = (uintptr_t)room;
    uint8_t out[5000];

    (void)state;
    cn_memory_begin(&memory, getpid(), 1 << 22);
    for (size_t len = 1; len <= sizeof(out); len = len * 3 + 1)
        for (size_t off = 1000; off < 1040; off += 3) {
            assert_true(cn_memory_read(&memory, begin + off, out, len));
            assert_memory_equal(out, room + off, len);
        }
    assert_true(cn_memory_read(&memory, begin + ROOM - 8, out, 8));
    assert_false(cn_memory_read(&memory, begin + ROOM - 7, out, 8));
    assert_false(cn_memory_read(&memory, UINT64_MAX - 3, out, 8));
    assert_false(cn_memory_read(&memory, 0, out, 8));
}

static void reads_no_more_than_was_granted(void **state)
{
    uint64_t begin = (uintptr_t)room, word;

    (void)state;
    cn_memory_begin(&memory, getpid(), 2 * CN_MEMORY_BLOCK_LEN);
    assert_true(cn_memory_u64(&memory, begin, &word));
    assert_true(cn_memory_u64(&memory, begin + 2048, &word));
    assert_false(cn_memory_u64(&memory, begin + 4096, &word));
    assert_true(cn_memory_u64(&memory, begin + 8, &word));
}

static void reads_copies_alone_while_it_has_them(void **state)
{
    struct cn_text copies = {0};
    uint8_t out[16];

    (void)state;
    for (uint64_t address = 1000; address <= 2000; address += 1000) {
        cn_wire_u64(&copies, address);
        cn_wire_bytes(&copies, "abcdefghijkl", 12);
        cn_wire_u32(&copies, 0);
    }
    cn_memory_begin_copies(&memory, getpid(), cn_wire_view(&copies));
    assert_true(cn_memory_read(&memory, 2000, out, 12));
    assert_memory_equal(out, "abcdefghijkl", 12);
    assert_true(cn_memory_read(&memory, 1011, out, 1));
    assert_int_equal(out[0], 'l');
    assert_false(cn_memory_read(&memory, 1005, out, 8));
    assert_false(cn_memory_read(&memory, 999, out, 1));
    assert_false(cn_memory_read(&memory, (uintptr_t)room, out, 1));
    /* Of a copy that is cut, nothing. */
    cn_memory_begin_copies(&memory, getpid(),
                           (struct cn_bytes){cn_wire_view(&copies).ptr, copies.len - 8});
    assert_true(cn_memory_read(&memory, 1000, out, 12));
    assert_false(cn_memory_read(&memory, 2000, out, 1));
    cn_memory_begin(&memory, getpid(), 1 << 16);
    assert_false(cn_memory_read(&memory, 2000, out, 1));
    assert_true(cn_memory_read(&memory, (uintptr_t)room, out, 1));
    cn_text_done(&copies);
}

static void forgets_what_it_read_for_the_last_sample(void **state)
{
    uint8_t byte;

    (void)state;
    cn_memory_begin(&memory, getpid(), 1 << 16);
    assert_true(cn_memory_u8(&memory, (uintptr_t)room, &byte));
    room[0]++;
    cn_memory_begin(&memory, getpid(), 1 << 16);
    assert_true(cn_memory_u8(&memory, (uintptr_t)room, &byte));
    assert_int_equal(byte, room[0]);
}

static void reads_strings_that_end(void **state)
{
    char out[64];

    (void)state;
    memset(room + 1000, 'a', 100);
    room[1040] = '\0';
    cn_memory_begin(&memory, getpid(), 1 << 16);
    assert_true(cn_memory_string(&memory, (uintptr_t)room + 1000, out, sizeof(out)));
    assert_int_equal(strlen(out), 40);
    assert_false(cn_memory_string(&memory, (uintptr_t)room + 1000, out, 40));
    memset(room + ROOM - 8, 'a', 8);
    cn_memory_begin(&memory, getpid(), 1 << 16);
    assert_false(cn_memory_string(&memory, (uintptr_t)room + ROOM - 8, out, sizeof(out)));
}

static void knows_that_memory_may_not_be_read(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        CN_SKIP("only root may become another user");
    pid = fork();
    if (pid == 0) {
        uint8_t byte;
        bool is_read;

        if (setuid(65534) != 0)
            _exit(2);
        cn_memory_begin(&memory, getppid(), 1 << 16);
        is_read = cn_memory_u8(&memory, (uintptr_t)room, &byte);
        _exit(is_read || !memory.is_refused);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_false(memory.is_refused);
}

static void finds_symbols_of_a_mapped_file(void **state)
{
    const char *names[] = {"cn_language_memory_test_data", "main", "no_such_symbol"};
    struct cn_language_mapping mapping = {0};
    char line[512], path[512];
    uint64_t out[3];
    FILE *file = fopen("/proc/self/maps", "r");

    (void)state;
    assert_non_null(file);
    while (mapping.begin == 0 && fgets(line, sizeof(line), file)) {
        unsigned long begin, end, off;
        char access[5];

        if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %511s", &begin, &end, access, &off,
                   path) == 5 &&
            access[2] == 'x')
            mapping = (struct cn_language_mapping){begin, end, off, path, 0};
    }
    (void)fclose(file);
    cn_language_symbols(&mapping, names, 3, out);
    assert_int_equal(out[0], (uintptr_t)&cn_language_memory_test_data);
    assert_int_not_equal(out[1], 0);
    assert_int_equal(out[2], 0);
    mapping.path = "/no/such/file";
    cn_language_symbols(&mapping, names, 3, out);
    assert_int_equal(out[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_any_length_at_any_address),
        cmocka_unit_test(reads_no_more_than_was_granted),
        cmocka_unit_test(reads_copies_alone_while_it_has_them),
        cmocka_unit_test(forgets_what_it_read_for_the_last_sample),
        cmocka_unit_test(reads_strings_that_end),
        cmocka_unit_test(knows_that_memory_may_not_be_read),
        cmocka_unit_test(finds_symbols_of_a_mapped_file),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
