/* A stand-in of libcuda.so.1: loads the library that CUDA_INJECTION64_PATH names as the driver of
 * NVIDIA does, and tells CUPTI of its functions. There is no GPU: operations take the time that the
 * program asks for. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum {
    COPIES = 100, /* numbers of nodes that run are these after those that were captured */
    BLOCK_STEP = 1 << 20,
};
#define BLOCKS_AT UINT64_C(0x7f0000000000)

static struct standin_hooks hooks;

void standin_register(const struct standin_hooks *given)
{
    hooks = *given;
}

int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void);

    (void)flags;
    if (found) {
        memcpy(&initialize, &found, sizeof(initialize));
        (void)initialize();
    }
    return 0;
}

static uint32_t enter(const char *function)
{
    return hooks.enter ? hooks.enter(function) : 0;
}

static int leave_with(const char *function, uint32_t correlation, const void *parameters)
{
    if (hooks.leave)
        hooks.leave(function, correlation, parameters);
    return 0;
}

static int leave(const char *function, uint32_t correlation)
{
    return leave_with(function, correlation, NULL);
}

int cuLaunchKernel(const struct standin_kernel *kernel, uint32_t stream)
{
    uint32_t id = enter("cuLaunchKernel");

    if (hooks.kernel)
        hooks.kernel(id, kernel, stream, 0);
    return leave("cuLaunchKernel", id);
}

int standin_capture(void)
{
    static uint64_t count;
    uint32_t id = enter("cuLaunchKernel");

    if (hooks.node)
        hooks.node(++count, 0);
    return leave("cuLaunchKernel", id);
}

int cuGraphInstantiate(uint32_t count)
{
    for (uint32_t i = 1; i <= count && hooks.node; i++)
        hooks.node(COPIES + i, i);
    return 0;
}

int cuGraphLaunch(const struct standin_kernel *const *kernels, uint32_t count,
                  uint32_t stream)
{
    uint32_t id = enter("cuGraphLaunch");

    for (uint32_t i = 0; i < count && hooks.kernel; i++)
        hooks.kernel(id, kernels[i], stream, COPIES + 1 + i);
    return leave("cuGraphLaunch", id);
}

int cuMemcpyHtoDAsync(uint64_t bytes, uint32_t stream)
{
    uint32_t id = enter("cuMemcpyHtoDAsync_v2");

    if (hooks.copy)
        hooks.copy(id, 1, bytes, stream);
    return leave("cuMemcpyHtoDAsync_v2", id);
}

int cuMemcpyDtoHAsync(uint64_t bytes, uint32_t stream)
{
    uint32_t id = enter("cuMemcpyDtoHAsync_v2");

    if (hooks.copy)
        hooks.copy(id, 2, bytes, stream);
    return leave("cuMemcpyDtoHAsync_v2", id);
}

int cuMemsetD8Async(uint64_t bytes, uint32_t stream)
{
    uint32_t id = enter("cuMemsetD8Async");

    if (hooks.set)
        hooks.set(id, bytes, stream);
    return leave("cuMemsetD8Async", id);
}

int cuStreamSynchronize(uint32_t stream)
{
    uint32_t id = enter("cuStreamSynchronize");

    (void)stream;
    if (hooks.sync)
        hooks.sync();
    return leave("cuStreamSynchronize", id);
}

/* An address is used again, the last one first, as the driver does. The size is that of the block. */
static struct {
    uint64_t bytes;
    int is_used;
} blocks[64];
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t take_block(uint64_t bytes)
{
    size_t i = 0;

    pthread_mutex_lock(&blocks_lock);
    while (i + 1 < sizeof(blocks) / sizeof(blocks[0]) && blocks[i].is_used)
        i++;
    blocks[i].bytes = bytes;
    blocks[i].is_used = 1;
    pthread_mutex_unlock(&blocks_lock);
    return BLOCKS_AT + i * BLOCK_STEP;
}

uint64_t cuMemAlloc(uint64_t bytes)
{
    uint32_t id = enter("cuMemAlloc_v2");
    uint64_t address = take_block(bytes);

    if (hooks.memory)
        hooks.memory(id, address, bytes, 0);
    (void)leave("cuMemAlloc_v2", id);
    return address;
}

int cuMemFree(uint64_t address)
{
    uint32_t id = enter("cuMemFree_v2");
    size_t i = (size_t)(address - BLOCKS_AT) / BLOCK_STEP;

    if (hooks.memory)
        hooks.memory(id, address, blocks[i].bytes, 1);
    pthread_mutex_lock(&blocks_lock);
    blocks[i].is_used = 0;
    pthread_mutex_unlock(&blocks_lock);
    return leave("cuMemFree_v2", id);
}

int cuMemCreate(uint64_t *handle, uint64_t bytes,
                const struct standin_properties *properties)
{
    const struct {
        uint64_t *handle;
        uint64_t bytes;
        const struct standin_properties *properties;
    } parameters = {handle, bytes, properties};
    static uint64_t last;

    *handle = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return leave_with("cuMemCreate", enter("cuMemCreate"), &parameters);
}

int cuMemRelease(uint64_t handle)
{
    return leave_with("cuMemRelease", enter("cuMemRelease"), &handle);
}
