/* A stand-in of libcupti.so: the functions that libcairn-gpu.so calls, with the ABI of CUPTI.
 *
 * CUPTI_STANDIN chooses what it is: the version of CUDA (11.8, 12.4, 13.0), whose records have
 * lengths of their own, or a fault: "old" (CUDA 11.7), "busy" (another subscriber), "refused" (no
 * permission), "shifted" (a clock of its own), "full" (drops records), "orphans" (operations with
 * other correlation ids), "backwards" (ends before begins). "managed" migrates memory at each
 * wait; "devices" has two of them; "early"
 * begins before the launch. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/cupti/format.h"
#include "gpu/cupti/library.h"
#include "standin.h"

enum { FUNCTIONS = 12, QUEUE_LEN = 500000, SHIFT = 1000000000 };

static const char *const functions[FUNCTIONS] = {"INVALID",
                                                 "cuInit",
                                                 "cuLaunchKernel",
                                                 "cuMemcpyHtoDAsync_v2",
                                                 "cuMemcpyDtoHAsync_v2",
                                                 "cuMemsetD8Async",
                                                 "cuStreamSynchronize",
                                                 "cuGraphLaunch",
                                                 "cuMemAlloc_v2",
                                                 "cuMemFree_v2",
                                                 "cuMemCreate",
                                                 "cuMemRelease"};

static const struct version {
    const char *name;
    uint32_t number;
    size_t kernel_len, copy_len, set_len, device_len, memory_len;
} versions[] = {
    {"13.0", 130000, 216, 96, 88, 184, 128},
    {"12.4", 22, 208, 88, 88, 184, 120},
    {"11.8", 18, 200, 88, 80, 176, 120},
    {"old", 17, 200, 88, 80, 176, 120},
};

static cn_cupti_callback_fn callback;
static void *callback_arg;
static bool is_enabled[FUNCTIONS], has_unified, has_nodes;
static cn_cupti_request_fn request;
static cn_cupti_complete_fn complete;
static cn_cupti_time_fn given_clock;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t
    queue[QUEUE_LEN]; /* records that wait for a buffer, each after its length */
static size_t queue_len;
static size_t dropped_count;
static uint32_t last_correlation;
static uint64_t busy_until; /* of the only device */

static bool is_fault(const char *name)
{
    const char *chosen = getenv("CUPTI_STANDIN");

    return chosen && strcmp(chosen, name) == 0;
}

static const struct version *version(void)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (is_fault(versions[i].name))
            return &versions[i];
    return &versions[0];
}

static uint64_t now(void)
{
    struct timespec time;

    if (given_clock)
        return given_clock();
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec +
           (is_fault("shifted") ? SHIFT : 0);
}

/* Streams with odd numbers are those of another device. */
static uint32_t device_of(uint32_t stream)
{
    return is_fault("devices") ? stream % 2 : 0;
}

static void deliver(void);

/* Wait for a buffer; one that is full is delivered at once. */
static void push(const uint8_t *record, size_t known_len, size_t len)
{
    size_t need = sizeof(uint64_t) + len;

    pthread_mutex_lock(&lock);
    if (queue_len + need > QUEUE_LEN && !is_fault("full")) {
        pthread_mutex_unlock(&lock);
        deliver();
        pthread_mutex_lock(&lock);
    }
    if (queue_len + need > QUEUE_LEN || is_fault("full")) {
        dropped_count++;
    } else {
        cn_u64_put(queue + queue_len, len);
        memset(queue + queue_len + sizeof(uint64_t), 0xee, len); /* newer fields */
        memcpy(queue + queue_len + sizeof(uint64_t), record, known_len);
        queue_len += need;
    }
    pthread_mutex_unlock(&lock);
}

/* The device runs one operation after another. */
static uint64_t start_of(uint64_t duration_ns)
{
    uint64_t start = is_fault("early") ? now() - 1000000 : now() + 1000;

    start = start > busy_until ? start : busy_until;
    busy_until = start + duration_ns;
    return start;
}

static uint32_t on_enter(const char *function)
{
    struct cn_cupti_callback data = {
        .site = 0,
        .function = (uint64_t)(uintptr_t)function,
        .correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED)};
    uint8_t bytes[cn_cupti_callback_size];

    cn_cupti_callback_encode(&data, bytes);
    for (uint32_t i = 1; i < FUNCTIONS; i++)
        if (is_enabled[i] && callback && strcmp(functions[i], function) == 0)
            callback(callback_arg, CN_CUPTI_DRIVER, i, bytes);
    return data.correlation;
}

static void on_leave(const char *function, uint32_t correlation, const void *parameters)
{
    static const int result;
    struct cn_cupti_callback data = {.site = 1,
                                     .function = (uint64_t)(uintptr_t)function,
                                     .parameters = (uint64_t)(uintptr_t)parameters,
                                     .result = (uint64_t)(uintptr_t)&result,
                                     .correlation = correlation};
    uint8_t bytes[cn_cupti_callback_size];

    cn_cupti_callback_encode(&data, bytes);
    for (uint32_t i = 1; i < FUNCTIONS; i++)
        if (is_enabled[i] && callback && strcmp(functions[i], function) == 0)
            callback(callback_arg, CN_CUPTI_DRIVER, i, bytes);
}

static void on_kernel(uint32_t correlation, const struct standin_kernel *kernel,
                      uint32_t stream, uint64_t node)
{
    uint64_t start = start_of(kernel->duration_ns);
    struct cn_cupti_kernel record = {
        .kind = CN_CUPTI_IS_CONCURRENT_KERNEL,
        .registers = (uint16_t)kernel->registers,
        .start = is_fault("backwards") ? start + 2 * kernel->duration_ns : start,
        .end = start + kernel->duration_ns,
        .device = device_of(stream),
        .context = 1 + device_of(stream),
        .stream = stream,
        .grid_x = kernel->grid,
        .grid_y = 1,
        .grid_z = 1,
        .block_x = kernel->block,
        .block_y = 1,
        .block_z = 1,
        .correlation = is_fault("orphans") ? correlation + 1000000 : correlation,
        .name = (uint64_t)(uintptr_t)kernel->name,
        .node = node,
    };
    uint8_t bytes[cn_cupti_kernel_size];

    push(cn_cupti_kernel_encode(&record, bytes), sizeof(bytes), version()->kernel_len);
}

/* A page of managed memory moves to the device. */
static void push_migration(void)
{
    uint64_t start = start_of(1000);
    struct cn_cupti_unified record = {
        .kind = CN_CUPTI_IS_UNIFIED,
        .counter = CN_CUPTI_TO_DEVICE,
        .value = 4096,
        .start = start,
        .end = start + 1000,
    };
    uint8_t bytes[cn_cupti_unified_size];

    push(cn_cupti_unified_encode(&record, bytes), sizeof(bytes), 104);
}

static void on_copy(uint32_t correlation, int direction, uint64_t size, uint32_t stream)
{
    uint64_t start = start_of(size / 10);
    struct cn_cupti_copy record = {
        .kind = CN_CUPTI_IS_COPY,
        .direction = (uint8_t)direction,
        .bytes = size,
        .start = start,
        .end = start + size / 10,
        .device = device_of(stream),
        .context = 1 + device_of(stream),
        .stream = stream,
        .correlation = correlation,
    };
    uint8_t bytes[cn_cupti_copy_size];

    push(cn_cupti_copy_encode(&record, bytes), sizeof(bytes), version()->copy_len);
}

static void on_set(uint32_t correlation, uint64_t size, uint32_t stream)
{
    uint64_t start = start_of(size / 20);
    struct cn_cupti_set record = {
        .kind = CN_CUPTI_IS_SET,
        .bytes = size,
        .start = start,
        .end = start + size / 20,
        .device = device_of(stream),
        .context = 1 + device_of(stream),
        .stream = stream,
        .correlation = correlation,
        .memory = 3,
    };
    uint8_t bytes[cn_cupti_set_size];

    push(cn_cupti_set_encode(&record, bytes), sizeof(bytes), version()->set_len);
}

/* Wait until the device has nothing to do; a wait is no record. */
static void on_sync(void)
{
    uint64_t from = now();
    uint64_t wait_ns = busy_until > from ? busy_until - from : 1000;
    struct timespec pause = {(time_t)(wait_ns / 1000000000),
                             (long)(wait_ns % 1000000000)};

    if (has_unified)
        push_migration();
    (void)nanosleep(&pause, NULL);
}

/* A node is its number here. */
static void on_node(uint64_t node, uint64_t copied_from)
{
    struct cn_cupti_graph graph = {.node = node, .original_node = copied_from};
    uint8_t graph_bytes[cn_cupti_graph_size], bytes[cn_cupti_resource_size];
    struct cn_cupti_resource resource = {
        .data = (uint64_t)(uintptr_t)cn_cupti_graph_encode(&graph, graph_bytes)};

    if (has_nodes)
        callback(callback_arg, CN_CUPTI_RESOURCES,
                 copied_from ? CN_CUPTI_NODE_COPIED : CN_CUPTI_NODE_MADE,
                 cn_cupti_resource_encode(&resource, bytes));
}

int cuptiGetGraphNodeId(void *node, uint64_t *out);
int cuptiGetGraphNodeId(void *node, uint64_t *out)
{
    *out = (uint64_t)(uintptr_t)node;
    return CN_CUPTI_OK;
}

static void on_memory(uint32_t correlation, uint64_t address, uint64_t size,
                      int is_release)
{
    struct cn_cupti_memory record = {
        .kind = CN_CUPTI_IS_MEMORY,
        .operation = is_release ? 2 : 1,
        .memory = 3,
        .correlation = correlation,
        .address = address,
        .bytes = size,
        .time = now(),
        .context = 1,
    };
    uint8_t bytes[cn_cupti_memory_size];

    push(cn_cupti_memory_encode(&record, bytes), sizeof(bytes), version()->memory_len);
}

static void push_device(void)
{
    struct cn_cupti_device record = {
        .kind = CN_CUPTI_IS_DEVICE,
        .warp_threads = 32,
        .processors = 2,
        .warps = 64,
        .blocks = 32,
        .shared = 100 << 10,
        .registers = 65536,
        .name = (uint64_t)(uintptr_t) "Stand-in GPU",
    };
    uint8_t bytes[cn_cupti_device_size];

    push(cn_cupti_device_encode(&record, bytes), sizeof(bytes), version()->device_len);
}

/* The records of a buffer are those of the queue, with their lengths. */
static void deliver(void)
{
    uint8_t *buffer = NULL;
    size_t len = 0, most = 0, used;

    pthread_mutex_lock(&lock);
    used = queue_len;
    if (used > 0 && request)
        request(&buffer, &len, &most);
    if (buffer && len >= used) {
        memcpy(buffer, queue, used);
        queue_len = 0;
    } else if (used > 0) {
        dropped_count++;
        queue_len = used = 0;
    }
    pthread_mutex_unlock(&lock);
    if (buffer)
        complete(NULL, 0, buffer, len, len >= used ? used : 0);
}

int cuptiGetVersion(uint32_t *out);
int cuptiGetVersion(uint32_t *out)
{
    *out = version()->number;
    return CN_CUPTI_OK;
}

int cuptiSubscribe(void **out, cn_cupti_callback_fn given, void *arg);
int cuptiSubscribe(void **out, cn_cupti_callback_fn given, void *arg)
{
    static const struct standin_hooks hooks = {on_enter, on_leave, on_kernel, on_copy,
                                               on_set,   on_node,  on_memory, on_sync};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "standin_register") : NULL;
    void (*registers)(const struct standin_hooks *);

    if (is_fault("busy"))
        return CN_CUPTI_OTHER_SUBSCRIBER;
    if (!found)
        return 1;
    memcpy(&registers, &found, sizeof(registers));
    registers(&hooks);
    callback = given;
    callback_arg = arg;
    *out = &callback;
    return CN_CUPTI_OK;
}

int cuptiUnsubscribe(void *subscriber);
int cuptiUnsubscribe(void *subscriber)
{
    (void)subscriber;
    callback = NULL;
    return CN_CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
                        uint32_t function);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
                        uint32_t function)
{
    if (subscriber == &callback && domain == CN_CUPTI_RESOURCES) {
        has_nodes = enable;
        return CN_CUPTI_OK;
    }
    if (subscriber != &callback || domain != CN_CUPTI_DRIVER || function >= FUNCTIONS)
        return 1;
    is_enabled[function] = enable;
    return CN_CUPTI_OK;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **out);
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **out)
{
    if (domain != CN_CUPTI_DRIVER || function >= FUNCTIONS)
        return 1;
    *out = functions[function];
    return CN_CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *out);
int cuptiGetTimestamp(uint64_t *out)
{
    *out = now();
    return CN_CUPTI_OK;
}

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind)
{
    if (is_fault("refused"))
        return CN_CUPTI_NO_PERMISSION;
    if (kind == CN_CUPTI_IS_DEVICE)
        push_device();
    if (kind == CN_CUPTI_IS_UNIFIED)
        has_unified = true;
    return CN_CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cn_cupti_request_fn given_request,
                                   cn_cupti_complete_fn given_complete);
int cuptiActivityRegisterCallbacks(cn_cupti_request_fn given_request,
                                   cn_cupti_complete_fn given_complete)
{
    request = given_request;
    complete = given_complete;
    return CN_CUPTI_OK;
}

/* A record follows its length. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, uint8_t **record);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, uint8_t **record)
{
    uint8_t *at = *record ? *record + cn_u64_get(*record - sizeof(uint64_t)) : buffer;

    if (at + sizeof(uint64_t) > buffer + used)
        return CN_CUPTI_LIMIT_REACHED;
    *record = at + sizeof(uint64_t);
    return CN_CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityFlushAll(uint32_t flags)
{
    (void)flags;
    deliver();
    return CN_CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out)
{
    (void)context;
    (void)stream;
    *out = dropped_count;
    dropped_count = 0;
    return CN_CUPTI_OK;
}

int cuptiActivityRegisterTimestampCallback(cn_cupti_time_fn clock);
int cuptiActivityRegisterTimestampCallback(cn_cupti_time_fn clock)
{
    if (is_fault("shifted"))
        return 1;
    given_clock = clock;
    return CN_CUPTI_OK;
}

int cuptiActivityConfigureUnifiedMemoryCounter(void *configurations, uint32_t count);
int cuptiActivityConfigureUnifiedMemoryCounter(void *configurations, uint32_t count)
{
    (void)configurations;
    return is_fault("managed") && count > 0 ? CN_CUPTI_OK : 1;
}

int cuptiGetResultString(int result, const char **out);
int cuptiGetResultString(int result, const char **out)
{
    *out = result == CN_CUPTI_OTHER_SUBSCRIBER ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_"
                                                 "SUPPORTED"
           : result == CN_CUPTI_NO_PERMISSION  ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                               : "CUPTI_ERROR_UNKNOWN";
    return CN_CUPTI_OK;
}
