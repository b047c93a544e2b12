#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "sampler/languages/languages.h"
#include "unwind/format.h"

enum {
    SECTIONS_LEN_MAX = 1 << 20,
    SYMBOLS_LEN_MAX = 64 << 20,
    SECTION_LINK_OFF = 0x28,
    SYMBOL_TABLE = 2,
    DYNAMIC_SYMBOL_TABLE = 11,
};

/* A file while its symbols are searched. */
struct file {
    int fd;
    struct cn_elf_header header;
    struct cn_arena arena;
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

static void visit_file(struct file *file)
{
    const struct cn_elf_header *header = &file->header;
    uint64_t len = (uint64_t)header->section_count * header->section_len;
    struct cn_bytes sections =
        read_part(file, header->sections_off, len, SECTIONS_LEN_MAX);
    struct cn_elf_section section, linked;

    for (size_t i = 0; header->section_len >= cn_elf_section_size &&
                       i < sections.len / header->section_len;
         i++) {
        struct cn_bytes one = cn_bytes_element(sections, i, header->section_len);

        if (!cn_elf_section_decode(one, &section) ||
            (section.type != SYMBOL_TABLE && section.type != DYNAMIC_SYMBOL_TABLE))
            continue;
        uint32_t link = cn_u32_get(one.ptr + SECTION_LINK_OFF);
        if (link >= header->section_count ||
            !cn_elf_section_decode(cn_bytes_element(sections, link, header->section_len),
                                   &linked))
            continue;
        struct cn_bytes symbols =
            read_part(file, section.file_off, section.len, SYMBOLS_LEN_MAX);
        struct cn_bytes strings =
            read_part(file, linked.file_off, linked.len, SYMBOLS_LEN_MAX);
        visit_table(file, symbols, strings);
    }
}

/* From addresses of the file to those of the mapping. */
static bool find_bias(struct file *file, const struct cn_language_mapping *mapping,
                      uint64_t *out)
{
    const struct cn_elf_header *header = &file->header;
    uint64_t len = (uint64_t)header->segment_count * header->segment_len;
    struct cn_bytes segments =
        read_part(file, header->segments_off, len, SECTIONS_LEN_MAX);
    struct cn_elf_segment segment;
    bool is_found = false;

    for (size_t i = 0; !is_found && header->segment_len >= cn_elf_segment_size &&
                       i < segments.len / header->segment_len;
         i++) {
        is_found = cn_elf_segment_decode(
                       cn_bytes_element(segments, i, header->segment_len), &segment) &&
                   segment.type == CN_ELF_LOAD && segment.flags & CN_ELF_EXECUTABLE &&
                   mapping->file_off < segment.file_off + segment.file_len &&
                   mapping->file_off + (mapping->end - mapping->begin) > segment.file_off;
        *out = mapping->begin - mapping->file_off + segment.file_off - segment.address;
    }
    return is_found;
}

void cn_language_symbols_visit(const struct cn_language_mapping *mapping,
                               cn_language_symbol_visit visit, void *arg)
{
    uint8_t bytes[cn_elf_header_size];
    struct file file = {.fd = open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                        .visit = visit,
                        .arg = arg};

    if (file.fd < 0)
        return;
    if (pread(file.fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
        cn_elf_header_decode((struct cn_bytes){bytes, sizeof(bytes)}, &file.header) &&
        file.header.magic == CN_ELF_MAGIC && file.header.width == 2 &&
        file.header.order == 1 && find_bias(&file, mapping, &file.bias))
        visit_file(&file);
    (void)close(file.fd);
    cn_arena_done(&file.arena);
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
