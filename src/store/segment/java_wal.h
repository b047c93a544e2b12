/* The dictionary as the original trace store keeps it: text-*.wal, written beside our own
 * files in stores of the Java dialect.
 *
 * Words keep their numbers. A file holds up to 4 MB; the next one is named by its first
 * number.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_JAVA_WAL_H
#define CN_STORE_SEGMENT_JAVA_WAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "model/traces/words.h"

struct cn_java_wal;

/* Begin in `dir` with the words that are there; files from before are written again. */
CN_CHECK bool cn_java_wal_open(struct cn_java_wal **out, const char *dir,
                               const struct cn_words *words, const struct cn_disk *io,
                               struct cn_error *err);

/* Words from number `first` on, written and synced. */
CN_CHECK bool cn_java_wal_add(struct cn_java_wal *wal, const struct cn_words *words,
                              uint32_t first, struct cn_error *err);
void cn_java_wal_free(struct cn_java_wal *wal); /* NULL is fine */

#endif
