#include "record/elf_sections.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that the loader has accepted; its sections may be anything still. */
struct image {
    const uint8_t *bytes;
    uint64_t len;
};

static bool read_at(const struct image *image, uint64_t off, void *out, uint64_t len)
{
    if (off > image->len || len > image->len - off)
        return false;
    memcpy(out, image->bytes + off, len);
    return true;
}

static bool has_name(const struct image *image, uint64_t names_off, uint32_t at,
                     const char *name)
{
    size_t len = strlen(name) + 1;
    uint64_t off = names_off + at;

    return off >= names_off && off <= image->len && len <= image->len - off &&
           memcmp(image->bytes + off, name, len) == 0;
}

static bool find(const struct image *image, const char *name, struct cn_rec_section *out)
{
    Elf64_Ehdr head;
    Elf64_Shdr section, names;

    if (!read_at(image, 0, &head, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof(section) ||
        !read_at(image, head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names), &names,
                 sizeof(names)))
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        if (!read_at(image, head.e_shoff + i * sizeof(section), &section,
                     sizeof(section)))
            return false;
        if (has_name(image, names.sh_offset, section.sh_name, name)) {
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
    struct stat status;
    struct image image = {0};
    void *at = MAP_FAILED;
    bool found;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (at == MAP_FAILED)
        return false;
    image = (struct image){at, (uint64_t)status.st_size};
    found = find(&image, name, out);
    (void)munmap(at, (size_t)status.st_size);
    return found;
}
