/* The readers of exchange formats: probes by content, and functions that open a file.
 *
 * cn_X_read() reads bytes in memory.
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

CN_CHECK bool cn_cpuprofile_read(struct cn_import *import, struct cn_bytes bytes,
                                 struct cn_error *err);
CN_CHECK bool cn_heapprofile_read(struct cn_import *import, struct cn_bytes bytes,
                                  struct cn_error *err);

CN_CHECK bool cn_heaptrack_read(struct cn_import *import, struct cn_bytes bytes,
                                struct cn_error *err);
CN_CHECK bool cn_heapprofd_read(struct cn_import *import, struct cn_bytes bytes,
                                struct cn_error *err);
CN_CHECK bool cn_massif_read(struct cn_import *import, struct cn_bytes bytes,
                             struct cn_error *err);

bool cn_firefox_probe(const char *path);
CN_CHECK bool cn_firefox_open(struct cn_database **out, const char *path,
                              struct cn_error *err);
CN_CHECK bool cn_firefox_read(struct cn_import *import, struct cn_bytes bytes,
                              struct cn_error *err);

bool cn_callgrind_probe(const char *path);
CN_CHECK bool cn_callgrind_open(struct cn_database **out, const char *path,
                                struct cn_error *err);
CN_CHECK bool cn_callgrind_read(struct cn_import *import, struct cn_bytes bytes,
                                struct cn_error *err);

bool cn_perfetto_probe(const char *path);
CN_CHECK bool cn_perfetto_open(struct cn_recording **out, const char *path,
                               const struct cn_recording_options *options,
                               struct cn_error *err);
CN_CHECK bool cn_perfetto_read(struct cn_bytes bytes, struct cn_recording **out,
                               struct cn_error *err);

/* Files with only evented profiles are the format speedscope-calls. */
bool cn_speedscope_probe(const char *path);
CN_CHECK bool cn_speedscope_open(struct cn_database **out, const char *path,
                                 struct cn_error *err);
CN_CHECK bool cn_speedscope_read(struct cn_import *import, struct cn_bytes bytes,
                                 struct cn_error *err);
CN_CHECK bool cn_speedscope_read_calls(struct cn_bytes bytes, struct cn_recording **out,
                                       struct cn_error *err);

#endif
