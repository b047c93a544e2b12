/* Patches functions built with -fpatchable-function-entry: their nops become calls of the
 * recorder.
 * Threads: one thread at a time: while the library is loaded, or under the loader's lock.
 */
#ifndef CN_RECORD_PATCH_H
#define CN_RECORD_PATCH_H

struct cn_rec_image;

/* Patch a mapped file, before or after its relocation. */
void cn_rec_patch(const struct cn_rec_image *image, const char *path);

#endif
