/* The calls that were open when nodes of graphs of a GPU were made: the paths of captures, read from the
 * calls of a recording.
 *
 *     captures = cn_uft_captures_new();
 *     op->capture = cn_uft_captures_add(captures, records, op->capture);    of each operation
 *     cn_uft_captures_find(captures, dir, work);     the recording has the paths, operations their numbers
 *     cn_uft_captures_free(captures);                after the recording
 *
 * Tasks with captures are read up to the last of these.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_CAPTURES_H
#define CN_FORMATS_UFTRACE_DIRECTORY_CAPTURES_H

#include <stdint.h>

struct cn_gpu_records;
struct cn_gpu_work;
struct cn_uft_captures;
struct cn_uft_directory;

struct cn_uft_captures *cn_uft_captures_new(void);
void cn_uft_captures_free(struct cn_uft_captures *captures); /* NULL is fine */

/* Give a capture of the records (1 + its path; 0: none) its number here, 0: none. */
uint32_t cn_uft_captures_add(struct cn_uft_captures *captures,
                             const struct cn_gpu_records *records, uint32_t capture);

/* Replace the numbers in operations by 1 + a path of the recording; 0 where no call was open. */
void cn_uft_captures_find(struct cn_uft_captures *captures, struct cn_uft_directory *dir,
                          struct cn_gpu_work *work);

#endif
