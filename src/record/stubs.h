/* What is written in assembly (hooks_ARCH.S) and named by C code.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STUBS_H
#define CN_RECORD_STUBS_H

/* Where calls return to, what patched functions call, and what slots of library calls jump
 * to. */
extern const char cn_rec_return[], cn_rec_patched[], cn_rec_libcall[];

/* Functions that do nothing: one is recorded, the other is not. */
void cn_rec_probe(void);
void cn_rec_probe_plain(void);

#endif
