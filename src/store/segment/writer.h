/* Writes a segment: the files of one numbered directory.
 *
 * Added traces are collected in a commit (store/segment/commit.h). cn_segment_writer_commit()
 * saves it; or cn_segment_writer_cut() takes it out, so that another thread can save it while
 * more traces are added.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_WRITER_H
#define CN_STORE_SEGMENT_WRITER_H

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
    uint64_t files_len; /* of all files after the last commit known to be saved */
    struct cn_store_commit commit; /* not saved yet */
    struct cn_words words;
    bool has_new_damage;  /* config.damage was set when it was opened */
    bool lacks_words;     /* part of text.log was damaged when it was opened */
    uint32_t saved_words; /* of these are in text.log or in a commit */
    uint32_t row_count;   /* including those of the commit */
    uint32_t logged_rows; /* in meta.log when it was opened */
    struct cn_zorka_encoder encoder;
    struct cn_posting_log postings;
    struct cn_posting_words posting_words;
    struct cn_java_wal *wal; /* Java dialect only */
    uint64_t first_ns;       /* time of the first trace */
};

/* Create the directory with empty files. On failure nothing has to be released. */
CN_CHECK bool cn_segment_writer_create(struct cn_segment_writer *segment,
                                       const char *base, uint32_t number,
                                       const struct cn_store_config *config,
                                       const struct cn_disk *io, struct cn_error *err);

/* Open an existing segment. Torn ends of files are cut off, and missing rows made again; what was
 * acknowledged and is damaged stays in the files, and config.props names it. On failure nothing
 * has to be released. */
CN_CHECK bool cn_segment_writer_open(struct cn_segment_writer *segment, const char *base,
                                     uint32_t number, const struct cn_disk *io,
                                     struct cn_error *err);

/* The same for a segment whose rows were removed: nothing before `reach` is cut off traces.dat. */
CN_CHECK bool cn_segment_writer_recover(struct cn_segment_writer *segment,
                                        const char *base, uint32_t number, uint64_t reach,
                                        const struct cn_disk *io, struct cn_error *err);

/* Add a trace with words of this segment. A span inside of it gets a row if `is_wanted` returns
 * true. */
typedef bool (*cn_span_filter)(void *arg, const struct cn_trace *trace,
                               const struct cn_trace_span *span);
CN_CHECK bool cn_segment_writer_add(struct cn_segment_writer *segment,
                                    const struct cn_trace *trace, uint64_t part_off,
                                    cn_span_filter is_wanted, void *arg,
                                    struct cn_zorka_part *part, struct cn_error *err);

CN_CHECK bool cn_segment_writer_commit(struct cn_segment_writer *segment,
                                       struct cn_error *err);

/* Exchange the commit for an empty one. It must be saved before the segment is committed or
 * closed: by one thread at a time, in the order of cutting. Fails if the Java dialect cannot
 * write its words, which it does here. */
CN_CHECK bool cn_segment_writer_cut(struct cn_segment_writer *segment,
                                    struct cn_store_commit *commit, struct cn_error *err);

/* Update the length of the files, after all commits were saved. */
void cn_segment_writer_note_len(struct cn_segment_writer *segment);

/* Bytes in memory, and bytes of all files including them. */
uint64_t cn_segment_writer_waiting(const struct cn_segment_writer *segment);
uint64_t cn_segment_writer_len(const struct cn_segment_writer *segment);

CN_CHECK bool cn_segment_writer_close(struct cn_segment_writer *segment,
                                      struct cn_error *err);
void cn_segment_writer_abandon(struct cn_segment_writer *segment);

#endif
