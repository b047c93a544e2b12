#include "sampler/kernel/kernel.h"

#ifdef CN_HAS_BPF
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sampler/kernel/bpf.h"
#include "sampler/kernel/interrupts.h"
#include "sampler/kernel/shared.h"
#include "sampler/kernel/tables.h"
#include "unwind/table.h"
#include "unwind/unwind.h"

/* Memory of the kernel for the rows of modules, whose stacks are copied when it is full. */
enum { BLOCKS_MAX = (128 << 20) / sizeof(struct cn_kernel_block) };

/* From object.S. */
extern const uint8_t cn_kernel_object[], cn_kernel_object_end[];

/* A module that was copied to the kernel. */
struct kernel_module {
    uint32_t number; /* 0: it does not fit */
    uint32_t depth;
};

struct cn_kernel {
    const struct cn_bpf *bpf;
    struct bpf_object *object;
    struct ring_buffer *ring;
    int program, fault_program, ring_fd, processes, interpreters, modules, rules;
    struct cn_kernel_rules all_rules;
    size_t rules_sent;
    struct cn_map module_of; /* by its pointer */
    struct kernel_module *module_list;
    size_t module_count, module_capacity;
    size_t block_count;
    bool has_waking;                  /* the program for wake-ups */
    struct cn_kernel_process process; /* the one that is described */
    void (*take)(void *arg, const uint8_t *record, size_t len);
    void *arg;
};

static int take_record(void *arg, void *data, size_t len)
{
    struct cn_kernel *kernel = arg;

    kernel->take(kernel->arg, data, len);
    return 0;
}

/* The first namespace of process ids has a fixed number; ids in others differ from those that the
 * program sees. */
static bool is_first_namespace(void)
{
    struct stat status;

    return stat("/proc/self/ns/pid", &status) != 0 ||
           status.st_ino == (ino_t)UINT32_C(0xeffffffc);
}

/* The walks of frames: one for each processor. */
static bool make_room(struct cn_kernel *kernel)
{
    const struct cn_bpf *bpf = kernel->bpf;
    struct bpf_map *map = bpf->map_by_name(kernel->object, "frame_walks");
    int count = bpf->processor_count();

    return map && count > 0 && bpf->set_max_entries(map, (uint32_t)count) == 0;
}

/* The kernel takes all programs of an object, or none. */
static bool load_object(struct cn_kernel *kernel, bool has_waking)
{
    const struct cn_bpf *bpf = kernel->bpf;
    size_t len = (size_t)(cn_kernel_object_end - cn_kernel_object);

    if (kernel->object)
        bpf->object_close(kernel->object);
    kernel->has_waking = has_waking;
    kernel->object = bpf->object_open(cn_kernel_object, len, NULL);
    return kernel->object && make_room(kernel) &&
           (has_waking ||
            bpf->set_autoload(bpf->find_program(kernel->object, "waking"), false) == 0) &&
           bpf->object_load(kernel->object) == 0;
}

static bool load(struct cn_kernel *kernel, struct cn_error *err)
{
    const struct cn_bpf *bpf = kernel->bpf;

    if (!load_object(kernel, true) && !load_object(kernel, false)) {
        /* What the verifier does not accept is refused to root as well. */
        if (errno == EPERM || (errno == EACCES && geteuid() != 0))
            return cn_fail(err, CN_ERR_IO,
                           "the kernel allows BPF programs to root alone, or to "
                           "CAP_BPF and CAP_PERFMON");
        return cn_fail_errno(err, "the kernel does not load the BPF program (it needs "
                                  "5.17 and CONFIG_DEBUG_INFO_BTF)");
    }
    kernel->program = bpf->program_fd(bpf->find_program(kernel->object, "sample"));
    kernel->fault_program = bpf->program_fd(bpf->find_program(kernel->object, "fault"));
    kernel->ring_fd = bpf->find_map(kernel->object, "ring");
    kernel->processes = bpf->find_map(kernel->object, "processes");
    kernel->interpreters = bpf->find_map(kernel->object, "interpreters");
    kernel->modules = bpf->find_map(kernel->object, "modules");
    kernel->rules = bpf->find_map(kernel->object, "rules");
    kernel->ring = bpf->ring_new(kernel->ring_fd, take_record, kernel, NULL);
    if (!kernel->ring)
        return cn_fail_errno(err, "no ring of a BPF program");
    return true;
}

const struct cn_bpf *cn_kernel_bpf(struct cn_error *err)
{
    const struct cn_bpf *bpf = cn_bpf();

    if (bpf && is_first_namespace())
        return bpf;
    (void)(bpf ? cn_fail(err, CN_ERR_IO,
                         "BPF programs see other process ids in a container")
               : cn_fail(err, CN_ERR_NOT_FOUND, "libbpf is not installed"));
    return NULL;
}

struct cn_kernel *cn_kernel_new(struct cn_error *err)
{
    const struct cn_bpf *bpf = cn_kernel_bpf(err);

    if (!bpf)
        return NULL;
    struct cn_kernel *kernel = cn_alloc(1, sizeof(*kernel));
    kernel->bpf = bpf;
    if (load(kernel, err))
        return kernel;
    cn_kernel_free(kernel);
    return NULL;
}

void cn_kernel_free(struct cn_kernel *kernel)
{
    if (!kernel)
        return;
    if (kernel->ring)
        kernel->bpf->ring_free(kernel->ring);
    if (kernel->object)
        kernel->bpf->object_close(kernel->object);
    cn_kernel_rules_done(&kernel->all_rules);
    cn_map_done(&kernel->module_of);
    free(kernel->module_list);
    free(kernel);
}

static bool attach(int fd, int program, struct cn_error *err)
{
    return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 ||
           cn_fail_errno(err, "cannot attach the BPF program");
}

bool cn_kernel_attach(struct cn_kernel *kernel, int fd, struct cn_error *err)
{
    return attach(fd, kernel->program, err);
}

bool cn_kernel_attach_faults(struct cn_kernel *kernel, int fd, struct cn_error *err)
{
    return attach(fd, kernel->fault_program, err);
}

bool cn_kernel_attach_calls(struct cn_kernel *kernel, int fd, const int16_t *numbers,
                            size_t count, struct cn_error *err)
{
    const struct cn_bpf *bpf = kernel->bpf;
    int map = bpf->find_map(kernel->object, "shown_calls");
    uint8_t is_shown = 1;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)numbers[i];

        (void)bpf->map_update(map, &number, &is_shown, 0);
    }
    return attach(fd, bpf->program_fd(bpf->find_program(kernel->object, "call")), err);
}

int cn_kernel_map(const struct cn_kernel *kernel, const char *name)
{
    return kernel->bpf->find_map(kernel->object, name);
}

bool cn_kernel_attach_waking(struct cn_kernel *kernel, int fd)
{
    const struct cn_bpf *bpf = kernel->bpf;
    struct cn_kernel_interrupts interrupts;
    uint32_t zero = 0;

    return kernel->has_waking && cn_kernel_interrupts_read(&interrupts) &&
           bpf->map_update(bpf->find_map(kernel->object, "interrupts"), &zero,
                           &interrupts, 0) == 0 &&
           ioctl(fd, PERF_EVENT_IOC_SET_BPF,
                 bpf->program_fd(bpf->find_program(kernel->object, "waking"))) == 0;
}

int cn_kernel_fd(const struct cn_kernel *kernel)
{
    return kernel->ring_fd;
}

void cn_kernel_read(struct cn_kernel *kernel,
                    void (*take)(void *arg, const uint8_t *record, size_t len), void *arg)
{
    kernel->take = take;
    kernel->arg = arg;
    (void)kernel->bpf->ring_consume(kernel->ring);
}

/* Copy the rows of a module. False if the kernel has no memory for it. */
static bool send_tree(struct cn_kernel *kernel, const struct cn_kernel_tree *tree,
                      uint32_t number)
{
    struct bpf_map_create_opts options = {.sz = sizeof(options),
                                          .map_flags = BPF_F_INNER_MAP | BPF_F_MMAPABLE};
    size_t len = tree->count * sizeof(*tree->blocks);
    int fd =
        kernel->bpf->map_create(BPF_MAP_TYPE_ARRAY, "cairn_rows", sizeof(uint32_t),
                                sizeof(*tree->blocks), (uint32_t)tree->count, &options);
    void *at =
        fd >= 0 ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    bool ok = at != MAP_FAILED;

    if (ok) {
        memcpy(at, tree->blocks, len);
        (void)munmap(at, len);
        ok = kernel->bpf->map_update(kernel->modules, &number, &fd, 0) == 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

/* Rules come before the rows that name them. */
static void send_rules(struct cn_kernel *kernel)
{
    for (; kernel->rules_sent < kernel->all_rules.count; kernel->rules_sent++) {
        uint32_t number = (uint32_t)kernel->rules_sent;

        (void)kernel->bpf->map_update(kernel->rules, &number,
                                      &kernel->all_rules.list[number], 0);
    }
}

static struct kernel_module *module_at(struct cn_kernel *kernel,
                                       const struct cn_unwind_mapping *mapping,
                                       const struct cn_unwind_table *table)
{
    uint32_t *at = cn_map_at(&kernel->module_of, (uintptr_t)mapping->module,
                             (uint32_t)kernel->module_count);
    struct cn_kernel_tree tree;
    uint64_t file_off, trampoline = 0;

    if (*at < kernel->module_count)
        return &kernel->module_list[*at];
    CN_PUSH(kernel->module_list, kernel->module_count, kernel->module_capacity,
            (struct kernel_module){0});
    struct kernel_module *module = &kernel->module_list[kernel->module_count - 1];
    if (kernel->module_count >= CN_KERNEL_MODULES_MAX)
        return module;
    if (strcmp(mapping->path, "[vdso]") == 0 && table->machine == CN_UNWIND_AARCH64 &&
        cn_unwind_mapping_trampoline(mapping, &file_off) &&
        !cn_unwind_table_address(table, file_off, &trampoline))
        trampoline = 0;
    cn_kernel_tree_build(&tree, &kernel->all_rules, table, trampoline);
    send_rules(kernel);
    if (kernel->block_count + tree.count <= BLOCKS_MAX &&
        send_tree(kernel, &tree, (uint32_t)kernel->module_count)) {
        kernel->block_count += tree.count;
        *module = (struct kernel_module){(uint32_t)kernel->module_count, tree.depth};
    }
    cn_kernel_tree_done(&tree);
    return module;
}

/* The part of a mapping that has rows: that of one segment of its module. */
static bool clip(const struct cn_unwind_mapping *mapping,
                 const struct cn_unwind_table *table, struct cn_kernel_mapping *out)
{
    uint64_t len = mapping->end - mapping->begin;

    for (uint32_t i = 0; i < table->segment_count; i++) {
        const struct cn_unwind_segment *segment = &table->segments[i];
        uint64_t skipped = segment->file_off > mapping->file_off
                               ? segment->file_off - mapping->file_off
                               : 0;
        uint64_t before = mapping->file_off > segment->file_off
                              ? mapping->file_off - segment->file_off
                              : 0;

        if (skipped >= len || before >= segment->len)
            continue;
        uint64_t room = segment->len - before;
        out->begin = mapping->begin + skipped;
        out->end = room < len - skipped ? out->begin + room : mapping->end;
        out->base = out->begin - (segment->address + before - table->base);
        return true;
    }
    return false;
}

/* A list of mappings, the newest first. */
struct putting {
    struct cn_kernel *kernel;
    struct {
        uint64_t begin, end;
    } seen[CN_KERNEL_MAPPINGS_MAX];
    size_t seen_count;
};

/* What overlaps a newer mapping is left out: it is hidden, or rare. */
static bool put_mapping(void *arg, const struct cn_unwind_mapping *mapping)
{
    struct putting *p = arg;
    struct cn_kernel_process *process = &p->kernel->process;
    const struct cn_unwind_table *table = cn_unwind_mapping_table(mapping);
    struct cn_kernel_mapping found;
    uint32_t at = process->count;

    for (size_t i = 0; i < p->seen_count; i++)
        if (mapping->begin < p->seen[i].end && mapping->end > p->seen[i].begin)
            return true;
    if (p->seen_count == CN_KERNEL_MAPPINGS_MAX)
        return false;
    p->seen[p->seen_count].begin = mapping->begin;
    p->seen[p->seen_count++].end = mapping->end;
    if (!table || table->machine != cn_unwind_machine_here() ||
        !clip(mapping, table, &found))
        return true;
    const struct kernel_module *module = module_at(p->kernel, mapping, table);
    if (module->number == 0)
        return true;
    found.module = module->number;
    found.depth = module->depth;
    for (; at > 0 && process->mappings[at - 1].begin > found.begin; at--)
        process->mappings[at] = process->mappings[at - 1];
    process->mappings[at] = found;
    process->count++;
    return true;
}

void cn_kernel_put_process(struct cn_kernel *kernel, uint32_t pid, uint64_t epoch,
                           const struct cn_unwind_space *space)
{
    struct putting p = {.kernel = kernel};

    kernel->process.epoch = epoch;
    kernel->process.count = 0;
    cn_unwind_space_each(space, put_mapping, &p);
    (void)kernel->bpf->map_update(kernel->processes, &pid, &kernel->process, 0);
}

void cn_kernel_remove_process(struct cn_kernel *kernel, uint32_t pid)
{
    (void)kernel->bpf->map_delete(kernel->processes, &pid);
}

void cn_kernel_put_interpreter(struct cn_kernel *kernel, uint32_t pid,
                               const struct cn_frame_table *table)
{
    (void)kernel->bpf->map_update(kernel->interpreters, &pid, table, 0);
}

void cn_kernel_remove_interpreter(struct cn_kernel *kernel, uint32_t pid)
{
    (void)kernel->bpf->map_delete(kernel->interpreters, &pid);
}

#else

/* A build without clang or libbpf. */
struct cn_kernel *cn_kernel_new(struct cn_error *err)
{
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "this cairn was built without clang or libbpf");
    return NULL;
}

void cn_kernel_free(struct cn_kernel *kernel)
{
    (void)kernel;
}

bool cn_kernel_attach(struct cn_kernel *kernel, int fd, struct cn_error *err)
{
    (void)kernel;
    (void)fd;
    (void)err;
    return false;
}

bool cn_kernel_attach_faults(struct cn_kernel *kernel, int fd, struct cn_error *err)
{
    return cn_kernel_attach(kernel, fd, err);
}

bool cn_kernel_attach_calls(struct cn_kernel *kernel, int fd, const int16_t *numbers,
                            size_t count, struct cn_error *err)
{
    (void)kernel;
    (void)fd;
    (void)numbers;
    (void)count;
    (void)err;
    return false;
}

int cn_kernel_map(const struct cn_kernel *kernel, const char *name)
{
    (void)kernel;
    (void)name;
    return -1;
}

bool cn_kernel_attach_waking(struct cn_kernel *kernel, int fd)
{
    (void)kernel;
    (void)fd;
    return false;
}

int cn_kernel_fd(const struct cn_kernel *kernel)
{
    (void)kernel;
    return -1;
}

void cn_kernel_read(struct cn_kernel *kernel,
                    void (*take)(void *arg, const uint8_t *record, size_t len), void *arg)
{
    (void)kernel;
    (void)take;
    (void)arg;
}

void cn_kernel_put_process(struct cn_kernel *kernel, uint32_t pid, uint64_t epoch,
                           const struct cn_unwind_space *space)
{
    (void)kernel;
    (void)pid;
    (void)epoch;
    (void)space;
}

void cn_kernel_remove_process(struct cn_kernel *kernel, uint32_t pid)
{
    (void)kernel;
    (void)pid;
}

void cn_kernel_put_interpreter(struct cn_kernel *kernel, uint32_t pid,
                               const struct cn_frame_table *table)
{
    (void)kernel;
    (void)pid;
    (void)table;
}

void cn_kernel_remove_interpreter(struct cn_kernel *kernel, uint32_t pid)
{
    (void)kernel;
    (void)pid;
}
#endif
