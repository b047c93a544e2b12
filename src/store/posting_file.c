#include "store/posting_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/posting_encoder.h"

enum { SECTION_LISTS = 1, SECTION_ENTRIES = 2, SECTION_SAMPLES = 3, SECTION_COUNTS = 4 };
enum { COUNTS_LEN = 8, LISTS_WAITING = 1 << 18 };

static bool open_parts(struct cn_posting_file *file, struct cn_error *err)
{
    struct cn_posting_block block = {.file = &file->file};
    struct cn_bytes counts;

    if (!cn_block_file_section(&file->file, SECTION_LISTS, &block.lists, err) ||
        !cn_block_file_section(&file->file, SECTION_ENTRIES, &block.entries, err) ||
        !cn_block_file_section(&file->file, SECTION_SAMPLES, &block.samples, err) ||
        !cn_block_file_section(&file->file, SECTION_COUNTS, &counts, err) ||
        !cn_block_file_check(&file->file, counts, err))
        return false;
    if (counts.len < COUNTS_LEN)
        return cn_fail(err, CN_ERR_FORMAT, "number of rows is missing");
    block.row_count = cn_u32_get(counts.ptr);
    block.key_count = cn_u32_get(counts.ptr + sizeof(uint32_t));
    file->block = block;
    return true;
}

bool cn_posting_file_open(struct cn_posting_file *file, const char *dir,
                          struct cn_error *err)
{
    char path[PATH_MAX];

    *file = (struct cn_posting_file){0};
    if (snprintf(path, sizeof(path), "%s/" CN_POSTING_FILE_NAME, dir) >=
        (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s: path too long", dir);
    if (!cn_block_file_open(&file->file, path, CN_POSTING_FILE_MAGIC,
                            CN_POSTING_FILE_VERSION, err))
        return false;
    if (!open_parts(file, err)) {
        cn_posting_file_close(file);
        return cn_fail_in(err, "%s", path);
    }
    return true;
}

void cn_posting_file_close(struct cn_posting_file *file)
{
    cn_block_file_close(&file->file);
    *file = (struct cn_posting_file){0};
}

/* A block on its way through the merge. */
struct source {
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    size_t number; /* blocks with the same key go in the order of their rows */
};

struct merge {
    struct source *sources;
    size_t *heap; /* the source with the lowest key first */
    size_t count;
    struct cn_posting_encoder encoder;
    struct cn_text lists;
    uint32_t *rows;
    uint32_t row_count;
    struct cn_block_writer writer;
};

static bool is_before(const struct merge *merge, size_t a, size_t b)
{
    const struct source *x = &merge->sources[a], *y = &merge->sources[b];

    return x->entry.key != y->entry.key ? x->entry.key < y->entry.key
                                        : x->number < y->number;
}

static void sink(struct merge *merge, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1, source = merge->heap[at];

        if (child >= merge->count)
            return;
        if (child + 1 < merge->count &&
            is_before(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!is_before(merge, merge->heap[child], source))
            return;
        merge->heap[at] = merge->heap[child];
        merge->heap[child] = source;
        at = child;
    }
}

static bool begin(struct merge *merge, const struct cn_posting_block *blocks,
                  size_t block_count, struct cn_error *err)
{
    for (size_t i = 0; i < block_count; i++) {
        struct source *source = &merge->sources[i];
        enum cn_step step;

        source->number = i;
        if (!cn_posting_walk_begin(&source->walk, &blocks[i], 0, err))
            return false;
        step = cn_posting_walk_next(&source->walk, &source->entry, err);
        if (step == CN_FAIL)
            return false;
        if (step == CN_ITEM)
            merge->heap[merge->count++] = i;
    }
    for (size_t i = merge->count / 2; i-- > 0;)
        sink(merge, i);
    return true;
}

static void take_row(void *arg, uint32_t row)
{
    struct merge *merge = arg;

    merge->rows[merge->row_count++] = row;
}

/* The lowest key, with the rows of all blocks that have it. */
static bool merge_key(struct merge *merge, struct cn_error *err)
{
    cn_posting_key key = merge->sources[merge->heap[0]].entry.key;

    merge->row_count = 0;
    while (merge->count > 0 && merge->sources[merge->heap[0]].entry.key == key) {
        struct source *source = &merge->sources[merge->heap[0]];
        enum cn_step step;

        if (!cn_posting_rows_walk(source->walk.block, &source->entry, take_row, merge,
                                  err))
            return false;
        step = cn_posting_walk_next(&source->walk, &source->entry, err);
        if (step == CN_FAIL)
            return false;
        if (step == CN_END)
            merge->heap[0] = merge->heap[--merge->count];
        sink(merge, 0);
    }
    cn_posting_encoder_add(&merge->encoder, key, merge->rows, merge->row_count,
                           &merge->lists);
    return true;
}

static bool write_lists(struct merge *merge, struct cn_error *err)
{
    bool ok = cn_block_writer_add(&merge->writer, cn_text_str(&merge->lists),
                                  merge->lists.len, err);

    cn_text_clear(&merge->lists);
    return ok;
}

static bool write_merged(struct merge *merge, struct cn_error *err)
{
    const struct cn_posting_encoder *encoder = &merge->encoder;
    struct cn_block_writer *writer = &merge->writer;
    uint8_t counts[COUNTS_LEN];

    if (!cn_block_writer_section(writer, SECTION_LISTS, err))
        return false;
    while (merge->count > 0) {
        if (!merge_key(merge, err) ||
            (merge->lists.len > LISTS_WAITING && !write_lists(merge, err)))
            return false;
    }
    cn_u32_put(counts, encoder->row_count);
    cn_u32_put(counts + sizeof(uint32_t), encoder->key_count);
    return write_lists(merge, err) &&
           cn_block_writer_section(writer, SECTION_ENTRIES, err) &&
           cn_block_writer_add(writer, cn_text_str(&encoder->entries),
                               encoder->entries.len, err) &&
           cn_block_writer_section(writer, SECTION_SAMPLES, err) &&
           cn_block_writer_add(writer, cn_text_str(&encoder->samples),
                               encoder->samples.len, err) &&
           cn_block_writer_section(writer, SECTION_COUNTS, err) &&
           cn_block_writer_add(writer, counts, sizeof(counts), err) &&
           cn_block_writer_commit(writer, err);
}

bool cn_posting_file_write(const char *dir, const struct cn_posting_block *blocks,
                           size_t block_count, uint32_t row_count, struct cn_error *err)
{
    struct merge merge = {0};
    char path[PATH_MAX];
    bool ok;

    if (snprintf(path, sizeof(path), "%s/" CN_POSTING_FILE_NAME, dir) >=
        (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s: path too long", dir);
    merge.sources = cn_alloc(block_count, sizeof(*merge.sources));
    merge.heap = cn_alloc(block_count, sizeof(*merge.heap));
    merge.rows = cn_alloc(row_count, sizeof(*merge.rows));
    cn_posting_encoder_init(&merge.encoder, row_count);
    ok = cn_block_writer_open(&merge.writer, path, CN_POSTING_FILE_MAGIC,
                              CN_POSTING_FILE_VERSION, err) &&
         begin(&merge, blocks, block_count, err) && write_merged(&merge, err);
    cn_block_writer_abandon(&merge.writer);
    cn_posting_encoder_done(&merge.encoder);
    cn_text_done(&merge.lists);
    free(merge.sources);
    free(merge.heap);
    free(merge.rows);
    return ok;
}
