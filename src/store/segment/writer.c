#include "store/segment/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/chunk_format.h"
#include "formats/zorka/packed.h"
#include "model/traces/trace.h"
#include "store/segment/java_wal.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"

/* Plain bytes of a chunk: enough to compress well, and few enough to load one of its traces in
 * a fraction of a millisecond. */
enum { CHUNK_LEN = 128 * 1024 };

void cn_segment_writer_abandon(struct cn_segment_writer *segment)
{
    cn_segment_files_close(&segment->files);
    cn_commit_done(&segment->commit);
    cn_words_done(&segment->words);
    cn_zorka_encoder_done(&segment->encoder);
    cn_posting_log_abandon(&segment->postings);
    cn_posting_words_done(&segment->posting_words);
    cn_java_wal_free(segment->wal);
    free(segment->dir);
    *segment = (struct cn_segment_writer){
        .files = {.text.fd = -1, .data.fd = -1, .rows.fd = -1}};
}

uint64_t cn_segment_writer_waiting(const struct cn_segment_writer *segment)
{
    return cn_commit_len(&segment->commit);
}

uint64_t cn_segment_writer_len(const struct cn_segment_writer *segment)
{
    return segment->files_len + cn_segment_writer_waiting(segment);
}

void cn_segment_writer_note_len(struct cn_segment_writer *segment)
{
    const struct cn_segment_files *files = &segment->files;

    segment->files_len = files->data.len + files->text.len + files->rows.len;
}

/* Add a row to the commit, and its postings. */
static bool add_row(struct cn_segment_writer *segment, const struct cn_trace *trace,
                    const struct cn_zorka_part *part, size_t record_off, uint32_t node,
                    struct cn_error *err)
{
    struct cn_store_row row = cn_segment_row_of(trace, node, part);
    struct cn_store_commit *commit = &segment->commit;

    row.in_chunk_off += (uint32_t)record_off;
    CN_PUSH(commit->rows, commit->row_count, commit->row_capacity, row);
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
        if (cn_store_span_has_row(trace, &trace->spans[i]) &&
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
    struct cn_cbor_out *plain = &segment->commit.plain;
    size_t chunk_begin = cn_commit_chunk_begin(&segment->commit), begin = plain->len;
    struct cn_trace copy = *trace; /* shares the arrays */
    struct cn_zorka_columns *columns = segment->config.form == CN_STORE_COLUMNS
                                           ? cn_commit_columns(&segment->commit)
                                           : NULL;

    if (is_java) {
        cn_zorka_record_encode_java(&copy, plain);
        *part = (struct cn_zorka_part){
            .id_high = trace->id_high,
            .id_low = trace->id_low,
            .part_len = (uint32_t)(plain->len - begin),
            .record_len = plain->len - begin,
        };
    } else {
        cn_zorka_record_encode(&segment->encoder, &copy, part_off, plain, part);
    }
    if (plain->len - chunk_begin > CN_CHUNK_LEN_MAX) {
        plain->len = begin;
        return cn_fail(err, CN_ERR_LIMIT, "the trace has %zu bytes, the limit is %d",
                       part->record_len, CN_CHUNK_LEN_MAX);
    }
    if (columns && !is_java)
        cn_zorka_columns_add(columns, trace, part);
    if (segment->first_ns == 0 && trace->span_count > 0)
        segment->first_ns = trace->spans[0].time_ns;
    if (!add_rows(segment, trace, part, begin - chunk_begin, is_wanted, arg, err))
        return false;
    if (is_java || plain->len - chunk_begin >= CHUNK_LEN)
        cn_commit_end_chunk(&segment->commit);
    return true;
}

static bool end_commit(struct cn_segment_writer *segment, struct cn_error *err)
{
    cn_commit_end_chunk(&segment->commit);
    if (!cn_posting_log_commit(&segment->postings, err))
        return false;
    if (segment->words.count == segment->saved_words)
        return true;
    if (segment->wal &&
        !cn_java_wal_add(segment->wal, &segment->words, segment->saved_words + 1, err))
        return false;
    cn_commit_add_words(&segment->commit, &segment->words, segment->saved_words + 1);
    segment->saved_words = segment->words.count;
    return true;
}

bool cn_segment_writer_cut(struct cn_segment_writer *segment,
                           struct cn_store_commit *commit, struct cn_error *err)
{
    if (!end_commit(segment, err))
        return false;
    struct cn_store_commit gathered = segment->commit;
    segment->commit = *commit;
    *commit = gathered;
    commit->files = &segment->files;
    return true;
}

bool cn_segment_writer_commit(struct cn_segment_writer *segment, struct cn_error *err)
{
    if (!end_commit(segment, err) ||
        !cn_commit_save(&segment->commit, &segment->files, err))
        return false;
    cn_segment_writer_note_len(segment);
    return true;
}

bool cn_segment_writer_close(struct cn_segment_writer *segment, struct cn_error *err)
{
    bool ok = cn_segment_writer_commit(segment, err) &&
              cn_posting_log_close(&segment->postings, err);

    cn_segment_writer_abandon(segment);
    return ok;
}
