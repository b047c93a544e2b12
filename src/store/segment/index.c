#include "store/segment/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/traces/trace.h"
#include "store/index/posting_trace.h"
#include "store/segment/posting_log.h"
#include "store/segment/reader.h"
#include "store/segment/segment.h"

/* Builds postings of rows without a block, and appends them as blocks to index->built. */
struct index_builder {
    struct cn_store_index *index;
    struct cn_segment_loader *loader;
    struct cn_trace trace;
    struct cn_postings postings;
    struct cn_posting_words words;
    const struct cn_rows *only; /* rows that have keys; NULL: all */
    size_t *offs;               /* of the blocks in index->built */
    size_t count, capacity;
};

static void end_block(struct index_builder *builder, uint32_t next_row)
{
    if (builder->postings.row_count > 0) {
        CN_PUSH(builder->offs, builder->count, builder->capacity,
                builder->index->built.len);
        cn_postings_encode(&builder->postings, builder->postings.first_row,
                           &builder->index->built);
    }
    cn_postings_begin(&builder->postings, next_row);
}

/* A later part whose first part is in another segment is not damaged. */
static void note_unread(struct cn_store_index *index, const struct cn_error *err)
{
    if (err->kind == CN_ERR_NOT_FOUND)
        return;
    if (index->unread_count++ == 0)
        index->unread = *err;
}

/* A row whose trace cannot be read has no keys. */
static void build_row(struct index_builder *builder, uint32_t row)
{
    struct cn_error err = {0};

    if (builder->only && !cn_rows_has(builder->only, row)) {
        cn_postings_end_row(&builder->postings);
        return;
    }
    cn_trace_clear(&builder->trace);
    bool is_loaded = cn_segment_load(builder->loader, builder->index->segment, row,
                                     &builder->trace, &err);
    if (!is_loaded)
        note_unread(builder->index, &err);
    if (is_loaded && builder->trace.node_count > 0)
        cn_postings_add_trace(&builder->postings, row, &builder->trace, 0,
                              &builder->words);
    else
        cn_postings_end_row(&builder->postings);
    builder->index->built_count++;
}

static void build_rows(struct index_builder *builder, uint32_t first, uint32_t end)
{
    cn_postings_begin(&builder->postings, first);
    for (uint32_t row = first; row < end; row++) {
        build_row(builder, row);
        if (cn_postings_is_full(&builder->postings))
            end_block(builder, row + 1);
    }
    end_block(builder, end);
}

/* Add the built blocks to those of the index. */
static bool take_built(struct index_builder *builder, struct cn_error *err)
{
    struct cn_store_index *index = builder->index;
    struct cn_bytes built = {(const uint8_t *)cn_text_str(&index->built),
                             index->built.len};

    index->blocks = cn_realloc(index->blocks, index->block_count + builder->count,
                               sizeof(*index->blocks));
    for (size_t i = 0; i < builder->count; i++) {
        struct cn_bytes rest;

        if (!cn_bytes_from(built, builder->offs[i], &rest) ||
            !cn_posting_block_take(&rest, &index->blocks[index->block_count], err))
            return false;
        index->block_count++;
    }
    CN_SORT(index->blocks, index->block_count, CN_UP(struct cn_posting_block, first_row));
    return true;
}

/* Build the postings of all rows without a block, or of `only` some of them. */
static bool build_missing(struct cn_store_index *index, const struct cn_rows *only,
                          struct cn_error *err)
{
    struct index_builder builder = {
        .index = index,
        .loader = cn_segment_loader_new(),
        .words = {.extra = &index->extra},
        .only = only,
    };
    uint32_t row_count = index->columns->row_count, next = 0;

    if (index->block_count == 1 && index->blocks[0].row_count == row_count) {
        cn_segment_loader_free(builder.loader);
        return true;
    }
    builder.words.words = cn_segment_words(index->segment);

    for (size_t i = 0; i < index->block_count; i++) {
        build_rows(&builder, next, index->blocks[i].first_row);
        next = index->blocks[i].first_row + index->blocks[i].row_count;
    }
    build_rows(&builder, next, row_count);
    bool ok = builder.count == 0 || take_built(&builder, err);
    cn_segment_loader_free(builder.loader);
    cn_trace_done(&builder.trace);
    cn_postings_done(&builder.postings);
    cn_posting_words_done(&builder.words);
    free(builder.offs);
    return ok;
}

/* Use post.dat if it is sound and covers every row. */
static bool open_sealed(struct cn_store_index *index)
{
    struct cn_error ignored = {0};

    if (!cn_segment_is_sealed(index->segment) ||
        !cn_posting_file_open(&index->file, cn_segment_source(index->segment),
                              cn_segment_path(index->segment), &ignored))
        return false;
    if (index->file.block.row_count != index->columns->row_count) {
        cn_posting_file_close(&index->file);
        return false;
    }
    index->blocks = cn_alloc(1, sizeof(*index->blocks));
    index->blocks[0] = index->file.block;
    index->block_count = 1;
    return true;
}

static void open_log(struct cn_store_index *index)
{
    struct cn_error ignored = {0};
    uint64_t len;

    if (cn_file_open_at(&index->log, cn_segment_path(index->segment), CN_POSTING_LOG_NAME,
                        &ignored))
        index->blocks = cn_posting_log_read(index->log.bytes, index->segment->logged_rows,
                                            &index->block_count, &len);
}

static void open_postings(void *arg)
{
    struct cn_store_index *index = arg;
    const struct cn_segment *segment = index->segment;

    if (!index->uses_file || !open_sealed(index))
        open_log(index);
    index->has_postings =
        (!segment->remote || segment->remote->check(segment->remote, &index->failure)) &&
        build_missing(index, NULL, &index->failure);
}

bool cn_store_index_postings(const struct cn_store_index *index, struct cn_error *err)
{
    struct cn_store_index *opened = (struct cn_store_index *)(uintptr_t)index;

    cn_once_run(&opened->postings_once, open_postings, opened);
    if (index->has_postings)
        return true;
    *err = index->failure;
    return false;
}

static bool open_index(struct cn_store_index *index, const struct cn_segment *segment,
                       bool uses_file, struct cn_error *err)
{
    *index = (struct cn_store_index){
        .segment = segment,
        .columns = cn_segment_columns(segment),
        .uses_file = uses_file,
    };
    cn_once_init(&index->postings_once);
    cn_columns_range(index->columns, CN_STORE_FIELD_time_ns, &index->first_ns,
                     &index->last_ns);
    if (!(segment->remote ? segment->remote->check(segment->remote, err)
                          : cn_store_index_postings(index, err)) ||
        !cn_joined_open(&index->joined, index->columns, err)) {
        cn_store_index_close(index);
        return cn_fail_in(err, "%s", cn_segment_path(segment));
    }
    return true;
}

bool cn_store_index_open(struct cn_store_index *index, const struct cn_segment *segment,
                         struct cn_error *err)
{
    return open_index(index, segment, true, err);
}

bool cn_store_index_is_nested(const struct cn_store_index *index)
{
    for (size_t i = 0; i < index->block_count; i++)
        if (!index->blocks[i].is_own)
            return true;
    return false;
}

bool cn_store_index_keep_nested(const struct cn_store_index *index, struct cn_rows *rows,
                                struct cn_error *err)
{
    struct cn_store_column flags;

    if (!cn_columns_field(index->columns, CN_STORE_FIELD_flags, &flags, err))
        return false;
    /* The rows of spans inside of a trace follow its own. */
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1))
        if (row + 1 == rows->count ||
            !(cn_store_column_at(&flags, row + 1) & CN_ROW_EMBEDDED))
            cn_rows_clear(rows, row);
    return true;
}

bool cn_store_index_open_rows(struct cn_store_index *out,
                              const struct cn_store_index *index,
                              const struct cn_rows *rows, struct cn_error *err)
{
    *out = (struct cn_store_index){
        .segment = index->segment,
        .columns = index->columns,
        .joined = index->joined,
    };
    if (build_missing(out, rows, err))
        return true;
    cn_store_index_close_rows(out);
    return false;
}

void cn_store_index_close_rows(struct cn_store_index *index)
{
    cn_words_done(&index->extra);
    free(index->blocks);
    cn_text_done(&index->built);
    *index = (struct cn_store_index){0};
}

bool cn_store_index_rebuild(struct cn_store_index *index, struct cn_error *err)
{
    const struct cn_segment *segment = index->segment;

    cn_store_index_close(index);
    return open_index(index, segment, false, err);
}

void cn_store_index_close(struct cn_store_index *index)
{
    if (index->segment)
        cn_once_done(&index->postings_once);
    cn_words_done(&index->extra);
    cn_joined_close(&index->joined);
    free(index->blocks);
    cn_posting_file_close(&index->file);
    cn_file_close(&index->log);
    cn_text_done(&index->built);
    *index = (struct cn_store_index){0};
}

bool cn_store_index_check(const struct cn_store_index *index, struct cn_error *err)
{
    if (!cn_segment_check(index->segment, err))
        return false;
    if (index->unread_count == 0)
        return true;
    *err = index->unread;
    return cn_fail_in(err, "%u trace%s cannot be read", index->unread_count,
                      cn_plural(index->unread_count, "", "s"));
}

void cn_store_index_forget(const struct cn_store_index *index)
{
    cn_file_forget(index->file.file.blocks);
    cn_file_forget(index->log.bytes);
}

bool cn_store_index_text(const struct cn_store_index *index, uint32_t word,
                         struct cn_bytes *out, struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(index->segment);
    const struct cn_text_file *file = cn_segment_text(index->segment);

    if (word <= words->count && file && !cn_text_file_check(file, word, err))
        return false;
    *out = word > words->count ? cn_word_bytes(&index->extra, word - words->count)
                               : cn_word_bytes(words, word);
    return true;
}

bool cn_store_index_print(const struct cn_store_index *index, uint32_t word,
                          struct cn_text *out, struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(index->segment);
    const struct cn_text_file *file = cn_segment_text(index->segment);

    if (word > words->count) {
        cn_words_print(&index->extra, word - words->count, out);
        return true;
    }
    /* Printing reads a word and its parts. */
    if (file && !cn_text_file_check(file, word, err))
        return false;
    for (size_t i = 0; file && i < cn_word_part_count(words, word); i++) {
        if (!cn_text_file_check(file, cn_word_part(words, word, i), err))
            return false;
    }
    if (cn_word_kind(words, word) == CN_WORD_METHOD)
        cn_words_print_method_name(words, word, out);
    else
        cn_words_print(words, word, out);
    return true;
}

bool cn_store_index_is_text(const struct cn_store_index *index, uint32_t word)
{
    const struct cn_words *words = cn_segment_words(index->segment);
    enum cn_word_kind kind =
        word > words->count ? CN_WORD_TEXT : cn_word_kind(words, word);

    return kind == CN_WORD_TEXT || (kind >= CN_WORD_KEYWORD && kind <= CN_WORD_SIGNATURE);
}

/* Calls `visit` for texts only. */
struct text_filter {
    const struct cn_store_index *index;
    cn_text_visit visit;
    void *arg;
};

static void visit_text(void *arg, uint32_t word)
{
    const struct text_filter *filter = arg;

    if (cn_store_index_is_text(filter->index, word))
        filter->visit(filter->arg, word);
}

/* Scan a dictionary for a text. */
static void find_in_words(const struct cn_words *words, uint32_t first_number,
                          struct cn_bytes text, const struct text_filter *filter)
{
    uint32_t begin = 0;

    for (uint32_t word = 1; word <= words->count; word++) {
        uint32_t end = cn_words_end(words, word);

        if (end - begin == text.len &&
            memcmp(words->arena + begin, text.ptr, text.len) == 0 &&
            cn_store_index_is_text(filter->index, first_number + word))
            filter->visit(filter->arg, first_number + word);
        begin = end;
    }
}

bool cn_store_index_find(const struct cn_store_index *index, struct cn_bytes text,
                         cn_text_visit visit, void *arg, struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(index->segment);
    const struct cn_text_file *file = cn_segment_text(index->segment);
    struct text_filter filter = {index, visit, arg};

    if (text.len == 0) {
        visit(arg, 0);
        return true;
    }
    find_in_words(&index->extra, words->count, text, &filter);
    if (file)
        return cn_text_file_find(file, text, visit_text, &filter, err);
    find_in_words(words, 0, text, &filter);
    return true;
}
