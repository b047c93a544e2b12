/* The memory of a process that runs Python: as much as is read of it, made for a test.
 *
 * The thread CN_IMAGE_TID runs main() of <module>, from there a function of C, and key() from
 * that. The addresses of the three and of native code are below. To 3.13, key() is a coroutine that a
 * task of asyncio runs.
 * Threads: immutable.
 */
#ifndef CN_TEST_PYTHON_IMAGE_H
#define CN_TEST_PYTHON_IMAGE_H

#include <stdint.h>

#include "base/text.h"
#include "sampler/languages/python.h"

enum {
    CN_IMAGE_BASE = 0x100000,
    CN_IMAGE_LEN = 0x5800,
    CN_IMAGE_TID = 4711,
    CN_IMAGE_EVAL = 0x700000,
    CN_IMAGE_EVAL_END = 0x710000,
    CN_IMAGE_MAIN_LINE = 12, /* that calls key() */
    CN_IMAGE_KEY_LINE = 3,
};

/* Give the task another name. */
void cn_image_name_task(struct cn_text *image, uint16_t version, const char *name);

/* Make one as `version` has it: 0x309 to 0x30f. */
struct cn_text cn_image_python(uint16_t version);
struct cn_python_place cn_image_place(void);

/* Reads from a struct cn_bytes: cn_memory_copy. */
bool cn_image_copy(void *bytes, uint64_t address, void *out, size_t len);

#endif
