#include "formats/hpctoolkit/v4/write/writing.h"

#include <string.h>

bool cn_hpc_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                       const char *name, size_t section_count, struct cn_error *err)
{
    uint64_t off;

    return (w->is_first ? cn_out_open_at(out, w->dir, name, err)
                        : cn_out_join_at(out, w->dir, name, err)) &&
           cn_out_reserve(out, cn_hpc_header_len(section_count), &off, err);
}

static bool no_sync(void *arg, int fd, struct cn_error *err)
{
    (void)arg;
    (void)fd;
    (void)err;
    return true;
}

static bool no_sync_dir(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    (void)path;
    (void)err;
    return true;
}

struct cn_disk cn_hpc_unsynced_disk(void)
{
    struct cn_disk disk = cn_disk_files;

    disk.sync = no_sync;
    disk.sync_dir = no_sync_dir;
    return disk;
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
        cn_hpc_section_encode(&sections[i], head + cn_hpc_header_len(i));
    return cn_out_write_at(out, 0, head, cn_hpc_header_len(section_count), err) &&
           cn_out_write(out, footer, CN_HPC_FOOTER_LEN, err) && cn_out_close(out, err);
}
