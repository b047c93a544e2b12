#include "formats/hpctoolkit/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/files/out.h"
#include "base/text.h"
#include "model/contexts/database.h"

/* Paths and names may have any encoding. */
static uint64_t add_escaped(struct cn_hpc_strings *strings, const char *text)
{
    struct cn_text plain = {0};

    cn_utf8_add_printable(&plain, text);
    uint64_t off = cn_hpc_strings_add(strings, cn_text_str(&plain));
    cn_text_done(&plain);
    return off;
}

uint64_t cn_hpc_strings_add(struct cn_hpc_strings *strings, const char *text)
{
    size_t known = strings->names.count;

    if (!strings->takes_any_bytes && !cn_utf8_is_valid(text, strlen(text)))
        return add_escaped(strings, text);
    uint32_t i = cn_names_add(&strings->names, text);
    if (i == known) {
        CN_GROW(strings->offs, known, strings->capacity);
        strings->offs[i] = strings->end_off;
        strings->end_off += strlen(text) + 1;
    }
    return strings->offs[i];
}

bool cn_hpc_strings_add_tables(struct cn_hpc_strings *strings, struct cn_database *db,
                               cn_hpc_path_fn path_of, const void *arg,
                               struct cn_error *err)
{
    struct cn_module module;
    struct cn_source_file file;
    struct cn_function function;

    for (uint32_t i = 0; i < db->module_count; i++) {
        if (!cn_database_module(db, i, &module, err))
            return false;
        (void)cn_hpc_strings_add(strings, module.path);
    }
    for (uint32_t i = 0; i < db->file_count; i++) {
        if (!cn_database_file(db, i, &file, err))
            return false;
        (void)cn_hpc_strings_add(strings, path_of(arg, &file));
    }
    for (uint32_t i = 0; i < db->function_count; i++) {
        if (!cn_database_function(db, i, &function, err))
            return false;
        (void)cn_hpc_strings_add(strings, function.name);
    }
    return true;
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
