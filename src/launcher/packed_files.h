/* Packing records while they are recorded: TID.zts in place of TID.dat.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_PACKED_FILES_H
#define CN_LAUNCHER_PACKED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/shared_memory.h"

/* The packed files of a recording in `dir`. */
struct cn_packed_files {
    const char *dir;
    struct cn_shared_memory *memory;
    struct cn_packed_file *list;
    size_t count, capacity;
    uint64_t stored_len; /* bytes written to them */
};

/* Write out what a track has recorded. */
CN_CHECK bool cn_packed_files_write(struct cn_packed_files *files,
                                    struct cn_rec_track *track, const uint8_t *ring,
                                    struct cn_error *err);

/* The process that packed this track has died: go on where it said it was. */
CN_CHECK bool cn_packed_files_resume(struct cn_packed_files *files,
                                     struct cn_rec_track *track, struct cn_error *err);

/* Write the last blocks. */
CN_CHECK bool cn_packed_files_finish(struct cn_packed_files *files, struct cn_error *err);
void cn_packed_files_done(struct cn_packed_files *files);

#endif
