/* Names of files by which stores of the original Java implementation are known.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_JAVA_PROBE_H
#define CN_STORE_SEGMENT_JAVA_PROBE_H

#include <stdbool.h>

#include "base/error.h"

/* True for files with words: text-*.wal, and text-*.fmi. */
bool cn_java_is_wal(const char *name);
bool cn_java_is_text(const char *name);

/* True for the directory of a segment. */
bool cn_java_is_segment(const char *dir);

/* True for the directory of a Java store or of one of its segments. */
bool cn_java_store_probe(const char *path);

/* Fails for such a directory, with the command that reads it: cairn does not change it. */
CN_CHECK bool cn_java_store_refuse(const char *path, struct cn_error *err);

#endif
