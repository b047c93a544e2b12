/* Symbols that are defined in assembly, hooks_ARCH.S.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STUBS_H
#define CN_RECORD_STUBS_H

/* The return stub, the hooks of patched functions, and the hook of library calls. */
extern const char cn_rec_return[], cn_rec_patched[], cn_rec_moved[], cn_rec_libcall[];

/* Empty functions: one that calls the hook, a patched one, and one that is not
 * recorded. */
void cn_rec_probe(void);
void cn_rec_probe_patched(void);
void cn_rec_probe_plain(void);

#endif
