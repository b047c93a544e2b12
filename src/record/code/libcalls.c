#include "record/code/libcalls.h"

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/code/elf_image.h"
#include "record/code/got.h"
#include "record/code/machine.h"
#include "record/code/near_stub.h"
#include "record/process.h"
#include "record/stubs.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    CALLS_MAX = 1 << 18, /* slots of all files, with --nest-libcall */
    TABLES_MAX = 1024,   /* files with slots */
    UNBOUND_MAX = 16,
    WRITABLE = PROT_READ | PROT_WRITE,
};

/* The slots of a file. When it is unmapped, a file with as many slots reuses its
 * numbers. */
struct table {
    uintptr_t low; /* address of the file; 0: unmapped */
    uint8_t *stubs;
    uint32_t first, count;
};

struct cn_rec_libcall *cn_rec_libcalls;
static uint32_t call_count, call_capacity;
static struct table tables[TABLES_MAX];
static size_t table_count;
static uintptr_t probe_slot;
void (*cn_rec_libcall_probe)(void);

/* Functions that do not simply return, by enum cn_rec_libcall_kind. */
static const char *const kind_names[] = {
    [CN_REC_LIBCALL_QUICK] = "getcontext swapcontext setcontext",
    [CN_REC_LIBCALL_LANDS] = "setjmp _setjmp sigsetjmp __sigsetjmp",
    [CN_REC_LIBCALL_JUMPS] = "longjmp _longjmp siglongjmp __longjmp_chk",
    [CN_REC_LIBCALL_THROWS] = "__cxa_throw __cxa_rethrow _Unwind_RaiseException "
                              "_Unwind_Resume _Unwind_Resume_or_Rethrow",
    [CN_REC_LIBCALL_CATCHES] = "__cxa_begin_catch __cxa_end_catch",
    [CN_REC_LIBCALL_FORKS] = "vfork",
    [CN_REC_LIBCALL_EXECS] =
        "execl execlp execle execv execvp execvpe execve fexecve execveat",
    [CN_REC_LIBCALL_ENDS] = "pthread_exit thrd_exit",
    [CN_REC_LIBCALL_ASKS] = "dlopen dlmopen dlsym dlvsym",
};

/* The hooks themselves, and functions with other calling conventions. */
static const char left_out_names[] =
    "mcount _mcount __fentry__ __cyg_profile_func_enter __cyg_profile_func_exit "
    "__gmon_start__ __tls_get_addr __libc_start_main __cxa_finalize _mcleanup";

/* Functions of sanitizers look at their return address, to report it. */
static const char left_out_starts[] = "__asan_ __lsan_ __tsan_ __ubsan_ __sanitizer_";

/* True if a name is one of the words, or begins with one. Does not use the C library. */
static bool is_among(const char *name, const char *words, bool is_start)
{
    while (*words) {
        size_t len = 0;

        while (words[len] && words[len] != ' ' && words[len] == name[len])
            len++;
        if ((words[len] == '\0' || words[len] == ' ') && (is_start || !name[len]))
            return true;
        while (*words && *words++ != ' ')
            continue;
    }
    return false;
}

bool cn_rec_libcall_is_left_out(const char *name)
{
    return !*name || is_among(name, left_out_names, false) ||
           is_among(name, left_out_starts, true);
}

bool cn_rec_libcalls_are_wanted(const struct cn_rec_image *image, const char *path)
{
    if (!cn_rec_process.has_libcalls || image->slot_count + image->rela_count == 0)
        return false;
    if (!path)
        return true;
    for (const char *at = path; *at; at++)
        path = *at == '/' ? at + 1 : path;
    return cn_rec_process.has_nested_libcalls &&
           !is_among(path, CN_REC_BASE_LIBRARIES, true);
}

/* Bind the slot of a function now whose return is not hooked: if the loader bound the slot, later calls would not be recorded. Once the
 * program runs, the loader is not called: the slot is left alone. */
static bool bind(struct cn_rec_libcall *call, const char *name)
{
    void *found = cn_rec_process.is_running ? NULL : dlsym(RTLD_DEFAULT, name);

    if (!found)
        return false;
    call->target = (uintptr_t)found;
    call->is_bound = true;
    return true;
}

static uint8_t kind_of(const char *name)
{
    uint8_t kind = sizeof(kind_names) / sizeof(kind_names[0]) - 1;

    while (kind > CN_REC_LIBCALL_PLAIN && !is_among(name, kind_names[kind], false))
        kind--;
    return kind;
}

static const char *name_of(const struct cn_rec_image *image, const Elf64_Rela *rela)
{
    return image->names + image->symbols[ELF64_R_SYM(rela->r_info)].st_name;
}

bool cn_rec_libcall_is_silent(const struct cn_rec_libcall *call)
{
    return cn_rec_process.shared->without_throws &&
           (call->kind == CN_REC_LIBCALL_THROWS || call->kind == CN_REC_LIBCALL_CATCHES);
}

/* True if the return of a function is not hooked. */
static bool is_unframed(const struct cn_rec_libcall *call)
{
    return (call->kind >= CN_REC_LIBCALL_QUICK && call->kind <= CN_REC_LIBCALL_JUMPS) ||
           cn_rec_libcall_is_silent(call);
}

static void hook(const struct cn_rec_image *image, const struct table *table, uint32_t i,
                 const Elf64_Rela *rela)
{
    const char *name = name_of(image, rela);
    uintptr_t *slot = (uintptr_t *)(image->bias + rela->r_offset);
    struct cn_rec_libcall *call = &cn_rec_libcalls[table->first + i];

    if ((ELF64_R_TYPE(rela->r_info) != CN_REC_JUMP_SLOT &&
         ELF64_R_TYPE(rela->r_info) != CN_REC_GLOB_DAT) ||
        cn_rec_libcall_is_left_out(name))
        return;
    call->stub = cn_rec_machine_slot_stub(table->stubs, i, table->first + i);
    call->target = *slot;
    call->kind = kind_of(name);
    if (call->kind == CN_REC_LIBCALL_ASKS) {
        call->passage = cn_rec_machine_find_passage(image->code_low, image->code_high);
        if (!call->passage)
            call->kind = CN_REC_LIBCALL_QUICK;
    }
    /* An unbound slot points into its own file. */
    call->is_bound = *slot < image->low || *slot >= image->high;
    if (!call->is_bound && is_unframed(call) && !bind(call, name))
        return;
    if (!call->is_bound &&
        (call->kind == CN_REC_LIBCALL_ENDS || call->kind == CN_REC_LIBCALL_EXECS))
        (void)bind(call, name);
    call->slot = slot;
}

/* A stub for each slot, and one that they jump to. */
static uint64_t stubs_len(uint32_t count)
{
    return CN_REC_STUB_LEN * ((uint64_t)count + 1);
}

/* Make stubs with new numbers; false when there is no room. */
static bool make_table(struct table *table, uint32_t count)
{
    if (count > call_capacity - call_count)
        return false;
    table->stubs = cn_rec_map(stubs_len(count));
    if (!table->stubs)
        return false;
    cn_rec_machine_jump(table->stubs, (uintptr_t)cn_rec_libcall);
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

    call_capacity = cn_rec_process.has_nested_libcalls ? CALLS_MAX : count + 1;
    cn_rec_libcalls = cn_rec_map(call_capacity * sizeof(*cn_rec_libcalls));
    if (!cn_rec_libcalls || !make_table(&probe, 1))
        return false;
    cn_rec_libcalls[0].slot = &probe_slot;
    cn_rec_libcalls[0].stub = cn_rec_machine_slot_stub(probe.stubs, 0, 0);
    cn_rec_libcalls[0].target = (uintptr_t)cn_rec_probe_plain;
    cn_rec_libcalls[0].is_bound = true;
    if (!cn_rec_protect((uintptr_t)probe.stubs, (uintptr_t)probe.stubs + CN_REC_PAGE_LEN,
                        PROT_READ | PROT_EXEC))
        return false;
    __builtin___clear_cache((char *)probe.stubs, (char *)probe.stubs + CN_REC_PAGE_LEN);
    cn_rec_libcall_probe = (void (*)(void))cn_rec_libcalls[0].stub;
    return true;
}

/* Change the code that calls through the mixed slots to call the stubs of `calls`, by jumps
 * within reach. */
static bool redirect(const struct cn_rec_image *image, const struct cn_rec_got *got,
                     const struct cn_rec_libcall *calls)
{
    uint64_t len = (uint64_t)got->mixed_count * CN_REC_STUB_LEN;
    uintptr_t low = image->code_low, high = image->code_high;

    if (got->mixed_count == 0)
        return true;
    uint8_t *jumps = cn_rec_process.is_running ? NULL : cn_rec_near_map(low, high, len);
    if (!jumps)
        return false;
    for (uint32_t i = 0; i < got->mixed_count; i++) {
        uint8_t *jump = jumps + (size_t)i * CN_REC_STUB_LEN;

        if (!calls[i].slot)
            continue;
        cn_rec_machine_jump(jump, calls[i].stub);
        got->targets[((uintptr_t)calls[i].slot - got->slots.low) / sizeof(uintptr_t)] =
            (uintptr_t)jump;
    }
    __builtin___clear_cache((char *)jumps, (char *)jumps + len);
    if (!cn_rec_protect((uintptr_t)jumps, (uintptr_t)jumps + len,
                        PROT_READ | PROT_EXEC) ||
        !cn_rec_protect(low, high, WRITABLE | PROT_EXEC))
        return false;
    bool ok = cn_rec_machine_redirect(low, high, &got->slots, got->targets);
    __builtin___clear_cache((char *)low, (char *)high);
    (void)cn_rec_protect(low, high, PROT_READ | PROT_EXEC);
    return ok;
}

/* Count functions whose calls are not recorded: of the last listed slots. */
static void tell_missed(const struct cn_rec_image *image, const struct cn_rec_got *got,
                        uint32_t count)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct cn_rec_text one = {shared->bypassed, sizeof(shared->bypassed), 0, false};
    uint32_t all = got->count + got->mixed_count + got->other_count;

    if (count > 0 && atomic_fetch_add(&shared->bypassed_count, count) == 0)
        cn_rec_text_str(&one, name_of(image, &image->relas[got->relas[all - count]]));
}

static bool add(const struct cn_rec_image *image, const struct cn_rec_got *got)
{
    uint32_t slot_count = (uint32_t)image->slot_count, got_count = got->count;
    uint32_t mixed_at = slot_count + got_count, count = mixed_at + got->mixed_count;

    if (image->slot_count >= CALLS_MAX || (!cn_rec_libcalls && !set_up(count)))
        return false;
    if (count == 0)
        return true; /* without calls, nothing is missed */
    struct table *table = take_table(count);
    if (!table)
        return false;
    uintptr_t stubs = (uintptr_t)table->stubs;
    uint64_t len = stubs_len(count);
    if (!cn_rec_protect(stubs, stubs + len, WRITABLE))
        return false;
    table->low = image->low;
    for (uint32_t i = 0; i < count; i++) {
        hook(image, table, i,
             i < slot_count ? &image->slots[i]
                            : &image->relas[got->relas[i - slot_count]]);
        cn_rec_libcalls[table->first + i].is_code = i >= mixed_at;
    }
    __builtin___clear_cache((char *)stubs, (char *)stubs + len);
    /* Tables that are read-only after relocation are made writable for a moment. */
    if (!cn_rec_protect(stubs, stubs + len, PROT_READ | PROT_EXEC) ||
        !cn_rec_protect(image->relro_low, image->relro_high, WRITABLE))
        return false;
    /* Set the slots when everything else is complete. */
    for (uint32_t i = table->first; i < table->first + count; i++) {
        if (cn_rec_libcalls[i].slot && !cn_rec_libcalls[i].is_code)
            *(volatile uintptr_t *)cn_rec_libcalls[i].slot = cn_rec_libcalls[i].stub;
    }
    tell_missed(image, got,
                redirect(image, got, &cn_rec_libcalls[table->first + mixed_at])
                    ? got->other_count
                    : got->other_count + got->mixed_count);
    return cn_rec_protect(image->relro_low, image->relro_high, PROT_READ);
}

bool cn_rec_libcalls_add(const struct cn_rec_image *image)
{
    struct cn_rec_got got;

    cn_rec_got_begin(&got, image);
    bool ok = add(image, &got);
    cn_rec_got_done(&got);
    return ok;
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

/* 1 + the numbers of slots in their first call; the oldest is overwritten. */
static _Atomic uint32_t unbound[UNBOUND_MAX];
static _Atomic uint32_t unbound_count;
static _Atomic bool has_unbound;
static uint32_t lasting_first, lasting_end; /* slots of a file that is never unmapped */

void cn_rec_libcalls_started(void)
{
    if (table_count > 0) {
        lasting_first = tables[0].first;
        lasting_end = tables[0].first + tables[0].count;
    }
}

void cn_rec_libcall_begin(uint64_t number)
{
    /* Another thread could look at the slot while its file is being unmapped. */
    if (number < lasting_first || number >= lasting_end)
        return;
    uint32_t at = atomic_fetch_add(&unbound_count, 1);
    atomic_store(&unbound[at % UNBOUND_MAX], (uint32_t)number + 1);
    atomic_store(&has_unbound, true);
}

/* Other threads may call the function meanwhile, and the first call may never end. */
bool cn_rec_libcalls_look(void)
{
    bool is_rest = false;

    if (!atomic_load_explicit(&has_unbound, memory_order_relaxed))
        return true;
    atomic_store(&has_unbound, false);
    for (int i = 0; i < UNBOUND_MAX; i++) {
        uint32_t number = atomic_load(&unbound[i]);

        if (number == 0)
            continue;
        cn_rec_libcall_leave(number - 1);
        if (cn_rec_libcalls[number - 1].is_bound || !cn_rec_libcalls[number - 1].slot)
            (void)atomic_compare_exchange_strong(&unbound[i], &number, 0);
        else
            is_rest = true;
    }
    if (is_rest)
        atomic_store(&has_unbound, true);
    return !is_rest;
}

void cn_rec_libcall_leave(uint64_t number)
{
    struct cn_rec_libcall *call = &cn_rec_libcalls[number];
    uintptr_t *slot = call->slot, now;

    /* The call was left by a jump, and its file is unmapped. */
    if (!slot)
        return;
    now = *(volatile uintptr_t *)slot;
    if (now == call->stub)
        return;
    atomic_store(&call->target, now);
    *(volatile uintptr_t *)slot = call->stub;
    call->is_bound = true;
}
