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

/* The numbers of all segments, ascending, without those that another one replaced. The caller
 * frees them. */
CN_CHECK bool cn_segments_list(const char *base, uint32_t **numbers, size_t *count,
                               struct cn_error *err);

/* Fails for a store in object storage, and for one of the Java collector. */
CN_CHECK bool cn_segments_check_local(const char *base, struct cn_error *err);

/* Fails if a directory has neither a config nor a segment. */
CN_CHECK bool cn_segments_check_store(const char *base, struct cn_error *err);

/* Remove segments that another one replaced. */
CN_CHECK bool cn_segments_remove_replaced(const char *base, struct cn_error *err);

/* Remove the directory of a segment with its files. */
CN_CHECK bool cn_segment_remove(const char *base, uint32_t number, struct cn_error *err);

/* "BASE/00002a". The caller frees it. */
char *cn_segment_dir(const char *base, uint32_t number);

/* Bytes of all files of a segment directory. */
uint64_t cn_segment_disk_len(const char *dir);

/* False if a path does not end in the name of a segment. */
bool cn_segments_parse(const char *path, uint32_t *number);

#endif
