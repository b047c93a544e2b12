/* A small recording that has one of everything: a process with two more threads, a
 * child that is forked and executes another program, a library loaded later, C++
 * names, arguments and return values of every kind, an enum, events of all sorts,
 * context switches, a task that was renamed, a loss, external data, a function
 * without a name.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_SAMPLE_RECORDING_H
#define CN_TEST_SAMPLE_RECORDING_H

#include "base/error.h"

struct cn_recording;

/* In memory; release it with cn_recording_close(). */
struct cn_recording *cn_sample_recording(void);
struct cn_recording *cn_sample_recording_big_endian(void);

/* The same as a uftrace directory at `path`, which must not exist. */
CN_CHECK bool cn_sample_recording_write(const char *path, struct cn_error *err);

#endif
