#include "server/page/pack.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes/base64.h"
#include "base/bytes/json.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "base/files/sink.h"
#include "base/text.h"

enum { LEVEL = 6 };

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_file(struct cn_pack *pack, const char *path, const char *as,
                     const char *below, uint64_t size)
{
    struct cn_text name = {0};

    cn_text_printf(&name, "%s%s", as, below);
    if (pack->count == pack->capacity) {
        pack->capacity = pack->capacity * 2 + 16;
        pack->list = cn_realloc(pack->list, pack->capacity, sizeof(*pack->list));
    }
    pack->list[pack->count++] = (struct cn_page_file){cn_strdup(path), name.chars, size};
}

bool cn_pack_add(struct cn_pack *pack, const char *path, const char *as,
                 struct cn_error *err)
{
    char *copy = cn_strdup(path); /* fts takes no constant strings */
    char *roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    FTSENT *entry;
    bool ok = tree || cn_fail_errno(err, "%s", path);

    while (ok && (entry = fts_read(tree))) {
        if (entry->fts_info == FTS_F)
            add_file(pack, entry->fts_path, as, entry->fts_path + strlen(path),
                     (uint64_t)entry->fts_statp->st_size);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) {
            errno = entry->fts_errno;
            ok = cn_fail_errno(err, "%s", entry->fts_path);
        }
    }
    if (tree)
        (void)fts_close(tree);
    free(copy);
    return ok;
}

static void free_file(struct cn_page_file *file)
{
    free(file->path);
    free(file->as);
}

bool cn_pack_remove(struct cn_pack *pack, cn_pack_fn is_left_out, const void *arg)
{
    size_t count = 0, before = pack->count;

    for (size_t i = 0; i < pack->count; i++) {
        if (is_left_out(pack->list[i].as, arg))
            free_file(&pack->list[i]);
        else
            pack->list[count++] = pack->list[i];
    }
    pack->count = count;
    return count < before;
}

void cn_pack_list(const struct cn_pack *pack, struct cn_json *json)
{
    cn_json_array(json);
    for (size_t i = 0; i < pack->count; i++) {
        cn_json_object(json);
        cn_json_add_str(json, "path", pack->list[i].as);
        cn_json_add_u64(json, "size", pack->list[i].size);
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* A block that is being filled. */
struct block {
    uint8_t *bytes, *compressed;
    size_t len;
    struct cn_compressor *compressor;
    struct cn_text text;
    struct cn_sink *out; /* NULL: only counted */
    uint64_t written;
};

static bool write_block(struct block *block, struct cn_error *err)
{
    size_t len;

    if (!cn_compress(block->compressor, (struct cn_bytes){block->bytes, block->len},
                     block->compressed, &len, err))
        return false;
    block->len = 0;
    cn_text_str_add(&block->text, "<script type=\"text/plain\" class=\"cairn-data\">");
    cn_base64_add(&block->text, (struct cn_bytes){block->compressed, len});
    cn_text_str_add(&block->text, "</script>\n");
    block->written += block->text.len;
    if (!block->out) {
        cn_text_clear(&block->text);
        return true;
    }
    return cn_sink_text(block->out, &block->text, err);
}

static bool write_file(struct block *block, const struct cn_page_file *from,
                       struct cn_error *err)
{
    struct cn_file file = {0};
    bool ok = cn_file_open(&file, from->path, err);

    if (ok && file.bytes.len < from->size)
        ok = cn_fail(err, CN_ERR_IO, "%s: has become shorter", from->path);
    for (size_t at = 0; ok && at < from->size;) {
        size_t room = CN_PACK_BLOCK_LEN - block->len, left = (size_t)from->size - at;
        size_t len = left < room ? left : room;

        memcpy(block->bytes + block->len, file.bytes.ptr + at, len);
        block->len += len;
        at += len;
        ok = block->len < CN_PACK_BLOCK_LEN || write_block(block, err);
    }
    cn_file_close(&file);
    return ok;
}

static bool write_blocks(const struct cn_pack *pack, struct cn_sink *out,
                         uint64_t *written, struct cn_error *err)
{
    struct block block = {
        .bytes = cn_alloc(CN_PACK_BLOCK_LEN, 1),
        .compressor = cn_compressor_new(CN_COMPRESSION_DEFLATE, LEVEL),
        .out = out,
    };
    bool ok = true;

    block.compressed =
        cn_alloc(cn_compressor_bound(block.compressor, CN_PACK_BLOCK_LEN), 1);
    for (size_t i = 0; ok && i < pack->count; i++)
        ok = write_file(&block, &pack->list[i], err);
    if (ok && block.len > 0)
        ok = write_block(&block, err);
    *written = block.written;
    cn_text_done(&block.text);
    cn_compressor_free(block.compressor);
    free(block.compressed);
    free(block.bytes);
    return ok;
}

bool cn_pack_size(const struct cn_pack *pack, uint64_t *out, struct cn_error *err)
{
    return write_blocks(pack, NULL, out, err);
}

bool cn_pack_write(const struct cn_pack *pack, struct cn_sink *out, struct cn_error *err)
{
    uint64_t written;

    return write_blocks(pack, out, &written, err);
}

void cn_pack_done(struct cn_pack *pack)
{
    for (size_t i = 0; i < pack->count; i++)
        free_file(&pack->list[i]);
    free(pack->list);
    *pack = (struct cn_pack){0};
}
