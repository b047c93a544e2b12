#include "sampler/languages/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/memory.h"
#include "unwind/format.h"

enum {
    SECTIONS_LEN_MAX = 1 << 20,
    SYMBOLS_LEN_MAX = 64 << 20,
    TEXTS_LEN_MAX = 64 << 20,
    SECTION_LINK_OFF = 0x28,
    SEGMENT_ALIGNMENT_OFF = 0x30,
    PROGRAM_DATA = 1, /* types of sections */
    SYMBOL_TABLE = 2,
    RELOCATIONS = 4,
    DYNAMIC_SYMBOL_TABLE = 11,
    ALLOCATED = 2, /* flags of sections; CN_ELF_WRITABLE is the first */
    EXECUTED = 4,
    THREAD_VARIABLES = 7, /* a type of segments */
    RELOCATION_LEN = 24,
    RELOCATION_ADDEND_OFF = 16,
    WRITABLE_SEGMENT = 2, /* flag */
    FUNCTIONS_LEN_MAX = 16 << 20,
    CODE_LEN_MAX = 1 << 20,
    CALLEE_LEN_MIN = 4096,
};

/* A file while its symbols are searched. */
struct file {
    int fd;
    struct cn_elf_header header;
    struct cn_arena arena;
    struct cn_bytes segments, section_names;
    uint64_t bias; /* from its addresses to those of the mapping */
    cn_language_symbol_visit visit;
    void *arg;
};

/* Bytes of a file; {0} if they can not be read. */
static struct cn_bytes read_part(struct file *file, uint64_t off, uint64_t len,
                                 size_t most)
{
    if (len == 0 || len > most || off > INT64_MAX)
        return (struct cn_bytes){0};
    uint8_t *bytes = cn_arena_alloc(&file->arena, len, 1);
    if (pread(file->fd, bytes, len, (off_t)off) != (ssize_t)len)
        return (struct cn_bytes){0};
    return (struct cn_bytes){bytes, len};
}

static void visit_table(const struct file *file, struct cn_bytes symbols,
                        struct cn_bytes strings)
{
    struct cn_elf_named symbol;

    while (cn_elf_named_take_first(&symbols, &symbol)) {
        const char *name =
            symbol.section > 0 ? cn_bytes_string(strings, symbol.name_off) : NULL;

        if (name)
            file->visit(file->arg, name, symbol.address + file->bias, symbol.len);
    }
}

/* Visit the sections of a file. */
typedef void (*section_visit)(struct file *file, const struct cn_elf_section *section,
                              struct cn_bytes sections, uint32_t link, void *arg);

static void visit_sections(struct file *file, section_visit visit, void *arg)
{
    const struct cn_elf_header *header = &file->header;
    uint64_t len = (uint64_t)header->section_count * header->section_len;
    struct cn_bytes sections =
        read_part(file, header->sections_off, len, SECTIONS_LEN_MAX);
    struct cn_elf_section section;

    for (size_t i = 0; header->section_len >= cn_elf_section_size &&
                       i < sections.len / header->section_len;
         i++) {
        struct cn_bytes one = cn_bytes_element(sections, i, header->section_len);

        if (cn_elf_section_decode(one, &section))
            visit(file, &section, sections, cn_u32_get(one.ptr + SECTION_LINK_OFF), arg);
    }
}

/* The section that another refers to. */
static bool find_linked(const struct file *file, struct cn_bytes sections, uint32_t link,
                        struct cn_elf_section *out)
{
    return link < file->header.section_count &&
           cn_elf_section_decode(
               cn_bytes_element(sections, link, file->header.section_len), out);
}

static void visit_symbols(struct file *file, const struct cn_elf_section *section,
                          struct cn_bytes sections, uint32_t link, void *arg)
{
    struct cn_elf_section linked;

    (void)arg;
    if ((section->type != SYMBOL_TABLE && section->type != DYNAMIC_SYMBOL_TABLE) ||
        !find_linked(file, sections, link, &linked))
        return;
    struct cn_bytes symbols =
        read_part(file, section->file_off, section->len, SYMBOLS_LEN_MAX);
    struct cn_bytes strings =
        read_part(file, linked.file_off, linked.len, SYMBOLS_LEN_MAX);
    visit_table(file, symbols, strings);
}

/* The next segment of a file that is of a type and a kind; false: there is none. */
static bool next_segment(struct file *file, uint32_t type, uint32_t flags, size_t *at,
                         struct cn_elf_segment *out, uint64_t *alignment)
{
    const struct cn_elf_header *header = &file->header;
    uint64_t len = (uint64_t)header->segment_count * header->segment_len;

    if (!file->segments.ptr)
        file->segments = read_part(file, header->segments_off, len, SECTIONS_LEN_MAX);
    while (header->segment_len >= cn_elf_segment_size &&
           *at < file->segments.len / header->segment_len) {
        struct cn_bytes one =
            cn_bytes_element(file->segments, (*at)++, header->segment_len);

        if (!cn_elf_segment_decode(one, out) || out->type != type ||
            (out->flags & flags) != flags)
            continue;
        *alignment = cn_u64_get(one.ptr + SEGMENT_ALIGNMENT_OFF);
        return true;
    }
    return false;
}

/* From addresses of the file to those of the mapping. */
static bool find_bias(struct file *file, const struct cn_language_mapping *mapping)
{
    struct cn_elf_segment segment;
    uint64_t alignment;

    for (size_t i = 0;
         next_segment(file, CN_ELF_LOAD, CN_ELF_EXECUTABLE, &i, &segment, &alignment);) {
        if (mapping->file_off >= segment.file_off + segment.file_len ||
            mapping->file_off + (mapping->end - mapping->begin) <= segment.file_off)
            continue;
        file->bias =
            mapping->begin - mapping->file_off + segment.file_off - segment.address;
        return true;
    }
    return false;
}

static bool open_file(struct file *file, const struct cn_language_mapping *mapping)
{
    uint8_t bytes[cn_elf_header_size];

    *file = (struct file){.fd = open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    return file->fd >= 0 &&
           pread(file->fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
           cn_elf_header_decode((struct cn_bytes){bytes, sizeof(bytes)}, &file->header) &&
           file->header.magic == CN_ELF_MAGIC && file->header.width == 2 &&
           file->header.order == 1 && find_bias(file, mapping);
}

static void close_file(struct file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    cn_arena_done(&file->arena);
}

void cn_language_symbols_visit(const struct cn_language_mapping *mapping,
                               cn_language_symbol_visit visit, void *arg)
{
    struct file file;

    if (open_file(&file, mapping)) {
        file.visit = visit;
        file.arg = arg;
        visit_sections(&file, visit_symbols, NULL);
    }
    close_file(&file);
}

struct wanted_symbols {
    const char *const *names;
    size_t count;
    uint64_t *out, *lens;
};

static void find_wanted(void *arg, const char *name, uint64_t address, uint64_t len)
{
    const struct wanted_symbols *wanted = arg;

    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->out[i] == 0 && strcmp(name, wanted->names[i]) == 0) {
            wanted->out[i] = address;
            wanted->lens[i] = len;
        }
}

void cn_language_symbols_sized(const struct cn_language_mapping *mapping,
                               const char *const *names, size_t count, uint64_t *out,
                               uint64_t *lens)
{
    struct wanted_symbols wanted = {names, count, out, lens};

    for (size_t i = 0; i < count; i++)
        out[i] = lens[i] = 0;
    cn_language_symbols_visit(mapping, find_wanted, &wanted);
}

void cn_language_symbols(const struct cn_language_mapping *mapping,
                         const char *const *names, size_t count, uint64_t *out)
{
    uint64_t *lens = cn_alloc(count, sizeof(*lens));

    cn_language_symbols_sized(mapping, names, count, out, lens);
    free(lens);
}

/* Bytes at an address of the file. */
static bool read_address(struct file *file, uint64_t at, void *out, size_t len)
{
    struct cn_elf_segment segment;
    uint64_t alignment;
    bool is_read = false;

    for (size_t i = 0;
         !is_read && next_segment(file, CN_ELF_LOAD, 0, &i, &segment, &alignment);)
        is_read =
            at >= segment.address && at - segment.address < segment.file_len &&
            len <= segment.file_len - (at - segment.address) &&
            pread(file->fd, out, len,
                  (off_t)(segment.file_off + (at - segment.address))) == (ssize_t)len;
    return is_read;
}

bool cn_language_constant(const struct cn_language_mapping *mapping, uint64_t address,
                          void *out, size_t len)
{
    struct file file;
    bool is_read =
        open_file(&file, mapping) && read_address(&file, address - file.bias, out, len);

    close_file(&file);
    return is_read;
}

struct wanted_text {
    const char *prefix;
    char *out;
    size_t size;
    bool is_found;
};

static void find_text(struct file *file, const struct cn_elf_section *section,
                      struct cn_bytes sections, uint32_t link, void *arg)
{
    struct wanted_text *wanted = arg;
    size_t prefix_len = strlen(wanted->prefix);

    (void)sections;
    (void)link;
    if (wanted->is_found || section->type != PROGRAM_DATA ||
        (section->flags & (ALLOCATED | EXECUTED | CN_ELF_WRITABLE)) != ALLOCATED)
        return;
    struct cn_bytes bytes =
        read_part(file, section->file_off, section->len, TEXTS_LEN_MAX);
    for (size_t at = 0; at < bytes.len;) {
        const uint8_t *found =
            memmem(bytes.ptr + at, bytes.len - at, wanted->prefix, prefix_len);
        const char *text = NULL;

        if (!found)
            return;
        at = (size_t)(found - bytes.ptr) + 1;
        if (at == 1 || found[-1] == '\0')
            text = cn_bytes_string(bytes, at - 1);
        if (!text || strlen(text) >= wanted->size)
            continue;
        memcpy(wanted->out, text, strlen(text) + 1);
        wanted->is_found = true;
        return;
    }
}

bool cn_language_text_find(const struct cn_language_mapping *mapping, const char *prefix,
                           char *out, size_t size)
{
    struct wanted_text wanted = {prefix, out, size, false};
    struct file file;

    if (open_file(&file, mapping))
        visit_sections(&file, find_text, &wanted);
    close_file(&file);
    return wanted.is_found;
}

/* A variable of the program itself needs no relocation: where it is, is known when it is
 * linked. */
static void find_fixed(struct file *file, uint64_t address,
                       struct cn_language_variable *out)
{
    struct cn_elf_segment segment;
    uint64_t alignment, value = address - file->bias;
    size_t at = 0;

    if (!next_segment(file, THREAD_VARIABLES, 0, &at, &segment, &alignment) ||
        value >= segment.memory_len)
        return;
    alignment = alignment > 0 ? alignment : 1;
    out->kind = CN_VARIABLE_FIXED;
    /* The thread pointer is after the variables, or 16 bytes before them. */
    out->off = file->header.machine == CN_ELF_X86_64
                   ? value - (segment.memory_len + alignment - 1) / alignment * alignment
                   : value + (16 + alignment - 1) / alignment * alignment;
}

struct wanted_section {
    const char *name;
    void *out;
    size_t len;
    bool is_found;
};

static void find_section(struct file *file, const struct cn_elf_section *section,
                         struct cn_bytes sections, uint32_t link, void *arg)
{
    struct wanted_section *wanted = arg;
    struct cn_elf_section names;

    (void)link;
    if (wanted->is_found ||
        !find_linked(file, sections, file->header.names_section, &names))
        return;
    if (!file->section_names.ptr)
        file->section_names =
            read_part(file, names.file_off, names.len, SECTIONS_LEN_MAX);
    const char *name = cn_bytes_string(file->section_names, section->name_off);
    if (!name || strcmp(name, wanted->name) != 0 || section->len < wanted->len)
        return;
    struct cn_bytes bytes =
        read_part(file, section->file_off, wanted->len, SECTIONS_LEN_MAX);
    wanted->is_found = bytes.len == wanted->len;
    if (wanted->is_found)
        memcpy(wanted->out, bytes.ptr, bytes.len);
}

bool cn_language_section(const struct cn_language_mapping *mapping, const char *name,
                         void *out, size_t len)
{
    struct wanted_section wanted = {name, out, len, false};
    struct file file;

    if (open_file(&file, mapping))
        visit_sections(&file, find_section, &wanted);
    close_file(&file);
    return wanted.is_found;
}

bool cn_language_bias(const struct cn_language_mapping *mapping, uint64_t *out)
{
    struct file file;
    bool is_found = open_file(&file, mapping);

    *out = file.bias;
    close_file(&file);
    return is_found;
}

uint64_t cn_language_last_variable(const struct cn_language_mapping *mapping)
{
    struct cn_language_variable last = {.off = (uint64_t)-8};
    struct cn_elf_segment segment;
    uint64_t alignment;
    struct file file;
    size_t at = 0;

    if (open_file(&file, mapping) &&
        next_segment(&file, THREAD_VARIABLES, 0, &at, &segment, &alignment) &&
        segment.memory_len >= 8)
        find_fixed(&file, segment.memory_len - 8 + file.bias, &last);
    close_file(&file);
    return last.off;
}

bool cn_language_data(const struct cn_language_mapping *mapping, uint64_t *begin,
                      uint64_t *end)
{
    struct file file;
    struct cn_elf_segment segment;
    uint64_t alignment;
    size_t at = 0;
    bool is_found = false;

    bool is_open = open_file(&file, mapping);
    *begin = *end = 0;
    /* Linkers may make several, in the order of addresses. */
    while (
        is_open &&
        next_segment(&file, CN_ELF_LOAD, WRITABLE_SEGMENT, &at, &segment, &alignment) &&
        segment.memory_len < UINT64_MAX - segment.address) {
        *begin = is_found ? *begin : segment.address + file.bias;
        *end = segment.address + file.bias + segment.memory_len;
        is_found = true;
    }
    close_file(&file);
    return is_found;
}

/* The table of functions in .eh_frame_hdr, in the order of addresses: pairs of numbers of 4 bytes
 * that count from `base`. */
struct functions {
    struct cn_bytes table;
    uint64_t base;
};

static bool read_functions(struct file *file, struct functions *out)
{
    enum { HEAD_LEN = 12, POINTER_4 = 0x1b, COUNT_4 = 0x03, TABLE_4 = 0x3b };
    struct cn_elf_segment segment;
    uint64_t alignment;
    size_t at = 0;

    if (!next_segment(file, CN_ELF_EH_FRAME_HDR, 0, &at, &segment, &alignment))
        return false;
    struct cn_bytes bytes =
        read_part(file, segment.file_off, segment.file_len, FUNCTIONS_LEN_MAX);
    if (bytes.len < HEAD_LEN || bytes.ptr[0] != 1 || bytes.ptr[1] != POINTER_4 ||
        bytes.ptr[2] != COUNT_4 || bytes.ptr[3] != TABLE_4 ||
        !cn_bytes_array(bytes, HEAD_LEN, cn_u32_get(bytes.ptr + 8), 8, &out->table))
        return false;
    out->base = segment.address;
    return true;
}

static uint64_t function_begin(const struct functions *functions, size_t i)
{
    return functions->base +
           (uint64_t)(int64_t)(int32_t)cn_u32_get(functions->table.ptr + 8 * i);
}

/* The length of a function that begins at an address of the file; 0 if none does. */
static uint64_t function_len(const struct functions *functions, uint64_t begin)
{
    size_t low = 0, high = functions->table.len / 8;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (function_begin(functions, middle) < begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low + 1 >= functions->table.len / 8 || function_begin(functions, low) != begin)
        return 0;
    return function_begin(functions, low + 1) - begin;
}

/* Where a call at an offset in code goes to; false if there is none. */
static bool find_call(const struct file *file, struct cn_bytes code, size_t at,
                      uint64_t address, uint64_t *out)
{
    enum { X86_CALL = 0xe8, X86_CALL_LEN = 5, ARM_CALL = 0x25 };

    if (file->header.machine == CN_ELF_X86_64) {
        if (at + X86_CALL_LEN > code.len || code.ptr[at] != X86_CALL)
            return false;
        *out = address + X86_CALL_LEN +
               (uint64_t)(int64_t)(int32_t)cn_u32_get(code.ptr + at + 1);
        return true;
    }
    if (at % 4 != 0 || at + 4 > code.len)
        return false;
    uint32_t word = cn_u32_get(code.ptr + at);
    if (word >> 26 != ARM_CALL)
        return false;
    *out = address + (uint64_t)(int64_t)((int32_t)(word << 6) >> 4);
    return true;
}

bool cn_language_callee(const struct cn_language_mapping *mapping, uint64_t begin,
                        uint64_t end, uint64_t *callee_begin, uint64_t *callee_end)
{
    struct functions functions;
    struct file file;
    uint64_t longest = CALLEE_LEN_MIN, target;

    if (end <= begin || end - begin > CODE_LEN_MAX)
        return false;
    uint8_t *bytes = cn_alloc(end - begin, 1);
    struct cn_bytes code = {bytes, (size_t)(end - begin)};
    bool is_found = false;
    if (open_file(&file, mapping) && read_functions(&file, &functions) &&
        cn_language_constant(mapping, begin, bytes, code.len)) {
        for (size_t i = 0; i < code.len; i++) {
            uint64_t len = find_call(&file, code, i, begin + i - file.bias, &target)
                               ? function_len(&functions, target)
                               : 0;

            if (len < longest)
                continue;
            longest = len;
            *callee_begin = target + file.bias;
            *callee_end = *callee_begin + len;
            is_found = true;
        }
    }
    close_file(&file);
    free(bytes);
    return is_found;
}

/* Relocations of thread variables, by machine. */
struct relocation_kinds {
    uint16_t machine;
    uint32_t offset, module, descriptor;
};

static const struct relocation_kinds relocation_kinds[] = {
    {CN_ELF_X86_64, 18, 16, 36},
    {CN_ELF_AARCH64, 1030, 1028, 1031},
};

struct wanted_variable {
    const char *name;
    struct cn_language_variable *out;
    uint64_t address; /* of the symbol, which may be 0 */
    bool is_found;
};

static void find_variable(void *arg, const char *name, uint64_t address, uint64_t len)
{
    struct wanted_variable *wanted = arg;

    (void)len;
    if (strcmp(name, wanted->name) != 0)
        return;
    wanted->address = address;
    wanted->is_found = true;
}

/* A relocation of a variable that only its library knows names no symbol. Where the variable is in
 * the module, is the number that is added, or is in the file after the slot of the module. */
static bool is_of_local(struct file *file, const struct wanted_variable *wanted,
                        const uint8_t *relocation, bool is_module)
{
    uint8_t word[8];

    if (!is_module)
        memcpy(word, relocation + RELOCATION_ADDEND_OFF, sizeof(word));
    else if (!read_address(file, cn_u64_get(relocation) + 8, word, sizeof(word)))
        return false;
    return cn_u64_get(word) == wanted->address - file->bias;
}

static void find_relocation(struct file *file, const struct cn_elf_section *section,
                            struct cn_bytes sections, uint32_t link, void *arg)
{
    struct wanted_variable *wanted = arg;
    const struct relocation_kinds *kinds = NULL;
    struct cn_elf_section table, strings_section;
    struct cn_elf_named symbol;

    for (size_t i = 0; i < sizeof(relocation_kinds) / sizeof(relocation_kinds[0]); i++)
        if (relocation_kinds[i].machine == file->header.machine)
            kinds = &relocation_kinds[i];
    if (section->type != RELOCATIONS || !kinds || wanted->out->kind != CN_VARIABLE_NONE ||
        !find_linked(file, sections, link, &table) ||
        !find_linked(
            file, sections,
            cn_u32_get(cn_bytes_element(sections, link, file->header.section_len).ptr +
                       SECTION_LINK_OFF),
            &strings_section))
        return;
    struct cn_bytes list =
        read_part(file, section->file_off, section->len, SYMBOLS_LEN_MAX);
    struct cn_bytes symbols = read_part(file, table.file_off, table.len, SYMBOLS_LEN_MAX);
    struct cn_bytes strings =
        read_part(file, strings_section.file_off, strings_section.len, SYMBOLS_LEN_MAX);
    for (size_t i = 0; i < list.len / RELOCATION_LEN; i++) {
        const uint8_t *one = cn_bytes_element(list, i, RELOCATION_LEN).ptr;
        uint64_t at = cn_u64_get(one), info = cn_u64_get(one + 8);
        uint32_t type = (uint32_t)info, number = (uint32_t)(info >> 32);

        if ((type != kinds->offset && type != kinds->module &&
             type != kinds->descriptor) ||
            number >= symbols.len / cn_elf_named_size ||
            !cn_elf_named_decode(cn_bytes_element(symbols, number, cn_elf_named_size),
                                 &symbol))
            continue;
        const char *name = cn_bytes_string(strings, symbol.name_off);
        if (number == 0 ? !is_of_local(file, wanted, one, type == kinds->module)
                        : !name || strcmp(name, wanted->name) != 0)
            continue;
        wanted->out->kind = type == kinds->offset   ? CN_VARIABLE_OFFSET
                            : type == kinds->module ? CN_VARIABLE_MODULE
                                                    : CN_VARIABLE_DESCRIPTOR;
        wanted->out->slot = at + file->bias;
        return;
    }
}

bool cn_language_variable_find(const struct cn_language_mapping *mapping,
                               const char *name, struct cn_language_variable *out)
{
    struct wanted_variable wanted = {.name = name, .out = out};
    struct file file;

    *out = (struct cn_language_variable){0};
    cn_language_symbols_visit(mapping, find_variable, &wanted);
    if (!wanted.is_found)
        return false;
    if (open_file(&file, mapping)) {
        visit_sections(&file, find_relocation, &wanted);
        if (out->kind == CN_VARIABLE_NONE)
            find_fixed(&file, wanted.address, out);
    }
    close_file(&file);
    return out->kind != CN_VARIABLE_NONE;
}

bool cn_language_variable_locate(const struct cn_language_variable *variable,
                                 struct cn_memory *memory, struct cn_frame_table *table)
{
    /* What is between threads and their variables is small. */
    const uint64_t far = UINT64_C(1) << 32;
    uint64_t first = 0, second = 0;

    table->root_kind = CN_FRAME_AT_THREAD;
    table->root_module = 0;
    table->root = variable->off;
    switch (variable->kind) {
    case CN_VARIABLE_NONE:
        return false;
    case CN_VARIABLE_FIXED:
        return true;
    case CN_VARIABLE_OFFSET:
        return cn_memory_u64(memory, variable->slot, &table->root) && table->root != 0;
    case CN_VARIABLE_MODULE:
        break;
    case CN_VARIABLE_DESCRIPTOR:
        /* A function, and what it is given: an offset from the thread pointer, or where a module
         * and an offset in it are. */
        if (!cn_memory_u64(memory, variable->slot, &first) ||
            !cn_memory_u64(memory, variable->slot + 8, &second) || first == 0)
            return false;
        table->root = second;
        if (second + far < 2 * far)
            return true;
        break;
    }
    uint64_t at = variable->kind == CN_VARIABLE_DESCRIPTOR ? second : variable->slot;
    if (!cn_memory_u64(memory, at, &first) || !cn_memory_u64(memory, at + 8, &second) ||
        first == 0 || first > CN_VARIABLE_MODULES_MAX || second > far)
        return false;
    table->root_module = (uint32_t)first;
    table->root = second;
    return true;
}
