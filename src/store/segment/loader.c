/* Loads traces from segments. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "formats/zorka/record.h"
#include "model/traces/span.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"
#include "store/segment/segment.h"

struct cn_segment_loader {
    struct cn_chunk_reader reader; /* of the chunk at data_off of a segment */
    uint64_t data_off;
    const struct cn_segment *segment;
    struct cn_text whole; /* joined parts of a trace */
};

struct cn_segment_loader *cn_segment_loader_new(void)
{
    return cn_alloc(1, sizeof(struct cn_segment_loader));
}

void cn_segment_loader_free(struct cn_segment_loader *loader)
{
    if (!loader)
        return;
    cn_chunk_reader_done(&loader->reader);
    cn_text_done(&loader->whole);
    free(loader);
}

static bool load_chunk(struct cn_segment_loader *loader, const struct cn_segment *segment,
                       uint64_t data_off, struct cn_error *err)
{
    struct cn_chunk chunk;

    if (loader->segment == segment && loader->data_off == data_off)
        return true;
    loader->segment = NULL;
    if (!cn_chunk_file_at(cn_segment_chunks(segment), data_off, &chunk, err))
        return false;
    if (!cn_chunk_reader_open(&loader->reader, cn_segment_chunks(segment), &chunk, err))
        return false;
    loader->data_off = data_off;
    loader->segment = segment;
    return true;
}

static bool find_record(struct cn_segment_loader *loader,
                        const struct cn_segment *segment, const struct cn_store_row *row,
                        struct cn_bytes *out, struct cn_error *err)
{
    struct cn_bytes rest;

    if (!load_chunk(loader, segment, row->data_off, err))
        return false;
    if (row->in_chunk_len == CN_ROW_NUMBERED)
        return cn_chunk_reader_span(&loader->reader, row->in_chunk_off, out, err);
    if (!cn_chunk_reader_from(&loader->reader, row->in_chunk_off, &rest, err))
        return false;
    if (row->in_chunk_len != 0 && !cn_bytes_slice(rest, 0, row->in_chunk_len, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "a record at %u of %u bytes, %zu are left",
                       row->in_chunk_off, row->in_chunk_len, rest.len);
    *out = rest;
    return true;
}

/* The rows of a trace, ascending: the order in which its parts arrived. */
struct row_list {
    uint32_t *rows;
    size_t count, capacity;
};

static void add_row(void *arg, uint32_t row)
{
    struct row_list *list = arg;

    CN_PUSH(list->rows, list->count, list->capacity, row);
}

static bool list_rows(const struct cn_segment *segment, const struct cn_store_row *of,
                      struct row_list *list, struct cn_error *err)
{
    const struct cn_columns *columns = cn_segment_columns(segment);
    struct cn_store_column high, low;

    if (cn_columns_find_trace(columns, of->trace_high, of->trace_low, add_row, list)) {
        CN_SORT_VALUES(list->rows, list->count);
        return true;
    }
    if (!cn_columns_field(columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    for (uint32_t i = 0; i < columns->row_count; i++)
        if (cn_store_column_at(&low, i) == of->trace_low &&
            cn_store_column_at(&high, i) == of->trace_high)
            add_row(list, i);
    return true;
}

static bool add_part(struct cn_segment_loader *loader, const struct cn_segment *segment,
                     const struct cn_store_row *row, struct cn_error *err)
{
    struct cn_bytes record, payload;
    struct cn_zorka_part part;

    if (!find_record(loader, segment, row, &record, err) ||
        !cn_zorka_record_part(record, &part, err))
        return false;
    if (!cn_bytes_slice(record, part.payload_off, part.part_len, &payload))
        return cn_fail(err, CN_ERR_FORMAT, "part %u is longer than its record",
                       part.number);
    cn_text_add(&loader->whole, (const char *)payload.ptr, payload.len);
    return true;
}

/* True if a row is the part at offset `part_off` of the trace of row `of`. */
static bool is_part(const struct cn_store_row *row, const struct cn_store_row *of,
                    uint64_t part_off)
{
    if (row->flags & CN_ROW_EMBEDDED || row->part_off != part_off)
        return false;
    if (part_off > 0)
        return row->part > 0;
    return of->part > 0 ? !(row->flags & CN_ROW_LAST) : row->span_id == of->span_id;
}

/* Join the parts up to the first gap. */
static bool add_parts(struct cn_segment_loader *loader, const struct cn_segment *segment,
                      const struct cn_store_row *row, const struct row_list *list,
                      struct cn_error *err)
{
    struct cn_store_row part = {0};

    cn_text_clear(&loader->whole);
    for (size_t i = 0; i < list->count && !(part.flags & CN_ROW_LAST); i++) {
        struct cn_store_row next;

        if (!cn_segment_row(segment, list->rows[i], &next, err))
            return false;
        if (!is_part(&next, row, loader->whole.len))
            continue;
        if (!add_part(loader, segment, &next, err))
            return false;
        part = next;
    }
    return loader->whole.len > 0 ||
           cn_fail(err, CN_ERR_NOT_FOUND,
                   "part %u of a trace whose first part is not in this segment",
                   row->part);
}

static bool assemble(struct cn_segment_loader *loader, const struct cn_segment *segment,
                     const struct cn_store_row *row, struct cn_bytes *out,
                     struct cn_error *err)
{
    struct row_list list = {0};
    bool ok = list_rows(segment, row, &list, err) &&
              add_parts(loader, segment, row, &list, err);

    free(list.rows);
    *out = (struct cn_bytes){(const uint8_t *)cn_text_str(&loader->whole),
                             loader->whole.len};
    return ok;
}

/* Words whose bytes are needed, each once. */
struct word_list {
    struct cn_map seen;
    uint32_t *words;
    size_t count, capacity;
};

static void add_word(void *arg, uint32_t word)
{
    struct word_list *list = arg;

    if (word == 0 || cn_map_find(&list->seen, word, 0))
        return;
    *cn_map_at(&list->seen, word, 0) = 1;
    CN_PUSH(list->words, list->count, list->capacity, word);
}

/* Fetch the words of a list, which is released, and the words that they consist of. The words of a trace
 * are read without a check: they must be there. */
static bool need_words(const struct cn_segment *segment, struct word_list *list,
                       struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(segment);
    const struct cn_text_file *file = cn_segment_text(segment);
    bool ok = file || cn_segment_check(segment, err);

    for (size_t i = 0; ok && file && i < list->count; i++) {
        uint32_t word = list->words[i];

        ok = cn_text_file_check(file, word, err);
        for (size_t k = 0; ok && k < cn_word_part_count(words, word); k++)
            add_word(list, cn_word_part(words, word, k));
    }
    cn_map_done(&list->seen);
    free(list->words);
    return ok || cn_fail_in(err, "%s", segment->dir);
}

bool cn_segment_need_word(const struct cn_segment *segment, uint32_t word,
                          struct cn_error *err)
{
    struct word_list list = {0};

    if (!segment->remote)
        return true;
    add_word(&list, word);
    return need_words(segment, &list, err);
}

static bool need_words_of(const struct cn_segment *segment, const struct cn_trace *trace,
                          struct cn_error *err)
{
    struct word_list list = {0};

    if (!segment->remote)
        return true;
    cn_segment_each_word(trace, add_word, &list);
    return need_words(segment, &list, err);
}

bool cn_segment_load_attribute(struct cn_segment_loader *loader,
                               const struct cn_segment *segment, uint64_t data_off,
                               const struct cn_zorka_names *names,
                               struct cn_zorka_values *out, struct cn_error *err)
{
    return (load_chunk(loader, segment, data_off, err) &&
            cn_chunk_reader_attribute(&loader->reader, names, out, err)) ||
           cn_fail_in(err, "%s/" CN_TRACES_NAME, segment->dir);
}

bool cn_segment_load(struct cn_segment_loader *loader, const struct cn_segment *segment,
                     uint32_t row_number, struct cn_trace *out, struct cn_error *err)
{
    struct cn_store_row row;
    struct cn_bytes record;
    size_t taken;

    if (!cn_segment_row(segment, row_number, &row, err))
        return false;
    bool is_whole = row.flags & CN_ROW_EMBEDDED ||
                    (row.flags & CN_ROW_FIRST && row.flags & CN_ROW_LAST);
    if (!(is_whole ? find_record(loader, segment, &row, &record, err)
                   : assemble(loader, segment, &row, &record, err)) ||
        !cn_zorka_record_decode(record, out, &taken, err))
        return cn_fail_in(err, "%s/" CN_TRACES_NAME ": row %u", segment->dir, row_number);
    if (!need_words_of(segment, out, err))
        return false;
    out->words = cn_segment_words(segment);
    out->id_high = row.trace_high;
    out->id_low = row.trace_low;
    cn_trace_complete(out);
    return true;
}
