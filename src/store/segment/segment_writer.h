/* The segment that is written to: the files of one numbered directory.
 *
 * Traces gather in memory, in a commit (store/segment/commit.h). cn_segment_writer_commit() saves it;
 * or cn_segment_writer_cut() takes it out, to be saved by another thread while more is added.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_SEGMENT_WRITER_H
#define CN_STORE_SEGMENT_SEGMENT_WRITER_H

#include "base/error.h"
#include "base/files/disk.h"
#include "formats/zorka/record.h"
#include "model/traces/words.h"
#include "store/index/row.h"
#include "store/segment/commit.h"
#include "store/segment/config.h"
#include "store/segment/posting_log.h"

struct cn_java_wal;

struct cn_segment_writer {
    const struct cn_disk *io;
    struct cn_store_config config;
    char *dir;
    uint32_t number;
    struct cn_segment_files files;
    uint64_t files_len; /* of all of them, as far as commits are known to be saved */
    struct cn_store_commit commit; /* what gathers */
    struct cn_words words;
    bool lacks_words;     /* some of text.log could not be read when it was opened */
    uint32_t saved_words; /* of these are in the string log, or on their way */
    uint32_t row_count;   /* with those that wait */
    uint32_t logged_rows; /* that were in the log when it was opened */
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

/* Swap what has gathered for an empty commit. It is to be saved to the files of this segment,
 * by one thread at a time and in the order of cutting, before the segment is committed or
 * closed. The Java dialect writes its words at once, which may fail. */
CN_CHECK bool cn_segment_writer_cut(struct cn_segment_writer *segment,
                                    struct cn_store_commit *commit, struct cn_error *err);

/* All that was cut is saved: how long the files are can be looked at. */
void cn_segment_writer_note_len(struct cn_segment_writer *segment);

/* Bytes that wait in memory, and bytes of all files with them. */
uint64_t cn_segment_writer_waiting(const struct cn_segment_writer *segment);
uint64_t cn_segment_writer_len(const struct cn_segment_writer *segment);

CN_CHECK bool cn_segment_writer_close(struct cn_segment_writer *segment,
                                      struct cn_error *err);
void cn_segment_writer_abandon(struct cn_segment_writer *segment);

#endif
