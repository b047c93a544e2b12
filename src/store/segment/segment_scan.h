/* What is in the files of a segment, found by looking: sound rows at the beginning of
 * meta.log, sound chunks anywhere in traces.dat, and the rows of their records.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_SEGMENT_SCAN_H
#define CN_STORE_SEGMENT_SEGMENT_SCAN_H

#include "base/files/chunk_file.h"
#include "base/map.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "model/traces/words.h"

/* How many sound rows the log begins with, and where they end; 0 bytes: it is no row log. */
uint32_t cn_segment_scan_rows(struct cn_bytes log, uint64_t *len);

/* The end of the last chunk that one of the first `row_count` rows points to. */
uint64_t cn_segment_rows_end(struct cn_bytes log, uint32_t row_count);

/* How many of the first `row_count` rows have their chunk in the first `data_len` bytes of
 * traces.dat. Rows are not synced, a power failure may take some: if the last chunk lacks rows,
 * none of it count. */
uint32_t cn_segment_rows_of_whole_chunks(struct cn_bytes log, uint32_t row_count,
                                         uint64_t data_len);

struct cn_segment_scan {
    const struct cn_words *words;
    struct cn_text *rows; /* encoded rows are appended */
    uint32_t row_count;   /* and counted */

    struct cn_chunk_file file;
    struct cn_decompressor *decompressor;
    uint8_t *plain;
    size_t capacity;
    struct cn_trace trace;
    struct cn_map seen;    /* spans that have a row */
    uint64_t sound_len;    /* of the file: up to the end of the last sound chunk */
    uint32_t highest_word; /* that a record refers to */
    uint32_t bad_chunks, bad_records;
};

/* Find out how to read the file. */
void cn_segment_scan_begin(struct cn_segment_scan *scan, struct cn_bytes data);

/* The first rows of a log: their spans have rows already. */
void cn_segment_scan_know_rows(struct cn_segment_scan *scan, struct cn_bytes log,
                               uint32_t row_count);

/* Make rows for the records of all sound chunks from `from_off` on. */
void cn_segment_scan_chunks(struct cn_segment_scan *scan, uint64_t from_off);
void cn_segment_scan_done(struct cn_segment_scan *scan);

/* How the chunks of a file are compressed: as its header says in one of the dialects, or, when
 * that is damaged, as the first sound chunk shows. */
void cn_segment_open_chunks(struct cn_chunk_file *out, struct cn_bytes data);

/* The highest word that a trace refers to. */
uint32_t cn_segment_highest_word(const struct cn_trace *trace);

/* What a span is known by in maps of spans. */
uint64_t cn_span_key(uint64_t trace_high, uint64_t trace_low, uint64_t span_id,
                     uint32_t part);

#endif
