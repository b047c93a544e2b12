#include "store/segment/posting_log.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "store/index/posting_encoder.h"
#include "store/index/posting_merge.h"

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

/* Write one block with the rows of all recent ones. */
static bool join_recent(struct cn_posting_log *log, struct cn_error *err)
{
    struct cn_bytes rest = {(const uint8_t *)cn_text_str(&log->recent), log->recent.len};
    struct cn_posting_block blocks[CN_POSTING_LOG_JOINED];
    struct cn_posting_encoder encoder;
    uint32_t row_count = 0;
    bool ok = true;

    for (unsigned i = 0; ok && i < log->recent_count; i++) {
        ok = cn_posting_block_take(&rest, &blocks[i], err);
        row_count += ok ? blocks[i].row_count : 0;
    }
    if (!ok)
        return false;
    cn_text_clear(&log->block);
    size_t begin = cn_posting_block_begin(&log->block);
    cn_posting_encoder_init(&encoder, row_count);
    ok = cn_posting_merge(blocks, log->recent_count, blocks[0].first_row, &encoder,
                          &log->block, NULL, NULL, err);
    if (ok)
        cn_posting_block_end(&encoder, blocks[0].first_row, &log->block, begin);
    cn_posting_encoder_done(&encoder);
    cn_text_clear(&log->recent);
    log->recent_count = 0;
    return ok && write_block(log, err);
}

static bool flush(struct cn_posting_log *log, struct cn_error *err)
{
    struct cn_postings *postings = &log->postings;

    if (postings->row_count == 0)
        return true;
    cn_text_clear(&log->block);
    cn_postings_encode(postings, &log->block);
    cn_postings_begin(postings, postings->first_row + postings->row_count);
    cn_text_add(&log->recent, cn_text_str(&log->block), log->block.len);
    log->recent_count++;
    return write_block(log, err) &&
           (log->recent_count < CN_POSTING_LOG_JOINED || join_recent(log, err));
}

bool cn_posting_log_add(struct cn_posting_log *log, uint32_t row,
                        const struct cn_trace *trace, uint32_t node,
                        struct cn_posting_words *words, struct cn_error *err)
{
    cn_postings_add_trace(&log->postings, row, trace, node, words);
    return !cn_postings_is_full(&log->postings) || flush(log, err);
}

bool cn_posting_log_close(struct cn_posting_log *log, struct cn_error *err)
{
    bool ok = flush(log, err);

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
    cn_text_done(&log->recent);
    *log = (struct cn_posting_log){0};
}
