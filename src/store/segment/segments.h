/* The directory of a store: its numbered segments.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_SEGMENTS_H
#define CN_STORE_SEGMENT_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The name of a segment is its number: six hexadecimal digits. */
enum { CN_SEGMENT_NUMBER_MAX = 0xffffff };

/* The numbers of all segments, ascending, without those that are gone: another one replaced them,
 * they are marked, or are not yet complete replacements. The caller frees them. */
CN_CHECK bool cn_segments_list(const char *base, uint32_t **numbers, size_t *count,
                               struct cn_error *err);

/* One more than the highest number, also of segments that are gone. */
CN_CHECK bool cn_segments_next_number(const char *base, uint32_t *out,
                                      struct cn_error *err);

/* Fails for a store in object storage, and for one of the Java collector. */
CN_CHECK bool cn_segments_check_local(const char *base, struct cn_error *err);

/* Fails if a directory has neither a config nor a segment. */
CN_CHECK bool cn_segments_check_store(const char *base, struct cn_error *err);

/* Mark a sealed segment as gone: new readers ignore it, and those that have it open can still read
 * it until cn_segments_clean() removes it. */
CN_CHECK bool cn_segment_mark_gone(const char *base, uint32_t number,
                                   struct cn_error *err);

/* Remove segments that are gone for `grace_ns`, and what a crash left of others that were being
 * removed. */
CN_CHECK bool cn_segments_clean(const char *base, uint64_t grace_ns,
                                struct cn_error *err);

/* Bytes of segments that are gone and whose files are not removed yet. */
uint64_t cn_segments_gone_len(const char *base);

/* When the newest data of a segment was written, in nanoseconds since the epoch; 0 if that is not
 * known. */
uint64_t cn_segment_written_ns(const char *base, uint32_t number);

/* Remove the directory of a segment with its files. */
CN_CHECK bool cn_segment_remove(const char *base, uint32_t number, struct cn_error *err);

/* "BASE/00002a". The caller frees it. */
char *cn_segment_dir(const char *base, uint32_t number);

/* Bytes of all files of a segment directory. */
uint64_t cn_segment_disk_len(const char *dir);

/* False if a path does not end in the name of a segment. */
bool cn_segments_parse(const char *path, uint32_t *number);

#endif
