/* The rules for the functions of each mapped file.
 *
 * Those of the started program exist from the beginning. For every other file (a program
 * reached by exec, a library) the recorder sends a request to the launcher, which knows
 * names and answers with a range of the rules in shared memory.
 * Threads: any thread; files may be added while other threads search.
 */
#ifndef CN_RECORD_STATE_MODULE_RULES_H
#define CN_RECORD_STATE_MODULE_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_patch;
struct cn_rec_rule;

/* Request the rules of all mapped files. */
void cn_rec_module_rules_begin(void);

/* Request the rules of one more file. */
void cn_rec_module_rules_add(const char *path, uintptr_t start, uintptr_t end);

/* Request the number of a function of Python, as python.c describes it, and its rule. The
 * number is its address. False when there is none. */
bool cn_rec_module_rules_name(const char *text, uint32_t *number);

/* The file at `start` was unmapped. */
void cn_rec_module_rules_remove(uintptr_t start);

/* The rule for the function at this address, and the base address of its file. NULL when
 * there is none. */
const struct cn_rec_rule *cn_rec_module_rules_find(uintptr_t address, uintptr_t *base);

/* The functions without hooks to patch in the file at this address, and its base. */
const struct cn_rec_patch *cn_rec_module_patches(uintptr_t address, uintptr_t *base,
                                                 uint32_t *count);

#endif
