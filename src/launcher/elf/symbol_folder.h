/* Symbols from a folder of NAME.sym files, in place of those of a stripped file.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_SYMBOL_FOLDER_H
#define CN_LAUNCHER_ELF_SYMBOL_FOLDER_H

#include <stdbool.h>

struct cn_elf_file;

/* Replace the symbols of the file at `path`, except its library calls, with those that the
 * folder has for its name; not if they are of another build. True if they were replaced.
 * Without a folder (NULL) nothing changes. */
bool cn_elf_symbols_replace(struct cn_elf_file *elf, const char *folder,
                            const char *path);

#endif
