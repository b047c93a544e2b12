#include "formats/hpctoolkit/dump.h"

#include <inttypes.h>

#include "base/bytes/record.h"
#include "base/files/file.h"
#include "base/path.h"
#include "formats/hpctoolkit/maps.h"

/* Nothing but strings and a few shared structures is referred to more than once, so a dump
 * is about as long as its file. */
enum { REPEAT_MAX = 4 };

bool cn_hpc_dump_item(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                      uint64_t off, uint64_t index, const char *text,
                      struct cn_error *err)
{
    struct cn_dump_item item = {
        .file = dump->file, .layout = layout, .off = off, .index = index, .text = text};

    if (!cn_bytes_slice(dump->bytes, off, layout->size, &item.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s of %zu bytes at 0x%" PRIx64 " does not fit the file of %zu",
                       layout->name, layout->size, off, dump->bytes.len);
    dump->emitted_len += layout->size;
    if (dump->emitted_len / REPEAT_MAX > dump->bytes.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 ": structures overlap: %" PRIu64
                       " bytes of them in a file of %zu",
                       layout->name, off, dump->emitted_len, dump->bytes.len);
    dump->is_stopped = !dump->emit(dump->arg, &item);
    return !dump->is_stopped;
}

bool cn_hpc_dump_records(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                         uint64_t off, uint64_t count, struct cn_error *err)
{
    struct cn_bytes array;

    if (count == 0)
        return true;
    if (!cn_bytes_array(dump->bytes, off, count, layout->size, &array))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " records %s at 0x%" PRIx64
                       " do not fit the file of %zu",
                       count, layout->name, off, dump->bytes.len);
    for (uint64_t i = 0; i < count; i++)
        if (!cn_hpc_dump_item(dump, layout, off + i * layout->size, i, NULL, err))
            return false;
    return true;
}

bool cn_hpc_dump_part(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                      struct cn_bytes part, struct cn_error *err)
{
    return part.len == 0 ||
           cn_hpc_dump_records(dump, layout, (uint64_t)(part.ptr - dump->bytes.ptr),
                               part.len / layout->size, err);
}

bool cn_hpc_dump_bytes(const char *name, cn_hpc_dump_fn contents, struct cn_bytes file,
                       cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg, .file = name, .bytes = file};

    return contents(&dump, err) || dump.is_stopped;
}

bool cn_hpc_dump_file(struct cn_hpc_dump *dump, const char *dir, const char *name,
                      bool is_optional, cn_hpc_dump_fn contents, struct cn_error *err)
{
    struct cn_file file = {0};

    if (dump->is_stopped)
        return true;
    if (!cn_file_open_at(&file, dir, name, err))
        return is_optional && err->kind == CN_ERR_NOT_FOUND;
    dump->file = name;
    dump->bytes = file.bytes;
    dump->emitted_len = 0;
    bool ok =
        contents(dump, err) || dump->is_stopped || cn_fail_in(err, "%s/%s", dir, name);
    cn_file_close(&file);
    return ok;
}

static bool dump_directory(const char *dir, const struct cn_hpc_dump_kind *kinds,
                           size_t count, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg};

    for (size_t i = 0; i < count; i++)
        if (!cn_hpc_dump_file(&dump, dir, kinds[i].name, kinds[i].is_optional,
                              kinds[i].contents, err))
            return false;
    return true;
}

bool cn_hpc_dump_path(const char *path, const struct cn_hpc_dump_kind *kinds,
                      size_t count, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_file file = {0};
    size_t i = 0;

    if (!cn_path_is_file(path))
        return dump_directory(path, kinds, count, emit, arg, err);
    if (!cn_file_open(&file, path, err))
        return false;
    while (i < count && !kinds[i].is(file.bytes))
        i++;
    bool ok =
        (i < count ? cn_hpc_dump_bytes(kinds[i].name, kinds[i].contents, file.bytes, emit,
                                       arg, err)
                   : cn_fail(err, CN_ERR_FORMAT, "not a file of such a database")) ||
        cn_fail_in(err, "%s", path);
    cn_file_close(&file);
    return ok;
}
