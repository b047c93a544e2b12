/* The rules about the functions of each file that the process has mapped.
 *
 * Those of the program that was started are there from the beginning. For every other
 * file (of a program reached by exec, of a library) the launcher is asked, which knows
 * names; it answers with a range of the rules in the shared memory.
 * Threads: any thread; files may be added while others look.
 */
#ifndef CN_RECORD_MODULE_RULES_H
#define CN_RECORD_MODULE_RULES_H

#include <stdint.h>

struct cn_rec_rule;

/* Ask about all files that are mapped now. */
void cn_rec_module_rules_begin(void);

/* Ask about one more. */
void cn_rec_module_rules_add(const char *path, uintptr_t start, uintptr_t end);

/* The file at `start` is not mapped any more. */
void cn_rec_module_rules_remove(uintptr_t start);

/* The rule about the function at this address, and where its file is mapped. NULL when
 * there is none. */
const struct cn_rec_rule *cn_rec_module_rules_find(uintptr_t address, uintptr_t *base);

#endif
