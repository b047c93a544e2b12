#include "store/segment/posting_log.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"

struct cn_posting_block *cn_posting_log_read(struct cn_bytes log, uint32_t row_count,
                                             size_t *count, uint64_t *len)
{
    struct cn_posting_block *blocks = NULL, block;
    struct cn_bytes rest = log;
    struct cn_error ignored = {0};
    size_t capacity = 0;
    uint32_t next_row = 0;

    *count = 0;
    *len = 0;
    while (rest.len > 0 && cn_posting_block_take(&rest, &block, &ignored)) {
        uint32_t end = block.first_row + block.row_count;

        if (end < next_row || end > row_count)
            break;
        while (*count > 0 && blocks[*count - 1].first_row >= block.first_row)
            --*count;
        if (*count > 0 &&
            block.first_row < blocks[*count - 1].first_row + blocks[*count - 1].row_count)
            break;
        next_row = end;
        CN_PUSH(blocks, *count, capacity, block);
        *len = log.len - rest.len;
    }
    return blocks;
}

static bool cut_to_sound(struct cn_posting_log *log, uint32_t row_count,
                         struct cn_error *err)
{
    struct cn_file file = {0};
    size_t count;
    uint64_t len;

    if (!cn_file_open(&file, log->path, err))
        return false;
    struct cn_posting_block *blocks =
        cn_posting_log_read(file.bytes, row_count, &count, &len);
    free(blocks);
    cn_file_close(&file);
    log->len = len;
    return log->disk->truncate(log->disk->arg, log->fd, len, err) ||
           cn_fail_in(err, "%s", log->path);
}

bool cn_posting_log_open(struct cn_posting_log *log, const struct cn_disk *disk,
                         const char *dir, uint32_t row_count, struct cn_error *err)
{
    int fd;
    char *path = cn_strprintf("%s/" CN_POSTING_LOG_NAME, dir);

    if (!disk->open(disk->arg, path, &fd, err)) {
        free(path);
        return false;
    }
    *log = (struct cn_posting_log){.disk = disk, .fd = fd, .path = path};
    if (!cut_to_sound(log, row_count, err)) {
        cn_posting_log_abandon(log);
        return false;
    }
    cn_postings_begin(&log->postings, row_count);
    log->written_rows = row_count;
    return true;
}

static bool write_block(struct cn_posting_log *log, struct cn_error *err)
{
    if (!log->disk->write(log->disk->arg, log->fd, log->len, cn_text_str(&log->block),
                          log->block.len, err))
        return cn_fail_in(err, "%s", log->path);
    log->len += log->block.len;
    return true;
}

/* Write the rows from `first_row` on. */
static bool write_rows(struct cn_posting_log *log, uint32_t first_row,
                       struct cn_error *err)
{
    cn_text_clear(&log->block);
    cn_postings_encode(&log->postings, first_row, &log->block);
    log->written_rows = log->postings.first_row + log->postings.row_count;
    return write_block(log, err);
}

bool cn_posting_log_add(struct cn_posting_log *log, uint32_t row,
                        const struct cn_trace *trace, uint32_t node,
                        struct cn_posting_words *words, struct cn_error *err)
{
    struct cn_postings *postings = &log->postings;

    cn_postings_add_trace(postings, row, trace, node, words);
    if (!cn_postings_is_full(postings))
        return true;
    bool ok = write_rows(log, postings->first_row, err);
    cn_postings_begin(postings, log->written_rows);
    return ok;
}

/* Write the rows that are in no block, if there are as many. */
static bool write_rest(struct cn_posting_log *log, uint32_t least, struct cn_error *err)
{
    uint32_t end = log->postings.first_row + log->postings.row_count;

    return end - log->written_rows < least || write_rows(log, log->written_rows, err);
}

bool cn_posting_log_commit(struct cn_posting_log *log, struct cn_error *err)
{
    return write_rest(log, CN_POSTING_LOG_ROWS, err);
}

bool cn_posting_log_close(struct cn_posting_log *log, struct cn_error *err)
{
    bool ok = write_rest(log, 1, err);

    cn_posting_log_abandon(log);
    return ok;
}

void cn_posting_log_abandon(struct cn_posting_log *log)
{
    if (log->disk)
        (void)log->disk->close(log->disk->arg, log->fd);
    free(log->path);
    cn_postings_done(&log->postings);
    cn_text_done(&log->block);
    *log = (struct cn_posting_log){0};
}
