#include "launcher/elf/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "launcher/elf/reader.h"

struct file_reading {
    struct cn_elf_reader reader;
    struct cn_elf_file *out;
    bool with_symbols, has_symtab;
};

static void note_symbol_use(struct cn_elf_file *out, const char *name)
{
    static const struct {
        const char *name;
        unsigned hook;
    } hooks[] = {
        {"mcount", CN_ELF_MCOUNT},
        {"_mcount", CN_ELF_MCOUNT},
        {"__fentry__", CN_ELF_FENTRY},
        {"__cyg_profile_func_enter", CN_ELF_INSTRUMENT},
    };

    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        if (strcmp(name, hooks[i].name) == 0)
            out->hooks |= hooks[i].hook;
    }
}

static void add_symbol(struct cn_elf_file *out, uint64_t address, uint64_t size,
                       char kind, const char *name)
{
    CN_PUSH(out->symbols, out->symbol_count, out->symbol_capacity,
            (struct cn_elf_symbol){
                .address = address,
                .size = size,
                .kind = kind,
                .name = cn_strdup(name),
            });
}

static char kind_of(const GElf_Sym *symbol)
{
    bool is_function = GELF_ST_TYPE(symbol->st_info) == STT_FUNC ||
                       GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;

    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_WEAK:
        return is_function ? 'w' : 'v';
    case STB_GLOBAL:
        return is_function ? 'T' : 'D';
    default:
        return is_function ? 't' : 'd';
    }
}

static void take_symbols(struct file_reading *reading, Elf_Scn *section,
                         const GElf_Shdr *head, bool wanted)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;

    for (size_t i = 1; data && i < count && i <= INT_MAX; i++) {
        GElf_Sym symbol;

        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        const char *name = elf_strptr(reading->reader.elf, head->sh_link, symbol.st_name);
        if (!name || !*name)
            continue;
        int type = GELF_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF) {
            note_symbol_use(reading->out, name);
            continue;
        }
        if (wanted && symbol.st_shndx < SHN_LORESERVE && !strchr(name, '\n') &&
            symbol.st_value >= reading->reader.base &&
            (type == STT_FUNC || type == STT_GNU_IFUNC ||
             (type == STT_OBJECT && symbol.st_size > 0)))
            add_symbol(reading->out, symbol.st_value - reading->reader.base,
                       symbol.st_size, kind_of(&symbol), name);
    }
}

/* The address of a function of another file, which calls without a PLT read. All programs
 * have those of the C library's start and end. */
static bool is_other_function(const GElf_Sym *symbol, const char *name)
{
    return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx == SHN_UNDEF &&
           strcmp(name, "__libc_start_main") != 0 && strcmp(name, "__cxa_finalize") != 0;
}

static bool is_libcall(unsigned machine, uint64_t type, const GElf_Sym *symbol,
                       const char *name)
{
    switch (machine) {
    case EM_X86_64:
        return type == R_X86_64_JUMP_SLOT ||
               (type == R_X86_64_GLOB_DAT && is_other_function(symbol, name));
    case EM_AARCH64:
        return type == R_AARCH64_JUMP_SLOT ||
               (type == R_AARCH64_GLOB_DAT && is_other_function(symbol, name));
    default:
        return false;
    }
}

/* A library call is known by the slot that contains the function's address. */
static void take_libcall(void *arg, const GElf_Rela *relocation, const GElf_Sym *symbol,
                         const char *name)
{
    struct file_reading *reading = arg;

    if (!is_libcall(reading->out->machine, GELF_R_TYPE(relocation->r_info), symbol, name))
        return;
    reading->out->hooks |= CN_ELF_LIBCALLS;
    if (reading->with_symbols && *name && !strchr(name, '\n') &&
        relocation->r_offset >= reading->reader.base)
        add_symbol(reading->out, relocation->r_offset - reading->reader.base, 8, 'P',
                   name);
}

static void take_note(Elf_Data *data, char build_id[static 41])
{
    GElf_Nhdr note;
    size_t at = 0, name_at, desc_at;

    while (data && (at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
        const uint8_t *desc = (const uint8_t *)data->d_buf + desc_at;

        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
            memcmp((const char *)data->d_buf + name_at, "GNU", 4) != 0)
            continue;
        cn_hex_put(build_id, desc, note.n_descsz < 20 ? note.n_descsz : 20);
    }
}

static void take_needed(struct file_reading *reading, Elf_Scn *section,
                        const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;

    reading->out->is_static = false;
    for (size_t i = 0; data && i < count && i <= INT_MAX; i++) {
        GElf_Dyn entry;

        if (!gelf_getdyn(data, (int)i, &entry))
            break;
        /* A program that moves itself to where it was loaded (-static-pie). */
        if (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE &&
            !reading->out->loader)
            reading->out->is_static = true;
        if (entry.d_tag != DT_NEEDED)
            continue;
        const char *name =
            elf_strptr(reading->reader.elf, head->sh_link, entry.d_un.d_val);
        if (name && !reading->out->sanitizer &&
            (strncmp(name, "libasan.so", 10) == 0 ||
             strncmp(name, "libtsan.so", 10) == 0))
            reading->out->sanitizer = cn_strdup(name);
    }
}

static void take_section(struct file_reading *reading, Elf_Scn *section,
                         const GElf_Shdr *head, const char *name)
{
    bool with_symbols = reading->with_symbols;

    switch (head->sh_type) {
    case SHT_SYMTAB:
        take_symbols(reading, section, head, with_symbols);
        break;
    case SHT_DYNSYM:
        take_symbols(reading, section, head, with_symbols && !reading->has_symtab);
        break;
    case SHT_RELA:
        cn_elf_relocations_walk(&reading->reader, section, take_libcall, reading);
        break;
    case SHT_NOTE:
        take_note(elf_getdata(section, NULL), reading->out->build_id);
        break;
    case SHT_DYNAMIC:
        take_needed(reading, section, head);
        break;
    default:
        if (strcmp(name, "__patchable_function_entries") == 0)
            reading->out->hooks |= CN_ELF_PATCHABLE;
    }
}

static void take_loader(struct file_reading *reading)
{
    Elf *elf = reading->reader.elf;
    size_t count = 0;
    GElf_Phdr segment;

    (void)elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_INTERP ||
            reading->out->loader)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
                                              segment.p_filesz, ELF_T_BYTE);
        if (data && memchr(data->d_buf, '\0', data->d_size))
            reading->out->loader = cn_strdup(data->d_buf);
    }
}

static void walk_sections(struct file_reading *reading)
{
    Elf *elf = reading->reader.elf;
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr head;

    (void)elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &head))
            reading->has_symtab |= head.sh_type == SHT_SYMTAB;
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &head))
            continue;
        const char *name = elf_strptr(elf, names, head.sh_name);
        take_section(reading, section, &head, name ? name : "");
    }
}

/* Names of the implementation begin with underscores; mangled ones do not count. */
static size_t underscores_of(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ? 0
                                                                      : strspn(name, "_");
}

static int compare_symbols(const void *left, const void *right)
{
    const struct cn_elf_symbol *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    /* If an address has several names, one that is visible comes first, then the one that
     * programs use: getpid, not __getpid, and signal, not bsd_signal. */
    if ((a->kind == 't') != (b->kind == 't'))
        return a->kind == 't' ? 1 : -1;
    if (underscores_of(a->name) != underscores_of(b->name))
        return underscores_of(a->name) < underscores_of(b->name) ? -1 : 1;
    if (strlen(a->name) != strlen(b->name))
        return strlen(a->name) < strlen(b->name) ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

void cn_elf_symbols_sort(struct cn_elf_file *elf)
{
    if (elf->symbol_count > 0)
        qsort(elf->symbols, elf->symbol_count, sizeof(*elf->symbols), compare_symbols);
}

bool cn_elf_file_open(struct cn_elf_file *elf, const char *path, bool with_symbols,
                      struct cn_error *err)
{
    struct file_reading reading = {.out = elf, .with_symbols = with_symbols};
    bool ok = cn_elf_reader_open(&reading.reader, path);

    *elf = (struct cn_elf_file){.is_static = true};
    if (reading.reader.fd < 0)
        return cn_fail_errno(err, "cannot open '%s'", path);
    if (ok) {
        elf->machine = reading.reader.head.e_machine;
        elf->word_class = reading.reader.head.e_ident[EI_CLASS];
        elf->byte_order = reading.reader.head.e_ident[EI_DATA];
        take_loader(&reading);
        walk_sections(&reading);
        cn_elf_symbols_sort(elf);
    }
    cn_elf_reader_close(&reading.reader);
    return ok || cn_fail(err, CN_ERR_FORMAT, "'%s' is not an ELF file", path);
}

void cn_elf_build_id_read(const char *path, char build_id[static 41])
{
    struct cn_elf_reader reader;
    size_t count = 0;

    memset(build_id, 0, 41);
    if (cn_elf_reader_open(&reader, path))
        (void)elf_getphdrnum(reader.elf, &count);
    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        GElf_Phdr segment;

        if (gelf_getphdr(reader.elf, (int)i, &segment) && segment.p_type == PT_NOTE)
            take_note(elf_getdata_rawchunk(
                          reader.elf, (int64_t)segment.p_offset, segment.p_filesz,
                          segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                      build_id);
    }
    cn_elf_reader_close(&reader);
}

void cn_elf_file_close(struct cn_elf_file *elf)
{
    for (size_t i = 0; i < elf->symbol_count; i++)
        free(elf->symbols[i].name);
    free(elf->symbols);
    free(elf->sanitizer);
    free(elf->loader);
    *elf = (struct cn_elf_file){0};
}

/* Print a line: address, kind, name. Without printf(), which would take most of the
 * time. */
static void print_symbol(struct cn_text *text, uint64_t address, char kind,
                         const char *name)
{
    char *at = cn_text_room(text, 19);

    cn_hex64_put(at, address);
    at[16] = ' ';
    at[17] = kind;
    at[18] = ' ';
    cn_text_advance(text, 19);
    cn_text_str_add(text, name);
    cn_text_char(text, '\n');
}

/* The format that all versions of uftrace read: without sizes. A symbol ends at the next
 * one; __sym_end marks other ends. */
void cn_elf_symbols_print(const struct cn_elf_file *elf, struct cn_text *text)
{
    uint64_t end = 0;

    for (size_t i = 0; i < elf->symbol_count; i++) {
        const struct cn_elf_symbol *symbol = &elf->symbols[i];

        /* One name an address; a gap ends a symbol. */
        if (i > 0 && symbol->address == symbol[-1].address)
            continue;
        if (end > 0 && symbol->address > end)
            print_symbol(text, end, '?', "__sym_end");
        end = symbol->size > 0 ? symbol->address + symbol->size : 0;
        print_symbol(text, symbol->address, symbol->kind, symbol->name);
    }
    if (end > 0)
        print_symbol(text, end, '?', "__sym_end");
}
