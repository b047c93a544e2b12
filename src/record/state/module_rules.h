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

struct cn_rec_filter_state;
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

/* Use the rule set of this version, unless there is no memory to map it. */
void cn_rec_module_rules_use(struct cn_rec_filter_state *filter, uint32_t version);

/* The rule of a version for the function at this address, and the base address of its
 * file. NULL when there is none, or the version is no longer in memory. */
const struct cn_rec_rule *cn_rec_module_rules_find(uint32_t version, uintptr_t address,
                                                   uintptr_t *base);

/* What the rules of a function say, where it does not depend on the call. */
enum cn_rec_decision {
    CN_REC_DECIDE_PLAIN, /* it has no rule */
    CN_REC_DECIDE_HIDE,  /* RULE_HIDE alone, or it is too small */
    CN_REC_DECIDE_NOT,   /* RULE_NOT alone */
    CN_REC_DECIDE_ONLY,  /* RULE_ONLY alone */
};

/* Decisions about the functions that were called, for assembly: by a hash of the address, the
 * address and the decision. Read without a lock; a function that is missing is looked up.
 * A decision that was taken while a file was added or removed is forgotten. */
extern _Atomic uint64_t cn_rec_decisions[];
uint32_t cn_rec_decisions_epoch(void);
void cn_rec_decide(uintptr_t address, enum cn_rec_decision decision, uint32_t epoch);

/* The functions without hooks to patch in the file at this address, and its base. */
const struct cn_rec_patch *cn_rec_module_patches(uintptr_t address, uintptr_t *base,
                                                 uint32_t *count);

#endif
