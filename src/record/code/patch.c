#include "record/code/patch.h"

#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/code/elf_image.h"
#include "record/code/machine.h"
#include "record/code/near_stub.h"
#include "record/process.h"
#include "record/state/module_rules.h"
#include "record/stubs.h"
#include "record/syscalls.h"

enum { PATCH_LEN_MAX = 16 };

/* A file that the loader has mapped; its section headers are unchecked. */
struct patch_file {
    const uint8_t *bytes;
    uint64_t len;
};

static bool read_at(const struct patch_file *file, uint64_t off, void *out, uint64_t len)
{
    if (off > file->len || len > file->len - off)
        return false;
    memcpy(out, file->bytes + off, len);
    return true;
}

static bool has_name(const struct patch_file *file, uint64_t names_off, uint32_t at,
                     const char *name)
{
    size_t len = strlen(name) + 1;
    uint64_t off = names_off + at;

    return off >= names_off && off <= file->len && len <= file->len - off &&
           memcmp(file->bytes + off, name, len) == 0;
}

/* The section of this name; false when there is none. */
static bool find_section(const struct patch_file *file, const char *name, Elf64_Shdr *out)
{
    Elf64_Ehdr head;
    Elf64_Shdr names;

    if (!read_at(file, 0, &head, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(*out) ||
        !read_at(file, head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names), &names,
                 sizeof(names)))
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        if (!read_at(file, head.e_shoff + i * sizeof(*out), out, sizeof(*out)))
            return false;
        if (has_name(file, names.sh_offset, out->sh_name, name))
            return true;
    }
    return false;
}

static bool map_file(struct patch_file *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *at = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    *file = (struct patch_file){at, (uint64_t)status.st_size};
    return at != MAP_FAILED;
}

struct patching {
    const struct cn_rec_image *image;
    struct patch_file file;
    /* The nops of patchable functions; and, with calls of __fentry__, symbols. The length
     * of what the file does not have is 0. */
    Elf64_Shdr entries, symbols;
    uintptr_t fentry_slot;
    struct cn_rec_stubs stubs;
    /* Functions without hooks; the addresses count from `base`. */
    const struct cn_rec_patch *plan;
    uint32_t plan_count;
    uintptr_t base;
    struct cn_rec_stubs moved;
    uint32_t patched_count;
};

static bool is_wanted(uintptr_t at)
{
    uintptr_t base;
    const struct cn_rec_rule *rule = cn_rec_module_rules_find(
        atomic_load(&cn_rec_process.shared->rule_version), at, &base);
    uint32_t actions = rule ? rule->actions : 0;

    return !(actions & CN_REC_RULE_UNPATCH) &&
           (!cn_rec_process.shared->has_patch_list ||
            (!rule && cn_rec_process.shared->patches_unnamed) ||
            (actions & CN_REC_RULE_PATCH));
}

static bool is_code(const struct cn_rec_image *image, uintptr_t at)
{
    return at >= image->code_low && at < image->code_high - PATCH_LEN_MAX;
}

static size_t code_count(const struct cn_rec_image *image)
{
    return image->code_count < CN_REC_CODES_MAX ? image->code_count : CN_REC_CODES_MAX;
}

/* True if all `len` bytes are in one of the executable segments. */
static bool is_any_code(const struct cn_rec_image *image, uintptr_t at, size_t len)
{
    for (size_t i = 0; i < code_count(image); i++) {
        if (at >= image->codes[i].low && at < image->codes[i].high &&
            image->codes[i].high - at >= len)
            return true;
    }
    return false;
}

static void patch_one(struct patching *patching, uintptr_t at)
{
    if (is_code(patching->image, at) && is_wanted(at))
        (void)cn_rec_machine_patch((uint8_t *)at, &patching->stubs);
}

/* The section lists the addresses of the entries: absolute if the file was relocated,
 * else relative to its load address, or in its relocations. */
static void patch_entries(struct patching *patching)
{
    const struct cn_rec_image *image = patching->image;
    const Elf64_Shdr *section = &patching->entries;
    const uintptr_t *entries = (const uintptr_t *)(image->bias + section->sh_addr);

    for (size_t i = 0; i < section->sh_size / sizeof(*entries); i++)
        patch_one(patching,
                  entries[i] < image->low ? image->bias + entries[i] : entries[i]);
    for (size_t i = 0; i < image->rela_count && section->sh_size > 0; i++) {
        const Elf64_Rela *rela = &image->relas[i];

        if (ELF64_R_TYPE(rela->r_info) == CN_REC_RELATIVE &&
            rela->r_offset >= section->sh_addr &&
            rela->r_offset < section->sh_addr + section->sh_size)
            patch_one(patching, image->bias + (uintptr_t)rela->r_addend);
    }
}

#if defined(__x86_64__)
/* The slot among these relocations that contains the address of __fentry__; 0: none. */
static uintptr_t find_fentry(const struct cn_rec_image *image, const Elf64_Rela *relas,
                             size_t count)
{
    for (size_t i = 0; i < count && image->symbols && image->names; i++) {
        uint64_t type = ELF64_R_TYPE(relas[i].r_info);
        uint64_t symbol = ELF64_R_SYM(relas[i].r_info);

        if ((type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) &&
            strcmp(image->names + image->symbols[symbol].st_name, "__fentry__") == 0)
            return image->bias + relas[i].r_offset;
    }
    return 0;
}

/* Functions begin with the call, except for nested ones. */
static void patch_calls(struct patching *patching)
{
    const struct cn_rec_image *image = patching->image;
    struct cn_rec_import import = {patching->fentry_slot, image->code_low,
                                   image->code_high};
    Elf64_Sym symbol;

    for (uint64_t i = 0; i < patching->symbols.sh_size / sizeof(symbol); i++) {
        if (!read_at(&patching->file, patching->symbols.sh_offset + i * sizeof(symbol),
                     &symbol, sizeof(symbol)))
            return;
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            is_code(image, image->bias + symbol.st_value))
            cn_rec_process.has_patched_calls |= cn_rec_machine_patch_call(
                (uint8_t *)(image->bias + symbol.st_value), &import, &patching->stubs);
    }
}
#endif

static bool patch_planned(struct patching *patching, const struct cn_rec_patch *patch)
{
    uint8_t *at = (uint8_t *)(patching->base + patch->at);

    if (!is_any_code(patching->image, (uintptr_t)at, patch->len) ||
        cn_rec_patch_sum(at, patch->len) != patch->sum)
        return false;
    return patch->code_len > 0
               ? cn_rec_machine_move(at, patch, &patching->moved)
               : cn_rec_machine_patch_nops(at, patch->len, &patching->stubs);
}

/* Threads that run already may be about to run the code that is moved. */
static bool is_alone(void)
{
    return cn_rec_process.is_running || __libc_single_threaded;
}

static void patch_plan(struct patching *patching)
{
    for (uint32_t i = 0; i < patching->plan_count && is_alone(); i++)
        patching->patched_count += patch_planned(patching, &patching->plan[i]);
}

/* Find what can be patched; returns the most functions that there can be. */
static size_t find_functions(struct patching *patching)
{
    const struct cn_rec_image *image = patching->image;

    if (image->code_high - image->code_low <= PATCH_LEN_MAX)
        return 0;
    if (!find_section(&patching->file, "__patchable_function_entries",
                      &patching->entries) ||
        patching->entries.sh_size > image->high - image->low ||
        patching->entries.sh_addr > image->high - image->bias - patching->entries.sh_size)
        patching->entries.sh_size = 0;
#if defined(__x86_64__)
    patching->fentry_slot = find_fentry(image, image->slots, image->slot_count);
    if (patching->fentry_slot == 0)
        patching->fentry_slot = find_fentry(image, image->relas, image->rela_count);
#endif
    if (patching->fentry_slot == 0 ||
        !find_section(&patching->file, ".symtab", &patching->symbols) ||
        patching->symbols.sh_size > patching->file.len)
        patching->symbols.sh_size = 0;
    patching->plan =
        cn_rec_module_patches(image->code_low, &patching->base, &patching->plan_count);
    return patching->entries.sh_size / sizeof(uintptr_t) +
           patching->symbols.sh_size / sizeof(Elf64_Sym) + patching->plan_count;
}

static bool make_executable(uintptr_t low, uintptr_t high)
{
    return cn_rec_protect(low, high, PROT_READ | PROT_EXEC);
}

/* Keep code executable if possible: threads that a constructor started may run it. */
static bool make_writable(uintptr_t low, uintptr_t high)
{
    return cn_rec_protect(low, high, PROT_READ | PROT_WRITE | PROT_EXEC) ||
           cn_rec_protect(low, high, PROT_READ | PROT_WRITE);
}

/* A stub for each function, and the jump to the recorder that they share; then the same for
 * those with moved code, which refers to data of the file as well. */
static bool map_stubs(struct patching *patching, struct cn_rec_patches *patches,
                      size_t count)
{
    const struct cn_rec_image *image = patching->image;
    size_t plain_len = CN_REC_STUB_LEN * (count + 1);
    size_t len = plain_len + CN_REC_STUB_LEN + CN_REC_MOVED_LEN * patching->plan_count;

    patches->len = (len + CN_REC_PAGE_LEN - 1) & ~(size_t)(CN_REC_PAGE_LEN - 1);
    patches->stubs = cn_rec_near_map(image->low, image->high, patches->len);
    if (!patches->stubs)
        patches->stubs = cn_rec_near_map(image->code_low, image->code_high, patches->len);
    if (!patches->stubs)
        return false;
    cn_rec_machine_jump(patches->stubs, (uintptr_t)cn_rec_patched);
    patching->stubs = (struct cn_rec_stubs){.at = patches->stubs, .max = count};
    cn_rec_machine_jump(patches->stubs + plain_len, (uintptr_t)cn_rec_moved);
    patching->moved = (struct cn_rec_stubs){.at = patches->stubs + plain_len,
                                            .max = patching->plan_count};
    uintptr_t low = (uintptr_t)patches->stubs;
    return make_executable(low, low + patches->len) &&
           make_writable(low, low + patches->len);
}

static void patch_all(struct patching *patching, struct cn_rec_patches *patches)
{
    const struct cn_rec_image *image = patching->image;
    bool ok = true;

    for (size_t i = 0; i < code_count(image); i++)
        ok = make_writable(image->codes[i].low, image->codes[i].high) && ok;
    if (ok) {
        patch_entries(patching);
        patch_plan(patching);
#if defined(__x86_64__)
        patch_calls(patching);
#endif
    }
    for (size_t i = 0; i < code_count(image); i++) {
        __builtin___clear_cache((char *)image->codes[i].low,
                                (char *)image->codes[i].high);
        (void)make_executable(image->codes[i].low, image->codes[i].high);
    }
    (void)make_executable((uintptr_t)patches->stubs,
                          (uintptr_t)patches->stubs + patches->len);
}

void cn_rec_patch(struct cn_rec_patches *patches, const struct cn_rec_image *image,
                  const char *path)
{
    struct patching patching = {.image = image};

    *patches = (struct cn_rec_patches){0};
    if (!map_file(&patching.file, path))
        return;
    size_t count = find_functions(&patching);
    if (count > 0 && map_stubs(&patching, patches, count))
        patch_all(&patching, patches);
    atomic_fetch_add(&cn_rec_process.shared->unpatched_count,
                     patching.plan_count - patching.patched_count);
    (void)munmap((void *)(uintptr_t)patching.file.bytes, patching.file.len);
}

void cn_rec_patches_remove(struct cn_rec_patches *patches)
{
    if (patches->stubs)
        (void)cn_rec_syscall3(SYS_munmap, (long)patches->stubs, (long)patches->len, 0);
    *patches = (struct cn_rec_patches){0};
}
