/* Scans the files of a segment: sound rows at the beginning of meta.log, sound chunks anywhere
 * in traces.dat; and makes the rows of records.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_SCAN_H
#define CN_STORE_SEGMENT_SCAN_H

#include "base/files/chunks.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "model/traces/words.h"
#include "store/index/row.h"
#include "store/segment/chunk_data.h"

/* The number of sound rows at the beginning of the log; `len` receives their end, 0 if it is not
 * a row log. */
uint32_t cn_segment_scan_rows(struct cn_bytes log, uint64_t *len);

/* The end of the last chunk of the first `row_count` rows. */
uint64_t cn_segment_rows_end(struct cn_bytes log, uint32_t row_count);

/* The same for all sound rows, also those after a damaged one. `row_count` as scanned. Rows are
 * written after their chunk was synced: traces.dat was sound up to here. 0: there are none. */
uint64_t cn_segment_rows_reach(struct cn_bytes log, uint32_t row_count);

/* The number of rows, of the first `row_count`, whose chunk is in the first `data_len` bytes of
 * traces.dat. Rows are not synced: if a power failure took rows of the last chunk, its other rows
 * do not count either. */
uint32_t cn_segment_rows_of_whole_chunks(struct cn_bytes log, uint32_t row_count,
                                         uint64_t data_len);

struct cn_segment_scan {
    const struct cn_words *words;
    struct cn_text *rows; /* receives encoded rows */
    uint32_t row_count;   /* numbers them */

    struct cn_chunk_file file;
    struct cn_chunk_reader reader;
    struct cn_trace trace;
    struct cn_map seen;    /* spans that have a row */
    uint64_t sound_len;    /* end of the last sound chunk */
    uint64_t bad_off;      /* of the first bad chunk */
    uint32_t highest_word; /* that a record uses */
    uint32_t bad_chunks, bad_records;
};

/* Begin, with words, rows and row_count set. */
void cn_segment_scan_begin(struct cn_segment_scan *scan, const struct cn_file *data);

/* The spans of the first rows of a log already have rows. */
void cn_segment_scan_know_rows(struct cn_segment_scan *scan, struct cn_bytes log,
                               uint32_t row_count);

/* Append rows for the records of all sound chunks from `from_off` on. */
void cn_segment_scan_chunks(struct cn_segment_scan *scan, uint64_t from_off);
void cn_segment_scan_done(struct cn_segment_scan *scan);

/* True if a bad chunk of the scan is damaged. Otherwise it is the torn end of a commit that was
 * not acknowledged: no sound chunk follows, and no row points to it. */
static inline bool cn_segment_scan_is_damaged(const struct cn_segment_scan *scan,
                                              uint64_t rows_reach)
{
    return scan->bad_chunks > 0 &&
           (scan->bad_off < scan->sound_len || scan->bad_off < rows_reach);
}

/* The highest word of all records, also of those that have a row. `is_damaged` receives whether
 * some records cannot be read. */
uint32_t cn_segment_find_highest_word(const struct cn_file *data,
                                      const struct cn_words *words, uint64_t rows_reach,
                                      bool *is_damaged);

/* Open a chunk file. Its compression is that of the header, in one of the two dialects; if the
 * header is damaged, the one that can read the first sound chunk. */
void cn_segment_open_chunks(struct cn_chunk_file *out, const struct cn_file *data);

/* Call `visit` for each word that a trace uses; 0 is none. A word may be visited several times. */
void cn_segment_each_word(const struct cn_trace *trace,
                          void (*visit)(void *arg, uint32_t word), void *arg);

/* The highest word that a trace uses. */
uint32_t cn_segment_highest_word(const struct cn_trace *trace);

/* The row of the span that begins at `node`, without the offset of its chunk; in_chunk_off is
 * relative to the record. */
struct cn_store_row cn_segment_row_of(const struct cn_trace *trace, uint32_t node,
                                      const struct cn_zorka_part *part);

/* The key of a span in maps of spans. */
uint64_t cn_span_key(uint64_t trace_high, uint64_t trace_low, uint64_t span_id,
                     uint32_t part);

#endif
