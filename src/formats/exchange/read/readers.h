/* The readers of exchange formats: a probe by content, and what each can be opened as.
 *
 * cn_X_read() is the same on bytes in memory, without a file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_READERS_H
#define CN_FORMATS_EXCHANGE_READ_READERS_H

#include <stdbool.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_database;
struct cn_import;
struct cn_recording;
struct cn_recording_options;

bool cn_folded_probe(const char *path);
CN_CHECK bool cn_folded_open(struct cn_database **out, const char *path,
                             struct cn_error *err);
CN_CHECK bool cn_folded_read(struct cn_import *import, struct cn_bytes bytes,
                             struct cn_error *err);

bool cn_pprof_probe(const char *path);
CN_CHECK bool cn_pprof_open(struct cn_database **out, const char *path,
                            struct cn_error *err);
CN_CHECK bool cn_pprof_read(struct cn_import *import, struct cn_bytes bytes,
                            struct cn_error *err);

bool cn_chrome_probe(const char *path);
CN_CHECK bool cn_chrome_open(struct cn_recording **out, const char *path,
                             const struct cn_recording_options *options,
                             struct cn_error *err);
CN_CHECK bool cn_chrome_read(struct cn_bytes bytes, struct cn_recording **out,
                             struct cn_error *err);

/* Files with nothing but events are a format of their own, speedscope-calls. */
bool cn_speedscope_probe(const char *path);
CN_CHECK bool cn_speedscope_open(struct cn_database **out, const char *path,
                                 struct cn_error *err);
CN_CHECK bool cn_speedscope_read(struct cn_import *import, struct cn_bytes bytes,
                                 struct cn_error *err);
CN_CHECK bool cn_speedscope_read_calls(struct cn_bytes bytes, struct cn_recording **out,
                                       struct cn_error *err);

#endif
