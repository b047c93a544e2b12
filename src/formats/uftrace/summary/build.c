#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "formats/uftrace/records/reader.h"
#include "formats/uftrace/summary/summary.h"

enum { DEPTH_COUNT = 1 << CN_UFT_DEPTH_BITS };

/* The summary of one task. */
struct task_summary {
    struct cn_uft_summary_task task;
    struct cn_uft_summary_block *blocks;
    size_t block_count, block_capacity;
    uint64_t *open;
    size_t open_count, open_capacity;
};

/* State of the walk through the records of a task. */
struct scan {
    const struct cn_uft_summary_source *source;
    struct task_summary *made;
    uint64_t stack[DEPTH_COUNT]; /* addresses by depth */
    uint32_t depth;              /* of the next entry */
    uint32_t room;               /* records that the current block may still get */
};

struct summary_building {
    const struct cn_uft_summary_source *sources;
    struct task_summary *tasks;
    uint32_t count;
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static void begin_block(struct scan *scan, uint64_t off, uint64_t stored_off)
{
    struct task_summary *made = scan->made;

    CN_PUSH(made->blocks, made->block_count, made->block_capacity,
            (struct cn_uft_summary_block){
                .stored_off = stored_off,
                .off = off,
                .first_ns = UINT64_MAX,
                .first_open = (uint32_t)made->open_count,
                .depth = scan->depth,
            });
    for (uint32_t i = 0; i < scan->depth; i++) {
        CN_PUSH(made->open, made->open_count, made->open_capacity, scan->stack[i]);
    }
    scan->room = CN_UFT_SUMMARY_BLOCK_RECORDS - 1;
}

static void count_record(struct scan *scan, struct cn_uft_summary_block *block,
                         struct cn_uft_record record)
{
    uint64_t type = cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS);
    uint32_t depth = (uint32_t)cn_bits(record.word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS);

    if (type == CN_UFT_LOST) {
        block->loss_count++;
        if (!cn_u64_add(block->lost_count, record.word >> CN_UFT_ADDRESS_AT,
                        &block->lost_count))
            block->lost_count = UINT64_MAX;
        return;
    }
    if (record.time_ns < block->first_ns)
        block->first_ns = record.time_ns;
    if (record.time_ns > block->last_ns)
        block->last_ns = record.time_ns;
    if (type == CN_UFT_EVENT) {
        block->event_count++;
    } else if (type == CN_UFT_EXIT) {
        block->exit_count++;
        scan->depth = depth;
    } else {
        /* Functions at skipped depths are unknown. */
        for (uint32_t i = scan->depth; i < depth; i++)
            scan->stack[i] = 0;
        block->enter_count++;
        scan->stack[depth] = record.word >> CN_UFT_ADDRESS_AT;
        scan->depth = depth + 1 < DEPTH_COUNT ? depth + 1 : depth;
    }
}

/* Decode and measure the first record; false where the records end. */
static bool measure(const struct scan *scan, struct cn_bytes rest,
                    struct cn_uft_record *record, size_t *len)
{
    struct cn_bytes after;
    size_t payload_len;

    if (rest.len < cn_uft_record_size)
        return false;
    *record = cn_uft_record_get(rest, scan->source->records->is_big_endian);
    if (!cn_uft_record_has_magic(*record))
        return false;
    *len = cn_uft_record_size;
    if (!cn_bits(record->word, CN_UFT_MORE_AT, CN_UFT_MORE_BITS))
        return true;
    if (!cn_bytes_from(rest, cn_uft_record_size, &after) ||
        !scan->source->measure(scan->source->arg, *record, after, &payload_len) ||
        payload_len > after.len)
        return false;
    *len += payload_len;
    return true;
}

/* Count the records of a block; returns their length. */
static size_t scan_bytes(struct scan *scan, const struct cn_uft_record_block *bytes)
{
    struct cn_uft_record record;
    struct cn_bytes rest = bytes->bytes;
    size_t used_len = 0, len;

    /* A packed chunk is one block, and contains the functions that are open at its
     * start. */
    if (bytes->open_words) {
        scan->depth = bytes->open_count;
        for (uint32_t i = 0; i < scan->depth; i++)
            scan->stack[i] = bytes->open_words[i] >> CN_UFT_ADDRESS_AT;
        begin_block(scan, bytes->off, bytes->stored_off);
        scan->room = UINT32_MAX;
    }
    while (measure(scan, rest, &record, &len)) {
        if (scan->room-- == 0)
            begin_block(scan, bytes->off + used_len, bytes->stored_off + used_len);
        count_record(scan, &scan->made->blocks[scan->made->block_count - 1], record);
        used_len += len;
        (void)cn_bytes_from(rest, len, &rest);
    }
    return used_len;
}

static void scan_task(struct scan *scan)
{
    struct cn_uft_record_reader *reader =
        cn_uft_record_reader_new(scan->source->records, 0);
    struct cn_uft_record_block block = {0};
    struct cn_error ignored = {0};
    struct cn_uft_summary_task *task = &scan->made->task;
    size_t used_len = 0, left_len = 0;
    enum cn_step step;

    while ((step = cn_uft_record_reader_next(reader, used_len, &block, &ignored)) !=
           CN_END) {
        if (step == CN_FAIL) {
            task->damage_count++;
            used_len = left_len = 0;
            continue;
        }
        used_len = scan_bytes(scan, &block);
        left_len = block.bytes.len - used_len;
        if (task->damage_count == 0)
            task->sound_len = block.off + used_len;
    }
    task->damage_count += left_len > 0;
    cn_uft_record_reader_free(reader);
}

static void run_job(void *arg, size_t job, unsigned worker)
{
    struct summary_building *building = arg;
    const struct cn_uft_summary_source *source = &building->sources[job];
    struct task_summary *made = &building->tasks[job];

    if (cn_failures_stopped(&building->failures, worker))
        return;
    made->task = cn_uft_summary_task_of(source);
    struct scan *scan = cn_alloc(1, sizeof(*scan));
    scan->source = source;
    scan->made = made;
    scan_task(scan);
    free(scan);
}

static void take_job(void *arg, size_t job, unsigned worker)
{
    struct summary_building *building = arg;

    if (cn_failures_share(&building->failures, worker) &&
        !cn_progress_report(building->progress, "summarising", job + 1, building->count,
                            "tasks", cn_failures_error(&building->failures, worker)))
        cn_failures_note(&building->failures, worker, job);
}

static struct cn_uft_summary *join_tasks(const struct summary_building *building)
{
    struct cn_uft_summary *summary = cn_alloc(1, sizeof(*summary));
    size_t block_count = 0, open_count = 0;

    for (uint32_t i = 0; i < building->count; i++) {
        block_count += building->tasks[i].block_count;
        open_count += building->tasks[i].open_count;
    }
    summary->tasks = cn_alloc(building->count, sizeof(*summary->tasks));
    summary->blocks = cn_alloc(block_count, sizeof(*summary->blocks));
    summary->open = cn_alloc(open_count, sizeof(*summary->open));
    for (uint32_t i = 0; i < building->count; i++) {
        struct task_summary *made = &building->tasks[i];

        made->task.first_block = summary->block_count;
        made->task.block_count = (uint32_t)made->block_count;
        summary->tasks[summary->task_count++] = made->task;
        for (size_t b = 0; b < made->block_count; b++) {
            made->blocks[b].first_open += (uint32_t)summary->open_count;
            summary->blocks[summary->block_count++] = made->blocks[b];
        }
        if (made->open_count)
            memcpy(summary->open + summary->open_count, made->open,
                   made->open_count * sizeof(*made->open));
        summary->open_count += made->open_count;
    }
    return summary;
}

bool cn_uft_summary_build(struct cn_uft_summary **out,
                          const struct cn_uft_summary_source *sources, uint32_t count,
                          unsigned workers, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct summary_building building = {
        .sources = sources,
        .tasks = cn_alloc(count, sizeof(*building.tasks)),
        .count = count,
        .progress = progress,
    };
    struct cn_jobs jobs = {
        .count = count, .arg = &building, .run = run_job, .take = take_job};
    unsigned threads = workers ? workers : cn_pool_default_workers();

    cn_failures_init(&building.failures, threads);
    cn_pool_run(&jobs, threads);
    bool ok = cn_failures_result(&building.failures, err);
    cn_failures_done(&building.failures);
    if (ok)
        *out = join_tasks(&building);
    for (uint32_t i = 0; i < count; i++) {
        free(building.tasks[i].blocks);
        free(building.tasks[i].open);
    }
    free(building.tasks);
    return ok;
}
