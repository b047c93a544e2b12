#include "store/segment_writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/chunk_format.h"
#include "base/crc32c.h"
#include "model/trace.h"
#include "store/java_wal.h"
#include "store/log_format.h"
#include "store/segment_rows.h"
#include "store/text_log.h"

/* Plain bytes of a chunk: large enough to compress well, small enough that opening one trace
 * of it takes a fraction of a millisecond. */
enum { CHUNK_LEN = 128 * 1024 };

void cn_segment_writer_abandon(struct cn_segment_writer *segment)
{
    struct cn_store_append *files[] = {&segment->text, &segment->data, &segment->rows};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (segment->io && files[i]->fd >= 0)
            segment->io->close(segment->io->arg, files[i]->fd);
        cn_text_done(&files[i]->waiting);
    }
    cn_words_done(&segment->words);
    cn_cbor_out_done(&segment->plain);
    free(segment->chunk_rows);
    cn_compressor_free(segment->compressor);
    cn_compressor_free(segment->text_compressor);
    cn_zorka_encoder_done(&segment->encoder);
    cn_posting_log_abandon(&segment->postings);
    cn_text_done(&segment->posting_words.text);
    cn_java_wal_free(segment->wal);
    free(segment->dir);
    *segment = (struct cn_segment_writer){.text.fd = -1, .data.fd = -1, .rows.fd = -1};
}

uint64_t cn_segment_writer_waiting(const struct cn_segment_writer *segment)
{
    return segment->data.waiting.len + segment->rows.waiting.len + segment->plain.len;
}

uint64_t cn_segment_writer_len(const struct cn_segment_writer *segment)
{
    return segment->data.len + segment->text.len + segment->rows.len +
           cn_segment_writer_waiting(segment);
}

static void write_chunk_header(const struct cn_segment_writer *segment, uint8_t *out,
                               struct cn_bytes stored)
{
    struct cn_chunk_header head = {
        .magic = CN_CHUNK_MAGIC,
        .stored_len = (uint32_t)stored.len,
        .plain_len = (uint32_t)segment->plain.len,
        .checksum = cn_crc32(stored),
    };

    cn_chunk_header_encode(&head, out);
}

/* The rows of the chunk get to know where it is. */
static void finish_rows(struct cn_segment_writer *segment, uint64_t chunk_off,
                        uint32_t chunk_len)
{
    for (size_t i = 0; i < segment->chunk_row_count; i++) {
        struct cn_store_row *row = &segment->chunk_rows[i];
        uint8_t *at = (uint8_t *)cn_text_room(&segment->rows.waiting, cn_store_row_size);

        row->data_off = chunk_off;
        row->data_len = chunk_len;
        cn_store_row_put(row, at);
        cn_text_advance(&segment->rows.waiting, cn_store_row_size);
    }
    segment->chunk_row_count = 0;
}

static bool finish_chunk(struct cn_segment_writer *segment, struct cn_error *err)
{
    uint64_t chunk_off = segment->data.len + segment->data.waiting.len;
    struct cn_bytes plain = {segment->plain.bytes, segment->plain.len};
    size_t room, stored_len;
    uint8_t *at;

    if (plain.len == 0)
        return true;
    room = cn_chunk_header_size + cn_compressor_bound(segment->compressor, plain.len);
    at = (uint8_t *)cn_text_room(&segment->data.waiting, room);
    if (!cn_compress(segment->compressor, plain, at + cn_chunk_header_size, &stored_len,
                     err))
        return false;
    write_chunk_header(segment, at,
                       (struct cn_bytes){at + cn_chunk_header_size, stored_len});
    cn_text_advance(&segment->data.waiting, cn_chunk_header_size + stored_len);
    finish_rows(segment, chunk_off, (uint32_t)(cn_chunk_header_size + stored_len));
    segment->plain.len = 0;
    return true;
}

/* A row, waiting for its chunk to be complete, and its postings. */
static bool add_row(struct cn_segment_writer *segment, const struct cn_trace *trace,
                    const struct cn_zorka_part *part, size_t record_off, uint32_t node,
                    struct cn_error *err)
{
    struct cn_store_row row = cn_segment_row_of(trace, node, part);

    row.in_chunk_off += (uint32_t)record_off;
    segment->chunk_rows =
        cn_grow(segment->chunk_rows, segment->chunk_row_count,
                &segment->chunk_row_capacity, sizeof(*segment->chunk_rows));
    segment->chunk_rows[segment->chunk_row_count++] = row;
    return cn_posting_log_add(&segment->postings, segment->row_count++, trace, node,
                              &segment->posting_words, err);
}

static bool add_rows(struct cn_segment_writer *segment, const struct cn_trace *trace,
                     const struct cn_zorka_part *part, size_t record_off,
                     cn_span_filter is_wanted, void *arg, struct cn_error *err)
{
    if (!add_row(segment, trace, part, record_off, 0, err))
        return false;
    for (uint32_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].node != 0 && trace->spans[i].id != 0 &&
            is_wanted(arg, trace, &trace->spans[i]) &&
            !add_row(segment, trace, part, record_off, trace->spans[i].node, err))
            return false;
    return true;
}

bool cn_segment_writer_add(struct cn_segment_writer *segment,
                           const struct cn_trace *trace, uint64_t part_off,
                           cn_span_filter is_wanted, void *arg,
                           struct cn_zorka_part *part, struct cn_error *err)
{
    bool is_java = segment->config.dialect == CN_STORE_JAVA;
    size_t record_off = segment->plain.len;
    struct cn_trace copy = *trace; /* shares the arrays */

    if (is_java) {
        cn_zorka_record_encode_java(&copy, &segment->plain);
        *part = (struct cn_zorka_part){
            .id_high = trace->id_high,
            .id_low = trace->id_low,
            .part_len = (uint32_t)(segment->plain.len - record_off),
            .record_len = segment->plain.len - record_off,
        };
    } else {
        cn_zorka_record_encode(&segment->encoder, &copy, part_off, &segment->plain, part);
    }
    if (segment->plain.len > CN_CHUNK_LEN_MAX) {
        segment->plain.len = record_off;
        return cn_fail(err, CN_ERR_LIMIT, "a trace of %zu bytes, at most %d are allowed",
                       part->record_len, CN_CHUNK_LEN_MAX);
    }
    if (segment->first_ns == 0 && trace->span_count > 0)
        segment->first_ns = trace->spans[0].time_ns;
    if (!add_rows(segment, trace, part, record_off, is_wanted, arg, err))
        return false;
    return (!is_java && segment->plain.len < CHUNK_LEN) || finish_chunk(segment, err);
}

static bool append(struct cn_segment_writer *segment, struct cn_store_append *file,
                   const char *name, struct cn_error *err)
{
    const struct cn_disk *io = segment->io;

    if (file->waiting.len == 0)
        return true;
    if (!io->write(io->arg, file->fd, file->len, cn_text_str(&file->waiting),
                   file->waiting.len, err) ||
        !io->sync(io->arg, file->fd, err))
        return cn_fail_in(err, "%s/%s", segment->dir, name);
    file->len += file->waiting.len;
    cn_text_clear(&file->waiting);
    return true;
}

static bool gather_words(struct cn_segment_writer *segment, struct cn_error *err)
{
    if (segment->words.count == segment->saved_words)
        return true;
    if (!cn_text_log_encode(&segment->words, segment->saved_words + 1,
                            segment->text_compressor, &segment->text.waiting, err))
        return false;
    if (segment->wal &&
        !cn_java_wal_add(segment->wal, &segment->words, segment->saved_words + 1, err))
        return false;
    segment->saved_words = segment->words.count;
    return true;
}

bool cn_segment_writer_commit(struct cn_segment_writer *segment, struct cn_error *err)
{
    return finish_chunk(segment, err) && gather_words(segment, err) &&
           append(segment, &segment->text, CN_TEXT_LOG_NAME, err) &&
           append(segment, &segment->data, CN_TRACES_NAME, err) &&
           append(segment, &segment->rows, CN_ROWS_LOG_NAME, err);
}

bool cn_segment_writer_close(struct cn_segment_writer *segment, struct cn_error *err)
{
    bool ok = cn_segment_writer_commit(segment, err) &&
              cn_posting_log_close(&segment->postings, err);

    cn_segment_writer_abandon(segment);
    return ok;
}
