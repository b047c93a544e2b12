/* Patches functions built with -fpatchable-function-entry, or with -mfentry: their nops, or
 * their call of __fentry__, become a jump to a stub of their own, which passes the address
 * of the body to the recorder. Calls of __fentry__ that are not found remain. Of functions
 * without hooks, the launcher says how (struct cn_rec_patch).
 * Threads: one thread at a time: while the library is loaded, or under the loader's lock.
 */
#ifndef CN_RECORD_CODE_PATCH_H
#define CN_RECORD_CODE_PATCH_H

#include <stddef.h>
#include <stdint.h>

struct cn_rec_image;

/* The stubs of a file. */
struct cn_rec_patches {
    uint8_t *stubs; /* NULL: none */
    size_t len;
};

/* Patch a mapped file, before or after its relocation. */
void cn_rec_patch(struct cn_rec_patches *patches, const struct cn_rec_image *image,
                  const char *path);

/* The file was unmapped. */
void cn_rec_patches_remove(struct cn_rec_patches *patches);

#endif
