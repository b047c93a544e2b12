#include "symbols/program/vdso.h"

#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

bool cn_vdso_open(struct cn_vdso *vdso)
{
    /* The kernel maps the whole image; its section headers are at the end. */
    const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);

    if (!image)
        return false;
    size_t len = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    if (write(fd, image, len) != (ssize_t)len) {
        (void)close(fd);
        return false;
    }
    *vdso = (struct cn_vdso){.is_open = true, .fd = fd};
    (void)snprintf(vdso->path, sizeof(vdso->path), "/proc/self/fd/%d", fd);
    return true;
}

void cn_vdso_close(struct cn_vdso *vdso)
{
    if (vdso->is_open)
        (void)close(vdso->fd);
    *vdso = (struct cn_vdso){0};
}
