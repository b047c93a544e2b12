#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/files/unpack.h"
#include "base/path.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"

/* What is looked at of a file, to find its format. */
enum { LOOK_LEN = 16 * 1024 };

bool cn_import_database(struct cn_database **out, const char *path,
                        const char *description, cn_import_fn read, struct cn_error *err)
{
    return cn_import_samples(out, path, description, read, NULL, err);
}

bool cn_import_samples(struct cn_database **out, const char *path,
                       const char *description, cn_import_fn read,
                       const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_unpacked file = {0};
    struct cn_error damage;
    struct cn_import *import;
    bool ok;

    if (!cn_unpacked_open_beginning(&file, path, &damage, err))
        return false;
    import = cn_import_new(cn_path_name(path), description);
    cn_import_set_progress(import, progress);
    ok = read(import, file.bytes, err);
    if (damage.kind != CN_ERR_NONE) {
        cn_import_warn(import, true, "%s; read up to there", damage.text);
        cn_import_copied_as(import, NULL);
        if (!ok)
            *err = damage;
    }
    if (ok)
        ok = cn_import_finish(import, out, err);
    else
        cn_import_free(import);
    cn_unpacked_close(&file);
    if (!ok)
        return cn_fail_in(err, "%s", path);
    (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    return true;
}

bool cn_import_probe(const char *path, cn_import_look_fn looks_right)
{
    /* A compressed file grows by at most this, and no block of it is longer. */
    enum { STORED_LEN = LOOK_LEN + (256 << 10) };
    struct cn_file file = {0};
    struct cn_content content;
    struct cn_error ignored;
    struct cn_bytes stored;
    uint8_t *beginning;
    size_t len = 0;
    bool ok;

    if (!cn_file_open_content(&file, path, &ignored))
        return false;
    beginning = cn_alloc(1, LOOK_LEN);
    content = cn_file_content(&file);
    if (cn_content_slice(content, 0, content.len < STORED_LEN ? content.len : STORED_LEN,
                         &stored))
        len = cn_unpack_beginning(stored, beginning, LOOK_LEN);
    ok = len > 0 && looks_right((struct cn_bytes){beginning, len}, len < LOOK_LEN);
    free(beginning);
    cn_file_close(&file);
    return ok;
}
