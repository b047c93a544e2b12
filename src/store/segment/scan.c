#include "store/segment/scan.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "formats/zorka/record.h"
#include "store/index/row.h"
#include "store/segment/log_format.h"

uint64_t cn_span_key(uint64_t trace_high, uint64_t trace_low, uint64_t span_id,
                     uint32_t part)
{
    uint64_t fields[4] = {trace_high, trace_low, span_id, part};

    return XXH3_64bits(fields, sizeof(fields));
}

static uint32_t flags_of(const struct cn_trace *trace, uint32_t at)
{
    const struct cn_trace_node *node = &trace->nodes[at];
    uint32_t flags = 0;

    if (node->flags & (CN_TRACE_ERROR | CN_TRACE_FAILED))
        flags |= CN_ROW_ERROR;
    if (node->flags & CN_TRACE_LOSSY)
        flags |= CN_ROW_LOSSY;
    if (at != 0)
        flags |= CN_ROW_EMBEDDED;
    if (!(node->flags & CN_TRACE_CARRIED))
        flags |= CN_ROW_FIRST;
    if (!(node->flags & CN_TRACE_OPEN))
        flags |= CN_ROW_LAST;
    return flags;
}

struct cn_store_row cn_segment_row_of(const struct cn_trace *trace, uint32_t at,
                                      const struct cn_zorka_part *part)
{
    static const struct cn_trace_span no_span = {0};
    const struct cn_trace_node *node = &trace->nodes[at];
    const struct cn_trace_span *span =
        node->span == CN_NONE ? &no_span : &trace->spans[node->span];

    return (struct cn_store_row){
        .trace_high = trace->id_high,
        .trace_low = trace->id_low,
        .span_id = span->id,
        .parent_id = span->parent_id,
        .time_ns = span->time_ns,
        .duration_ns = node->duration_ns,
        .calls = node->calls,
        .in_chunk_off = node->data_off,
        .in_chunk_len = at == 0 ? (uint32_t)part->record_len : 0,
        .records = node->end - at,
        .errors = node->errors,
        .flags = flags_of(trace, at),
        .method = node->method,
        .type = span->type,
        .service = span->service,
        .part = part->number,
        .part_off = part->part_off,
        .part_len = part->part_len,
    };
}

uint32_t cn_segment_scan_rows(struct cn_bytes log, uint64_t *len)
{
    struct cn_store_log_header head;
    struct cn_store_row row;
    struct cn_bytes rest;
    uint32_t count = 0;

    *len = 0;
    if (!cn_store_log_header_decode(log, &head) || head.magic != CN_ROWS_LOG_MAGIC ||
        head.version != CN_STORE_LOG_VERSION || head.record_len != cn_store_row_size)
        return 0;
    *len = cn_store_log_header_size;
    while (cn_bytes_from(log, *len, &rest) && count < UINT32_MAX &&
           cn_store_row_take(rest, &row)) {
        count++;
        *len += cn_store_row_size;
    }
    return count;
}

static bool take_row(struct cn_bytes log, uint32_t number, struct cn_store_row *out)
{
    struct cn_bytes rows;

    return cn_bytes_array(log, cn_store_log_header_size, (uint64_t)number + 1,
                          cn_store_row_size, &rows) &&
           cn_store_row_take(cn_bytes_element(rows, number, cn_store_row_size), out);
}

uint64_t cn_segment_rows_end(struct cn_bytes log, uint32_t row_count)
{
    struct cn_store_row row;

    /* Chunks are in the order of their rows. */
    if (row_count == 0 || !take_row(log, row_count - 1, &row))
        return cn_chunk_file_header_size;
    return row.data_off + row.data_len;
}

uint64_t cn_segment_rows_reach(struct cn_bytes log, uint32_t row_count)
{
    uint64_t reach = row_count == 0 ? 0 : cn_segment_rows_end(log, row_count);
    uint64_t total = log.len < cn_store_log_header_size
                         ? 0
                         : (log.len - cn_store_log_header_size) / cn_store_row_size;
    struct cn_store_row row;

    for (uint64_t i = row_count; i < total && i < UINT32_MAX; i++)
        if (take_row(log, (uint32_t)i, &row) && row.data_off + row.data_len > reach)
            reach = row.data_off + row.data_len;
    return reach;
}

uint32_t cn_segment_rows_of_whole_chunks(struct cn_bytes log, uint32_t row_count,
                                         uint64_t data_len)
{
    struct cn_store_row last, row;

    while (row_count > 0 && cn_segment_rows_end(log, row_count) > data_len)
        row_count--;
    if (row_count == 0 || !take_row(log, row_count - 1, &last) ||
        !(last.flags & CN_ROW_MORE))
        return row_count;
    while (row_count > 0 && take_row(log, row_count - 1, &row) &&
           row.data_off == last.data_off)
        row_count--;
    return row_count;
}

static bool can_read_some(const struct cn_chunk_file *file)
{
    struct cn_chunk_reader reader = {0};
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_bytes plain;
    struct cn_error ignored;
    bool is_found = false, is_read = false;

    cn_chunk_walk_begin(&walk, file);
    while (!is_found && !cn_chunk_walk_is_at_end(&walk))
        is_found = cn_chunk_walk_next(&walk, true, &chunk, &ignored);
    if (is_found)
        is_read = cn_chunk_reader_all(&reader, file, &chunk, &plain, &ignored);
    cn_chunk_reader_done(&reader);
    return is_read || !is_found;
}

void cn_segment_open_chunks(struct cn_chunk_file *out, const struct cn_file *data)
{
    struct cn_chunk_file file = {
        .content = cn_file_content(data), .source = data->source, .has_checksums = true};
    struct cn_error ignored;

    if (cn_chunk_file_init_from(out, data, CN_CHUNK_DIALECT_STORE, &ignored) &&
        can_read_some(out))
        return;
    if (cn_chunk_file_init_from(out, data, CN_CHUNK_DIALECT_ORIGINAL, &ignored) &&
        can_read_some(out))
        return;
    /* Without a file header: packed chunks are found by their head. */
    file.is_packed = true;
    if (!can_read_some(&file)) {
        file.is_packed = false;
        file.compression = CN_COMPRESSION_LZ4;
        if (!can_read_some(&file))
            file.compression = CN_COMPRESSION_DEFLATE;
    }
    *out = file;
}

void cn_segment_scan_begin(struct cn_segment_scan *scan, const struct cn_file *data)
{
    cn_segment_open_chunks(&scan->file, data);
    scan->sound_len = cn_chunk_file_header_size;
}

void cn_segment_scan_done(struct cn_segment_scan *scan)
{
    cn_chunk_reader_done(&scan->reader);
    cn_trace_done(&scan->trace);
    cn_map_done(&scan->seen);
}

void cn_segment_each_word(const struct cn_trace *trace,
                          void (*visit)(void *arg, uint32_t word), void *arg)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        visit(arg, trace->nodes[i].method);
        visit(arg, trace->nodes[i].exception);
    }
    for (uint32_t i = 0; i < trace->attribute_count; i++) {
        visit(arg, trace->attributes[i].key);
        if (trace->attributes[i].value.kind == CN_VALUE_WORD)
            visit(arg, trace->attributes[i].value.word);
    }
    for (uint32_t i = 0; i < trace->value_count; i++)
        if (trace->values[i].kind == CN_VALUE_WORD)
            visit(arg, trace->values[i].word);
    for (uint32_t i = 0; i < trace->span_count; i++) {
        visit(arg, trace->spans[i].type);
        visit(arg, trace->spans[i].service);
        visit(arg, trace->spans[i].status_message);
        visit(arg, trace->spans[i].trace_state);
        visit(arg, trace->spans[i].resource);
        visit(arg, trace->spans[i].scope);
    }
    for (uint32_t i = 0; i < trace->event_count; i++)
        visit(arg, trace->events[i].name);
    for (uint32_t i = 0; i < trace->link_count; i++)
        visit(arg, trace->links[i].trace_state);
}

static void raise_to(void *arg, uint32_t word)
{
    uint32_t *highest = arg;

    if (word > *highest)
        *highest = word;
}

uint32_t cn_segment_highest_word(const struct cn_trace *trace)
{
    uint32_t highest = 0;

    cn_segment_each_word(trace, raise_to, &highest);
    return highest;
}

static void add_row(struct cn_segment_scan *scan, const struct cn_chunk *chunk,
                    const struct cn_zorka_part *part, size_t record_off, uint32_t node)
{
    struct cn_store_row row = cn_segment_row_of(&scan->trace, node, part);
    uint8_t *at = (uint8_t *)cn_text_room(scan->rows, cn_store_row_size);
    uint64_t key = cn_span_key(row.trace_high, row.trace_low, row.span_id, row.part);

    if (row.trace_high | row.trace_low | row.span_id) {
        if (cn_map_find(&scan->seen, key, 0))
            return;
        (void)cn_map_at(&scan->seen, key, 1);
    }
    row.in_chunk_off += (uint32_t)record_off;
    row.data_off = chunk->off;
    row.data_len = (uint32_t)(cn_chunk_header_size + chunk->stored.len);
    cn_store_row_put(&row, at);
    cn_text_advance(scan->rows, cn_store_row_size);
    scan->row_count++;
}

void cn_segment_scan_know_rows(struct cn_segment_scan *scan, struct cn_bytes log,
                               uint32_t row_count)
{
    struct cn_store_row row;
    struct cn_bytes rows;

    if (row_count == 0 || !cn_bytes_array(log, cn_store_log_header_size, row_count,
                                          cn_store_row_size, &rows))
        return;
    for (uint32_t i = 0; i < row_count; i++)
        if (cn_store_row_decode(cn_bytes_element(rows, i, cn_store_row_size), &row))
            (void)cn_map_at(
                &scan->seen,
                cn_span_key(row.trace_high, row.trace_low, row.span_id, row.part), 1);
}

/* A later part begins in the middle of calls: stand in for the open call. */
static bool decode(struct cn_segment_scan *scan, struct cn_bytes record,
                   const struct cn_zorka_part *part, struct cn_error *err)
{
    if (part->payload_off == 0)
        return cn_zorka_record_decode(record, &scan->trace, NULL, err);
    cn_trace_clear(&scan->trace);
    if (!cn_trace_enter(&scan->trace, 0, 0, err))
        return false;
    cn_trace_mark(&scan->trace, CN_TRACE_CARRIED);
    cn_trace_settle(&scan->trace);
    return true;
}

static void add_record(struct cn_segment_scan *scan, const struct cn_chunk *chunk,
                       struct cn_bytes record, const struct cn_zorka_part *part,
                       size_t record_off)
{
    struct cn_error ignored;
    struct cn_trace *trace = &scan->trace;

    trace->words = scan->words;
    if (!decode(scan, record, part, &ignored)) {
        scan->bad_records++;
        return;
    }
    trace->id_high = part->id_high;
    trace->id_low = part->id_low;
    raise_to(&scan->highest_word, cn_segment_highest_word(trace));
    add_row(scan, chunk, part, record_off, 0);
    for (uint32_t i = 0; i < trace->span_count; i++)
        if (cn_store_span_has_row(trace, &trace->spans[i]))
            add_row(scan, chunk, part, record_off, trace->spans[i].node);
}

static void add_records(struct cn_segment_scan *scan, const struct cn_chunk *chunk,
                        struct cn_bytes plain)
{
    size_t off = 0;

    while (off < plain.len) {
        struct cn_zorka_part part;
        struct cn_bytes rest, record;
        struct cn_error ignored;

        if (!cn_bytes_from(plain, off, &rest) ||
            !cn_zorka_record_part(rest, &part, &ignored) || part.record_len == 0 ||
            !cn_bytes_slice(rest, 0, part.record_len, &record)) {
            scan->bad_records++;
            return;
        }
        add_record(scan, chunk, record, &part, off);
        off += part.record_len;
    }
}

/* Flag all rows from `begin` on, except the last one: more rows of their chunk follow. */
static void mark_more(struct cn_text *rows, size_t begin)
{
    struct cn_store_row row;

    for (size_t off = begin; off + cn_store_row_size < rows->len;
         off += cn_store_row_size) {
        uint8_t *at = (uint8_t *)rows->chars + off;

        if (!cn_store_row_decode((struct cn_bytes){at, cn_store_row_size}, &row))
            continue;
        row.flags |= CN_ROW_MORE;
        cn_store_row_put(&row, at);
    }
}

void cn_segment_scan_chunks(struct cn_segment_scan *scan, uint64_t from_off)
{
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_bytes plain;
    struct cn_error ignored;

    if (from_off <= scan->file.content.len && from_off > scan->sound_len)
        scan->sound_len = from_off;
    cn_chunk_walk_begin_at(&walk, &scan->file, from_off);
    while (!cn_chunk_walk_is_at_end(&walk)) {
        size_t rows_begin = scan->rows->len;
        uint64_t off = walk.off;

        if (!cn_chunk_walk_next(&walk, true, &chunk, &ignored) ||
            !cn_chunk_reader_all(&scan->reader, &scan->file, &chunk, &plain, &ignored)) {
            if (scan->bad_chunks++ == 0)
                scan->bad_off = off;
            continue;
        }
        scan->sound_len = walk.off;
        add_records(scan, &chunk, plain);
        mark_more(scan->rows, rows_begin);
    }
}

uint32_t cn_segment_find_highest_word(const struct cn_file *data,
                                      const struct cn_words *words, uint64_t rows_reach,
                                      bool *is_damaged)
{
    struct cn_text rows = {0};
    struct cn_segment_scan scan = {.words = words, .rows = &rows};

    cn_segment_scan_begin(&scan, data);
    cn_segment_scan_chunks(&scan, cn_chunk_file_header_size);
    uint32_t highest = scan.highest_word;
    *is_damaged = cn_segment_scan_is_damaged(&scan, rows_reach);
    cn_segment_scan_done(&scan);
    cn_text_done(&rows);
    return highest;
}
