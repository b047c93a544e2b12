#include "formats/hpctoolkit/meas/code/logical.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/format.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"
#include "symbols/demangle.h"

enum { MANGLED_CPP = 1 };

struct logical_record {
    uint32_t id, line;
    uint8_t mangling;
    struct cn_bytes function, file;
};

static enum cn_step next_record(struct cn_bytes *rest, struct logical_record *out,
                                struct cn_error *err)
{
    struct cn_bytes id, mangling, line;

    if (rest->len == 0)
        return CN_END;
    if (!cn_bytes_take(rest, sizeof(uint32_t), &id) ||
        !cn_hpc_take_string(rest, &out->function) ||
        !cn_bytes_take(rest, sizeof(uint8_t), &mangling) ||
        !cn_hpc_take_string(rest, &out->file) ||
        !cn_bytes_take(rest, sizeof(uint32_t), &line))
        return cn_fail(err, CN_ERR_FORMAT, "ends inside a frame");
    out->id = cn_u32_be_get(id.ptr);
    out->mangling = mangling.ptr[0];
    out->line = cn_u32_be_get(line.ptr);
    return CN_ITEM;
}

static void add_frame(struct cn_hpc_logical *logical, const struct logical_record *record,
                      uint32_t module, struct cn_hpc_tables *tables)
{
    struct cn_hpc_logical_frame frame = {CN_NONE, CN_NONE};
    struct cn_text text = {0};

    if (record->file.len > 0) {
        cn_text_add(&text, (const char *)record->file.ptr, record->file.len);
        frame.file = cn_hpc_tables_file(tables, cn_text_str(&text));
        cn_text_clear(&text);
    }
    if (record->function.len > 0) {
        struct cn_text name = {0};

        cn_text_add(&text, (const char *)record->function.ptr, record->function.len);
        if (record->mangling != MANGLED_CPP ||
            !cn_demangle(cn_text_str(&text), CN_DEMANGLE_FULL, &name))
            cn_text_str_add(&name, cn_text_str(&text));
        frame.function = cn_hpc_tables_function(
            tables, (struct cn_function){.name = cn_text_str(&name),
                                         .module = module,
                                         .file = frame.file,
                                         .line = record->line});
        cn_text_done(&name);
    }
    cn_text_done(&text);
    *cn_map_at(&logical->slots, record->id, 0) = (uint32_t)logical->count;
    CN_PUSH(logical->frames, logical->count, logical->capacity, frame);
}

bool cn_hpc_logical_read(struct cn_hpc_logical *logical, struct cn_bytes file,
                         uint32_t module, struct cn_hpc_tables *tables,
                         struct cn_error *err)
{
    struct cn_bytes rest;
    struct logical_record record;
    enum cn_step step;

    if (!cn_bytes_from(file, CN_HPC_LOGICAL_MAGIC_LEN, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "not a file of logical frames");
    while ((step = next_record(&rest, &record, err)) == CN_ITEM)
        add_frame(logical, &record, module, tables);
    return step == CN_END;
}

size_t cn_hpc_logical_scopes(const struct cn_hpc_logical *logical, uint64_t address,
                             struct cn_code_scope out[2])
{
    uint32_t id = (uint32_t)(address >> 32), line = (uint32_t)address;
    uint32_t slot = id ? cn_map_find(&logical->slots, id, CN_NONE) : CN_NONE;
    struct cn_hpc_logical_frame frame = {CN_NONE, CN_NONE};

    if (slot != CN_NONE)
        frame = logical->frames[slot];
    out[0] = out[1] = (struct cn_code_scope){.kind = CN_CONTEXT_FUNCTION,
                                             .relation = CN_CALL,
                                             .function = frame.function,
                                             .file = CN_NONE,
                                             .module = CN_NONE};
    if (frame.file == CN_NONE || (frame.function != CN_NONE && line == 0))
        return 1;
    out[1].kind = CN_CONTEXT_LINE;
    out[1].function = CN_NONE;
    out[1].file = frame.file;
    out[1].line = line;
    if (frame.function == CN_NONE) {
        out[0] = out[1];
        return 1;
    }
    out[1].relation = CN_LEXICAL;
    return 2;
}

void cn_hpc_logical_done(struct cn_hpc_logical *logical)
{
    cn_map_done(&logical->slots);
    free(logical->frames);
    *logical = (struct cn_hpc_logical){0};
}
