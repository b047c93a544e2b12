/* libcapstone, loaded when the first instruction is read.
 *
 * Its tables take 2 ms to relocate, which every command would pay for if the program were linked with it.
 * The library stays loaded until the process ends.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_PROGRAM_CAPSTONE_H
#define CN_SYMBOLS_PROGRAM_CAPSTONE_H

#include <capstone.h>

/* Functions of the library, named as there without cs_. */
struct cn_capstone {
    cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
    cs_err (*close)(csh *handle);
    cs_err (*option)(csh handle, cs_opt_type type, size_t value);
    cs_insn *(*malloc)(csh handle);
    void (*free)(cs_insn *insn, size_t count);
    bool (*disasm_iter)(csh handle, const uint8_t **code, size_t *size, uint64_t *address,
                        cs_insn *insn);
};

/* The library, NULL if it cannot be loaded. */
const struct cn_capstone *cn_capstone(void);

#endif
