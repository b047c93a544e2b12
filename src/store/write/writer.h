/* The one writer of a store: traces go in, commits make them permanent.
 *
 *     cn_store_writer_open(&writer, path, &options, err)
 *     cn_store_writer_add(writer, &trace, &is_new, err) ...
 *     cn_store_writer_commit(writer, err)     everything added before is on the disk
 *     cn_store_writer_close(writer, err)      commits, too
 *
 * A trace whose words are not the store's is translated. The fast way is to build traces
 * with the words of cn_store_writer_begin().
 *
 * Only one process can have a store open for writing. What a crash leaves behind is put in
 * order when the store is opened the next time: nothing that was committed is lost.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_WRITER_H
#define CN_STORE_WRITE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/segment/config.h"

/* Traces that were added. */
struct cn_store_added {
    uint64_t traces, records; /* new ones, and their calls */
    uint64_t known;           /* traces that the store already had */
};

struct cn_store_commit;
struct cn_store_writer;
struct cn_trace;
struct cn_words;

/* Make an empty store; the directory must not exist or be empty. */
CN_CHECK bool cn_store_init(const char *path, const struct cn_store_options *options,
                            struct cn_error *err);

/* Fails when another process writes to it. `options` may be NULL: as the store says. */
CN_CHECK bool cn_store_writer_open(struct cn_store_writer **out, const char *path,
                                   const struct cn_store_options *options,
                                   struct cn_error *err);

/* The dictionary for the next trace; valid until it was added. May start a new segment. */
CN_CHECK bool cn_store_writer_begin(struct cn_store_writer *writer,
                                    struct cn_words **words, struct cn_error *err);

/* Add a trace, unless the store already has it; counted in `added`, which may be NULL. */
CN_CHECK bool cn_store_writer_add(struct cn_store_writer *writer,
                                  const struct cn_trace *trace,
                                  struct cn_store_added *added, struct cn_error *err);

/* Returns when everything added is on the disk. */
CN_CHECK bool cn_store_writer_commit(struct cn_store_writer *writer,
                                     struct cn_error *err);

/* The same in two steps, so that more can be added while another thread waits for the disk:
 *
 *     cn_store_writer_cut(writer, &commit, err)      this thread goes on adding
 *     cn_store_commit_save(commit, err)              another thread; true: all is on the disk
 *     cn_store_writer_take_back(writer, true)        this thread, when the other is done
 *
 * One commit can be cut off at a time. Until it is taken back nothing else is committed, and
 * no segment begun: see cn_store_writer_is_due(). After a failure to save, nothing more can
 * be added. */
CN_CHECK bool cn_store_writer_cut(struct cn_store_writer *writer,
                                  struct cn_store_commit **out, struct cn_error *err);
CN_CHECK bool cn_store_commit_save(struct cn_store_commit *commit, struct cn_error *err);
void cn_store_writer_take_back(struct cn_store_writer *writer, bool is_saved);

/* Bytes that were added since the last commit, or cut. */
uint64_t cn_store_writer_waiting(const struct cn_store_writer *writer);

/* Whether the next trace begins a new segment, when no commit is out. */
bool cn_store_writer_is_due(const struct cn_store_writer *writer);

/* The number of the segment that is written to. */
uint32_t cn_store_writer_segment(const struct cn_store_writer *writer);

/* Seal the current segment and start the next one. */
CN_CHECK bool cn_store_writer_rotate(struct cn_store_writer *writer,
                                     struct cn_error *err);

/* Start a new segment when all traces of the current one are older than `before_ns` (0: never),
 * and take traces again that earlier segments have: those may be about to be removed. */
CN_CHECK bool cn_store_writer_retire(struct cn_store_writer *writer, uint64_t before_ns,
                                     struct cn_error *err);

/* Commit and close. The writer is gone in any case. */
CN_CHECK bool cn_store_writer_close(struct cn_store_writer *writer, struct cn_error *err);

/* Close without a commit; what was not committed is lost. NULL is fine. */
void cn_store_writer_abandon(struct cn_store_writer *writer);

#endif
