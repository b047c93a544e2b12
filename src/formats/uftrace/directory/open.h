/* Uftrace data directories as recordings.
 * Threads: one thread opens a recording; it is immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_OPEN_H
#define CN_FORMATS_UFTRACE_DIRECTORY_OPEN_H

#include "model/calls/recording.h"
#include "model/format.h"

/* Implement `probe` and `open_recording` of struct cn_format; `probe` also of packed records. */
bool cn_uft_probe(const char *path);
bool cn_uft_packed_probe(const char *path);
CN_CHECK bool cn_uft_open(struct cn_recording **out, const char *path,
                          const struct cn_recording_options *options,
                          struct cn_error *err);

#endif
