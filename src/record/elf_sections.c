#include "record/elf_sections.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NAME_LEN = 64 };

static bool read_at(int fd, uint64_t off, void *out, size_t len)
{
    return off <= INT64_MAX && pread(fd, out, len, (off_t)off) == (ssize_t)len;
}

static bool has_name(int fd, uint64_t names_off, uint32_t at, const char *name)
{
    char found[NAME_LEN] = "";
    size_t len = strlen(name) + 1;

    return len <= sizeof(found) && read_at(fd, names_off + at, found, len) &&
           memcmp(found, name, len) == 0;
}

static bool find(int fd, const char *name, struct cn_rec_section *out)
{
    Elf64_Ehdr head;
    Elf64_Shdr section, names;

    if (!read_at(fd, 0, &head, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof(section) ||
        !read_at(fd, head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names), &names,
                 sizeof(names)))
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        if (!read_at(fd, head.e_shoff + i * sizeof(section), &section, sizeof(section)))
            return false;
        if (has_name(fd, names.sh_offset, section.sh_name, name)) {
            *out = (struct cn_rec_section){section.sh_addr, section.sh_offset,
                                           section.sh_size, section.sh_link};
            return true;
        }
    }
    return false;
}

bool cn_rec_section_find(const char *path, const char *name, struct cn_rec_section *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && find(fd, name, out);

    if (fd >= 0)
        (void)close(fd);
    return found;
}
