/* Functions to patch in files without hooks: reads the ELF file, lets launcher/code decide,
 * and stores the result for the recorder.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_PATCH_PLAN_H
#define CN_LAUNCHER_RULES_PATCH_PLAN_H

#include <stdint.h>

#include "base/error.h"
#include "launcher/code/prologue.h"

struct cn_elf_file;
struct cn_shared_memory;

/* Functions by enum cn_code_left, of all files. */
struct cn_patch_counts {
    uint64_t left[CN_CODE_LEFT_COUNT];
};

/* True if functions of such a file can be patched: it has no other hooks, and is for a
 * processor that is known. */
bool cn_patch_plan_is_possible(const struct cn_elf_file *elf);

/* Store the patches of the functions for which one of the `rule_count` rules from `first` has
 * this action; `*count` of them follow those of other files. Fails when there are too
 * many. */
CN_CHECK bool cn_patch_plan_store(const char *path, const struct cn_elf_file *elf,
                                  uint32_t action, uint32_t first, uint32_t rule_count,
                                  struct cn_shared_memory *memory,
                                  struct cn_patch_counts *counts, uint32_t *count,
                                  struct cn_error *err);

#endif
