/* The directory that a recording is made in.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_RECORDING_DIR_H
#define CN_LAUNCHER_RECORDING_DIR_H

#include <stddef.h>

#include "base/error.h"

/* Make the directory, empty. An earlier recording of that name is kept as NAME.old, in
 * place of one of that name; anything else there is left alone and is an error. Gives
 * the absolute path, to be released with free(). */
CN_CHECK bool cn_recording_dir_create(const char *name, char **out, struct cn_error *err);

/* Open a file of the directory to append to; -1 on failure. */
int cn_recording_dir_append(const char *dir, const char *name, struct cn_error *err);

/* Remove a recording with all that is in it. */
CN_CHECK bool cn_recording_dir_remove(const char *dir, struct cn_error *err);

#endif
