/* Any bytes as the string log, the row log and the data of a segment. */

#include "base/files/crc32c.h"
#include "formats/zorka/record.h"
#include "store/index/row.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"
#include "store/segment/text_log.h"
#include "support/fuzz.h"
#include "support/made_traces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_segment_scan scan = {0};
    struct cn_text_log_state state;
    struct cn_words words = {0};
    struct cn_text rows = {0}, text = {0};
    struct cn_error err;
    uint64_t rows_len;
    uint32_t count;

    if (cn_text_log_read(bytes, &words, &state, &err))
        for (uint32_t id = 1; id <= words.count && id < 1000; id++)
            cn_words_print(&words, id, &text);
    count = cn_segment_scan_rows(bytes, &rows_len);
    (void)cn_segment_rows_end(bytes, count);
    scan.words = &words;
    scan.rows = &rows;
    cn_segment_scan_begin(&scan, &(struct cn_file){.bytes = bytes});
    cn_segment_scan_know_rows(&scan, bytes, count);
    cn_segment_scan_chunks(&scan, cn_chunk_file_header_size);
    cn_segment_scan_done(&scan);
    cn_words_done(&words);
    cn_text_done(&rows);
    cn_text_done(&text);
    return 0;
}

static void emit_rows(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_store_log_header head = {.magic = CN_ROWS_LOG_MAGIC,
                                       .version = CN_STORE_LOG_VERSION,
                                       .record_len = cn_store_row_size};
    struct cn_store_row row = {.trace_high = 1, .data_off = 16, .data_len = 100};
    uint8_t bytes[cn_store_log_header_size + cn_store_row_size];

    cn_store_log_header_encode(&head, bytes);
    cn_store_row_put(&row, bytes + cn_store_log_header_size);
    emit(bytes, sizeof(bytes));
}

static void emit_data(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_cbor_out out = {0};
    struct cn_trace trace = {0};
    struct cn_words words = {0};
    struct cn_zorka_part part;
    struct cn_chunk_file_header file = {.magic = CN_CHUNK_FILE_MAGIC};
    struct cn_chunk_header chunk = {.magic = CN_CHUNK_MAGIC};
    enum { HEADS = cn_chunk_file_header_size + cn_chunk_header_size };

    cn_cbor_room(&out, HEADS);
    out.len = HEADS;
    cn_made_trace(&trace, &words, 6);
    cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
    chunk.stored_len = chunk.plain_len = (uint32_t)(out.len - HEADS);
    cn_chunk_file_header_encode(&file, out.bytes);
    cn_chunk_header_encode(&chunk, out.bytes + cn_chunk_file_header_size);
    emit(out.bytes, out.len);
    cn_zorka_encoder_done(&encoder);
    cn_cbor_out_done(&out);
    cn_trace_done(&trace);
    cn_words_done(&words);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    struct cn_trace trace = {0};
    struct cn_words words = {0};
    struct cn_text text = {0}, plain = {0};
    struct cn_error err;

    cn_text_log_header(&text);
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t before = words.count;

        cn_made_trace(&trace, &words, i);
        cn_text_clear(&plain);
        cn_text_log_gather(&words, before + 1, &plain);
        if (cn_text_log_encode((struct cn_bytes){(const uint8_t *)plain.chars, plain.len},
                               before + 1, words.count - before, compressor, &text, &err))
            emit((const uint8_t *)text.chars, text.len);
    }
    emit_rows(emit);
    emit_data(emit);
    cn_compressor_free(compressor);
    cn_trace_done(&trace);
    cn_words_done(&words);
    cn_text_done(&plain);
    cn_text_done(&text);
}
