#include "gpu/launch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/file.h"
#include "gpu/path.h"
#include "gpu/shared.h"
#include "gpu/thread.h"

uint64_t cn_gpu_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cn_gpu_launch(uint32_t correlation, uint32_t name)
{
    struct cn_gpu_thread *thread = cn_gpu_thread();
    struct cn_gpu_call call = {.correlation = correlation, .name = name};
    uint32_t flags = cn_gpu_file_flags();
    bool has_call = false;

    if (!thread)
        return;
    if (flags & CN_GPU_WANTS_STACKS)
        call.stack = cn_gpu_path_take(thread, &has_call);
    if (has_call)
        call.name = 0;
    call.time_ns = cn_gpu_now_ns();
    thread->call_ns = call.time_ns;
    thread->call_correlation = correlation;
    thread->call_stack = call.stack;
    thread->call_name = call.name;
    uint8_t *at = cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_CALL, cn_gpu_call_size);
    if (!at)
        return;
    (void)cn_gpu_call_encode(&call, at);
    cn_gpu_writer_end(&thread->writer);
}

void cn_gpu_write_op(struct cn_gpu_thread *thread, const struct cn_gpu_op_record *op,
                     uint16_t flags)
{
    uint8_t *at =
        cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_OP, cn_gpu_op_record_size);

    if (!at)
        return;
    (void)cn_gpu_op_record_encode(op, at);
    thread->writer.pending.flags = flags;
    cn_gpu_writer_end(&thread->writer);
}

void cn_gpu_waited(uint32_t correlation, uint32_t detail, uint32_t context)
{
    enum { SYNC = 3 }; /* as in model/gpu/work.h */
    struct cn_gpu_thread *thread = cn_gpu_thread();

    if (!thread || thread->call_correlation != correlation)
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .begin = thread->call_ns,
                        .end = cn_gpu_now_ns(),
                        .correlation = correlation,
                        .kind = SYNC,
                        .detail = (uint8_t)detail,
                        .device = UINT32_MAX,
                        .context = context,
                        .stream = UINT32_MAX,
                    },
                    CN_GPU_HOST_TIMES);
}

static void write_node(struct cn_gpu_writer *writer, const struct cn_gpu_node *node)
{
    uint8_t *at = cn_gpu_writer_begin(writer, CN_GPU_IS_NODE, cn_gpu_node_size);

    if (!at)
        return;
    (void)cn_gpu_node_encode(node, at);
    cn_gpu_writer_end(writer);
}

static void write_capture(struct cn_gpu_writer *writer,
                          const struct cn_gpu_capture *capture)
{
    uint8_t *at = cn_gpu_writer_begin(writer, CN_GPU_IS_CAPTURE, cn_gpu_capture_size);

    if (!at)
        return;
    (void)cn_gpu_capture_encode(capture, at);
    cn_gpu_writer_end(writer);
}

void cn_gpu_node_made(uint64_t node, uint64_t copied_from)
{
    struct cn_gpu_thread *thread = cn_gpu_thread();

    if (!thread)
        return;
    if (copied_from != 0)
        write_node(&thread->writer,
                   &(struct cn_gpu_node){.node = node, .copied_from = copied_from});
    else if (cn_gpu_file_flags() & CN_GPU_WANTS_STACKS)
        write_node(&thread->writer, &(struct cn_gpu_node){.node = node,
                                                          .stack = thread->call_stack,
                                                          .name = thread->call_name});
    else
        write_capture(&thread->writer, &(struct cn_gpu_capture){node, thread->call_ns});
}

void cn_gpu_note(uint64_t count, const char *text)
{
    struct cn_gpu_thread *thread = cn_gpu_thread();

    if (thread)
        cn_gpu_write_note(&thread->writer, count, text);
}

/* Names by address, and by contents: others may be at the same address later. The lock is for both. */
enum { NAMES = 1 << 15, TEXTS_LEN = 16 << 20 };

struct gpu_name {
    const char *at;
    const char *copy;
    uint64_t hash;
    uint32_t number; /* 0: unused */
};

static struct {
    struct gpu_name by_address[NAMES], by_text[NAMES];
    uint32_t count;
    size_t text_len;
    char texts[TEXTS_LEN];
} * names;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    while (*text)
        hash = (hash ^ (uint8_t)*text++) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* NULL if there is no room for the text. */
static const char *keep(const char *text)
{
    size_t len = strlen(text) + 1;

    if (len > TEXTS_LEN - names->text_len)
        return NULL;
    char *copy = memcpy(names->texts + names->text_len, text, len);
    names->text_len += len;
    return copy;
}

static uint32_t find_text(const char *text, const char **copy)
{
    uint64_t hash = hash_text(text);
    size_t slot = hash % NAMES;
    struct cn_gpu_thread *thread = cn_gpu_thread();

    for (; names->by_text[slot].number > 0; slot = (slot + 1) % NAMES)
        if (names->by_text[slot].hash == hash &&
            strcmp(names->by_text[slot].copy, text) == 0) {
            *copy = names->by_text[slot].copy;
            return names->by_text[slot].number;
        }
    if (!thread || names->count >= NAMES / 2 || !(*copy = keep(text)))
        return 0;
    names->by_text[slot] =
        (struct gpu_name){.copy = *copy, .hash = hash, .number = ++names->count};
    cn_gpu_write_name(&thread->writer, names->count, text);
    return names->count;
}

/* With the lock. */
static uint32_t number_of(const char *text)
{
    const char *copy = NULL;
    struct gpu_name *known;

    if (!names) {
        void *at = mmap(NULL, sizeof(*names), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at == MAP_FAILED)
            return 0;
        names = at;
    }
    known = &names->by_address[(uintptr_t)text / 16 % NAMES];
    if (known->at == text && strcmp(known->copy, text) == 0)
        return known->number;
    uint32_t number = find_text(text, &copy);
    if (number > 0)
        *known = (struct gpu_name){.at = text, .copy = copy, .number = number};
    return number;
}

uint32_t cn_gpu_name_of(const char *text)
{
    if (!text)
        return 0;
    (void)pthread_mutex_lock(&names_lock);
    uint32_t number = number_of(text);
    (void)pthread_mutex_unlock(&names_lock);
    return number;
}

void cn_gpu_names_forget(void)
{
    (void)pthread_mutex_init(&names_lock, NULL);
    if (names)
        (void)munmap(names, sizeof(*names));
    names = NULL;
}
