/* cairn info for recordings: what is known about the run, and its tasks.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_INFO_RECORDING_H
#define CN_CLI_RECORDING_INFO_RECORDING_H

#include "base/error.h"

struct cn_args;

CN_CHECK bool cn_info_recording(const struct cn_args *args, const char *path,
                                struct cn_error *err);

#endif
