/* Probes of systemtap (SDT) in a file: .note.stapsdt.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_SDT_H
#define CN_LAUNCHER_ELF_SDT_H

#include <stddef.h>
#include <stdint.h>

/* One instruction that does nothing until someone is interested. */
struct cn_sdt_probe {
    char *name;             /* "provider:probe"; several probes may have the same */
    uint64_t off;           /* in the file */
    uint64_t semaphore_off; /* of the counter of those who are interested; 0: none */
};

struct cn_sdt_file {
    char *path;
    struct cn_sdt_probe *probes;
    size_t count;
};

/* Read the probes; none when the file is not an ELF file of this machine. Notes that are
 * damaged are skipped. */
void cn_sdt_file_read(struct cn_sdt_file *file, const char *path);
void cn_sdt_file_done(struct cn_sdt_file *file);

/* The same for a program and the libraries that its loader finds for it; it is not run. The
 * files are an array, to be released with cn_sdt_files_free(). */
struct cn_sdt_file *cn_sdt_files_read(const char *program, size_t *count);
void cn_sdt_files_free(struct cn_sdt_file *files, size_t count);

#endif
