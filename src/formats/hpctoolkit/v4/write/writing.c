#include "formats/hpctoolkit/v4/write/writing.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/run/ranks.h"
#include "base/text.h"

static size_t header_len(size_t section_count)
{
    return cn_hpc_file_header_size + section_count * cn_hpc_section_size;
}

bool cn_hpc_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                       const char *name, size_t section_count, struct cn_error *err)
{
    uint64_t off;

    return cn_out_open_at(out, w->dir, name, err) &&
           cn_out_reserve(out, header_len(section_count), &off, err);
}

bool cn_hpc_shared_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                              const char *name, size_t section_count,
                              struct cn_error *err)
{
    bool is_first = cn_ranks_is_first(w->ranks);
    bool is_made = !is_first || cn_hpc_file_begin(out, w, name, section_count, err);
    uint64_t off;

    return cn_ranks_agree(w->ranks, is_made, err) &&
           cn_ranks_agree(w->ranks,
                          is_first ||
                              (cn_out_join_at(out, w->dir, name, err) &&
                               cn_out_reserve(out, header_len(section_count), &off, err)),
                          err);
}

bool cn_hpc_file_end(struct cn_out *out, const char *format, const char *footer,
                     const struct cn_hpc_section *sections, size_t section_count,
                     struct cn_error *err)
{
    static const struct cn_hpc_file_header version = {CN_HPC_MAJOR, CN_HPC_MINOR};
    uint8_t head[cn_hpc_file_header_size + CN_HPC_SECTION_MAX * cn_hpc_section_size];

    cn_hpc_file_header_encode(&version, head);
    memcpy(head, CN_HPC_MAGIC, CN_HPC_MAGIC_LEN);
    memcpy(head + CN_HPC_MAGIC_LEN, format, CN_HPC_FORMAT_LEN);
    for (size_t i = 0; i < section_count; i++)
        cn_hpc_section_encode(&sections[i], head + header_len(i));
    return cn_out_write_at(out, 0, head, header_len(section_count), err) &&
           cn_out_write(out, footer, CN_HPC_FOOTER_LEN, err) && cn_out_close(out, err);
}

/* Paths and names come from files that may have been written in any encoding. */
static uint64_t add_as_utf8(struct cn_hpc_strings *strings, const char *text)
{
    struct cn_text plain = {0};
    uint64_t off;

    cn_utf8_add_printable(&plain, text);
    off = cn_hpc_strings_add(strings, cn_text_str(&plain));
    cn_text_done(&plain);
    return off;
}

uint64_t cn_hpc_strings_add(struct cn_hpc_strings *strings, const char *text)
{
    size_t known = strings->names.count;
    uint32_t i;

    if (!cn_utf8_is_valid(text, strlen(text)))
        return add_as_utf8(strings, text);
    i = cn_names_add(&strings->names, text);
    if (i == known) {
        strings->offs =
            cn_grow(strings->offs, known, &strings->capacity, sizeof(*strings->offs));
        strings->offs[i] = strings->end_off;
        strings->end_off += strlen(text) + 1;
    }
    return strings->offs[i];
}

bool cn_hpc_strings_write(const struct cn_hpc_strings *strings, struct cn_out *out,
                          struct cn_error *err)
{
    for (size_t i = 0; i < strings->names.count; i++) {
        const char *text = strings->names.list[i];

        if (!cn_out_write(out, text, strlen(text) + 1, err))
            return false;
    }
    return true;
}

void cn_hpc_strings_done(struct cn_hpc_strings *strings)
{
    cn_names_done(&strings->names);
    free(strings->offs);
    *strings = (struct cn_hpc_strings){0};
}
