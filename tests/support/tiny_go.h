/* Small Go programs: ELF files with the table of their functions, written by hand.
 *
 * "main.main" is 0x40 bytes of code at CN_TEST_GO_CODE, "runtime.goexit" 0x10 bytes after it, which has
 * no caller. After 8 bytes, main.main has a frame of 32 bytes, for 0x30 bytes. It is at line 10 of
 * /src/main.go; between 0x10 and 0x20, "main.add" is inlined at line 12, which is at line 20 of
 * /src/add.go.
 * The text belongs to the caller.
 * Threads: any thread.
 */
#ifndef CN_TEST_TINY_GO_H
#define CN_TEST_TINY_GO_H

#include "base/text.h"
#include "unwind/unwind.h"

enum { CN_TEST_GO_CODE = 0x401000, CN_TEST_GO_FRAME = 32 };

/* `is_new`: as of Go 1.20 and later. */
struct cn_text cn_test_go(enum cn_unwind_machine machine, bool is_new);

#endif
