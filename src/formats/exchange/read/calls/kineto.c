#include "formats/exchange/read/calls/kineto.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/exchange/read/calls/import.h"
#include "model/calls/recording.h"
#include "model/gpu/builder.h"

enum { LOCATION_LEN_MAX = 4096 };

/* A call that waits for a GPU. */
struct kineto_wait {
    uint64_t begin_ns, end_ns, correlation;
    uint32_t process;
    uint8_t detail;
};

struct cn_kineto {
    struct cn_gpu_builder *builder;
    struct cn_map stream_of; /* by track */
    bool has_syncs, has_pid;
    uint64_t pid; /* of the process that launched the work */
    struct kineto_wait *waits;
    size_t wait_count, wait_capacity;
};

struct cn_kineto *cn_kineto_new(void)
{
    struct cn_kineto *kineto = cn_alloc(1, sizeof(*kineto));

    kineto->builder = cn_gpu_builder_new();
    return kineto;
}

void cn_kineto_free(struct cn_kineto *kineto)
{
    if (!kineto)
        return;
    cn_gpu_builder_free(kineto->builder);
    cn_map_done(&kineto->stream_of);
    free(kineto->waits);
    free(kineto);
}

void cn_kineto_category(struct cn_kineto_event *event, const struct cn_json_token *token)
{
    /* The names of PyTorch 1.8 are in the second half. */
    static const struct {
        const char *name;
        enum cn_kineto_category category;
    } names[] = {
        {"cuda_runtime", CN_KINETO_CALL},
        {"cuda_driver", CN_KINETO_CALL},
        {"hip_runtime", CN_KINETO_CALL},
        {"xpu_runtime", CN_KINETO_CALL},
        {"kernel", CN_KINETO_KERNEL},
        {"gpu_memcpy", CN_KINETO_COPY},
        {"gpu_memset", CN_KINETO_SET},
        {"cuda_sync", CN_KINETO_SYNC},
        {"python_function", CN_KINETO_PYTHON},
        {"Trace", CN_KINETO_SPAN},
        {"overhead", CN_KINETO_SPAN},
        {"ac2g", CN_KINETO_ARROW},
        {"Runtime", CN_KINETO_CALL},
        {"Kernel", CN_KINETO_KERNEL},
        {"Memcpy", CN_KINETO_COPY},
        {"Memset", CN_KINETO_SET},
    };

    event->category = CN_KINETO_OTHER;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (cn_json_is(token, names[i].name))
            event->category = (uint8_t)names[i].category;
}

static bool contains(struct cn_bytes text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static bool starts_with(struct cn_bytes text, const char *word)
{
    size_t len = strlen(word);

    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}

/* A part of a name, and what it says. */
struct name_part {
    const char *part;
    uint8_t detail;
};

/* The detail of the first part that a name contains; 0, which is "unknown", if there is none. */
static uint8_t find_detail(struct cn_bytes name, const struct name_part *parts,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contains(name, parts[i].part))
            return parts[i].detail;
    return 0;
}

void cn_kineto_name(struct cn_kineto_event *event, const struct cn_json_token *token)
{
    static const struct name_part copies[] = {
        {"HtoD", CN_GPU_HOST_TO_DEVICE},   {"DtoH", CN_GPU_DEVICE_TO_HOST},
        {"DtoD", CN_GPU_DEVICE_TO_DEVICE}, {"PtoP", CN_GPU_PEER_TO_PEER},
        {"HtoH", CN_GPU_HOST_TO_HOST},     {"HtoA", CN_GPU_HOST_TO_ARRAY},
        {"AtoH", CN_GPU_ARRAY_TO_HOST},    {"AtoA", CN_GPU_ARRAY_TO_ARRAY},
        {"AtoD", CN_GPU_ARRAY_TO_DEVICE},  {"DtoA", CN_GPU_DEVICE_TO_ARRAY},
    };
    static const struct name_part memories[] = {
        {"Device Static", CN_GPU_DEVICE_STATIC},
        {"Managed Static", CN_GPU_MANAGED_STATIC},
        {"Device", CN_GPU_DEVICE},
        {"Pinned", CN_GPU_PINNED},
        {"Pageable", CN_GPU_PAGEABLE},
        {"Managed", CN_GPU_MANAGED},
        {"Array", CN_GPU_ARRAY},
    };
    static const struct name_part waits[] = {
        {"Wait Event", CN_GPU_SYNC_STREAM_EVENT}, {"Event Sync", CN_GPU_SYNC_EVENT},
        {"Stream Sync", CN_GPU_SYNC_STREAM},      {"Context Sync", CN_GPU_SYNC_CONTEXT},
        {"EventSync", CN_GPU_SYNC_EVENT},         {"StreamSync", CN_GPU_SYNC_STREAM},
        {"DeviceSync", CN_GPU_SYNC_CONTEXT},      {"CtxSync", CN_GPU_SYNC_CONTEXT},
    };
    struct cn_bytes name = token->text;

    if (event->category != CN_KINETO_UNKNOWN && event->category != CN_KINETO_CALL &&
        event->category < CN_KINETO_COPY)
        return;
    if (starts_with(name, "Memcpy"))
        event->detail = find_detail(name, copies, sizeof(copies) / sizeof(*copies));
    else if (starts_with(name, "Memset"))
        event->detail = find_detail(name, memories, sizeof(memories) / sizeof(*memories));
    else if (contains(name, "Sync") || contains(name, "Wait Event")) {
        event->detail = find_detail(name, waits, sizeof(waits) / sizeof(*waits));
        event->is_wait = contains(name, "Synchronize");
    }
}

/* The end of "FILE(LINE" in "FILE(LINE): NAME"; 0 if the name has no location. */
static size_t find_location(struct cn_bytes name, size_t *open)
{
    for (size_t i = 1; i + 3 < name.len; i++) {
        if (memcmp(name.ptr + i, "): ", 3) != 0)
            continue;
        *open = i;
        while (*open > 0 && name.ptr[*open - 1] >= '0' && name.ptr[*open - 1] <= '9')
            --*open;
        return *open > 1 && *open < i && name.ptr[*open - 1] == '(' ? i : 0;
    }
    return 0;
}

/* "<built-in method to of Tensor object at 0x7f6f06db8690>": without the address, which differs from
 * call to call. */
static uint32_t without_address(struct cn_call_import *import, struct cn_bytes name)
{
    const uint8_t *at = memmem(name.ptr, name.len, " at 0x", 6);
    size_t keep = at ? (size_t)(at - name.ptr) : name.len, rest = keep + 6;
    struct cn_text text = {0};

    if (!at)
        return cn_call_import_name(import, name);
    while (rest < name.len && isxdigit(name.ptr[rest]))
        rest++;
    cn_text_add(&text, (const char *)name.ptr, keep);
    cn_text_add(&text, (const char *)name.ptr + rest, name.len - rest);
    uint32_t number = cn_call_import_name(
        import, (struct cn_bytes){(const uint8_t *)cn_text_str(&text), text.len});
    cn_text_done(&text);
    return number;
}

uint32_t cn_kineto_function(struct cn_call_import *import, struct cn_bytes name)
{
    size_t open = 0, close = find_location(name, &open);
    struct cn_text file = {0}, function = {0};
    uint64_t line = 0;

    if (close == 0 || close > LOCATION_LEN_MAX ||
        !cn_json_as_u64((struct cn_bytes){name.ptr + open, close - open}, &line) ||
        line > UINT32_MAX)
        return without_address(import, name);
    cn_text_add(&file, (const char *)name.ptr, open - 1);
    cn_text_add(&function, (const char *)name.ptr + close + 3, name.len - close - 3);
    uint32_t number = cn_call_import_function(import, cn_text_str(&function),
                                              cn_text_str(&file), (uint32_t)line);
    cn_text_done(&file);
    cn_text_done(&function);
    return number;
}

/* Read up to three numbers of an array, whose rest is skipped. */
static bool read_sizes(struct cn_json_reader *json, uint32_t sizes[3],
                       struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;
    size_t count = 0;
    uint64_t size;

    while ((kind = cn_json_next(json, &token, err)) != CN_JSON_ARRAY_END) {
        if (kind == CN_JSON_FAIL)
            return false;
        if (kind == CN_JSON_NUMBER && count < 3 && cn_json_as_u64(token.text, &size) &&
            size <= UINT32_MAX)
            sizes[count++] = (uint32_t)size;
        if (!cn_json_skip(json, kind, err))
            return false;
    }
    return true;
}

static bool read_u32(const struct cn_json_member *member, uint32_t *out)
{
    uint64_t value;

    if (!cn_json_as_u64(member->token.text, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static void take_number(struct cn_kineto_event *event,
                        const struct cn_json_member *member)
{
    if (cn_json_key_is(member, "correlation"))
        (void)cn_json_as_u64(member->token.text, &event->correlation);
    else if (cn_json_key_is(member, "device"))
        event->has_device = read_u32(member, &event->device);
    else if (cn_json_key_is(member, "context"))
        (void)read_u32(member, &event->context);
    else if (cn_json_key_is(member, "stream"))
        event->has_stream = cn_json_as_u64(member->token.text, &event->stream) &&
                            event->stream != UINT32_MAX;
    else if (cn_json_key_is(member, "bytes"))
        (void)cn_json_as_u64(member->token.text, &event->bytes);
    else if (cn_json_key_is(member, "registers per thread"))
        (void)read_u32(member, &event->shape.registers);
    else if (cn_json_key_is(member, "shared memory"))
        (void)read_u32(member, &event->shape.dynamic_shared_len);
}

bool cn_kineto_argument(struct cn_kineto_event *event, struct cn_json_reader *json,
                        const struct cn_json_member *member, struct cn_error *err)
{
    bool is_grid = cn_json_key_is(member, "grid");

    if (event->category == CN_KINETO_OTHER || event->category >= CN_KINETO_PYTHON)
        return cn_json_skip(json, member->kind, err);
    if (member->kind == CN_JSON_ARRAY && (is_grid || cn_json_key_is(member, "block"))) {
        event->has_shape = true;
        return read_sizes(json, is_grid ? event->shape.grid : event->shape.block, err);
    }
    if (member->kind == CN_JSON_NUMBER)
        take_number(event, member);
    return cn_json_skip(json, member->kind, err);
}

/* A device whose properties are being read. */
struct device_reading {
    struct cn_kineto *kineto;
    struct cn_json_reader *json;
    struct cn_gpu_device device;
    uint32_t threads; /* of a multiprocessor */
    struct cn_text name;
};

static bool take_property(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct device_reading *r = arg;
    const struct {
        const char *key;
        uint32_t *to;
    } numbers[] = {
        {"id", &r->device.number},
        {"maxThreadsPerMultiprocessor", &r->threads},
        {"regsPerMultiprocessor", &r->device.registers},
        {"warpSize", &r->device.warp_threads},
        {"sharedMemPerMultiprocessor", &r->device.shared_len},
        {"numSms", &r->device.processors},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (member->kind == CN_JSON_NUMBER && cn_json_key_is(member, numbers[i].key))
            (void)read_u32(member, numbers[i].to);
    if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "name")) {
        cn_text_clear(&r->name);
        cn_text_add(&r->name, (const char *)member->token.text.ptr,
                    member->token.text.len);
    }
    return cn_json_skip(r->json, member->kind, err);
}

bool cn_kineto_device(struct cn_kineto *kineto, const struct cn_gpu_device *device,
                      struct cn_error *err)
{
    return cn_gpu_builder_device(kineto->builder, device) ||
           cn_fail(err, CN_ERR_LIMIT, "more than %d devices", CN_GPU_DEVICE_MAX);
}

static bool read_device(void *arg, uint64_t off, struct cn_error *err)
{
    struct device_reading *r = arg;

    (void)off;
    r->device = (struct cn_gpu_device){0};
    r->threads = 0;
    cn_text_clear(&r->name);
    if (!cn_json_read_object(r->json, take_property, r, err))
        return false;
    r->device.name = cn_text_str(&r->name);
    r->device.warps = r->device.warp_threads ? r->threads / r->device.warp_threads : 0;
    return cn_kineto_device(r->kineto, &r->device, err);
}

bool cn_kineto_devices(struct cn_kineto *kineto, struct cn_json_reader *json,
                       struct cn_error *err)
{
    struct device_reading r = {.kineto = kineto, .json = json};
    bool ok = cn_json_read_objects(json, read_device, &r, err);

    cn_text_done(&r.name);
    return ok;
}

/* The stream of a track. Where arguments do not say it, a process of the file is a device, and a
 * thread its stream. */
static uint32_t stream_of(struct cn_kineto *k, const struct cn_kineto_event *event,
                          const struct cn_kineto_span *span)
{
    uint32_t stream = cn_map_find(&k->stream_of, span->track, CN_NONE);

    if (stream != CN_NONE)
        return stream;
    stream = cn_gpu_builder_stream(
        k->builder, event->process,
        event->has_device ? event->device : (uint32_t)span->pid, event->context,
        event->has_stream ? event->stream : span->tid);
    if (stream == CN_NONE)
        return CN_NONE;
    if (cn_gpu_builder_stream_at(k->builder, stream)->thread == CN_NONE)
        cn_gpu_builder_stream_at(k->builder, stream)->thread = span->track;
    *cn_map_at(&k->stream_of, span->track, stream) = stream;
    return stream;
}

static void take_call(struct cn_kineto *k, const struct cn_kineto_event *event,
                      const struct cn_kineto_span *span)
{
    if (event->correlation == 0)
        return;
    k->pid = k->has_pid ? k->pid : span->pid;
    k->has_pid = true;
    cn_gpu_builder_launch(k->builder,
                          &(struct cn_gpu_launch){.correlation = event->correlation,
                                                  .launch_ns = span->begin_ns,
                                                  .pid = event->process,
                                                  .thread = span->track,
                                                  .path = CN_NONE});
    if (event->is_wait) {
        CN_PUSH(k->waits, k->wait_count, k->wait_capacity,
                (struct kineto_wait){span->begin_ns, span->begin_ns + span->duration_ns,
                                     event->correlation, event->process, event->detail});
    }
}

void cn_kineto_take(struct cn_kineto *k, const struct cn_kineto_event *event,
                    const struct cn_kineto_span *span)
{
    struct cn_gpu_op op = {
        .begin_ns = span->begin_ns,
        .end_ns = span->begin_ns + span->duration_ns,
        .thread = CN_NONE,
        .device = event->has_device ? event->device : CN_NONE,
        .stream = CN_NONE,
        .place = span->name,
        .path = CN_NONE,
        .shape = CN_NONE,
        .bytes = event->bytes,
        .detail = event->detail,
    };

    if (event->category == CN_KINETO_CALL)
        take_call(k, event, span);
    if (event->category < CN_KINETO_KERNEL || event->category > CN_KINETO_SYNC)
        return;
    if (event->category == CN_KINETO_SYNC) {
        op.kind = CN_GPU_SYNC;
        k->has_syncs = true;
    } else {
        op.kind = event->category == CN_KINETO_KERNEL ? CN_GPU_KERNEL
                  : event->category == CN_KINETO_COPY ? CN_GPU_COPY
                                                      : CN_GPU_SET;
        op.stream = stream_of(k, event, span);
    }
    if (op.kind == CN_GPU_KERNEL) {
        op.detail = 0;
        if (event->has_shape)
            op.shape = cn_gpu_builder_shape(k->builder, &event->shape);
    }
    cn_gpu_builder_op(k->builder, event->process, event->correlation, &op);
}

/* Files without events of synchronization have the calls that waited. Which device they waited for
 * is known if there is one. */
static void add_waits(struct cn_kineto *k)
{
    uint32_t device = CN_NONE, count = cn_gpu_builder_stream_count(k->builder);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = cn_gpu_builder_stream_at(k->builder, i)->device;

        if (i > 0 && number != device) {
            device = CN_NONE;
            break;
        }
        device = number;
    }
    for (size_t i = 0; count > 0 && !k->has_syncs && i < k->wait_count; i++) {
        const struct kineto_wait *wait = &k->waits[i];

        cn_gpu_builder_op(k->builder, wait->process, wait->correlation,
                          &(struct cn_gpu_op){.begin_ns = wait->begin_ns,
                                              .end_ns = wait->end_ns,
                                              .thread = CN_NONE,
                                              .device = device,
                                              .stream = CN_NONE,
                                              .place = CN_NONE,
                                              .path = CN_NONE,
                                              .shape = CN_NONE,
                                              .kind = CN_GPU_SYNC,
                                              .detail = wait->detail});
    }
}

void cn_kineto_finish(struct cn_kineto *k, struct cn_call_import *import)
{
    uint32_t count = cn_gpu_builder_stream_count(k->builder);

    add_waits(k);
    for (uint32_t i = 0; i < count; i++) {
        struct cn_gpu_stream *stream = cn_gpu_builder_stream_at(k->builder, i);

        if (stream->pid == 0 && k->has_pid && k->pid <= INT32_MAX)
            stream->pid = (uint32_t)k->pid;
        cn_call_import_stream(import, stream->thread, stream->pid);
    }
    cn_call_import_gpu(import, k->builder);
    k->builder = NULL;
}

void cn_kineto_warn(struct cn_recording *rec)
{
    const struct cn_gpu_work *work = rec->gpu;

    if (!work)
        return;
    if (work->lonely_count > 0)
        cn_recording_warn(
            rec, false,
            "%" PRIu32 " of %" PRIu32
            " GPU operations have no launch in the trace: they are below %s",
            work->lonely_count, work->op_count, CN_GPU_NO_LAUNCH);
    if (work->early_count > 0)
        cn_recording_warn(rec, false,
                          "%" PRIu32
                          " GPU operations begin before their launch, by at most %" PRIu64
                          " ns: the clocks of the trace differ",
                          work->early_count, work->early_ns);
}
