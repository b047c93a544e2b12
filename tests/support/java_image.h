/* The memory of a small Java virtual machine, with a layout of its own that its tables describe.
 *
 * `Shop.sell` (Shop.java, from line 10) is compiled, with `Shop.price` (from line 20) inlined:
 * its code begins at CN_TEST_JAVA_CODE, the frame is complete 12 bytes later and has 32 bytes.
 * The record at CN_TEST_JAVA_CALL is in line 21 of price, called in line 11 of sell.
 * `Shop.main` (Shop.java, from line 30) is interpreted: its bytecode begins at CN_TEST_JAVA_BYTECODE.
 * A compiler has at 104 what it compiles, which has a task at 40, which has the method at 16; each
 * thread has the end of its stack at 72 and its length at 80.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_JAVA_IMAGE_H
#define CN_TEST_JAVA_IMAGE_H

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/memory.h"
#include "unwind/unwind.h"

enum {
    CN_TEST_JAVA_BASE = 0x10000000,
    CN_TEST_JAVA_LEN = 0x6000,
    CN_TEST_JAVA_CODE = CN_TEST_JAVA_BASE + 0x4100,
    CN_TEST_JAVA_CODE_LEN = 0x80,
    CN_TEST_JAVA_CALL = CN_TEST_JAVA_CODE + 0x40,
    CN_TEST_JAVA_DEOPT = CN_TEST_JAVA_CODE + 0x60,
    CN_TEST_JAVA_STUB = CN_TEST_JAVA_BASE + 0x4480,
    CN_TEST_JAVA_CALL_STUB = CN_TEST_JAVA_STUB + 0x20, /* where it is returned to */
    CN_TEST_JAVA_INTERPRETER = CN_TEST_JAVA_BASE + 0x4800,
    CN_TEST_JAVA_METHOD = CN_TEST_JAVA_BASE + 0x3640, /* main */
    CN_TEST_JAVA_BYTECODE = CN_TEST_JAVA_BASE + 0x36a0,
    /* Where each thread has a pointer to its state: in the library, and from the thread pointer. */
    CN_TEST_JAVA_THREAD_OFF = 0x20,
    CN_TEST_JAVA_THREAD_AT = 0x180,
};

/* Where compiled code has its scopes: with the instructions, or apart. */
enum cn_test_java_release { CN_TEST_JAVA_17 = 17, CN_TEST_JAVA_25 = 25 };

void cn_test_java_image(enum cn_unwind_machine machine, enum cn_test_java_release release,
                        uint8_t image[static CN_TEST_JAVA_LEN]);

/* A process with this memory, and the run-time in it. */
struct cn_test_java {
    uint8_t *image; /* borrowed */
    size_t image_len;
    struct cn_memory memory;
    struct cn_stored_names names;
    void *state;
};

void cn_test_java_open(struct cn_test_java *java, uint8_t *image, size_t image_len);
bool cn_test_java_undo(struct cn_test_java *java, struct cn_unwind_step *step);
void cn_test_java_close(struct cn_test_java *java);

#endif
