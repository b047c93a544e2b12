/* A sampling profiler for the demonstration: where the threads of this program spend their
 * CPU time, written as a database.
 *
 *     sampler_start();                    in main(), before threads
 *     sampler_attach("worker");           in each thread, main included
 *     ... work ...
 *     sampler_detach();
 *     sampler_write("words.db", &err);    when all threads have ended
 *
 * Threads: start and write from one thread; attach and detach from each.
 */
#ifndef DEMO_SAMPLER_H
#define DEMO_SAMPLER_H

#include "base/error.h"

void sampler_start(void);
void sampler_attach(bool is_main);
void sampler_detach(void);

/* An earlier database at `path` is replaced. */
CN_CHECK bool sampler_write(const char *path, const char *title, struct cn_error *err);

#endif
