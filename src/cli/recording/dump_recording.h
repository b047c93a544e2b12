/* cairn dump for recordings: every record of every file, in the order of the files.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_DUMP_RECORDING_H
#define CN_CLI_RECORDING_DUMP_RECORDING_H

#include "base/error.h"

struct cn_args;

CN_CHECK bool cn_dump_recording(const struct cn_args *args, const char *path,
                                struct cn_error *err);

#endif
