#include "sampler/attached.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "launcher/elf/file.h"
#include "sampler/inside/shared.h"
#include "sampler/kernel/allocations.h"
#include "sampler/kernel/allocations_shared.h"
#include "sampler/sampler.h"

enum {
    IMAGE = 1, /* what a process runs that was attached to */
    PROBES_MAX = 16,
    LINE_MAX_LEN = PATH_MAX + 128,
    TRIES = 5,
    CALLS = 200, /* of a function, to measure a probe */
    LOOK_NS = 1000000000,
};

/* A file that a process has mapped. */
struct attached_module {
    char *path;
    char *file; /* the same file, whatever its path now leads to */
    uint64_t begin, end;
};

struct attached_mapping {
    uint64_t begin, end, off;
    char *file;
};

struct attached_process {
    pid_t pid;
    struct attached_module *modules;
    size_t module_count, module_capacity;
    struct attached_mapping *mappings; /* of files */
    size_t mapping_count, mapping_capacity;
    char program[PATH_MAX];
};

static const struct {
    const char *name;
    enum cn_kernel_function function;
    bool is_of_kernel; /* not of the allocator */
} functions[] = {
    {"malloc", CN_KERNEL_TAKES_SIZE, false},
    {"calloc", CN_KERNEL_TAKES_PRODUCT, false},
    {"realloc", CN_KERNEL_TAKES_BLOCK, false},
    {"aligned_alloc", CN_KERNEL_TAKES_ALIGNMENT, false},
    {"memalign", CN_KERNEL_TAKES_ALIGNMENT, false},
    {"posix_memalign", CN_KERNEL_TAKES_PLACE, false},
    {"valloc", CN_KERNEL_TAKES_SIZE, false},
    {"pvalloc", CN_KERNEL_TAKES_SIZE, false},
    {"free", CN_KERNEL_FREES, false},
    {"mmap", CN_KERNEL_TAKES_MAPPING, true},
    {"munmap", CN_KERNEL_FREES, true},
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

static void add_mapping(struct attached_process *p, char *line)
{
    uint64_t begin, end, off;
    struct attached_module *last;
    int path_at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end,
               &off, &path_at) != 3 ||
        path_at == 0 || line[path_at] != '/')
        return;
    struct attached_mapping mapping = {
        begin, end, off,
        cn_strprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)p->pid, begin, end)};
    CN_PUSH(p->mappings, p->mapping_count, p->mapping_capacity, mapping);
    last = p->module_count > 0 ? &p->modules[p->module_count - 1] : NULL;
    if (last && strcmp(last->path, line + path_at) == 0) {
        last->end = end;
        return;
    }
    struct attached_module module = {cn_strdup(line + path_at), cn_strdup(mapping.file),
                                     begin, end};
    CN_PUSH(p->modules, p->module_count, p->module_capacity, module);
}

static bool read_process(struct attached_process *p, pid_t pid, struct cn_error *err)
{
    char *path = cn_strprintf("/proc/%d/maps", (int)pid), line[LINE_MAX_LEN];
    FILE *file = fopen(path, "re");
    ssize_t len;

    *p = (struct attached_process){.pid = pid};
    free(path);
    if (!file)
        return cn_fail_errno(err, "cannot read the mappings of process %d", (int)pid);
    while (fgets(line, sizeof(line), file))
        add_mapping(p, line);
    (void)fclose(file);
    path = cn_strprintf("/proc/%d/exe", (int)pid);
    len = readlink(path, p->program, sizeof(p->program) - 1);
    p->program[len > 0 ? len : 0] = '\0';
    free(path);
    return true;
}

static void free_process(struct attached_process *p)
{
    for (size_t i = 0; i < p->module_count; i++) {
        free(p->modules[i].path);
        free(p->modules[i].file);
    }
    for (size_t i = 0; i < p->mapping_count; i++)
        free(p->mappings[i].file);
    free(p->modules);
    free(p->mappings);
}

/* A function that other modules can call; NULL: none. Those of a static program may be local: there are no
 * other modules. */
static const struct cn_elf_symbol *find_symbol(const struct cn_elf_file *elf,
                                               const char *name)
{
    const struct cn_elf_symbol *local = NULL;

    for (size_t i = 0; i < elf->symbol_count; i++) {
        const struct cn_elf_symbol *symbol = &elf->symbols[i];

        if (strcmp(symbol->name, name) != 0)
            continue;
        if (symbol->kind == 'T' || symbol->kind == 'w')
            return symbol;
        if (symbol->kind == 't' && elf->is_static)
            local = symbol;
    }
    return local;
}

/* What is put into a process. */
struct attaching {
    struct attached_process process;
    struct cn_kernel_allocator allocator;
    struct cn_kernel_probe probes[PROBES_MAX];
    size_t probe_count, inner_count;
    uint64_t seen[PROBES_MAX]; /* addresses */
};

/* The place of an address in its file. */
static bool find_place(const struct attached_process *p, uint64_t address,
                       struct cn_kernel_probe *out)
{
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct attached_mapping *m = &p->mappings[i];

        if (address < m->begin || address >= m->end)
            continue;
        out->path = m->file;
        out->off = address - m->begin + m->off;
        return true;
    }
    return false;
}

static void add_inner(struct attaching *a, uint64_t begin, uint64_t end)
{
    if (a->inner_count < CN_KERNEL_INNER_MAX)
        a->allocator.inner[a->inner_count++] = (struct cn_kernel_range){begin, end};
}

/* Two names may be of one function. */
static bool is_seen(struct attaching *a, uint64_t address)
{
    for (size_t i = 0; i < a->probe_count; i++)
        if (a->seen[i] == address)
            return true;
    return false;
}

static void add_functions(struct attaching *a, const struct attached_module *module,
                          const struct cn_elf_file *elf, bool is_of_kernel)
{
    for (size_t i = 0; i < FUNCTION_COUNT && a->probe_count < PROBES_MAX; i++) {
        const struct cn_elf_symbol *symbol = find_symbol(elf, functions[i].name);
        struct cn_kernel_probe probe = {.function = functions[i].function};

        if (!symbol || functions[i].is_of_kernel != is_of_kernel ||
            is_seen(a, module->begin + symbol->address) ||
            !find_place(&a->process, module->begin + symbol->address, &probe))
            continue;
        a->seen[a->probe_count] = module->begin + symbol->address;
        a->probes[a->probe_count++] = probe;
        if (!is_of_kernel && a->allocator.is_c_library)
            add_inner(a, module->begin + symbol->address,
                      module->begin + symbol->address + symbol->size);
    }
}

/* Whose functions programs call: their own, then those of libraries, then those of the C library. */
enum { OF_PROGRAM, OF_LIBRARY, OF_C_LIBRARY, OWNER_COUNT };

static int owner_of(const struct attached_process *p,
                    const struct attached_module *module, const struct cn_elf_file *elf)
{
    if (strcmp(module->path, p->program) == 0)
        return OF_PROGRAM;
    return find_symbol(elf, "__libc_start_main") ? OF_C_LIBRARY : OF_LIBRARY;
}

/* Operators that call no malloc() have no probes: they throw through their frame, which must return to where
 * it was called. */
static void take_allocator(struct attaching *a, const struct attached_module *module,
                           const struct cn_elf_file *elf)
{
    a->allocator.is_c_library = find_symbol(elf, "__libc_start_main") != NULL;
    a->allocator.has_heads = find_symbol(elf, "__libc_malloc") != NULL;
    a->allocator.modules[0] = (struct cn_kernel_range){module->begin, module->end};
    if (!a->allocator.is_c_library)
        add_inner(a, module->begin, module->end);
    add_functions(a, module, elf, false);
}

static void take_mappings(struct attaching *a, const struct attached_module *module,
                          const struct cn_elf_file *elf)
{
    a->allocator.modules[1] = (struct cn_kernel_range){module->begin, module->end};
    add_functions(a, module, elf, true);
}

/* Find the functions of the allocator, and those that ask the kernel for memory. */
static bool find_functions(struct attaching *a, struct cn_error *err)
{
    struct attached_process *p = &a->process;
    bool has_allocator = false, has_mappings = false;

    for (int owner = OF_PROGRAM; owner < OWNER_COUNT; owner++) {
        for (size_t i = 0; i < p->module_count && !(has_allocator && has_mappings); i++) {
            const struct attached_module *module = &p->modules[i];
            struct cn_elf_file elf = {0};
            struct cn_error ignored = {0};

            if (cn_elf_file_open(&elf, module->file, true, &ignored) &&
                owner_of(p, module, &elf) == owner) {
                if (!has_allocator && find_symbol(&elf, "malloc") &&
                    find_symbol(&elf, "free")) {
                    has_allocator = true;
                    take_allocator(a, module, &elf);
                }
                if (!has_mappings && find_symbol(&elf, "mmap") &&
                    find_symbol(&elf, "munmap")) {
                    has_mappings = true;
                    take_mappings(a, module, &elf);
                }
            }
            cn_elf_file_close(&elf);
        }
    }
    return has_allocator ||
           cn_fail(err, CN_ERR_NOT_FOUND,
                   "process %d has no malloc() and free() that can be found: its program "
                   "is linked statically and stripped, or has no C library",
                   (int)p->pid);
}

static bool attach(struct cn_attached *attached, pid_t pid, struct cn_error *err)
{
    struct attaching a = {0};
    bool ok = read_process(&a.process, pid, err) && find_functions(&a, err) &&
              cn_kernel_allocations_attach(attached->probes, pid, &a.allocator, a.probes,
                                           a.probe_count, err);

    free_process(&a.process);
    return ok;
}

/* A function to measure a probe with. */
static __attribute__((noinline)) void nothing(void *block)
{
    __asm__ volatile("" : : "r"(block) : "memory");
}

static double call_ns(void)
{
    double best = 0;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = cn_clock_ns();

        for (int k = 0; k < CALLS; k++)
            nothing(NULL);
        double ns = (double)(cn_clock_ns() - begin_ns) / CALLS;
        best = i == 0 || ns < best ? ns : best;
    }
    return best;
}

/* What a probe costs here, by one in this process. */
static bool measure(struct cn_attached *attached, struct cn_error *err)
{
    const struct cn_kernel_allocator none = {0};
    struct cn_kernel_probe probe = {.function = CN_KERNEL_FREES};
    struct attached_process self;
    double without_ns = call_ns();
    uint64_t ignored;

    if (!read_process(&self, getpid(), err))
        return false;
    bool ok =
        (find_place(&self, (uintptr_t)nothing, &probe) ||
         cn_fail(err, CN_ERR_IO, "the code of cairn is not mapped")) &&
        cn_kernel_allocations_attach(attached->probes, getpid(), &none, &probe, 1, err);
    attached->probe_ns = call_ns() - without_ns;
    free_process(&self);
    cn_kernel_allocations_detach(attached->probes);
    cn_kernel_allocations_count(attached->probes, &attached->own_count, &ignored);
    return ok;
}

bool cn_attached_open(struct cn_attached *attached, struct cn_kernel *kernel,
                      const struct cn_sample_options *options, struct cn_error *err)
{
    *attached = (struct cn_attached){.share_max = options->memory_share_max};
    attached->probes = cn_kernel_allocations_new(kernel, options->memory_interval, err);
    bool ok = attached->probes && measure(attached, err);

    for (size_t i = 0; ok && i < options->pid_count; i++)
        ok = attach(attached, options->pids[i], err);
    attached->begin_ns = attached->looked_ns = cn_clock_ns();
    if (!ok)
        cn_attached_close(attached);
    return ok;
}

void cn_attached_count(const struct cn_attached *attached, uint64_t *probe_count,
                       uint64_t *lost_count)
{
    *probe_count = *lost_count = 0;
    if (attached->probes)
        cn_kernel_allocations_count(attached->probes, probe_count, lost_count);
    *probe_count -= attached->own_count;
}

void cn_attached_watch(struct cn_attached *attached, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - attached->looked_ns, count, lost;

    if (!attached->probes || attached->ended_ns > 0 || passed_ns < LOOK_NS)
        return;
    cn_attached_count(attached, &count, &lost);
    double share =
        (double)(count - attached->looked_count) * attached->probe_ns / (double)passed_ns;
    attached->looked_ns = now_ns;
    attached->looked_count = count;
    if (share <= attached->share_max || attached->share_max >= 1)
        return;
    cn_kernel_allocations_detach(attached->probes);
    attached->ended_ns = now_ns;
    attached->ended_share = share;
}

void cn_attached_detach(struct cn_attached *attached)
{
    if (attached->probes)
        cn_kernel_allocations_detach(attached->probes);
}

void cn_attached_close(struct cn_attached *attached)
{
    cn_kernel_allocations_free(attached->probes);
    attached->probes = NULL;
}

bool cn_attached_slot(struct cn_bytes record, struct cn_inside_slot *out)
{
    struct cn_kernel_alloc from;
    struct cn_bytes head, copy;

    if (!cn_bytes_take(&record, sizeof(from), &head))
        return false;
    memcpy(&from, head.ptr, sizeof(from));
    if (from.head.kind != CN_KERNEL_ALLOC || from.copy_len > CN_INSIDE_COPY_MAX ||
        !cn_bytes_take(&record, from.copy_len, &copy))
        return false;
    out->kind = CN_INSIDE_ALLOC;
    out->pid = from.head.pid;
    out->tid = from.head.tid;
    out->time_ns = from.head.time_ns;
    out->has_frames = 0;
    out->copy_len = from.copy_len;
    memcpy(out->registers, from.registers, sizeof(out->registers));
    memcpy(out->copy, copy.ptr, copy.len);
    out->alloc = (struct cn_inside_alloc){
        .address = from.address,
        .size = from.size,
        .usable_size = from.usable_size,
        .old_size = from.old_size,
        .caller = from.registers[CN_KERNEL_PC],
        .image = IMAGE,
        .is_mapping = from.is_mapping,
    };
    return true;
}

bool cn_attached_release(struct cn_bytes record, struct cn_inside_release *out)
{
    struct cn_kernel_release from;

    if (record.len < sizeof(from))
        return false;
    memcpy(&from, record.ptr, sizeof(from));
    *out = (struct cn_inside_release){
        .pid = from.head.pid,
        .tid = from.head.tid,
        .image = IMAGE,
        .time_ns = from.head.time_ns,
        .address = from.address,
    };
    return from.head.kind == CN_KERNEL_RELEASE;
}
