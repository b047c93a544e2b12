/* Label: threads. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "formats/uftrace/packed/file.h"
#include "formats/uftrace/summary/summary.h"
#include "model/contexts/context.h"
#include "support/random_calls.h"
#include "support/scratch.h"

enum { RECORDS = 200000, KINDS = CN_CALLS_PAYLOADS, TASKS = 2 };

/* A recording of two tasks with the same records, the first plain, the second packed. */
struct world {
    struct cn_scratch *scratch;
    uint8_t *made;
    struct cn_bytes plain;
    struct cn_file packed;
    struct cn_uft_records records[TASKS];
    struct cn_uft_summary_source sources[TASKS];
};

static int enter(void **state)
{
    struct world *world = cn_alloc(1, sizeof(*world));
    struct cn_error err = {0};

    world->scratch = cn_scratch_enter();
    assert_int_equal(setenv("XDG_CACHE_HOME", "/nonexistent", 1), 0);
    assert_int_equal(mkdir("d", 0777), 0);
    world->made = cn_random_calls(RECORDS, KINDS, 5, &world->plain.len);
    world->plain.ptr = world->made;
    assert_true(
        cn_uft_pack_file(world->plain, false, CN_COMPRESSION_LZ4, 0, "20.zts", &err));
    assert_true(cn_file_open(&world->packed, "20.zts", &err));
    assert_true(cn_uft_records_init(&world->records[0], "10.dat",
                                    cn_content_of(world->plain), false, &err));
    assert_true(cn_uft_records_init(&world->records[1], "20.zts",
                                    cn_content_of(world->packed.bytes), false, &err));
    for (uint32_t i = 0; i < TASKS; i++)
        world->sources[i] = (struct cn_uft_summary_source){
            .tid = 10 * (i + 1),
            .mtime_ns = 1000 + i,
            .records = &world->records[i],
            .measure = cn_random_calls_measure,
        };
    *state = world;
    return 0;
}

static int leave(void **state)
{
    struct world *world = *state;

    cn_file_close(&world->packed);
    free(world->made);
    cn_scratch_leave(world->scratch);
    free(world);
    return 0;
}

static struct cn_uft_summary *build(const struct world *world)
{
    struct cn_uft_summary *summary;
    struct cn_error err = {0};

    assert_true(cn_uft_summary_build(&summary, world->sources, TASKS, 2, NULL, &err));
    return summary;
}

/* Walk through the records from the start and compare with what the blocks say. */
static void check_task(const struct world *world, const struct cn_uft_summary *summary,
                       uint32_t task)
{
    const struct cn_uft_summary_task *t = &summary->tasks[task];
    const struct cn_uft_summary_block *block = &summary->blocks[t->first_block];
    const struct cn_uft_summary_block *end = block + t->block_count;
    struct cn_bytes rest = world->plain, bytes;
    uint64_t stack[1024], off = 0;
    uint32_t depth = 0, enters = 0, exits = 0, events = 0;
    size_t payload_len;

    assert_true(t->block_count >= 3);
    while (rest.len > 0) {
        struct cn_uft_record record;

        if (block != end && block->off == off) {
            assert_int_equal(block->depth, depth);
            if (depth)
                assert_memory_equal(summary->open + block->first_open, stack, 8 * depth);
            enters = exits = events = 0;
            block++;
        }
        assert_true(cn_bytes_take(&rest, cn_uft_record_size, &bytes));
        assert_true(cn_uft_record_decode(bytes, &record));
        off += cn_uft_record_size;
        assert_in_range(record.time_ns, block[-1].first_ns, block[-1].last_ns);
        switch (record.word & 3) {
        case CN_UFT_ENTRY:
            stack[depth++] = record.word >> CN_UFT_ADDRESS_AT;
            enters++;
            break;
        case CN_UFT_EXIT:
            depth--;
            exits++;
            break;
        default:
            events++;
        }
        assert_true(enters <= block[-1].enter_count && exits <= block[-1].exit_count &&
                    events <= block[-1].event_count);
        if (record.word >> CN_UFT_MORE_AT & 1) {
            assert_true(cn_random_calls_measure(NULL, record, rest, &payload_len));
            assert_true(cn_bytes_take(&rest, payload_len, &bytes));
            off += payload_len;
        }
    }
    assert_ptr_equal(block, end);
    assert_int_equal(enters, block[-1].enter_count);
    assert_int_equal(exits, block[-1].exit_count);
    assert_int_equal(events, block[-1].event_count);
    assert_int_equal(t->sound_len, world->plain.len);
    assert_int_equal(t->damage_count, 0);
}

static void blocks_say_what_the_records_say(void **state)
{
    const struct world *world = *state;
    struct cn_uft_summary *summary = build(world);

    assert_int_equal(summary->task_count, TASKS);
    assert_int_equal(cn_uft_summary_find_task(summary, 10), 0);
    assert_int_equal(cn_uft_summary_find_task(summary, 20), 1);
    assert_int_equal(cn_uft_summary_find_task(summary, 11), CN_NONE);
    check_task(world, summary, 0);
    check_task(world, summary, 1);
    cn_uft_summary_free(summary);
    cn_uft_summary_free(NULL);
}

static void finds_where_to_begin(void **state)
{
    const struct world *world = *state;
    struct cn_uft_summary *summary = build(world);
    struct cn_error err = {0};

    for (uint32_t task = 0; task < TASKS; task++) {
        uint32_t first = summary->tasks[task].first_block;
        const struct cn_uft_summary_block *second = &summary->blocks[first + 1];
        struct cn_uft_record_reader *reader;
        struct cn_uft_record_block block;

        assert_int_equal(cn_uft_summary_find(summary, task, 0), first);
        assert_int_equal(cn_uft_summary_find(summary, task, second->first_ns), first + 1);
        assert_int_equal(cn_uft_summary_find(summary, task, second->last_ns), first + 1);
        assert_int_equal(cn_uft_summary_find(summary, task, UINT64_MAX), CN_NONE);
        reader = cn_uft_record_reader_new(&world->records[task], second->stored_off);
        assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_ITEM);
        assert_int_equal(block.off, second->off);
        assert_int_equal(cn_u64_get(block.bytes.ptr), second->first_ns);
        cn_uft_record_reader_free(reader);
    }
    cn_uft_summary_free(summary);
}

static void assert_same(const struct cn_uft_summary *a, const struct cn_uft_summary *b)
{
    assert_int_equal(a->task_count, b->task_count);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->open_count, b->open_count);
    for (uint32_t i = 0; i < a->block_count; i++) {
        uint8_t x[cn_uft_summary_block_size], y[cn_uft_summary_block_size];

        cn_uft_summary_block_encode(&a->blocks[i], x);
        cn_uft_summary_block_encode(&b->blocks[i], y);
        assert_memory_equal(x, y, sizeof(x));
    }
    assert_memory_equal(a->open, b->open, 8 * a->open_count);
}

/* Let the cache be below the scratch folder. */
static void use_cache(void)
{
    char cache[4096];

    assert_non_null(getcwd(cache, sizeof(cache) - 8));
    strcat(cache, "/a/b");
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
}

static void is_cached_and_not_written_beside_the_records(void **state)
{
    const struct world *world = *state;
    struct cn_uft_summary *built = build(world), *got, *kept;
    struct cn_error err = {0};

    use_cache();
    assert_false(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    assert_true(cn_uft_summary_get(&got, "d", world->sources, TASKS, 1, NULL, &err));
    assert_same(built, got);
    assert_int_equal(cn_scratch_count("d"), 0);
    assert_int_equal(cn_scratch_count("a/b/cairn/summaries"), 1);
    assert_true(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    assert_same(built, kept);
    cn_uft_summary_free(built);
    cn_uft_summary_free(got);
    cn_uft_summary_free(kept);
}

static void does_not_count_for_other_records(void **state)
{
    struct world *world = *state;
    struct cn_uft_summary *summary = build(world), *kept;
    struct cn_error err = {0};

    use_cache();
    assert_true(cn_uft_summary_save(summary, "d", &err));
    cn_uft_summary_free(summary);
    assert_true(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    cn_uft_summary_free(kept);
    world->sources[1].mtime_ns++;
    assert_false(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    world->sources[1].mtime_ns--;
    assert_false(cn_uft_summary_open(&kept, "d", world->sources, 1, &err));
    world->records[0].content.len -= 16;
    assert_false(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    /* It is built again. */
    assert_true(cn_uft_summary_get(&kept, "d", world->sources, TASKS, 0, NULL, &err));
    cn_uft_summary_free(kept);
    assert_true(cn_uft_summary_open(&kept, "d", world->sources, TASKS, &err));
    cn_uft_summary_free(kept);
}

/* `enter` names a cache that cannot be made. */
static void is_built_where_nothing_can_be_cached(void **state)
{
    const struct world *world = *state;
    struct cn_uft_summary *summary;
    struct cn_error err = {0};

    assert_true(cn_uft_summary_get(&summary, "d", world->sources, TASKS, 1, NULL, &err));
    assert_int_equal(cn_scratch_count("d"), 0);
    cn_uft_summary_free(summary);
}

/* The path of the only summary in the cache. */
static void cached_path(char path[static 512])
{
    DIR *dir = opendir("a/b/cairn/summaries");
    const struct dirent *entry = NULL;

    assert_non_null(dir);
    while ((entry = readdir(dir)) && entry->d_name[0] == '.')
        continue;
    assert_non_null(entry);
    (void)snprintf(path, 512, "a/b/cairn/summaries/%s", entry->d_name);
    (void)closedir(dir);
}

static void tells_where_records_are_damaged(void **state)
{
    struct world *world = *state;
    struct cn_uft_summary *summary;
    uint8_t *copy = memcpy(cn_alloc(world->packed.bytes.len, 1), world->packed.bytes.ptr,
                           world->packed.bytes.len);
    uint64_t off;
    struct cn_error err = {0};

    /* The second chunk of the packed one; a torn record at the end of the plain one. */
    summary = build(world);
    off = summary->blocks[summary->tasks[1].first_block + 1].stored_off;
    cn_uft_summary_free(summary);
    copy[off + 1000] ^= 4;
    world->records[0].content.len -= 3;
    assert_true(cn_uft_records_init(
        &world->records[1], "20.zts",
        cn_content_of((struct cn_bytes){copy, world->packed.bytes.len}), false, &err));
    summary = build(world);
    assert_int_equal(summary->tasks[0].damage_count, 1);
    assert_in_range(summary->tasks[0].sound_len, world->plain.len - 40,
                    world->plain.len - 16);
    assert_int_equal(summary->tasks[1].damage_count, 1);
    assert_in_range(summary->tasks[1].sound_len, 16 * 65536, 64 * 65536);
    assert_true(summary->tasks[1].block_count >= 2);
    cn_uft_summary_free(summary);
    free(copy);
}

static void refuses_every_truncation_and_every_flipped_bit(void **state)
{
    struct world *world = *state;
    struct cn_uft_summary *summary;
    struct cn_file file = {0};
    struct cn_error err = {0};
    uint8_t *copy;
    char path[512];

    use_cache();
    world->records[0].content.len = 16 * 100; /* the small task alone is enough */
    assert_true(cn_uft_summary_build(&summary, world->sources, 1, 1, NULL, &err));
    assert_true(cn_uft_summary_save(summary, "d", &err));
    cn_uft_summary_free(summary);
    cached_path(path);
    assert_true(cn_file_open(&file, path, &err));
    for (size_t len = 0; len < file.bytes.len; len++) {
        copy = memcpy(cn_alloc(len + 1, 1), file.bytes.ptr, len);
        assert_false(cn_uft_summary_decode((struct cn_bytes){copy, len}, &summary, &err));
        free(copy);
    }
    copy = memcpy(cn_alloc(file.bytes.len, 1), file.bytes.ptr, file.bytes.len);
    for (size_t bit = 0; bit < 8 * file.bytes.len; bit++) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(cn_uft_summary_decode((struct cn_bytes){copy, file.bytes.len},
                                           &summary, &err));
        /* With the checksum made right the numbers themselves must be safe. */
        if (bit >= 8 * CN_UFT_SUMMARY_CHECKED_OFF) {
            cn_u32_put(copy + 12,
                       cn_crc32((struct cn_bytes){copy + 16, file.bytes.len - 16}));
            if (cn_uft_summary_decode((struct cn_bytes){copy, file.bytes.len}, &summary,
                                      &err)) {
                (void)cn_uft_summary_find(summary, 0, 1);
                cn_uft_summary_free(summary);
            }
            memcpy(copy + 12, file.bytes.ptr + 12, 4);
        }
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(copy);
    cn_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_say_what_the_records_say, enter, leave),
        cmocka_unit_test_setup_teardown(finds_where_to_begin, enter, leave),
        cmocka_unit_test_setup_teardown(is_cached_and_not_written_beside_the_records,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(does_not_count_for_other_records, enter, leave),
        cmocka_unit_test_setup_teardown(is_built_where_nothing_can_be_cached, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(tells_where_records_are_damaged, enter, leave),
        cmocka_unit_test_setup_teardown(refuses_every_truncation_and_every_flipped_bit,
                                        enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
