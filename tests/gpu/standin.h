/* What the stand-ins of libcuda.so.1 and libcupti.so agree on, and the programs of the tests with
 * them.
 *
 * The driver calls the hooks at each of its functions, as the real one tells CUPTI; a program gives
 * the operations that its functions launch: their names and times are known before.
 * Threads: any thread.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdint.h>

/* A kernel as the stand-in launches it: what cuModuleGetFunction() would find. */
struct standin_kernel {
    const char *name;
    uint64_t duration_ns;
    uint32_t grid, block, registers;
};

struct standin_hooks {
    /* Before and after a function of the driver; returns the correlation id. The parameters may be NULL. */
    uint32_t (*enter)(const char *function);
    void (*leave)(const char *function, uint32_t correlation, const void *parameters);
    void (*kernel)(uint32_t correlation, const struct standin_kernel *kernel,
                   uint32_t stream, uint64_t node);
    void (*copy)(uint32_t correlation, int direction, uint64_t bytes, uint32_t stream);
    void (*set)(uint32_t correlation, uint64_t bytes, uint32_t stream);
    /* A node of a graph is made, or copied from another one, not 0. */
    void (*node)(uint64_t node, uint64_t copied_from);
    void (*memory)(uint32_t correlation, uint64_t address, uint64_t bytes,
                   int is_release);
    void (*sync)(void);
};

/* Of libcuda.so.1: CUPTI registers its hooks. */
void standin_register(const struct standin_hooks *hooks);

/* Functions of the driver, with the arguments that matter here. */
int cuInit(unsigned flags);
int cuLaunchKernel(const struct standin_kernel *kernel, uint32_t stream);
/* While a stream is captured: makes node 1, 2, ... of the graph instead of launching. */
int standin_capture(void);
/* Copies the nodes: 101, 102, ... run. */
int cuGraphInstantiate(uint32_t count);
int cuGraphLaunch(const struct standin_kernel *const *kernels, uint32_t count,
                  uint32_t stream);
int cuMemcpyHtoDAsync(uint64_t bytes, uint32_t stream);
int cuMemcpyDtoHAsync(uint64_t bytes, uint32_t stream);
int cuMemsetD8Async(uint64_t bytes, uint32_t stream);
int cuStreamSynchronize(uint32_t stream);
uint64_t cuMemAlloc(uint64_t bytes); /* returns the address */
int cuMemFree(uint64_t address);
struct standin_properties {
    uint32_t type, handle_types, place, device; /* `place` 1: a device */
};
int cuMemCreate(uint64_t *handle, uint64_t bytes,
                const struct standin_properties *properties);
int cuMemRelease(uint64_t handle);

#endif
