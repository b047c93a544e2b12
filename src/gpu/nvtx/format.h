/* NVTX, version 3: what programs that name ranges give to a library of a profiler, as facts of its ABI.
 * Threads: immutable.
 */
#ifndef CN_GPU_NVTX_FORMAT_H
#define CN_GPU_NVTX_FORMAT_H

#include <stddef.h>

#include "base/bytes/record.h"

/* clang-format off */
#define CN_NVTX_EVENT(F)                            \
    F(0x00, u16, version, "")                       \
    F(0x02, u16, len, "")                           \
    F(0x20, u32, message_kind, "")                  \
    F(0x28, u64, message, "a pointer, or the handle of a registered string")
CN_RECORD(cn_nvtx_event, CN_NVTX_EVENT, 0x30);
/* clang-format on */

enum cn_nvtx_message {
    CN_NVTX_TEXT = 1,
    CN_NVTX_WIDE_TEXT,
    CN_NVTX_REGISTERED,
};

/* Modules, and the numbers of their functions. */
enum { CN_NVTX_CALLBACKS = 1 }; /* of tables that a program exports */
enum { CN_NVTX_CORE = 1, CN_NVTX_CORE2 = 5 };
enum cn_nvtx_core {
    CN_NVTX_MARK_EX = 1,
    CN_NVTX_MARK,
    CN_NVTX_MARK_WIDE,
    CN_NVTX_START_EX,
    CN_NVTX_START,
    CN_NVTX_START_WIDE,
    CN_NVTX_END,
    CN_NVTX_PUSH_EX,
    CN_NVTX_PUSH,
    CN_NVTX_PUSH_WIDE,
    CN_NVTX_POP,
    CN_NVTX_CORE_COUNT = 16,
};
enum cn_nvtx_core2 {
    CN_NVTX_DOMAIN_MARK = 1,
    CN_NVTX_DOMAIN_START,
    CN_NVTX_DOMAIN_END,
    CN_NVTX_DOMAIN_PUSH,
    CN_NVTX_DOMAIN_POP,
    CN_NVTX_REGISTER = 10,
    CN_NVTX_REGISTER_WIDE,
    CN_NVTX_DOMAIN_CREATE,
    CN_NVTX_DOMAIN_CREATE_WIDE,
    CN_NVTX_CORE2_COUNT = 16,
};

/* A function of a program's copy of NVTX: the program calls what is stored there. */
typedef void (*cn_nvtx_function)(void);

/* The table CN_NVTX_CALLBACKS. */
struct cn_nvtx_callbacks {
    size_t len;
    int (*get_functions)(int module, cn_nvtx_function ***out, unsigned *count);
};
typedef const void *(*cn_nvtx_export)(uint32_t table);

#endif
