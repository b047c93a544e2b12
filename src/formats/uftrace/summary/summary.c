#include "formats/uftrace/summary/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "base/search.h"
#include "model/contexts/context.h"

void cn_uft_summary_free(struct cn_uft_summary *summary)
{
    if (!summary)
        return;
    free(summary->tasks);
    free(summary->blocks);
    free(summary->open);
    free(summary);
}

/* The three arrays after the header. */
struct arrays {
    struct cn_bytes tasks, blocks, open;
};

static bool split_arrays(const struct cn_uft_summary_header *head, struct cn_bytes bytes,
                         struct arrays *out)
{
    uint64_t blocks_off, open_off, open_len;
    uint64_t tasks_len = (uint64_t)head->task_count * cn_uft_summary_task_size;
    uint64_t blocks_len = (uint64_t)head->block_count * cn_uft_summary_block_size;

    blocks_off = cn_uft_summary_header_size + tasks_len;
    open_off = blocks_off + blocks_len;
    return cn_u64_mul(head->open_count, sizeof(uint64_t), &open_len) &&
           cn_bytes_slice(bytes, cn_uft_summary_header_size, tasks_len, &out->tasks) &&
           cn_bytes_slice(bytes, blocks_off, blocks_len, &out->blocks) &&
           cn_bytes_slice(bytes, open_off, open_len, &out->open) &&
           open_off + open_len == bytes.len;
}

static bool check_header(struct cn_bytes bytes, struct cn_uft_summary_header *head,
                         struct cn_error *err)
{
    struct cn_bytes checked;

    if (!cn_uft_summary_header_decode(bytes, head) || head->magic != CN_UFT_SUMMARY_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a summary: it does not begin with "
                       "CAIRNSUM");
    if (head->version != CN_UFT_SUMMARY_VERSION)
        return cn_fail(err, CN_ERR_VERSION,
                       "summary of version %u is not supported; supported is %d",
                       head->version, CN_UFT_SUMMARY_VERSION);
    (void)cn_bytes_from(bytes, CN_UFT_SUMMARY_CHECKED_OFF, &checked);
    uint32_t checksum = cn_crc32(checked);
    if (checksum != head->checksum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "summary: checksum is 0x%08x instead of 0x%08x", checksum,
                       head->checksum);
    return true;
}

static bool decode_tasks(struct cn_uft_summary *summary, struct cn_bytes tasks,
                         struct cn_error *err)
{
    for (uint32_t i = 0; i < summary->task_count; i++) {
        struct cn_uft_summary_task *task = &summary->tasks[i];

        (void)cn_uft_summary_task_decode(
            cn_bytes_element(tasks, i, cn_uft_summary_task_size), task);
        if (task->first_block > summary->block_count ||
            task->block_count > summary->block_count - task->first_block)
            return cn_fail(err, CN_ERR_FORMAT,
                           "summary: task %u has blocks %u to %u of %u", task->tid,
                           task->first_block, task->first_block + task->block_count,
                           summary->block_count);
        if (i > 0 && task[-1].tid >= task->tid)
            return cn_fail(err, CN_ERR_FORMAT, "summary: task %u after task %u",
                           task->tid, task[-1].tid);
    }
    return true;
}

static bool decode_blocks(struct cn_uft_summary *summary, struct cn_bytes blocks,
                          struct cn_error *err)
{
    for (uint32_t i = 0; i < summary->block_count; i++) {
        struct cn_uft_summary_block *block = &summary->blocks[i];

        (void)cn_uft_summary_block_decode(
            cn_bytes_element(blocks, i, cn_uft_summary_block_size), block);
        if (block->first_open > summary->open_count ||
            block->depth > summary->open_count - block->first_open)
            return cn_fail(err, CN_ERR_FORMAT,
                           "summary: block %u has %u open functions at %u of %" PRIu64, i,
                           block->depth, block->first_open, summary->open_count);
    }
    return true;
}

bool cn_uft_summary_decode(struct cn_bytes bytes, struct cn_uft_summary **out,
                           struct cn_error *err)
{
    struct cn_uft_summary_header head;
    struct arrays arrays;

    if (!check_header(bytes, &head, err))
        return false;
    if (!split_arrays(&head, bytes, &arrays))
        return cn_fail(err, CN_ERR_FORMAT,
                       "summary of %zu bytes does not contain %u tasks and %u blocks",
                       bytes.len, head.task_count, head.block_count);
    struct cn_uft_summary *summary = cn_alloc(1, sizeof(*summary));
    summary->task_count = head.task_count;
    summary->block_count = head.block_count;
    summary->open_count = head.open_count;
    summary->tasks = cn_alloc(head.task_count, sizeof(*summary->tasks));
    summary->blocks = cn_alloc(head.block_count, sizeof(*summary->blocks));
    summary->open = cn_alloc((size_t)head.open_count, sizeof(*summary->open));
    for (uint64_t i = 0; i < head.open_count; i++)
        summary->open[i] = cn_u64_get(cn_bytes_element(arrays.open, i, 8).ptr);
    if (!decode_tasks(summary, arrays.tasks, err) ||
        !decode_blocks(summary, arrays.blocks, err)) {
        cn_uft_summary_free(summary);
        return false;
    }
    *out = summary;
    return true;
}

uint32_t cn_uft_summary_find_task(const struct cn_uft_summary *summary, uint32_t tid)
{
    size_t after = 0;

    if (summary->task_count > 0)
        after = cn_search_u32(&summary->tasks->tid, summary->task_count,
                              sizeof(*summary->tasks), tid);
    return after > 0 && summary->tasks[after - 1].tid == tid ? (uint32_t)after - 1
                                                             : CN_NONE;
}

/* Linear: records need not be in the order of time, and a block is a megabyte of them. */
uint32_t cn_uft_summary_find(const struct cn_uft_summary *summary, uint32_t task,
                             uint64_t time_ns)
{
    const struct cn_uft_summary_task *t = &summary->tasks[task];

    for (uint32_t i = 0; i < t->block_count; i++)
        if (summary->blocks[t->first_block + i].last_ns >= time_ns)
            return t->first_block + i;
    return CN_NONE;
}
