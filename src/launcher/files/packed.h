/* Packs records while they are recorded: TID.zts instead of TID.dat.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_PACKED_H
#define CN_LAUNCHER_FILES_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/files/shared_memory.h"

/* The packed files of a recording in `dir`. */
struct cn_packed_files {
    const char *dir;
    struct cn_shared_memory *memory;
    struct cn_packed_file *list;
    size_t count, capacity;
    uint64_t stored_len; /* bytes written */
};

/* Pack the new records of a track. */
CN_CHECK bool cn_packed_files_write(struct cn_packed_files *files,
                                    struct cn_rec_track *track, const uint8_t *ring,
                                    struct cn_error *err);

/* Continue with a track whose packing process has died. */
CN_CHECK bool cn_packed_files_resume(struct cn_packed_files *files,
                                     struct cn_rec_track *track, struct cn_error *err);

/* Close the files. */
CN_CHECK bool cn_packed_files_finish(struct cn_packed_files *files, struct cn_error *err);
void cn_packed_files_done(struct cn_packed_files *files);

#endif
