/* The call frame information of a module as a sorted table: the rule of an address defines
 * the registers of the caller.
 *
 * A table is built from an ELF file, or decoded from a cached file; both are untrusted.
 * Threads: immutable after it was built.
 */
#ifndef CN_UNWIND_TABLE_H
#define CN_UNWIND_TABLE_H

#include "base/text.h"
#include "unwind/elf.h"

/* A rule is two words, then two words for each register that changes:
 *
 *   kind of the CFA, register of the CFA, return address register, flags and count
 *   offset of the CFA, or of its expression
 *   register, kind        offset, other register, or offset of an expression
 *
 * A rule of 0 means that nothing is known. */
enum cn_unwind_cfa { CN_UNWIND_CFA_REGISTER = 1, CN_UNWIND_CFA_EXPRESSION = 2 };

enum cn_unwind_kind {
    CN_UNWIND_SAME_VALUE, /* never stored */
    CN_UNWIND_UNDEFINED,
    CN_UNWIND_AT_CFA,           /* stored at the CFA plus an offset */
    CN_UNWIND_CFA_PLUS,         /* the CFA plus an offset */
    CN_UNWIND_IN_REGISTER,      /* the value of another register */
    CN_UNWIND_AT_EXPRESSION,    /* stored at an address */
    CN_UNWIND_VALUE_EXPRESSION, /* the value */
    CN_UNWIND_KINDS,
};

enum {
    CN_UNWIND_IS_SIGNAL = 0x80, /* the caller was interrupted: its address is no return */
    CN_UNWIND_IS_SIGNED = 0x40, /* the return address has an authentication code */
    CN_UNWIND_COUNT_MASK = 0x3f,
    CN_UNWIND_RULE_WORDS_MAX = 2 + 2 * CN_UNWIND_REGISTER_MAX,
};

struct cn_unwind_table {
    enum cn_unwind_machine machine;
    uint64_t base, entry;
    struct cn_unwind_segment segments[CN_UNWIND_SEGMENT_MAX];
    uint32_t segment_count;
    uint32_t *begins; /* of rows, from `base` */
    uint32_t *rules;  /* of rows: where in `words` */
    uint32_t *words;
    uint8_t *expressions; /* each after its length of two bytes */
    size_t row_count, word_count, expression_len;
    size_t row_capacity, rule_capacity, word_capacity, expression_capacity;
};

static inline uint8_t cn_unwind_rule_cfa(uint32_t word)
{
    return (uint8_t)word;
}

static inline uint8_t cn_unwind_rule_cfa_register(uint32_t word)
{
    return (uint8_t)(word >> 8);
}

static inline uint8_t cn_unwind_rule_return(uint32_t word)
{
    return (uint8_t)(word >> 16);
}

static inline uint8_t cn_unwind_rule_flags(uint32_t word)
{
    return (uint8_t)(word >> 24);
}

/* A table without rows is still a table: of code that tells nothing. */
void cn_unwind_table_build(struct cn_unwind_table *table,
                           const struct cn_unwind_elf *elf);
/* Add rows that the code tells: for the vDSO of aarch64, which has no call frame information, and whose
 * functions save x29 and x30 together or not at all. */
void cn_unwind_table_add_code(struct cn_unwind_table *table,
                              const struct cn_unwind_elf *elf);
void cn_unwind_table_done(struct cn_unwind_table *table);

/* The words of the rule of an address in the module; NULL if nothing is known. */
const uint32_t *cn_unwind_table_find(const struct cn_unwind_table *table,
                                     uint64_t address);

/* The address in the module of an offset in its file. */
CN_CHECK bool cn_unwind_table_address(const struct cn_unwind_table *table,
                                      uint64_t file_off, uint64_t *out);

struct cn_bytes cn_unwind_table_expression(const struct cn_unwind_table *table,
                                           uint32_t off);

/* The bytes of a cached file, and back. A damaged file is refused. */
void cn_unwind_table_encode(const struct cn_unwind_table *table, struct cn_text *out);
CN_CHECK bool cn_unwind_table_decode(struct cn_unwind_table *table, struct cn_bytes file,
                                     struct cn_error *err);

#endif
