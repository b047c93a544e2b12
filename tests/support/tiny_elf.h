/* Small ELF files with call frame information, written by hand.
 *
 * The code of a file is 0x100 bytes at offset 0x100 and address 0x401100: a function at its
 * beginning, which makes a frame, one of 0x10 bytes after 0x80 bytes, which is entered by a
 * signal, one after 0xa0 bytes whose return address minus one is the word at 0x9000 (x86_64
 * alone), and after 0xc0 bytes the return from a handler, without call frame information. A
 * call is before the byte at 0x30.
 * The texts belong to the caller.
 * Threads: any thread.
 */
#ifndef CN_TEST_TINY_ELF_H
#define CN_TEST_TINY_ELF_H

#include "base/text.h"
#include "unwind/unwind.h"

enum {
    CN_TEST_ELF_CODE_OFF = 0x100,
    CN_TEST_ELF_CODE_LEN = 0x100,
    CN_TEST_ELF_CODE = 0x401100,
    CN_TEST_ELF_SIGNAL = CN_TEST_ELF_CODE + 0x80,
    CN_TEST_ELF_REPLACED = CN_TEST_ELF_CODE + 0xa0,
    CN_TEST_ELF_REPLACED_CALL = CN_TEST_ELF_REPLACED + 8, /* after a call there */
    CN_TEST_ELF_AFTER_CALL = CN_TEST_ELF_CODE + 0x30,
    CN_TEST_ELF_RETURN = CN_TEST_ELF_CODE + 0xc0,
};

struct cn_text cn_test_elf(enum cn_unwind_machine machine, bool has_sections);

#endif
