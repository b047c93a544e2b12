/* Ranges and marks that a program names by NVTX: records of them (formats/gpu/format.h). */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "gpu/file.h"
#include "gpu/launch.h"
#include "gpu/nvtx/format.h"
#include "gpu/start.h"
#include "gpu/thread.h"

#define EXPORT __attribute__((visibility("default")))

enum { TEXT_LEN = 1024, DOMAIN_LEN = 64 };

/* Domains by number; 0 is that of functions without one. Those without room share the last. */
static char domains[CN_GPU_DOMAINS][DOMAIN_LEN];
static _Atomic uint32_t domain_count = 1;
static _Atomic uint64_t last_range;

static uint32_t domain_of(const void *handle)
{
    uintptr_t number = (uintptr_t)handle;

    return number < CN_GPU_DOMAINS ? (uint32_t)number : 0;
}

/* Append a character as UTF-8; what is none, and what has no room, is left out. */
static size_t put_wide(char *to, size_t at, size_t len, uint32_t c)
{
    static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || at + more + 1 >= len)
        return at;
    to[at++] = (char)(heads[more] | c >> 6 * more);
    while (more-- > 0)
        to[at++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    return at;
}

static void narrow(char *to, size_t len, const wchar_t *from)
{
    size_t at = 0;

    for (size_t i = 0; from && from[i] && i < len; i++)
        at = put_wide(to, at, len, (uint32_t)from[i]);
    to[at] = '\0';
}

/* The number of a text, with its domain before it. */
static uint32_t name_in(uint32_t domain, const char *text)
{
    char whole[TEXT_LEN + DOMAIN_LEN];

    if (!text || !cn_gpu_file_is_open())
        return 0;
    if (!domains[domain][0] && strnlen(text, TEXT_LEN) < TEXT_LEN)
        return cn_gpu_name_of(text);
    (void)snprintf(whole, sizeof(whole), "%s%s%.*s", domains[domain],
                   domains[domain][0] ? ": " : "", TEXT_LEN, text);
    return cn_gpu_name_of(whole);
}

static uint32_t wide_name_in(uint32_t domain, const wchar_t *text)
{
    char narrowed[TEXT_LEN];

    narrow(narrowed, sizeof(narrowed), text);
    return name_in(domain, narrowed);
}

static uint32_t name_of_event(uint32_t domain, const void *attributes)
{
    struct cn_nvtx_event event;

    if (!attributes ||
        !cn_nvtx_event_decode((struct cn_bytes){attributes, cn_nvtx_event_size},
                              &event) ||
        event.len < cn_nvtx_event_size)
        return 0;
    switch (event.message_kind) {
    case CN_NVTX_TEXT:
        return name_in(domain, (const char *)(uintptr_t)event.message);
    case CN_NVTX_WIDE_TEXT:
        return wide_name_in(domain, (const wchar_t *)(uintptr_t)event.message);
    case CN_NVTX_REGISTERED:
        return (uint32_t)event.message;
    default:
        return 0;
    }
}

static void write_range(enum cn_gpu_range_kind kind, uint32_t domain, uint32_t name,
                        uint64_t id)
{
    struct cn_gpu_thread *thread = cn_gpu_file_is_open() ? cn_gpu_thread() : NULL;
    struct cn_gpu_range range = {.time_ns = cn_gpu_now_ns(),
                                 .id = id,
                                 .name = name,
                                 .kind = (uint16_t)kind,
                                 .domain = (uint16_t)domain};
    uint8_t *at =
        thread ? cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_RANGE, cn_gpu_range_size)
               : NULL;

    if (!at)
        return;
    (void)cn_gpu_range_encode(&range, at);
    cn_gpu_writer_end(&thread->writer);
}

static void mark(uint32_t domain, uint32_t name)
{
    write_range(CN_GPU_RANGE_MARK, domain, name, 0);
}

/* As NVTX has it: the number of ranges that the thread has begun before. */
static int push(uint32_t domain, uint32_t name)
{
    struct cn_gpu_thread *thread = cn_gpu_file_is_open() ? cn_gpu_thread() : NULL;

    write_range(CN_GPU_RANGE_PUSH, domain, name, 0);
    return thread ? (int)thread->range_depths[domain]++ : 0;
}

static int pop(uint32_t domain)
{
    struct cn_gpu_thread *thread = cn_gpu_file_is_open() ? cn_gpu_thread() : NULL;

    write_range(CN_GPU_RANGE_POP, domain, 0, 0);
    return thread && thread->range_depths[domain] > 0
               ? (int)--thread->range_depths[domain]
               : 0;
}

static uint64_t start(uint32_t domain, uint32_t name)
{
    uint64_t id = 1 + atomic_fetch_add_explicit(&last_range, 1, memory_order_relaxed);

    write_range(CN_GPU_RANGE_START, domain, name, id);
    return id;
}

static void end(uint64_t id)
{
    write_range(CN_GPU_RANGE_END, 0, 0, id);
}

/* The functions that a program calls. They leave errno as it was. */
#define QUIETLY(type, call)   \
    do {                      \
        int error = errno;    \
        type result = (call); \
                              \
        errno = error;        \
        return result;        \
    } while (0)
#define QUIET(call)        \
    do {                   \
        int error = errno; \
                           \
        call;              \
        errno = error;     \
    } while (0)

static void on_mark_ex(const void *event)
{
    QUIET(mark(0, name_of_event(0, event)));
}

static void on_mark(const char *text)
{
    QUIET(mark(0, name_in(0, text)));
}

static void on_mark_wide(const wchar_t *text)
{
    QUIET(mark(0, wide_name_in(0, text)));
}

static uint64_t on_start_ex(const void *event)
{
    QUIETLY(uint64_t, start(0, name_of_event(0, event)));
}

static uint64_t on_start(const char *text)
{
    QUIETLY(uint64_t, start(0, name_in(0, text)));
}

static uint64_t on_start_wide(const wchar_t *text)
{
    QUIETLY(uint64_t, start(0, wide_name_in(0, text)));
}

static void on_end(uint64_t id)
{
    QUIET(end(id));
}

static int on_push_ex(const void *event)
{
    QUIETLY(int, push(0, name_of_event(0, event)));
}

static int on_push(const char *text)
{
    QUIETLY(int, push(0, name_in(0, text)));
}

static int on_push_wide(const wchar_t *text)
{
    QUIETLY(int, push(0, wide_name_in(0, text)));
}

static int on_pop(void)
{
    QUIETLY(int, pop(0));
}

static void on_domain_mark(const void *domain, const void *event)
{
    QUIET(mark(domain_of(domain), name_of_event(domain_of(domain), event)));
}

static uint64_t on_domain_start(const void *domain, const void *event)
{
    QUIETLY(uint64_t, start(domain_of(domain), name_of_event(domain_of(domain), event)));
}

static void on_domain_end(const void *domain, uint64_t id)
{
    (void)domain;
    QUIET(end(id));
}

static int on_domain_push(const void *domain, const void *event)
{
    QUIETLY(int, push(domain_of(domain), name_of_event(domain_of(domain), event)));
}

static int on_domain_pop(const void *domain)
{
    QUIETLY(int, pop(domain_of(domain)));
}

/* The handle of a registered string is the number of its name. */
static void *on_register(const void *domain, const char *text)
{
    QUIETLY(void *, (void *)(uintptr_t)name_in(domain_of(domain), text));
}

static void *on_register_wide(const void *domain, const wchar_t *text)
{
    QUIETLY(void *, (void *)(uintptr_t)wide_name_in(domain_of(domain), text));
}

static void *on_create(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint32_t number = 0;

    (void)pthread_mutex_lock(&lock);
    uint32_t count = atomic_load(&domain_count);
    for (uint32_t i = 1; i < count && number == 0; i++)
        if (name && strncmp(domains[i], name, DOMAIN_LEN - 1) == 0)
            number = i;
    if (number == 0 && count < CN_GPU_DOMAINS) {
        (void)snprintf(domains[count], DOMAIN_LEN, "%s", name ? name : "");
        atomic_store(&domain_count, count + 1);
        number = count;
    }
    (void)pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)(number > 0 ? number : CN_GPU_DOMAINS - 1);
}

static void *on_create_wide(const wchar_t *name)
{
    char narrowed[DOMAIN_LEN];

    narrow(narrowed, sizeof(narrowed), name);
    return on_create(narrowed);
}

#define CALLED(function) ((cn_nvtx_function)(function))
static const cn_nvtx_function core[CN_NVTX_CORE_COUNT] = {
    [CN_NVTX_MARK_EX] = CALLED(on_mark_ex),
    [CN_NVTX_MARK] = CALLED(on_mark),
    [CN_NVTX_MARK_WIDE] = CALLED(on_mark_wide),
    [CN_NVTX_START_EX] = CALLED(on_start_ex),
    [CN_NVTX_START] = CALLED(on_start),
    [CN_NVTX_START_WIDE] = CALLED(on_start_wide),
    [CN_NVTX_END] = CALLED(on_end),
    [CN_NVTX_PUSH_EX] = CALLED(on_push_ex),
    [CN_NVTX_PUSH] = CALLED(on_push),
    [CN_NVTX_PUSH_WIDE] = CALLED(on_push_wide),
    [CN_NVTX_POP] = CALLED(on_pop),
};
static const cn_nvtx_function core2[CN_NVTX_CORE2_COUNT] = {
    [CN_NVTX_DOMAIN_MARK] = CALLED(on_domain_mark),
    [CN_NVTX_DOMAIN_START] = CALLED(on_domain_start),
    [CN_NVTX_DOMAIN_END] = CALLED(on_domain_end),
    [CN_NVTX_DOMAIN_PUSH] = CALLED(on_domain_push),
    [CN_NVTX_DOMAIN_POP] = CALLED(on_domain_pop),
    [CN_NVTX_REGISTER] = CALLED(on_register),
    [CN_NVTX_REGISTER_WIDE] = CALLED(on_register_wide),
    [CN_NVTX_DOMAIN_CREATE] = CALLED(on_create),
    [CN_NVTX_DOMAIN_CREATE_WIDE] = CALLED(on_create_wide),
};

static void attach(const struct cn_nvtx_callbacks *callbacks, int module,
                   const cn_nvtx_function *functions, unsigned function_count)
{
    cn_nvtx_function **table = NULL;
    unsigned count = 0;

    if (!callbacks->get_functions(module, &table, &count) || !table)
        return;
    for (unsigned i = 1; i < count && i < function_count; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

/* Called by each copy of NVTX in the program at its first range. */
EXPORT int InitializeInjectionNvtx2(cn_nvtx_export export);
EXPORT int InitializeInjectionNvtx2(cn_nvtx_export export)
{
    int error = errno;
    const struct cn_nvtx_callbacks *callbacks = export ? export(CN_NVTX_CALLBACKS) : NULL;

    if (callbacks && callbacks->len >= sizeof(*callbacks) && callbacks->get_functions &&
        cn_gpu_open_once()) {
        attach(callbacks, CN_NVTX_CORE, core, CN_NVTX_CORE_COUNT);
        attach(callbacks, CN_NVTX_CORE2, core2, CN_NVTX_CORE2_COUNT);
    }
    errno = error;
    return 1;
}
