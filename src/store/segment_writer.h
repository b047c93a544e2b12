/* The segment that is written to: the files of one numbered directory.
 *
 * Traces gather in memory: plain records of the chunk that is being filled, chunks that are
 * complete, rows, new words. cn_segment_writer_commit() writes them in the order that makes a
 * crash harmless: words, synced; chunks, synced; rows, synced.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_WRITER_H
#define CN_STORE_SEGMENT_WRITER_H

#include "base/cbor.h"
#include "base/compress.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/text.h"
#include "formats/zorka/record.h"
#include "model/words.h"
#include "store/config.h"
#include "store/posting_log.h"
#include "store/row.h"

struct cn_java_wal;

/* A file that is appended to. */
struct cn_store_append {
    int fd;       /* -1: not open */
    uint64_t len; /* of what is in the file */
    struct cn_text waiting;
};

struct cn_segment_writer {
    const struct cn_disk *io;
    struct cn_store_config config;
    char *dir;
    uint32_t number;
    struct cn_store_append text, data, rows;
    struct cn_words words;
    bool lacks_words;         /* some of text.log could not be read when it was opened */
    uint32_t saved_words;     /* of these are in the string log */
    uint32_t row_count;       /* with those that wait */
    uint32_t logged_rows;     /* that were in the log when it was opened */
    struct cn_cbor_out plain; /* records of the chunk that is being filled */
    struct cn_store_row *chunk_rows; /* that point into it */
    size_t chunk_row_count, chunk_row_capacity;
    struct cn_compressor *compressor, *text_compressor;
    struct cn_zorka_encoder encoder;
    struct cn_posting_log postings;
    struct cn_posting_words posting_words;
    struct cn_java_wal *wal; /* Java dialect only */
    uint64_t first_ns;       /* time of the first trace */
};

/* Make the directory with empty files. */
CN_CHECK bool cn_segment_writer_create(struct cn_segment_writer *out, const char *base,
                                       uint32_t number,
                                       const struct cn_store_config *config,
                                       const struct cn_disk *io, struct cn_error *err);

/* Go on with one that exists. Torn ends are cut off; chunks whose rows are missing get
 * them. */
CN_CHECK bool cn_segment_writer_open(struct cn_segment_writer *out, const char *base,
                                     uint32_t number, const struct cn_disk *io,
                                     struct cn_error *err);

/* Add a trace that speaks this segment's words. `is_wanted` is asked for every span in it
 * whether it gets a row. */
typedef bool (*cn_span_filter)(void *arg, const struct cn_trace *trace,
                               const struct cn_trace_span *span);
CN_CHECK bool cn_segment_writer_add(struct cn_segment_writer *segment,
                                    const struct cn_trace *trace, uint64_t part_off,
                                    cn_span_filter is_wanted, void *arg,
                                    struct cn_zorka_part *part, struct cn_error *err);

CN_CHECK bool cn_segment_writer_commit(struct cn_segment_writer *segment,
                                       struct cn_error *err);

/* Bytes that wait in memory, and bytes of all files with them. */
uint64_t cn_segment_writer_waiting(const struct cn_segment_writer *segment);
uint64_t cn_segment_writer_len(const struct cn_segment_writer *segment);

CN_CHECK bool cn_segment_writer_close(struct cn_segment_writer *segment,
                                      struct cn_error *err);
void cn_segment_writer_abandon(struct cn_segment_writer *segment);

#endif
