#include "record/libcalls.h"

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/elf_image.h"
#include "record/libcall_names.h"
#include "record/machine.h"
#include "record/process.h"
#include "record/stubs.h"
#include "record/syscalls.h"

enum {
    CALLS_MAX = 1 << 18, /* slots of all files, if those of libraries are recorded */
    TABLES_MAX = 1024,   /* files with slots */
    WRITABLE = PROT_READ | PROT_WRITE,
};

/* The slots of a file. When it is gone, another one with as many gets its numbers. */
struct table {
    uintptr_t low; /* where the file lies; 0: it is gone */
    uint8_t *stubs;
    uint32_t first, count;
};

struct cn_rec_libcall *cn_rec_libcalls;
static uint32_t call_count, call_capacity;
static struct table tables[TABLES_MAX];
static size_t table_count;
static uintptr_t probe_slot;
void (*cn_rec_libcall_probe)(void);

bool cn_rec_libcalls_are_wanted(const struct cn_rec_image *image, const char *path)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;

    if (!shared->has_libcalls || image->slot_count == 0)
        return false;
    return !path || (shared->has_nested_libcalls && !cn_rec_name_is_base(path));
}

static void *map_memory(uint64_t len)
{
    long at = cn_rec_syscall6(SYS_mmap, 0, (long)len, WRITABLE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at < 0 && at > -CN_REC_PAGE_LEN ? NULL : (void *)at;
}

static bool protect(uintptr_t low, uintptr_t high, int how)
{
    return high <= low ||
           cn_rec_syscall3(SYS_mprotect, (long)low, (long)(high - low), how) == 0;
}

/* Nothing of ours runs when such a function returns: the loader, if it were left to bind the
 * slot, would lead later calls past us. Once the program runs, the loader is not asked: the
 * slot is left alone. */
static bool bind(struct cn_rec_libcall *call, const char *name)
{
    void *found = cn_rec_process.is_running ? NULL : dlsym(RTLD_DEFAULT, name);

    if (!found)
        return false;
    call->target = (uintptr_t)found;
    call->is_bound = true;
    return true;
}

static void hook(const struct cn_rec_image *image, const struct table *table, uint32_t i)
{
    const Elf64_Rela *rela = &image->slots[i];
    const char *name = image->names + image->symbols[ELF64_R_SYM(rela->r_info)].st_name;
    uintptr_t *slot = (uintptr_t *)(image->bias + rela->r_offset);
    struct cn_rec_libcall *call = &cn_rec_libcalls[table->first + i];

    if (ELF64_R_TYPE(rela->r_info) != CN_REC_JUMP_SLOT || cn_rec_name_is_left_out(name))
        return;
    call->stub = cn_rec_machine_slot_stub(table->stubs, i, table->first + i);
    call->target = *slot;
    call->is_quick = cn_rec_name_is_quick(name);
    /* An unbound slot leads back into its own file. */
    call->is_bound = *slot < image->low || *slot >= image->high;
    if (call->is_quick && !call->is_bound && !bind(call, name))
        return;
    call->slot = slot;
}

/* Stubs for new numbers, and the numbers; false when there is no room. */
static bool make_table(struct table *table, uint32_t count)
{
    uint64_t len = cn_rec_machine_slot_stubs_len(count);

    if (count > call_capacity - call_count)
        return false;
    table->stubs = map_memory(len);
    if (!table->stubs)
        return false;
    cn_rec_machine_slot_stubs_begin(table->stubs, (uintptr_t)cn_rec_libcall);
    table->first = call_count;
    table->count = count;
    call_count += count;
    return true;
}

static struct table *take_table(uint32_t count)
{
    for (size_t i = 0; i < table_count; i++) {
        if (tables[i].low == 0 && tables[i].count == count)
            return &tables[i];
    }
    if (table_count == TABLES_MAX || !make_table(&tables[table_count], count))
        return NULL;
    return &tables[table_count++];
}

static bool set_up(uint32_t count)
{
    struct table probe;

    call_capacity = cn_rec_process.shared->has_nested_libcalls ? CALLS_MAX : count + 1;
    cn_rec_libcalls = map_memory(call_capacity * sizeof(*cn_rec_libcalls));
    if (!cn_rec_libcalls || !make_table(&probe, 1))
        return false;
    cn_rec_libcalls[0].slot = &probe_slot;
    cn_rec_libcalls[0].stub = cn_rec_machine_slot_stub(probe.stubs, 0, 0);
    cn_rec_libcalls[0].target = (uintptr_t)cn_rec_probe_plain;
    cn_rec_libcalls[0].is_bound = true;
    if (!protect((uintptr_t)probe.stubs, (uintptr_t)probe.stubs + CN_REC_PAGE_LEN,
                 PROT_READ | PROT_EXEC))
        return false;
    __builtin___clear_cache((char *)probe.stubs, (char *)probe.stubs + CN_REC_PAGE_LEN);
    cn_rec_libcall_probe = (void (*)(void))cn_rec_libcalls[0].stub;
    return true;
}

/* Slots lead through us once everything else is there. */
static bool fill_slots(const struct table *table, const struct cn_rec_image *image)
{
    uintptr_t low = image->relro_low, high = image->relro_high;

    /* Tables that were made read-only after binding are opened for a moment. */
    if (!protect(low, high, WRITABLE))
        return false;
    for (uint32_t i = table->first; i < table->first + table->count; i++) {
        if (cn_rec_libcalls[i].slot)
            *(volatile uintptr_t *)cn_rec_libcalls[i].slot = cn_rec_libcalls[i].stub;
    }
    return protect(low, high, PROT_READ);
}

bool cn_rec_libcalls_add(const struct cn_rec_image *image)
{
    uint32_t count = (uint32_t)image->slot_count;
    struct table *table;
    uintptr_t stubs;
    uint64_t len;

    if (image->slot_count >= CALLS_MAX || (!cn_rec_libcalls && !set_up(count)))
        return false;
    table = take_table(count);
    if (!table)
        return false;
    stubs = (uintptr_t)table->stubs;
    len = cn_rec_machine_slot_stubs_len(count);
    if (!protect(stubs, stubs + len, WRITABLE))
        return false;
    table->low = image->low;
    for (uint32_t i = 0; i < count; i++)
        hook(image, table, i);
    __builtin___clear_cache((char *)stubs, (char *)stubs + len);
    return protect(stubs, stubs + len, PROT_READ | PROT_EXEC) && fill_slots(table, image);
}

void cn_rec_libcalls_remove(const struct cn_rec_image *image)
{
    for (size_t i = 0; i < table_count; i++) {
        struct table *table = &tables[i];

        if (table->low != image->low)
            continue;
        for (uint32_t k = table->first; k < table->first + table->count; k++)
            cn_rec_libcalls[k].slot = NULL;
        table->low = 0;
    }
}

void cn_rec_libcall_leave(uint64_t number)
{
    struct cn_rec_libcall *call = &cn_rec_libcalls[number];
    uintptr_t *slot = call->slot, now;

    /* A call that was left, and whose file is gone. */
    if (!slot)
        return;
    now = *(volatile uintptr_t *)slot;
    if (now == call->stub)
        return;
    atomic_store(&call->target, now);
    *(volatile uintptr_t *)slot = call->stub;
    call->is_bound = true;
}
