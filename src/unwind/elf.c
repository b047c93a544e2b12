#include "unwind/elf.h"

#include "base/bytes/digits.h"
#include "base/bytes/varint.h"

enum { NOTES_MAX = 16 }; /* segments */

bool cn_unwind_uleb_take(struct cn_bytes *rest, uint64_t *out)
{
    return cn_varint_take(rest, out);
}

bool cn_unwind_sleb_take(struct cn_bytes *rest, int64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        struct cn_bytes byte;

        if (!cn_bytes_take(rest, 1, &byte))
            return false;
        value |= (uint64_t)(byte.ptr[0] & 0x7f) << shift;
        if (byte.ptr[0] & 0x80)
            continue;
        if (shift + 7 < 64 && byte.ptr[0] & 0x40)
            value |= UINT64_MAX << (shift + 7);
        *out = (int64_t)value;
        return true;
    }
    return false;
}

bool cn_unwind_int_take(struct cn_bytes *rest, unsigned len, bool is_signed,
                        uint64_t *out)
{
    struct cn_bytes bytes;
    uint64_t value = 0;

    if (!cn_bytes_take(rest, len, &bytes))
        return false;
    for (unsigned i = 0; i < len; i++)
        value |= (uint64_t)bytes.ptr[i] << (8 * i);
    if (is_signed && len < 8 && value >> (8 * len - 1) & 1)
        value |= UINT64_MAX << (8 * len);
    *out = value;
    return true;
}

bool cn_unwind_pointer_take(struct cn_bytes *rest, uint8_t encoding, uint64_t at,
                            uint64_t base, uint64_t *out)
{
    uint64_t value;
    int64_t number;

    switch (encoding & CN_EH_FORM) {
    case CN_EH_ULEB:
        if (!cn_unwind_uleb_take(rest, &value))
            return false;
        break;
    case CN_EH_SLEB:
        if (!cn_unwind_sleb_take(rest, &number))
            return false;
        value = (uint64_t)number;
        break;
    case CN_EH_ABSOLUTE:
    case CN_EH_U8:
    case CN_EH_S8:
        if (!cn_unwind_int_take(rest, 8, false, &value))
            return false;
        break;
    case CN_EH_U4:
    case CN_EH_S4:
        if (!cn_unwind_int_take(rest, 4, (encoding & CN_EH_FORM) == CN_EH_S4, &value))
            return false;
        break;
    case CN_EH_U2:
    case CN_EH_S2:
        if (!cn_unwind_int_take(rest, 2, (encoding & CN_EH_FORM) == CN_EH_S2, &value))
            return false;
        break;
    default:
        return false;
    }
    if ((encoding & CN_EH_RELATION) == CN_EH_PC_RELATIVE)
        value += at;
    else if ((encoding & CN_EH_RELATION) == CN_EH_DATA_RELATIVE)
        value += base;
    else if ((encoding & CN_EH_RELATION) != 0)
        return false;
    *out = value;
    return true;
}

static void read_notes(struct cn_unwind_elf *elf, struct cn_bytes notes)
{
    struct cn_elf_note note;

    while (cn_elf_note_decode(notes, &note)) {
        uint64_t name_len = cn_align_up(note.name_len, 4);
        struct cn_bytes name, data;

        if (!cn_bytes_slice(notes, cn_elf_note_size, note.name_len, &name) ||
            !cn_bytes_slice(notes, cn_elf_note_size + name_len, note.data_len, &data))
            return;
        if (note.type == CN_ELF_NOTE_BUILD_ID && note.name_len == 4 &&
            memcmp(name.ptr, "GNU", 4) == 0 && data.len <= CN_UNWIND_BUILD_ID_MAX) {
            cn_hex_put(elf->build_id, data.ptr, data.len);
            return;
        }
        if (!cn_bytes_from(notes,
                           cn_elf_note_size + name_len + cn_align_up(note.data_len, 4),
                           &notes))
            return;
    }
}

/* Where .eh_frame is, for files without sections: its header points to it, and it extends to
 * the end of its segment at most. */
static void read_hdr(struct cn_unwind_elf *elf, struct cn_bytes file,
                     const struct cn_elf_segment *hdr, struct cn_bytes segments,
                     size_t segment_len)
{
    struct cn_bytes bytes, rest;
    struct cn_elf_segment segment;
    uint64_t address;

    if (!cn_bytes_slice(file, hdr->file_off, hdr->file_len, &bytes) || bytes.len < 4 ||
        !cn_bytes_from(bytes, 4, &rest) || bytes.ptr[1] == CN_EH_OMITTED ||
        !cn_unwind_pointer_take(&rest, bytes.ptr[1], hdr->address + 4, hdr->address,
                                &address))
        return;
    for (size_t at = 0; segments.len - at >= segment_len; at += segment_len) {
        struct cn_bytes one = cn_bytes_element(segments, at / segment_len, segment_len);

        if (!cn_elf_segment_decode(one, &segment) || segment.type != CN_ELF_LOAD ||
            address < segment.address || address - segment.address >= segment.file_len)
            continue;
        uint64_t off = address - segment.address;
        if (cn_bytes_slice(file, segment.file_off, segment.file_len, &bytes) &&
            cn_bytes_from(bytes, off, &elf->eh_frame.bytes))
            elf->eh_frame.address = address;
        return;
    }
}

static void read_segments(struct cn_unwind_elf *elf, struct cn_bytes file,
                          const struct cn_elf_header *header)
{
    struct cn_bytes segments, notes;
    struct cn_elf_segment segment;
    bool has_hdr = false;
    unsigned notes_count = 0;

    if (header->segment_len < cn_elf_segment_size ||
        !cn_bytes_array(file, header->segments_off, header->segment_count,
                        header->segment_len, &segments))
        return;
    for (uint16_t i = 0; i < header->segment_count; i++) {
        if (!cn_elf_segment_decode(cn_bytes_element(segments, i, header->segment_len),
                                   &segment))
            return;
        if (segment.type == CN_ELF_LOAD && segment.flags & CN_ELF_EXECUTABLE &&
            elf->segment_count < CN_UNWIND_SEGMENT_MAX)
            elf->segments[elf->segment_count++] = (struct cn_unwind_segment){
                segment.address, segment.file_off, segment.file_len};
        else if (segment.type == CN_ELF_NOTES && !elf->build_id[0] &&
                 notes_count++ < NOTES_MAX &&
                 cn_bytes_slice(file, segment.file_off, segment.file_len, &notes))
            read_notes(elf, notes);
        else if (segment.type == CN_ELF_EH_FRAME_HDR && !has_hdr) {
            has_hdr = true;
            read_hdr(elf, file, &segment, segments, header->segment_len);
        }
    }
}

static void visit_sections(struct cn_bytes file, const struct cn_elf_header *header,
                           cn_unwind_visit_section visit, void *arg)
{
    struct cn_bytes sections, names = {0}, bytes;
    struct cn_elf_section section;

    if (header->section_len < cn_elf_section_size ||
        header->names_section >= header->section_count ||
        !cn_bytes_array(file, header->sections_off, header->section_count,
                        header->section_len, &sections) ||
        !cn_elf_section_decode(
            cn_bytes_element(sections, header->names_section, header->section_len),
            &section) ||
        !cn_bytes_slice(file, section.file_off, section.len, &names))
        return;
    for (uint16_t i = 0; i < header->section_count; i++) {
        struct cn_bytes one = cn_bytes_element(sections, i, header->section_len);
        const char *name;

        if (!cn_elf_section_decode(one, &section) || section.type == CN_ELF_NO_BITS ||
            section.flags & CN_ELF_COMPRESSED ||
            !cn_bytes_slice(file, section.file_off, section.len, &bytes) ||
            !(name = cn_bytes_string(names, section.name_off)))
            continue;
        if (!visit(arg, &(struct cn_unwind_named_section){
                            .name = name,
                            .part = {bytes, section.address},
                            .is_writable = section.flags & CN_ELF_WRITABLE,
                        }))
            return;
    }
}

void cn_unwind_elf_sections(struct cn_bytes file, cn_unwind_visit_section visit,
                            void *arg)
{
    struct cn_elf_header header;

    if (cn_elf_header_decode(file, &header) && header.magic == CN_ELF_MAGIC &&
        header.width == 2 && header.order == 1)
        visit_sections(file, &header, visit, arg);
}

static bool take_section(void *arg, const struct cn_unwind_named_section *section)
{
    struct cn_unwind_elf *elf = arg;

    if (strcmp(section->name, ".eh_frame") == 0)
        elf->eh_frame = section->part;
    else if (strcmp(section->name, ".debug_frame") == 0)
        elf->debug_frame = (struct cn_unwind_part){section->part.bytes, 0};
    return true;
}

bool cn_unwind_elf_open(struct cn_unwind_elf *elf, struct cn_bytes file)
{
    struct cn_elf_header header;

    *elf = (struct cn_unwind_elf){0};
    if (!cn_elf_header_decode(file, &header) || header.magic != CN_ELF_MAGIC ||
        header.width != 2 || header.order != 1)
        return false;
    elf->machine = header.machine == CN_ELF_X86_64    ? CN_UNWIND_X86_64
                   : header.machine == CN_ELF_AARCH64 ? CN_UNWIND_AARCH64
                                                      : CN_UNWIND_NO_MACHINE;
    elf->entry = header.entry;
    read_segments(elf, file, &header);
    visit_sections(file, &header, take_section, elf);
    elf->file = file;
    return elf->machine != CN_UNWIND_NO_MACHINE;
}
