/* The dictionary in the format of the original trace store, text-*.wal. Stores of the Java dialect
 * have it in addition to their own files.
 *
 * Words have the same numbers. A file has up to 4 MB and is named by its first number.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_JAVA_WAL_H
#define CN_STORE_SEGMENT_JAVA_WAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "model/traces/words.h"

struct cn_java_wal;

/* Write the words so far to `dir`; existing files are replaced. */
CN_CHECK bool cn_java_wal_open(struct cn_java_wal **out, const char *dir,
                               const struct cn_words *words, const struct cn_disk *io,
                               struct cn_error *err);

/* Write and sync the words from number `first` on. */
CN_CHECK bool cn_java_wal_add(struct cn_java_wal *wal, const struct cn_words *words,
                              uint32_t first, struct cn_error *err);
void cn_java_wal_free(struct cn_java_wal *wal); /* NULL is fine */

#endif
