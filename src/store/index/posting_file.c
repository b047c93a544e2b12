#include "store/index/posting_file.h"

#include "base/text.h"
#include "store/index/posting_encoder.h"
#include "store/index/posting_merge.h"

enum { SECTION_LISTS = 1, SECTION_ENTRIES = 2, SECTION_SAMPLES = 3, SECTION_COUNTS = 4 };
enum { COUNTS_LEN = 8, LISTS_WAITING = 1 << 18 };

static bool open_parts(struct cn_posting_file *file, uint32_t version,
                       struct cn_error *err)
{
    struct cn_posting_block block = {.file = &file->file,
                                     .is_own = version > CN_POSTING_FILE_NESTED};
    struct cn_bytes counts;

    if (!cn_block_file_section(&file->file, SECTION_LISTS, &block.lists, err) ||
        !cn_block_file_section(&file->file, SECTION_ENTRIES, &block.entries, err) ||
        !cn_block_file_section(&file->file, SECTION_SAMPLES, &block.samples, err) ||
        !cn_block_file_section(&file->file, SECTION_COUNTS, &counts, err) ||
        !cn_block_file_check(&file->file, counts, err))
        return false;
    if (counts.len < COUNTS_LEN)
        return cn_fail(err, CN_ERR_FORMAT, "the number of rows is missing");
    block.row_count = cn_u32_get(counts.ptr);
    block.key_count = cn_u32_get(counts.ptr + sizeof(uint32_t));
    file->block = block;
    return true;
}

bool cn_posting_file_open(struct cn_posting_file *file, struct cn_file_source *source,
                          const char *dir, struct cn_error *err)
{
    uint32_t version = CN_POSTING_FILE_VERSION + 1;
    bool ok = false;

    *file = (struct cn_posting_file){0};
    do {
        ok = cn_block_file_open(&file->file, source, dir, CN_POSTING_FILE_NAME,
                                CN_POSTING_FILE_MAGIC, --version, err);
    } while (!ok && err->kind == CN_ERR_VERSION && version > CN_POSTING_FILE_NESTED);
    if (!ok)
        return false;
    if (!open_parts(file, version, err)) {
        cn_posting_file_close(file);
        return cn_fail_in(err, "%s/" CN_POSTING_FILE_NAME, dir);
    }
    return true;
}

void cn_posting_file_close(struct cn_posting_file *file)
{
    cn_block_file_close(&file->file);
    *file = (struct cn_posting_file){0};
}

static bool write_lists(void *arg, struct cn_text *lists, struct cn_error *err)
{
    if (lists->len < LISTS_WAITING)
        return true;
    bool ok = cn_block_writer_add(arg, lists->chars, lists->len, err);
    cn_text_clear(lists);
    return ok;
}

static bool write_merged(struct cn_block_writer *writer,
                         const struct cn_posting_block *blocks, size_t block_count,
                         struct cn_posting_encoder *encoder, struct cn_error *err)
{
    struct cn_text lists = {0};
    uint8_t counts[COUNTS_LEN];
    bool ok = cn_block_writer_section(writer, SECTION_LISTS, err) &&
              cn_posting_merge(blocks, block_count, 0, encoder, &lists, write_lists,
                               writer, err) &&
              cn_block_writer_add(writer, cn_text_str(&lists), lists.len, err);

    cn_text_done(&lists);
    cn_u32_put(counts, encoder->row_count);
    cn_u32_put(counts + sizeof(uint32_t), encoder->key_count);
    return ok && cn_block_writer_section(writer, SECTION_ENTRIES, err) &&
           cn_block_writer_add(writer, cn_text_str(&encoder->entries),
                               encoder->entries.len, err) &&
           cn_block_writer_section(writer, SECTION_SAMPLES, err) &&
           cn_block_writer_add(writer, cn_text_str(&encoder->samples),
                               encoder->samples.len, err) &&
           cn_block_writer_section(writer, SECTION_COUNTS, err) &&
           cn_block_writer_add(writer, counts, sizeof(counts), err) &&
           cn_block_writer_commit(writer, err);
}

bool cn_posting_file_write(const struct cn_disk *disk, const char *dir,
                           const struct cn_posting_block *blocks, size_t block_count,
                           uint32_t row_count, unsigned version, struct cn_error *err)
{
    struct cn_block_writer writer = {0};
    struct cn_posting_encoder encoder;
    bool is_own = true, ok;

    for (size_t i = 0; i < block_count; i++)
        is_own = is_own && blocks[i].is_own;
    cn_posting_encoder_init(&encoder, row_count);
    encoder.has_steps = is_own && version > CN_POSTING_FILE_VARINTS;
    ok = cn_block_writer_open(&writer, disk, dir, CN_POSTING_FILE_NAME,
                              CN_POSTING_FILE_MAGIC,
                              is_own ? version : CN_POSTING_FILE_NESTED, err) &&
         write_merged(&writer, blocks, block_count, &encoder, err);
    cn_block_writer_abandon(&writer);
    cn_posting_encoder_done(&encoder);
    return ok;
}
