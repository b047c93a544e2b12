/* Writes traces to a store; a commit makes them durable.
 *
 *     cn_store_writer_open(&writer, path, &options, err)
 *     cn_store_writer_add(writer, &trace, &added, err) ...
 *     cn_store_writer_commit(writer, err)     all traces added so far are on the disk
 *     cn_store_writer_close(writer, err)      also commits
 *
 * A trace with words of another dictionary is translated. It is faster to build traces with the
 * words of cn_store_writer_begin(). With rules for redaction (store/write/redact.h), these are not
 * the words that are written.
 *
 * One process writes to a store at a time, with this writer or with several lanes
 * (store/write/lanes.h). Opening repairs what a crash left; committed traces are never lost.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_WRITER_H
#define CN_STORE_WRITE_WRITER_H

#include <stdint.h>

#include "base/error.h"
#include "base/run/lock.h"
#include "store/segment/config.h"

struct cn_spans_seen;
struct cn_store_lanes;
struct cn_store_writer;

/* Traces that were added. */
struct cn_store_added {
    uint64_t
        traces; /* whose first span was added; what else they have may come at other times */
    uint64_t
        parts; /* of traces, without the span that called them: they join it in searches */
    uint64_t records;  /* calls of both */
    uint64_t known;    /* traces and parts that the store already had */
    uint64_t redacted; /* values that were dropped, hashed or masked */
};

struct cn_store_commit;
struct cn_store_writer;
struct cn_trace;
struct cn_words;

/* Create an empty store. The directory must not exist, or contain no store; or in object storage,
 * where the bucket is made if it does not exist. A failure removes a directory that it made. */
CN_CHECK bool cn_store_init(const char *path, const struct cn_store_options *options,
                            struct cn_error *err);

/* True if there is nothing at this path of a directory, or what a cn_store_init() that was killed
 * left there. */
bool cn_store_is_missing(const char *path);

/* Fails if another process is writing to the store. `options` may be NULL for the settings of the
 * store. */
CN_CHECK bool cn_store_writer_open(struct cn_store_writer **out, const char *path,
                                   const struct cn_store_options *options,
                                   struct cn_error *err);

/* The dictionary for the next trace, valid until that was added. May start a new segment. */
CN_CHECK bool cn_store_writer_begin(struct cn_store_writer *writer,
                                    struct cn_words **words, struct cn_error *err);

/* Add a trace, unless the store already has it; counted in `added`, which may be NULL. */
CN_CHECK bool cn_store_writer_add(struct cn_store_writer *writer,
                                  const struct cn_trace *trace,
                                  struct cn_store_added *added, struct cn_error *err);

/* Write and sync all traces added so far. */
CN_CHECK bool cn_store_writer_commit(struct cn_store_writer *writer,
                                     struct cn_error *err);

/* The same in two steps, so that traces can be added while another thread syncs:
 *
 *     cn_store_writer_cut(writer, &commit, err)      this thread, which then adds more
 *     cn_store_commit_save(commit, err)              another thread
 *     cn_store_writer_take_back(writer, is_saved)    this thread, after the other is done
 *
 * Only one commit can be cut at a time. Until it is taken back, nothing else is committed and no
 * segment started: see cn_store_writer_is_due(). If saving fails, nothing more can be added. */
CN_CHECK bool cn_store_writer_cut(struct cn_store_writer *writer,
                                  struct cn_store_commit **out, struct cn_error *err);
CN_CHECK bool cn_store_commit_save(struct cn_store_commit *commit, struct cn_error *err);
void cn_store_writer_take_back(struct cn_store_writer *writer, bool is_saved);

/* Bytes added since the last commit or cut. */
uint64_t cn_store_writer_waiting(const struct cn_store_writer *writer);

/* True if the next trace will start a new segment, unless a commit is cut. */
bool cn_store_writer_is_due(const struct cn_store_writer *writer);

/* True if the current segment has traces. */
bool cn_store_writer_has_rows(const struct cn_store_writer *writer);

/* The number of the current segment. */
uint32_t cn_store_writer_segment(const struct cn_store_writer *writer);

/* The number of a full segment that the owner has to seal (seals_later), each once. False if there
 * is none. */
bool cn_store_writer_take_full(struct cn_store_writer *writer, uint32_t *number);

/* Seal the current segment and start the next one. */
CN_CHECK bool cn_store_writer_rotate(struct cn_store_writer *writer,
                                     struct cn_error *err);

/* Before segments are removed: start a new segment if all traces of the current one are older
 * than `before_ns` (0: never), and accept traces again that earlier segments contain. */
CN_CHECK bool cn_store_writer_retire(struct cn_store_writer *writer, uint64_t before_ns,
                                     struct cn_error *err);

/* Commit and close; also closes on failure. */
CN_CHECK bool cn_store_writer_close(struct cn_store_writer *writer, struct cn_error *err);

/* Close without a commit: traces since the last one are lost. NULL is fine. */
void cn_store_writer_abandon(struct cn_store_writer *writer);

/* How the writer of a lane is opened: store/write/lanes.h plans it.
 *
 * Internal to the store. Threads: any thread.
 */

#define CN_LANE_NO_SEGMENT UINT32_MAX

/* The numbers of new segments of a store. Each is higher than those before it: when `made_later` is
 * 0, no segment with a number below `next` appears any more. */
struct cn_segment_numbers {
    struct cn_lock lock;
    uint32_t next;
    unsigned
        made_later; /* numbers that were taken, and whose segments are not made yet */
};

/* Take a number; call cn_segment_numbers_made() when its segment is made, or cannot be. */
CN_CHECK bool cn_segment_numbers_take(struct cn_segment_numbers *numbers,
                                      const char *base, uint32_t *number,
                                      struct cn_error *err);
void cn_segment_numbers_made(struct cn_segment_numbers *numbers);

struct cn_lane_plan {
    const char *path;              /* of the store */
    struct cn_store_config config; /* of its segments, with the name of the lane */
    uint32_t current;              /* segment to continue; or CN_LANE_NO_SEGMENT */
    uint32_t previous;             /* of the same lane; or CN_LANE_NO_SEGMENT */
    uint32_t first; /* number of its first new segment; or CN_LANE_NO_SEGMENT */
    struct cn_segment_numbers *numbers; /* of those after it; borrowed */
    const struct cn_spans_seen
        *before; /* spans of all lanes, borrowed; NULL: no others */
};

/* On failure nothing has to be released. */
CN_CHECK bool cn_store_writer_open_lane(struct cn_store_writer **out,
                                        const struct cn_lane_plan *plan,
                                        const struct cn_store_options *options,
                                        struct cn_error *err);

/* Release lanes whose only writer was closed. NULL is fine. */
void cn_store_lanes_release(struct cn_store_lanes *lanes);

/* Add the spans of a segment, as far as it can be read. */
void cn_spans_seen_add_segment(struct cn_spans_seen *seen, const char *path,
                               uint32_t number);

#endif
