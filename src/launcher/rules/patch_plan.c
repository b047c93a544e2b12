#include "launcher/rules/patch_plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/path.h"
#include "base/search.h"
#include "launcher/code/frames.h"
#include "launcher/code/plan.h"
#include "launcher/elf/file.h"
#include "launcher/elf/reader.h"
#include "launcher/files/shared_memory.h"

enum { SECTION_RELR = 19 }; /* packed relocations; older headers lack it */

/* xray_instr_map: addresses relative to themselves of a sled and its function, the kind,
 * and the version. */
enum { SLED_LEN = 32, SLED_KIND = 16, SLED_VERSION = 18, KIND_ENTRY = 0, KIND_ARGS = 3 };

bool cn_patch_plan_is_possible(const struct cn_elf_file *elf)
{
    return !(elf->hooks &
             (CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT | CN_ELF_PATCHABLE)) &&
           cn_prologue_is_known(elf->machine);
}

struct plan_reading {
    struct cn_elf_reader reader;
    struct cn_code code;
    struct cn_code_addresses resolvers; /* of indirect functions */
};

static struct cn_bytes bytes_of(Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);

    return data && data->d_buf ? (struct cn_bytes){data->d_buf, data->d_size}
                               : (struct cn_bytes){0};
}

/* V8, OCaml and Go find out by return addresses what is on the stack; they would not find the
 * return stubs of the recorder. */
static bool is_walker(const char *name)
{
    static const char v8[] = "_ZN2v88internal";

    return strncmp(name, v8, sizeof(v8) - 1) == 0 || strcmp(name, "caml_frametable") == 0;
}

static void take_symbols(struct plan_reading *reading, Elf_Scn *section,
                         const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;

    for (size_t i = 1; data && i < count && i <= INT_MAX; i++) {
        GElf_Sym symbol;

        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        const char *name = elf_strptr(reading->reader.elf, head->sh_link, symbol.st_name);
        int type = GELF_ST_TYPE(symbol.st_info);
        reading->code.has_walker |= name && is_walker(name);
        if (symbol.st_shndx == SHN_UNDEF) {
            /* The start of a program that was built with -pg. */
            if (name && strcmp(name, "__monstartup") == 0)
                reading->code.hooks = CN_CODE_NOPS;
            continue;
        }
        if (type == STT_GNU_IFUNC)
            cn_code_add_address(&reading->resolvers, symbol.st_value);
        /* $x and $d mark code and data on aarch64. */
        if ((type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) && name &&
            name[0] != '$' && symbol.st_shndx < SHN_LORESERVE)
            cn_code_add_address(&reading->code.labels, symbol.st_value);
    }
}

static void take_relocations(struct plan_reading *reading, Elf_Scn *section,
                             const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    GElf_Rela relocation;

    for (size_t i = 0; data && i < count && i <= INT_MAX; i++) {
        if (gelf_getrela(data, (int)i, &relocation) && GELF_R_SYM(relocation.r_info) == 0)
            cn_code_add_address(&reading->code.pointers, (uint64_t)relocation.r_addend);
    }
}

/* An address relative to a symbol. */
static void take_pointer(void *arg, const GElf_Rela *relocation, const GElf_Sym *symbol,
                         const char *name)
{
    struct cn_code *code = arg;

    (void)name;
    if (symbol->st_shndx != SHN_UNDEF)
        cn_code_add_address(&code->pointers,
                            symbol->st_value + (uint64_t)relocation->r_addend);
}

static void take_sleds(struct plan_reading *reading, uint64_t address,
                       struct cn_bytes bytes)
{
    reading->code.hooks = CN_CODE_SLEDS;
    for (size_t i = 0; i + SLED_LEN <= bytes.len; i += SLED_LEN) {
        const uint8_t *entry = bytes.ptr + i;
        bool is_relative = entry[SLED_VERSION] >= 2;

        if (entry[SLED_KIND] == KIND_ENTRY || entry[SLED_KIND] == KIND_ARGS)
            cn_code_add_address(&reading->code.sleds,
                                cn_u64_get(entry) + (is_relative ? address + i : 0));
    }
}

static void take_section(struct plan_reading *reading, Elf_Scn *section,
                         const GElf_Shdr *head, const char *name)
{
    struct cn_code_section added = {.address = head->sh_addr,
                                    .is_code = (head->sh_flags & SHF_EXECINSTR) != 0};

    /* Go has its functions by address in .gopclntab or .data.rel.ro.gopclntab. */
    reading->code.has_walker |=
        strstr(name, ".gopclntab") || strcmp(name, ".note.go.buildid") == 0;
    if (head->sh_type == SHT_SYMTAB || head->sh_type == SHT_DYNSYM)
        take_symbols(reading, section, head);
    if (head->sh_type == SHT_RELA && (head->sh_flags & SHF_ALLOC)) {
        take_relocations(reading, section, head);
        cn_elf_relocations_walk(&reading->reader, section, take_pointer, &reading->code);
    }
    if (head->sh_type == SECTION_RELR)
        reading->code.has_pointers_in_data = true;
    if (!(head->sh_flags & SHF_ALLOC) || (head->sh_flags & SHF_TLS) ||
        head->sh_type == SHT_NOBITS || head->sh_size == 0)
        return;
    added.bytes = bytes_of(section);
    if (strcmp(name, ".eh_frame") == 0)
        cn_code_add_frames(&reading->code, head->sh_addr, added.bytes);
    else if (strcmp(name, "xray_instr_map") == 0)
        take_sleds(reading, head->sh_addr, added.bytes);
    else if (strcmp(name, "__mcount_loc") == 0)
        reading->code.hooks = CN_CODE_NOPS;
    if (added.bytes.len > 0)
        cn_code_add_section(&reading->code, &added);
}

static bool read_code(struct plan_reading *reading, const char *path)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr head;

    if (!cn_elf_reader_open(&reading->reader, path))
        return false;
    reading->code.machine = reading->reader.head.e_machine;
    reading->code.is_fixed = reading->reader.head.e_type == ET_EXEC;
    reading->code.has_pointers_in_data = reading->code.is_fixed;
    (void)elf_getshdrstrndx(reading->reader.elf, &names);
    while ((section = elf_nextscn(reading->reader.elf, section))) {
        if (!gelf_getshdr(section, &head))
            continue;
        const char *name = elf_strptr(reading->reader.elf, names, head.sh_name);
        take_section(reading, section, &head, name ? name : "");
    }
    cn_code_sort(&reading->code);
    return true;
}

static bool is_resolver(const struct plan_reading *reading, uint64_t address)
{
    for (size_t i = 0; i < reading->resolvers.count; i++) {
        if (reading->resolvers.list[i] == address)
            return true;
    }
    return false;
}

/* The first name of the function at an address. */
static const char *name_of(const struct cn_elf_file *elf, uint64_t address)
{
    if (elf->symbol_count == 0)
        return "";
    size_t i = cn_search_below_u64(&elf->symbols->address, elf->symbol_count,
                                   sizeof(*elf->symbols), address);
    return i < elf->symbol_count && elf->symbols[i].address == address
               ? elf->symbols[i].name
               : "";
}

/* The functions that rules say to patch. */
static struct cn_code_function *
find_functions(const struct plan_reading *reading, const struct cn_elf_file *elf,
               uint32_t action, const struct cn_rec_rule *rules, uint32_t rule_count,
               size_t *count, struct cn_patch_counts *counts)
{
    struct cn_code_function *functions = cn_alloc(rule_count, sizeof(*functions));

    *count = 0;
    for (uint32_t i = 0; i < rule_count; i++) {
        uint64_t address = reading->reader.base + rules[i].low;
        const struct cn_code_section *found = cn_code_section_at(&reading->code, address);

        if (!(rules[i].actions & action) || (rules[i].actions & CN_REC_RULE_UNPATCH) ||
            !found || !found->is_code)
            continue;
        if (is_resolver(reading, address)) {
            counts->left[CN_CODE_START]++;
            continue;
        }
        /* A function may have several rules. */
        if (*count > 0 && functions[*count - 1].address == address)
            continue;
        functions[(*count)++] = (struct cn_code_function){
            .address = address,
            .size = rules[i].high - rules[i].low,
            .name = name_of(elf, rules[i].low),
        };
    }
    return functions;
}

static bool store(const struct cn_code_plan *plan, uint64_t base,
                  struct cn_shared_memory *memory, struct cn_error *err)
{
    struct cn_rec_shared *head = memory->head;
    uint32_t first = head->patch_count;

    if (plan->count > CN_REC_PATCH_MAX - first)
        return cn_fail(err, CN_ERR_LIMIT, "-P matches more than %d functions",
                       CN_REC_PATCH_MAX);
    if (plan->count == 0)
        return true;
    if (!cn_shared_memory_reserve_patches(memory, first, plan->count))
        return cn_fail_errno(err, "no memory for the functions to patch");
    for (size_t i = 0; i < plan->count; i++) {
        memory->patches[first + i] = plan->patches[i];
        memory->patches[first + i].at -= base;
    }
    head->patch_count = first + (uint32_t)plan->count;
    return true;
}

static bool is_base(const char *path)
{
    const char *name = cn_path_name(path);
    const char *word = CN_REC_BASE_LIBRARIES;

    for (size_t len; *word; word += len + (word[len] == ' ')) {
        len = strcspn(word, " ");
        if (strncmp(name, word, len) == 0)
            return true;
    }
    return false;
}

bool cn_patch_plan_store(const char *path, const struct cn_elf_file *elf, uint32_t action,
                         uint32_t first, uint32_t rule_count,
                         struct cn_shared_memory *memory, struct cn_patch_counts *counts,
                         uint32_t *count, struct cn_error *err)
{
    struct plan_reading reading = {0};
    struct cn_code_function *functions = NULL;
    struct cn_code_plan plan = {0};
    size_t function_count = 0;
    bool ok = true;

    *count = 0;
    reading.code.is_base = is_base(path);
    if (read_code(&reading, path))
        functions = find_functions(&reading, elf, action, memory->rules + first,
                                   rule_count, &function_count, counts);
    if (function_count > 0) {
        cn_code_plan_make(&plan, &reading.code, functions, function_count);
        ok = store(&plan, reading.reader.base, memory, err);
    }
    for (int i = 0; i < CN_CODE_LEFT_COUNT && ok; i++)
        counts->left[i] += plan.left[i];
    if (ok)
        *count = (uint32_t)plan.count;
    cn_code_plan_done(&plan);
    cn_code_done(&reading.code);
    free(reading.resolvers.list);
    free(functions);
    cn_elf_reader_close(&reading.reader);
    return ok;
}
