/* Functions built with -fpatchable-function-entry: their empty instructions become calls
 * of ours.
 * Threads: cn_rec_patch_begin() once, before the program runs.
 */
#ifndef CN_RECORD_PATCH_H
#define CN_RECORD_PATCH_H

/* Patch the program and the libraries loaded with it. */
void cn_rec_patch_begin(void);

#endif
