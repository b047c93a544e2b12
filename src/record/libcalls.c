#include "record/libcalls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/arguments.h"
#include "record/hooks.h"
#include "record/layout.h"
#include "record/machine.h"
#include "record/process.h"
#include "record/thread.h"

struct libcall {
    uintptr_t *slot;
    uintptr_t stub; /* the slot's own instructions */
    _Atomic uintptr_t target;
    bool is_bound; /* the slot held the function itself */
    bool is_quick; /* recorded when called: it must see who called it */
};

struct table {
    const Elf64_Rela *relas;
    size_t rela_count;
    const Elf64_Sym *symbols;
    const char *names;
    uintptr_t base, high, relro_low, relro_high;
};

static struct libcall *calls; /* one for each slot, and one more for the probe */
static uintptr_t probe_slot;
void (*cn_rec_libcall_probe)(void);

/* Functions that look at their return address, or return twice. */
static bool is_quick(const char *name)
{
    static const char *const names[] = {
        "setjmp",         "_setjmp",
        "sigsetjmp",      "__sigsetjmp",
        "vfork",          "getcontext",
        "swapcontext",    "setcontext",
        "dlopen",         "dlmopen",
        "dlsym",          "dlvsym",
        "dladdr",         "backtrace",
        "clone",          "_Unwind_Backtrace",
        "_Unwind_Resume", "_Unwind_RaiseException",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* The hooks themselves, and functions with rules of their own for registers. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {
        "mcount",
        "_mcount",
        "__fentry__",
        "__cyg_profile_func_enter",
        "__gmon_start__",
        "__cyg_profile_func_exit",
        "__tls_get_addr",
        "__libc_start_main",
        "",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static void read_dynamic(struct table *table, const Elf64_Dyn *entry)
{
    size_t len = 0;

    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_JMPREL)
            table->relas = (const Elf64_Rela *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_PLTRELSZ)
            len = entry->d_un.d_val;
        else if (entry->d_tag == DT_SYMTAB)
            table->symbols = (const Elf64_Sym *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            table->names = (const char *)entry->d_un.d_ptr;
    }
    table->rela_count = table->relas ? len / sizeof(Elf64_Rela) : 0;
}

/* The program itself comes first; its libraries' own calls are not asked for. */
static int read_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct table *table = arg;

    (void)size;
    table->base = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD)
            table->high = start + segment->p_memsz;
        if (segment->p_type == PT_DYNAMIC)
            read_dynamic(table, (const Elf64_Dyn *)start);
        if (segment->p_type == PT_GNU_RELRO) {
            table->relro_low = start & ~(uintptr_t)(CN_REC_PAGE_LEN - 1);
            table->relro_high =
                (start + segment->p_memsz) & ~(uintptr_t)(CN_REC_PAGE_LEN - 1);
        }
    }
    return 1;
}

/* Tables that were made read-only after binding are opened for a moment. */
static bool protect(const struct table *table, int how)
{
    return table->relro_high <= table->relro_low ||
           mprotect((void *)table->relro_low, table->relro_high - table->relro_low,
                    how) == 0;
}

/* Nothing of ours runs when such a function returns: the loader, if it were left to bind the
 * slot, would lead later calls past us. */
static void bind(struct libcall *call, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (!found)
        return;
    call->target = (uintptr_t)found;
    call->is_bound = true;
}

static void hook(const struct table *table, size_t i, uint8_t *stubs)
{
    const Elf64_Rela *rela = &table->relas[i];
    const char *name = table->names + table->symbols[ELF64_R_SYM(rela->r_info)].st_name;
    uintptr_t *slot = (uintptr_t *)(table->base + rela->r_offset);

    if (ELF64_R_TYPE(rela->r_info) != CN_REC_JUMP_SLOT || is_left_out(name))
        return;
    calls[i] = (struct libcall){
        .slot = slot,
        .stub = cn_rec_machine_slot_stub(stubs, (uint32_t)i),
        .target = *slot,
        .is_quick = is_quick(name),
        /* An unbound slot leads back into the program. */
        .is_bound = *slot < table->base || *slot >= table->high,
    };
    if (calls[i].is_quick && !calls[i].is_bound)
        bind(&calls[i], name);
    *slot = calls[i].stub;
}

static void make_probe(size_t i, uint8_t *stubs)
{
    calls[i] = (struct libcall){
        .slot = &probe_slot,
        .stub = cn_rec_machine_slot_stub(stubs, (uint32_t)i),
        .target = (uintptr_t)cn_rec_probe_plain,
        .is_bound = true,
    };
    cn_rec_libcall_probe = (void (*)(void))calls[i].stub;
}

bool cn_rec_libcalls_begin(void)
{
    struct table table = {0};
    size_t len;
    uint8_t *stubs;

    (void)dl_iterate_phdr(read_program, &table);
    if (table.rela_count == 0 || !table.symbols || !table.names)
        return true;
    len = cn_rec_machine_slot_stubs_len((uint32_t)table.rela_count + 1);
    stubs = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    calls = calloc(table.rela_count + 1, sizeof(*calls));
    if (stubs == MAP_FAILED || !calls || !protect(&table, PROT_READ | PROT_WRITE))
        return false;
    cn_rec_machine_slot_stubs_begin(stubs, (uintptr_t)cn_rec_libcall);
    for (size_t i = 0; i < table.rela_count; i++)
        hook(&table, i, stubs);
    make_probe(table.rela_count, stubs);
    __builtin___clear_cache((char *)stubs, (char *)stubs + len);
    return mprotect(stubs, len, PROT_READ | PROT_EXEC) == 0 && protect(&table, PROT_READ);
}

static void record_quick(const struct libcall *call, uintptr_t *loc,
                         const struct cn_rec_registers *registers)
{
    struct cn_rec_thread *self = cn_rec_self ? cn_rec_self : cn_rec_thread_begin();

    if (!self || self->is_off || !cn_rec_thread_is_ours(self))
        return;
    if (loc >= self->top->loc)
        cn_rec_close_dead(self, loc);
    if (cn_rec_push(self, loc, 0, (uintptr_t)call->slot, CN_REC_FRAME_UNHOOKED)) {
        cn_rec_enter_pushed(self, registers);
        cn_rec_pop(self);
    }
}

static uint64_t flags_of(const struct libcall *call)
{
    return call->is_bound ? 0 : CN_REC_FRAME_LIBCALL | (uint64_t)(call - calls) << 32;
}

void cn_rec_libcall_enter_register(struct cn_rec_register_call *register_call,
                                   const uint64_t *saved)
{
    struct libcall *call = &calls[register_call->number];
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY, register_call->sp,
                                         0, register_call->ret};

    if (call->is_quick)
        record_quick(call, (uintptr_t *)(register_call->sp | CN_REC_LOC_REGISTER),
                     &registers);
    else
        register_call->ret =
            cn_rec_enter_register_flagged(register_call->sp, (uintptr_t)call->slot,
                                          register_call->ret, flags_of(call), saved);
    register_call->target = atomic_load_explicit(&call->target, memory_order_relaxed);
    register_call->number = (uintptr_t)call->slot;
}

uintptr_t cn_rec_libcall_enter(uintptr_t *loc, uint64_t number, const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY,
                                         (uintptr_t)(loc + 1), 0, *loc};
    struct libcall *call = &calls[number];
    uint64_t flags = flags_of(call);

    if (call->is_quick)
        record_quick(call, loc, &registers);
    else
        cn_rec_enter_flagged(loc, (uintptr_t)call->slot, flags, &registers);
    return atomic_load_explicit(&call->target, memory_order_relaxed);
}

void cn_rec_libcall_leave(uint64_t number)
{
    struct libcall *call = &calls[number];
    uintptr_t now = *(volatile uintptr_t *)call->slot;

    if (now == call->stub)
        return;
    atomic_store(&call->target, now);
    *(volatile uintptr_t *)call->slot = call->stub;
    call->is_bound = true;
}
