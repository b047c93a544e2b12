/* CUPTI, of NVIDIA: activities for operations, and callbacks at the functions that launch them. */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gpu/backend.h"
#include "gpu/cupti/activities.h"
#include "gpu/cupti/format.h"
#include "gpu/launch.h"
#include "gpu/path.h"
#include "gpu/shared.h"
#include "gpu/thread.h"

enum {
    FUNCTIONS_MAX = 2048, /* of a domain */
    FLUSH_MS = 200,
    UNKNOWN_MAX = 64, /* numbers in a row without a function: there are no more */
};

static struct cn_cupti cupti;
static void *subscriber;
/* Functions of the driver, by number: their names (0: none), and what is done when they return. */
static uint32_t names[FUNCTIONS_MAX];
static uint8_t ends[FUNCTIONS_MAX];
static bool is_abandoned;
static _Atomic bool is_over;
static _Atomic bool has_calls;

/* What is done when a function returns: 0: nothing; the synchronizations of model/gpu/work.h; or these. */
enum { WAITS_FOR_EVENT = 1, WAITS_FOR_STREAM = 3, WAITS_FOR_ALL, CREATES, RELEASES };

/* Beginnings of the names of functions that launch operations, and of those that wait. CUPTI's activity for
 * waiting costs more than others do: the calls are timed instead. It has none for memory that a program
 * creates and maps itself. */
static const struct {
    const char *prefix;
    uint8_t end;
} functions[] = {
    {"cuLaunch", 0},
    {"cuGraphLaunch", 0},
    {"cuMemcpy", 0},
    {"cuMemset", 0},
    {"cuMemPrefetch", 0},
    {"cuMemAlloc", 0},
    {"cuMemFree", 0},
    {"cuMemHostAlloc", 0},
    {"cuArrayCreate", 0},
    {"cuArray3DCreate", 0},
    {"cuArrayDestroy", 0},
    {"cuMemCreate", CREATES},
    {"cuMemRelease", RELEASES},
    {"cuEventSynchronize", WAITS_FOR_EVENT},
    {"cuStreamSynchronize", WAITS_FOR_STREAM},
    {"cuCtxSynchronize", WAITS_FOR_ALL},
};

/* A graph gets a node, while a stream is captured or by a call. */
static void on_node(uint32_t number, const void *data)
{
    struct cn_cupti_resource resource;
    struct cn_cupti_graph graph;
    uint64_t node = 0, original = 0;

    if (!cn_cupti_resource_decode((struct cn_bytes){data, cn_cupti_resource_size},
                                  &resource) ||
        resource.data == 0)
        return;
    struct cn_bytes bytes = {(const uint8_t *)(uintptr_t)resource.data,
                             cn_cupti_graph_size};
    if (!cn_cupti_graph_decode(bytes, &graph) ||
        cupti.get_node_id((void *)(uintptr_t)graph.node, &node) != CN_CUPTI_OK)
        return;
    if (number == CN_CUPTI_NODE_COPIED &&
        (cupti.get_node_id((void *)(uintptr_t)graph.original_node, &original) !=
             CN_CUPTI_OK ||
         original == 0))
        return;
    cn_gpu_node_made(node, original);
}

static struct cn_bytes bytes_at(uint64_t address, size_t len)
{
    return (struct cn_bytes){(const uint8_t *)(uintptr_t)address, address ? len : 0};
}

/* Memory of a device is created or released, by its handle: no address of the program has the top bit. */
static void on_handle(const struct cn_cupti_callback *call, bool is_release)
{
    enum { ON_DEVICE = 1, ALLOC = 4, FREE = 5, PINNED = 2, DEVICE = 3 };
    struct cn_gpu_thread *thread = cn_gpu_thread();
    struct cn_cupti_create create = {.bytes = 0};
    struct cn_cupti_properties properties = {.device = UINT32_MAX};
    struct cn_cupti_release release = {.handle = 0};
    struct cn_bytes result = bytes_at(call->result, sizeof(uint32_t));

    if (!thread || result.len == 0 || cn_u32_get(result.ptr) != CN_CUPTI_OK)
        return;
    if (is_release)
        (void)cn_cupti_release_decode(bytes_at(call->parameters, cn_cupti_release_size),
                                      &release);
    else if (cn_cupti_create_decode(bytes_at(call->parameters, cn_cupti_create_size),
                                    &create) &&
             create.handle != 0)
        release.handle = cn_u64_get((const uint8_t *)(uintptr_t)create.handle);
    (void)cn_cupti_properties_decode(
        bytes_at(create.properties, cn_cupti_properties_size), &properties);
    uint64_t now_ns = cn_gpu_now_ns();
    bool is_on_device = is_release || properties.place == ON_DEVICE;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = is_release ? FREE : ALLOC,
                        .detail = is_on_device ? DEVICE : PINNED,
                        .begin = now_ns,
                        .end = now_ns,
                        .correlation = call->correlation,
                        .bytes = create.bytes,
                        .device = is_on_device ? properties.device : UINT32_MAX,
                        .context = call->context,
                        .stream = UINT32_MAX,
                        .object = release.handle | UINT64_C(1) << 63,
                    },
                    CN_GPU_HOST_TIMES);
}

static void on_return(uint32_t number, const struct cn_cupti_callback *call)
{
    uint8_t end = ends[number];

    if (end == CREATES || end == RELEASES)
        on_handle(call, end == RELEASES);
    else if (end > 0)
        cn_gpu_waited(call->correlation, end, call->context);
}

static void on_call(void *arg, uint32_t domain, uint32_t number, const void *data)
{
    struct cn_cupti_callback call;

    (void)arg;
    if (is_abandoned)
        return;
    if (domain == CN_CUPTI_RESOURCES) {
        on_node(number, data);
        return;
    }
    if (!cn_cupti_callback_decode((struct cn_bytes){data, cn_cupti_callback_size},
                                  &call) ||
        number >= FUNCTIONS_MAX)
        return;
    if (call.site != CN_CUPTI_BEFORE) {
        on_return(number, &call);
        return;
    }
    cn_gpu_launch(call.correlation, names[number]);
    if (!atomic_load_explicit(&has_calls, memory_order_relaxed))
        atomic_store_explicit(&has_calls, true, memory_order_relaxed);
}

/* The index of a function's beginning; -1: it is of no interest. */
static int find_function(const char *name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strncmp(name, functions[i].prefix, strlen(functions[i].prefix)) == 0)
            return (int)i;
    return -1;
}

/* Number a function by its name without the version: "cuMemcpyHtoDAsync_v2_ptsz". */
static uint32_t number_name(const char *name)
{
    char text[128];
    char *suffix;

    (void)snprintf(text, sizeof(text), "%s", name);
    while ((suffix = strrchr(text, '_')) &&
           (strcmp(suffix, "_ptsz") == 0 || strcmp(suffix, "_ptds") == 0 ||
            (suffix[1] == 'v' && suffix[2] >= '0' && suffix[2] <= '9')))
        *suffix = '\0';
    return cn_gpu_name_of(text);
}

/* Enable callbacks at functions by their names: their numbers are CUPTI's own business. */
static bool enable_calls(void)
{
    size_t count = 0;

    for (uint32_t i = 1, unknown = 0; i < FUNCTIONS_MAX && unknown < UNKNOWN_MAX; i++) {
        const char *name = NULL;

        if (cupti.get_callback_name(CN_CUPTI_DRIVER, i, &name) != CN_CUPTI_OK || !name) {
            unknown++;
            continue;
        }
        unknown = 0;
        int found = find_function(name);
        if (found < 0)
            continue;
        names[i] = number_name(name);
        ends[i] = functions[found].end;
        count += cupti.enable_callback(1, subscriber, CN_CUPTI_DRIVER, i) == CN_CUPTI_OK;
    }
    return count > 0;
}

/* Which calls made the nodes of graphs is part of the paths of their kernels. */
static void enable_nodes(void)
{
    if (!cupti.get_node_id)
        return;
    (void)cupti.enable_callback(1, subscriber, CN_CUPTI_RESOURCES, CN_CUPTI_NODE_MADE);
    (void)cupti.enable_callback(1, subscriber, CN_CUPTI_RESOURCES, CN_CUPTI_NODE_COPIED);
}

static bool refuse(int result, char *why, size_t why_len)
{
    const char *text = NULL;

    (void)cupti.get_result_text(result, &text);
    (void)snprintf(why, why_len, "%s (%s)",
                   result == CN_CUPTI_OTHER_SUBSCRIBER
                       ? "another profiler uses CUPTI, which allows one"
                   : result == CN_CUPTI_NO_PERMISSION
                       ? "CUPTI is not allowed: the driver restricts profiling to "
                         "administrators"
                       : "CUPTI refuses",
                   text ? text : "unknown error");
    return false;
}

/* Migrations of managed memory. Devices that do not report them refuse. */
static void enable_unified(void)
{
    enum { OF_DEVICE = 1 };
    uint32_t wanted[][4] = {{OF_DEVICE, CN_CUPTI_TO_DEVICE, 0, 1},
                            {OF_DEVICE, CN_CUPTI_TO_HOST, 0, 1}};

    if (cupti.configure_unified &&
        cupti.configure_unified(wanted, sizeof(wanted) / sizeof(wanted[0])) ==
            CN_CUPTI_OK)
        (void)cupti.activity_enable(CN_CUPTI_IS_UNIFIED);
}

static void enable_activities(void)
{
    static const uint32_t kinds[] = {CN_CUPTI_IS_DEVICE, CN_CUPTI_IS_COPY,
                                     CN_CUPTI_IS_SET, CN_CUPTI_IS_PEER_COPY,
                                     CN_CUPTI_IS_MEMORY};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        (void)cupti.activity_enable(kinds[i]);
}

/* CUPTI delivers buffers that are full: others would be lost with a program that is killed. */
static void *flush_often(void *ignored)
{
    const struct timespec pause = {0, FLUSH_MS * 1000000L};

    (void)ignored;
    for (bool has_unified = false; !atomic_load(&is_over);) {
        (void)nanosleep(&pause, NULL);
        /* CUPTI refuses it before there is a context. */
        if (!has_unified && atomic_load(&has_calls)) {
            enable_unified();
            has_unified = true;
        }
        if (!atomic_load(&is_over))
            (void)cupti.activity_flush_all(0);
    }
    return NULL;
}

/* In a thread that handles no signals of the program. */
static void start_flushing(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;

    (void)sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_create(&thread, &attributes, flush_often, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

static bool start(const void *caller, char *why, size_t why_len)
{
    uint32_t version = 0;
    int result;

    (void)caller;
    if (!cn_cupti_load(&cupti, why, why_len))
        return false;
    if (cupti.get_version(&version) != CN_CUPTI_OK || version < CN_CUPTI_VERSION_MIN) {
        (void)snprintf(why, why_len,
                       "CUPTI has version %u: that of CUDA 11.8, %d, or newer is needed",
                       version, (int)CN_CUPTI_VERSION_MIN);
        return false;
    }
    result = cupti.subscribe(&subscriber, on_call, NULL);
    if (result != CN_CUPTI_OK)
        return refuse(result, why, why_len);
    if (cupti.register_clock)
        (void)cupti.register_clock(cn_gpu_now_ns);
    if (cn_cupti_activities_start(&cupti, &result))
        result = cupti.activity_enable(CN_CUPTI_IS_CONCURRENT_KERNEL);
    if (result != CN_CUPTI_OK || !enable_calls()) {
        (void)cupti.unsubscribe(subscriber);
        return refuse(result, why, why_len);
    }
    cn_gpu_path_hide((const void *)(uintptr_t)cupti.get_version);
    enable_nodes();
    enable_activities();
    cn_cupti_write_clocks();
    start_flushing();
    return true;
}

static void flush(void)
{
    atomic_store(&is_over, true);
    (void)cupti.activity_flush_all(CN_CUPTI_FORCED);
    cn_cupti_write_dropped(NULL, 0);
}

static void abandon(void)
{
    is_abandoned = true;
    atomic_store(&is_over, true);
    cn_cupti_activities_abandon();
}

const struct cn_gpu_backend cn_gpu_cupti = {
    .name = "CUPTI",
    .start = start,
    .flush = flush,
    .abandon = abandon,
};
