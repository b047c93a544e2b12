/* Each attached thread has a timer on its own CPU clock. The signal handler takes a
 * backtrace into memory that was set aside before; names are looked up at the end. */
#include "sampler.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/v4/writer.h"
#include "model/memory.h"

enum {
    PERIOD_NS = 1000000,
    THREADS_MAX = 16,
    SAMPLES_MAX = 20000, /* of a thread: 20 s */
    FRAMES_MAX = 48,
    HANDLER_FRAMES = 2, /* the handler itself and the kernel's return stub */
};

struct sample {
    uint64_t time_ns;
    int periods; /* more than one where the system's timers are coarser than ours */
    int frame_count;
    void *frames[FRAMES_MAX];
};

struct thread {
    bool is_main;
    timer_t timer;
    struct sample *samples;
    size_t count; /* written by the thread's own handler only */
};

/* The signal handler has no other way to find them. */
static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static _Thread_local struct thread *self;

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void take_sample(int signal)
{
    struct sample *sample;

    (void)signal;
    if (!self || self->count == SAMPLES_MAX)
        return;
    sample = &self->samples[self->count];
    sample->time_ns = now_ns();
    sample->periods = 1 + timer_getoverrun(self->timer);
    sample->frame_count = backtrace(sample->frames, FRAMES_MAX);
    self->count++;
}

void sampler_start(void)
{
    struct sigaction action = {.sa_handler = take_sample, .sa_flags = SA_RESTART};
    void *frame;

    (void)backtrace(&frame, 1); /* loads the unwinder now, not in the handler */
    (void)sigaction(SIGPROF, &action, NULL);
}

void sampler_attach(bool is_main)
{
    static const struct itimerspec period = {.it_interval = {.tv_nsec = PERIOD_NS},
                                             .it_value = {.tv_nsec = PERIOD_NS}};
    unsigned number = __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};

    if (number >= THREADS_MAX)
        return;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    self = &threads[number];
    self->is_main = is_main;
    self->samples = cn_alloc(SAMPLES_MAX, sizeof(*self->samples));
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) == 0)
        (void)timer_settime(self->timer, 0, &period, NULL);
}

void sampler_detach(void)
{
    if (self)
        (void)timer_delete(self->timer);
    self = NULL;
}

/* What the samples become. */
struct builder {
    struct cn_memory_database *m;
    struct cn_names modules, functions;
    struct cn_map contexts; /* (parent, function) -> context */
    uint32_t entries[2];    /* of application threads, of the main thread */
};

static uint32_t module_named(struct builder *b, const char *path)
{
    size_t known = b->modules.count;
    uint32_t module = cn_names_add(&b->modules, path);

    if (b->modules.count > known)
        (void)cn_memory_database_add_module(b->m, path);
    return module;
}

/* The function at an address, added when it is new. What has no symbol is named after its
 * module: the demonstration reads no debug information. */
static uint32_t function_at(struct builder *b, const void *address)
{
    Dl_info info = {.dli_fname = "[unknown]"};
    struct cn_function record = {.file = CN_NONE};
    struct cn_text name = {0};
    const char *slash;
    size_t known = b->functions.count;
    uint32_t function;

    (void)dladdr(address, &info);
    slash = strrchr(info.dli_fname, '/');
    if (info.dli_sname)
        cn_text_str_add(&name, info.dli_sname);
    else
        cn_text_printf(&name, "[%s]", slash ? slash + 1 : info.dli_fname);
    function = cn_names_add(&b->functions, cn_text_str(&name));
    if (b->functions.count > known) {
        record.name = cn_text_str(&name);
        record.module = module_named(b, info.dli_fname);
        record.offset = (uintptr_t)info.dli_saddr - (uintptr_t)info.dli_fbase;
        (void)cn_memory_database_add_function(b->m, record);
    }
    cn_text_done(&name);
    return function;
}

static uint32_t called_context(struct builder *b, uint32_t parent, uint32_t function)
{
    uint32_t *context = cn_map_at(&b->contexts, (uint64_t)parent << 32 | function, 0);
    struct cn_context call = {
        .kind = CN_CONTEXT_FUNCTION,
        .relation = CN_CALL,
        .has_function = true,
        .function = function,
    };

    if (*context == 0)
        *context = cn_memory_database_add_context(b->m, parent, call);
    return *context;
}

/* The context of a sample. Frames above main() and above a thread's own function belong to
 * the C library; the entry point stands for them. */
static uint32_t context_of(struct builder *b, const struct thread *thread,
                           const struct sample *sample)
{
    enum { MAIN_CALLERS = 3, THREAD_CALLERS = 2 };
    int outermost =
        sample->frame_count - (thread->is_main ? MAIN_CALLERS : THREAD_CALLERS);
    uint32_t context = b->entries[thread->is_main];

    for (int i = outermost - 1; i >= HANDLER_FRAMES; i--) {
        /* A return address may lie behind its function when the call was the last thing. */
        const char *address = sample->frames[i];
        bool is_return_address = i > HANDLER_FRAMES;

        context = called_context(b, context, function_at(b, address - is_return_address));
    }
    return context;
}

static uint32_t add_entry(struct builder *b, enum cn_entry entry, const char *name)
{
    return cn_memory_database_add_context(b->m, 0,
                                          (struct cn_context){
                                              .kind = CN_CONTEXT_ENTRY,
                                              .entry = (uint16_t)entry,
                                              .entry_name = name,
                                          });
}

static void add_thread(struct builder *b, const struct thread *thread, uint32_t number,
                       uint8_t kind)
{
    uint32_t profile = cn_memory_database_add_profile(
        b->m,
        (struct cn_identity_tuple){.count = 1, .ids = {{kind, false, number, number}}});
    struct cn_map hits = {0}; /* context -> periods */
    struct cn_sample end = {0};

    for (size_t i = 0; i < thread->count; i++) {
        uint32_t context = context_of(b, thread, &thread->samples[i]);
        struct cn_sample sample = {thread->samples[i].time_ns, context};

        *cn_map_at(&hits, context, 0) += (uint32_t)thread->samples[i].periods;
        cn_memory_database_add_sample(b->m, profile, sample);
        end.time_ns = sample.time_ns + PERIOD_NS;
    }
    if (thread->count > 0)
        cn_memory_database_add_sample(b->m, profile, end);
    for (size_t i = 0; i < hits.capacity; i++)
        if (hits.slots[i].is_used)
            cn_memory_database_add_value(b->m, profile, (uint32_t)hits.slots[i].key, 0,
                                         hits.slots[i].value * (PERIOD_NS / 1e9));
    cn_map_done(&hits);
}

static void build(struct builder *b)
{
    uint8_t kind = cn_memory_database_add_kind(b->m, "THREAD");

    cn_memory_database_add_usual_scopes(b->m);
    (void)cn_memory_database_add_usual_metric(b->m, "CPUTIME (sec)");
    b->entries[true] = add_entry(b, CN_ENTRY_MAIN_THREAD, "main thread");
    b->entries[false] = add_entry(b, CN_ENTRY_APPLICATION_THREAD, "application thread");
    for (uint32_t i = 0; i < thread_count && i < THREADS_MAX; i++)
        add_thread(b, &threads[i], i, kind);
}

bool sampler_write(const char *path, const char *title, struct cn_error *err)
{
    static const struct cn_write_options options = {.replace = true};
    struct builder b = {.m = cn_memory_database_new(title, "sampled by cairn's demo")};
    bool ok;

    build(&b);
    ok = cn_memory_database_propagate(b.m, err) &&
         cn_hpc_v4_write(cn_memory_database_finish(b.m), path, &options, err);
    cn_memory_database_free(b.m);
    cn_names_done(&b.modules);
    cn_names_done(&b.functions);
    cn_map_done(&b.contexts);
    for (uint32_t i = 0; i < thread_count && i < THREADS_MAX; i++)
        free(threads[i].samples);
    return ok;
}
