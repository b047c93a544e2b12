/* A .hpcrun file and its trace as a profile of model/contexts/samples.h.
 *
 * Threads: each with a profile of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PROFILE_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PROFILE_H

#include "model/contexts/samples.h"

/* Read `path` and, unless `without_trace`, the trace beside it. Messages do not name the
 * file. If the trace is damaged, its readable samples are used and profile->damage names the
 * problem. */
CN_CHECK bool cn_hpc_profile_read(const char *path, bool without_trace,
                                  struct cn_sampled_profile *profile,
                                  struct cn_error *err);

/* The same from bytes; an empty `trace` means that there is none. */
CN_CHECK bool cn_hpc_profile_decode(struct cn_bytes run, struct cn_bytes trace,
                                    struct cn_sampled_profile *profile,
                                    struct cn_error *err);

void cn_hpc_profile_done(struct cn_sampled_profile *profile);

#endif
