/* Functions built with -fpatchable-function-entry: their empty instructions become calls
 * of ours.
 * Threads: one thread at a time: while the library is loaded, or under the loader's lock.
 */
#ifndef CN_RECORD_PATCH_H
#define CN_RECORD_PATCH_H

struct cn_rec_image;

/* Patch a file that is mapped, whether it was relocated yet or not. */
void cn_rec_patch(const struct cn_rec_image *image, const char *path);

#endif
