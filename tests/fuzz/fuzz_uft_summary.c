/* Any bytes as the summary of a recording, with its checksum as it is and made right: blocks and
 * open functions that it names are there. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "formats/uftrace/summary/summary.h"
#include "model/contexts/context.h"
#include "support/fuzz.h"

enum { CHECKSUM_OFF = 12 };

static void look(const struct cn_uft_summary *summary,
                 const struct cn_uft_summary_task *task)
{
    uint32_t number = cn_uft_summary_find_task(summary, task->tid);
    uint32_t block;

    assert(number != CN_NONE && &summary->tasks[number] == task);
    block = cn_uft_summary_find(summary, number, task->mtime_ns);
    if (block == CN_NONE)
        return;
    assert(block < summary->block_count);
    assert(summary->blocks[block].depth <= summary->open_count);
}

static void decode(struct cn_bytes bytes)
{
    struct cn_uft_summary *summary;
    struct cn_error err = {0};

    if (!cn_uft_summary_decode(bytes, &summary, &err)) {
        assert(err.text[0] != '\0');
        return;
    }
    for (uint32_t i = 0; i < summary->task_count; i++)
        look(summary, &summary->tasks[i]);
    cn_uft_summary_free(summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *copy;

    decode((struct cn_bytes){data, len});
    if (len < cn_uft_summary_header_size)
        return 0;
    copy = memcpy(cn_alloc(len, 1), data, len);
    cn_u32_put(copy + CHECKSUM_OFF,
               cn_crc32((struct cn_bytes){copy + CN_UFT_SUMMARY_CHECKED_OFF,
                                          len - CN_UFT_SUMMARY_CHECKED_OFF}));
    decode((struct cn_bytes){copy, len});
    free(copy);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    enum { TASKS = 2, BLOCKS = 3, OPEN = 2 };
    enum {
        BLOCKS_OFF = cn_uft_summary_header_size + TASKS * cn_uft_summary_task_size,
        OPEN_OFF = BLOCKS_OFF + BLOCKS * cn_uft_summary_block_size,
    };
    struct cn_uft_summary_header head = {.magic = CN_UFT_SUMMARY_MAGIC,
                                         .version = CN_UFT_SUMMARY_VERSION,
                                         .task_count = TASKS,
                                         .block_count = BLOCKS,
                                         .open_count = OPEN};
    uint8_t file[OPEN_OFF + OPEN * sizeof(uint64_t)] = {0};

    cn_uft_summary_header_encode(&head, file);
    for (uint32_t i = 0; i < TASKS; i++)
        cn_uft_summary_task_encode(
            &(struct cn_uft_summary_task){
                .tid = 7 + i, .mtime_ns = 25, .first_block = i, .block_count = 1 + i},
            file + cn_uft_summary_header_size + i * cn_uft_summary_task_size);
    for (uint32_t i = 0; i < BLOCKS; i++)
        cn_uft_summary_block_encode(
            &(struct cn_uft_summary_block){.off = UINT64_C(1024) * i,
                                           .first_ns = 10 * i,
                                           .last_ns = 10 * i + 9,
                                           .first_open = i % 2,
                                           .depth = 1},
            file + BLOCKS_OFF + i * cn_uft_summary_block_size);
    emit(file, sizeof(file));
}
