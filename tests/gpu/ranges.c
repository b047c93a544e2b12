/* A program that names ranges as NVTX's headers do, around operations of the stand-in's GPU.
 *
 * Usage: ranges STEPS [END]; prints what the functions of NVTX return. END: kill (within a range), child
 * (a child starts CUDA, after a range of the parent). */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "gpu/nvtx/format.h"
#include "standin.h"

/* Not inlined, so that paths have them. */
#define KEPT __attribute__((noinline))

static const struct standin_kernel scale = {"_Z5scalePfi", 7000, 64, 256, 32};
static volatile unsigned sink;

/* What NVTX's headers define in each program: functions that do nothing until a library stores others. */
static cn_nvtx_function core[CN_NVTX_CORE_COUNT], core2[CN_NVTX_CORE2_COUNT];

static int get_functions(int module, cn_nvtx_function ***out, unsigned *count)
{
    static cn_nvtx_function *tables[2][CN_NVTX_CORE_COUNT + 1];
    bool is_core = module == CN_NVTX_CORE;

    if (!is_core && module != CN_NVTX_CORE2)
        return 0;
    for (unsigned i = 1; i < CN_NVTX_CORE_COUNT; i++)
        tables[is_core][i] = is_core ? &core[i] : &core2[i];
    *out = tables[is_core];
    *count = CN_NVTX_CORE_COUNT;
    return 1;
}

static const void *export_table(uint32_t table)
{
    static const struct cn_nvtx_callbacks callbacks = {sizeof(callbacks), get_functions};

    return table == CN_NVTX_CALLBACKS ? &callbacks : NULL;
}

static void start_nvtx(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    void *found = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    int (*initialize)(cn_nvtx_export);

    if (found) {
        memcpy(&initialize, &found, sizeof(initialize));
        (void)initialize(export_table);
    }
}

static int push(const char *text)
{
    return core[CN_NVTX_PUSH] ? ((int (*)(const char *))core[CN_NVTX_PUSH])(text) : -2;
}

static int push_wide(const wchar_t *text)
{
    return core[CN_NVTX_PUSH_WIDE]
               ? ((int (*)(const wchar_t *))core[CN_NVTX_PUSH_WIDE])(text)
               : -2;
}

static int pop(void)
{
    return core[CN_NVTX_POP] ? ((int (*)(void))core[CN_NVTX_POP])() : -2;
}

static void mark(const char *text)
{
    if (core[CN_NVTX_MARK])
        ((void (*)(const char *))core[CN_NVTX_MARK])(text);
}

static uint64_t start(const char *text)
{
    return core[CN_NVTX_START] ? ((uint64_t(*)(const char *))core[CN_NVTX_START])(text)
                               : 0;
}

static void end(uint64_t id)
{
    if (core[CN_NVTX_END])
        ((void (*)(uint64_t))core[CN_NVTX_END])(id);
}

static void *domain, *loading;

static void make_domain(void)
{
    if (core2[CN_NVTX_DOMAIN_CREATE])
        domain = ((void *(*)(const char *))core2[CN_NVTX_DOMAIN_CREATE])("data");
    if (core2[CN_NVTX_REGISTER])
        loading =
            ((void *(*)(void *, const char *))core2[CN_NVTX_REGISTER])(domain, "load");
}

static int push_in_domain(void)
{
    struct cn_nvtx_event event = {.version = 3,
                                  .len = cn_nvtx_event_size,
                                  .message_kind = CN_NVTX_REGISTERED,
                                  .message = (uint64_t)(uintptr_t)loading};
    uint8_t bytes[cn_nvtx_event_size];

    (void)cn_nvtx_event_encode(&event, bytes);
    return core2[CN_NVTX_DOMAIN_PUSH]
               ? ((int (*)(void *, const void *))core2[CN_NVTX_DOMAIN_PUSH])(domain,
                                                                             bytes)
               : -2;
}

static int pop_in_domain(void)
{
    return core2[CN_NVTX_DOMAIN_POP]
               ? ((int (*)(void *))core2[CN_NVTX_DOMAIN_POP])(domain)
               : -2;
}

/* Long enough to be sampled. */
KEPT static void compute(void)
{
    struct timespec from, now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (unsigned i = 0; i < 10000; i++)
            sink += i;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec <
             20000000);
}

KEPT static void launch(void)
{
    cuLaunchKernel(&scale, 1);
    sink++;
}

/* The range of the domain ends after the one that was begun in it. */
KEPT static void step(int number)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "step %d", number);
    int outer = push(name);
    int in_domain = push_in_domain();
    launch();
    int inner = push_wide(L"r\u00fcckw\u00e4rts");
    int ends = pop_in_domain();
    launch();
    compute();
    mark("halfway");
    int last = pop();
    printf("%d %d %d %d %d %d\n", outer, in_domain, inner, ends, last, pop());
    launch();
    sink++;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "";

    start_nvtx();
    make_domain();
    uint64_t epoch = start("epoch");
    if (strcmp(how, "child") == 0) {
        (void)push("before");
        pid_t child = fork();

        if (child == 0) {
            cuInit(0);
            step(0);
            exit(0);
        }
        (void)pop();
        return waitpid(child, NULL, 0) == child ? 0 : 1;
    }
    cuInit(0);
    for (int i = 0; i < steps; i++)
        step(i);
    if (strcmp(how, "kill") == 0) {
        (void)push("the last");
        launch();
        (void)fflush(stdout);
        (void)usleep(400000); /* what has ended is delivered */
        (void)raise(SIGKILL);
    }
    end(epoch);
    return 0;
}
