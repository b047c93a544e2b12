/* What CUPTI of CUDA 11.8 to 13.0 gives to callbacks: layouts of its structs, as facts of its ABI.
 *
 * NVIDIA appends fields to records of activities from version to version: those that are read here
 * have the same offsets in all of them, and a record is at least as long as its table says. Lengths
 * that differ, in bytes:
 *
 *   CUDA               11.8   12.0   12.8   13.0
 *   kernel              200    208    208    216
 *   copy                 88     88     96     96
 *
 * Threads: immutable.
 */
#ifndef CN_GPU_CUPTI_FORMAT_H
#define CN_GPU_CUPTI_FORMAT_H

#include "base/bytes/record.h"

/* clang-format off */
#define CN_CUPTI_RECORD(F)                          \
    F(0x00, u32, kind, "")
CN_RECORD(cn_cupti_record, CN_CUPTI_RECORD, 0x04);

#define CN_CUPTI_KERNEL(F)                          \
    F(0x00, u32, kind, "")                          \
    F(0x06, u16, registers, "of a thread")          \
    F(0x10, u64, start, "")                         \
    F(0x18, u64, end, "")                           \
    F(0x28, u32, device, "")                        \
    F(0x2c, u32, context, "")                       \
    F(0x30, u32, stream, "")                        \
    F(0x34, u32, grid_x, "")                        \
    F(0x38, u32, grid_y, "")                        \
    F(0x3c, u32, grid_z, "")                        \
    F(0x40, u32, block_x, "")                       \
    F(0x44, u32, block_y, "")                       \
    F(0x48, u32, block_z, "")                       \
    F(0x4c, u32, static_shared, "")                 \
    F(0x50, u32, dynamic_shared, "")                \
    F(0x58, u32, local_total, "")                   \
    F(0x5c, u32, correlation, "")                   \
    F(0x68, u64, name, "a pointer")                 \
    F(0x90, u64, node, "of a graph; 0: none")
CN_RECORD(cn_cupti_kernel, CN_CUPTI_KERNEL, 0xa0);

#define CN_CUPTI_COPY(F)                            \
    F(0x00, u32, kind, "")                          \
    F(0x04, u8, direction, "")                      \
    F(0x08, u64, bytes, "")                         \
    F(0x10, u64, start, "")                         \
    F(0x18, u64, end, "")                           \
    F(0x20, u32, device, "")                        \
    F(0x24, u32, context, "")                       \
    F(0x28, u32, stream, "")                        \
    F(0x2c, u32, correlation, "")
CN_RECORD(cn_cupti_copy, CN_CUPTI_COPY, 0x50);

/* Between devices. */
#define CN_CUPTI_PEER_COPY(F)                       \
    F(0x00, u32, kind, "")                          \
    F(0x08, u64, bytes, "")                         \
    F(0x10, u64, start, "")                         \
    F(0x18, u64, end, "")                           \
    F(0x20, u32, device, "")                        \
    F(0x24, u32, context, "")                       \
    F(0x28, u32, stream, "")                        \
    F(0x3c, u32, correlation, "")
CN_RECORD(cn_cupti_peer_copy, CN_CUPTI_PEER_COPY, 0x50);

#define CN_CUPTI_SET(F)                             \
    F(0x00, u32, kind, "")                          \
    F(0x08, u64, bytes, "")                         \
    F(0x10, u64, start, "")                         \
    F(0x18, u64, end, "")                           \
    F(0x20, u32, device, "")                        \
    F(0x24, u32, context, "")                       \
    F(0x28, u32, stream, "")                        \
    F(0x2c, u32, correlation, "")                   \
    F(0x32, u16, memory, "its kind")
CN_RECORD(cn_cupti_set, CN_CUPTI_SET, 0x50);

#define CN_CUPTI_MEMORY(F)                          \
    F(0x00, u32, kind, "")                          \
    F(0x04, u32, operation, "1: allocated, 2: released") \
    F(0x08, u32, memory, "its kind")                \
    F(0x0c, u32, correlation, "")                   \
    F(0x10, u64, address, "")                       \
    F(0x18, u64, bytes, "")                         \
    F(0x20, u64, time, "")                          \
    F(0x34, u32, device, "")                        \
    F(0x38, u32, context, "")
CN_RECORD(cn_cupti_memory, CN_CUPTI_MEMORY, 0x78);

#define CN_CUPTI_UNIFIED(F)                         \
    F(0x00, u32, kind, "")                          \
    F(0x04, u32, counter, "")                       \
    F(0x08, u64, value, "")                         \
    F(0x10, u64, start, "")                         \
    F(0x18, u64, end, "")                           \
    F(0x28, u32, from, "device")                    \
    F(0x2c, u32, to, "device")                      \
    F(0x30, u32, stream, "")
CN_RECORD(cn_cupti_unified, CN_CUPTI_UNIFIED, 0x40);

#define CN_CUPTI_DEVICE(F)                          \
    F(0x00, u32, kind, "")                          \
    F(0x20, u32, warp_threads, "")                  \
    F(0x2c, u32, processors, "")                    \
    F(0x34, u32, warps, "of a multiprocessor")      \
    F(0x38, u32, blocks, "of a multiprocessor")     \
    F(0x3c, u32, shared, "of a multiprocessor")     \
    F(0x40, u32, registers, "of a multiprocessor")  \
    F(0x70, u32, id, "")                            \
    F(0x88, u64, name, "a pointer")
CN_RECORD(cn_cupti_device, CN_CUPTI_DEVICE, 0xb0);

/* What a callback at a function gets. */
#define CN_CUPTI_CALLBACK(F)                        \
    F(0x00, u32, site, "0: before the function, 1: after it") \
    F(0x08, u64, function, "pointer to its name")   \
    F(0x10, u64, parameters, "pointer to them, one after another") \
    F(0x18, u64, result, "pointer to it; after the function") \
    F(0x30, u32, context, "its number")             \
    F(0x40, u32, correlation, "")
CN_RECORD(cn_cupti_callback, CN_CUPTI_CALLBACK, 0x48);

/* The parameters of cuMemCreate(), what the third points to, and those of cuMemRelease(). */
#define CN_CUPTI_CREATE(F)                          \
    F(0x00, u64, handle, "pointer to the one that is returned") \
    F(0x08, u64, bytes, "")                         \
    F(0x10, u64, properties, "pointer to cn_cupti_properties")
CN_RECORD(cn_cupti_create, CN_CUPTI_CREATE, 0x18);

#define CN_CUPTI_PROPERTIES(F)                      \
    F(0x08, u32, place, "1: on a device")           \
    F(0x0c, u32, device, "")
CN_RECORD(cn_cupti_properties, CN_CUPTI_PROPERTIES, 0x10);

#define CN_CUPTI_RELEASE(F)                         \
    F(0x00, u64, handle, "")
CN_RECORD(cn_cupti_release, CN_CUPTI_RELEASE, 0x08);

/* What a callback at a resource gets. */
#define CN_CUPTI_RESOURCE(F)                        \
    F(0x10, u64, data, "pointer to cn_cupti_graph")
CN_RECORD(cn_cupti_resource, CN_CUPTI_RESOURCE, 0x18);

#define CN_CUPTI_GRAPH(F)                           \
    F(0x10, u64, node, "")                          \
    F(0x18, u64, original_node, "of a copy")
CN_RECORD(cn_cupti_graph, CN_CUPTI_GRAPH, 0x20);
/* clang-format on */

enum cn_cupti_kind {
    CN_CUPTI_IS_COPY = 1,
    CN_CUPTI_IS_SET = 2,
    CN_CUPTI_IS_KERNEL = 3,
    CN_CUPTI_IS_DEVICE = 8,
    CN_CUPTI_IS_CONCURRENT_KERNEL = 10,
    CN_CUPTI_IS_PEER_COPY = 22,
    CN_CUPTI_IS_UNIFIED = 25,
    CN_CUPTI_IS_MEMORY = 49,
};

enum cn_cupti_domain {
    CN_CUPTI_DRIVER = 1,
    CN_CUPTI_RESOURCES = 3,
};

enum {
    CN_CUPTI_OK = 0,
    CN_CUPTI_LIMIT_REACHED = 12,
    CN_CUPTI_NO_PERMISSION = 35,
    CN_CUPTI_OTHER_SUBSCRIBER = 39,
    CN_CUPTI_BEFORE = 0,     /* the site of a callback */
    CN_CUPTI_FORCED = 1,     /* flush also buffers that are not full */
    CN_CUPTI_NODE_MADE = 13, /* callbacks at resources */
    CN_CUPTI_NODE_COPIED = 20,
    CN_CUPTI_TO_DEVICE = 1, /* counters of unified memory */
    CN_CUPTI_TO_HOST = 2,
    CN_CUPTI_PEER = 8,
    CN_CUPTI_VERSION_MIN = 18, /* CUDA 11.8 */
};

#endif
