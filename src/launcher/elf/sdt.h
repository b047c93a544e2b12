/* Probes of systemtap (SDT) in a file: .note.stapsdt.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_SDT_H
#define CN_LAUNCHER_ELF_SDT_H

#include <stddef.h>
#include <stdint.h>

/* One instruction that does nothing until a tracer is interested. */
struct cn_sdt_probe {
    char *name;             /* "provider:probe"; several probes may have the same */
    uint64_t off;           /* in the file */
    uint64_t semaphore_off; /* of the counter of interested tracers; 0: none */
};

struct cn_sdt_file {
    char *path;
    struct cn_sdt_probe *probes;
    size_t count;
};

/* The probes of a program and of the libraries that its loader finds for it; it is not run. A file
 * that is not an ELF file of this machine has none. Damaged notes are skipped. The files are an
 * array, to be released with cn_sdt_files_free(). */
struct cn_sdt_file *cn_sdt_files_read(const char *program, size_t *count);
void cn_sdt_files_free(struct cn_sdt_file *files, size_t count);

#endif
