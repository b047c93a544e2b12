#include "formats/hpctoolkit/v4/write/writing.h"

#include <string.h>

#include "base/run/ranks.h"

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
        cn_hpc_section_encode(&sections[i], head + header_len(i));
    return cn_out_write_at(out, 0, head, header_len(section_count), err) &&
           cn_out_write(out, footer, CN_HPC_FOOTER_LEN, err) && cn_out_close(out, err);
}
