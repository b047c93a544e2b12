#include "formats/hpctoolkit/meta/shapes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/findings.h"
#include "formats/hpctoolkit/meta/meta.h"

enum { STRIDE_MAX = 127, ALIGN = 8 }; /* hpcviewer: sizes of records are signed */

uint64_t cn_hpc_item_get(const struct cn_hpc_item *item, const char *field)
{
    const struct cn_field *found = cn_record_field(item->layout, field);

    assert(found);
    return cn_field_get(item->layout, found, item->bytes.ptr);
}

bool cn_hpc_walk_report(struct cn_hpc_walk *walk, enum cn_hpc_problem problem,
                        const char *rule, uint64_t off, const char *fmt, ...)
{
    char text[CN_ERROR_LEN];
    va_list args;

    if (!walk->f &&
        (problem < CN_HPC_DANGLING || (problem == CN_HPC_DANGLING && walk->is_lenient)))
        return true;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (walk->f) {
        cn_findings_add(walk->f, problem != CN_HPC_WARNING, rule, off, "%s", text);
        return true;
    }
    (void)cn_fail(walk->err, CN_ERR_FORMAT, "%s", text);
    for (size_t i = walk->depth; i > 0; i--) {
        const struct cn_hpc_place *place = &walk->places[i - 1];

        (void)cn_fail_in(walk->err, "%s %" PRIu64 " at 0x%" PRIx64, place->name,
                         place->index, place->off);
    }
    return false;
}

static const struct cn_hpc_shape *shape_of(const struct cn_hpc_walk *w, unsigned id)
{
    return w->meta->encoding->shapes[id];
}

static bool find_text(struct cn_hpc_walk *w, const struct cn_hpc_part *part,
                      struct cn_hpc_span *rest, struct cn_hpc_item *item, size_t number)
{
    struct cn_hpc_span in =
        part->is_shared ? w->meta->sections[CN_HPC_STRINGS] : w->section;
    uint64_t off = part->at ? cn_hpc_item_get(item, part->at) : rest->off;
    const char **text = &item->parts[number].text;
    struct cn_error err;

    item->parts[number].off = off;
    if ((part->is_optional && off == 0) ||
        (part->at ? cn_hpc_span_string(in, off, part->what, text, &err)
                  : cn_hpc_span_take_string(rest, part->what, text, &err)))
        return true;
    w->is_lost = !part->at;
    return cn_hpc_walk_report(w, CN_HPC_DAMAGE, "string-bounds", off, "%s", err.text);
}

static bool find_target(struct cn_hpc_walk *w, const struct cn_hpc_part *part,
                        struct cn_hpc_item *item, size_t number)
{
    uint64_t off = cn_hpc_item_get(item, part->at);
    struct cn_error err;

    if ((part->is_optional && off == 0) ||
        cn_hpc_table_find(&w->tables[part->shape], off, part->what,
                          &item->parts[number].target, &err))
        return true;
    return cn_hpc_walk_report(w, CN_HPC_DANGLING, "pointer-element", item->off, "%s",
                              err.text);
}

/* What a part says about its array. */
static struct cn_hpc_array array_of(const struct cn_hpc_walk *w,
                                    const struct cn_hpc_part *part,
                                    const struct cn_hpc_item *item, uint64_t follows_off)
{
    const struct cn_record_layout *layout = shape_of(w, part->shape)->layout;
    struct cn_hpc_array array = {
        .what = part->what,
        .off = part->at ? cn_hpc_item_get(item, part->at) : follows_off,
        .count = part->count ? cn_hpc_item_get(item, part->count) : 1,
        .stride = layout ? layout->size : 0,
        .least = layout ? layout->size : 0,
    };

    if (part->len)
        array.stride = cn_hpc_item_get(
            cn_record_field(item->layout, part->len) ? item : &w->head, part->len);
    return array;
}

static bool open_array(struct cn_hpc_walk *w, const struct cn_hpc_array *array,
                       struct cn_hpc_table *out)
{
    bool is_strict = array->count > 0 && !w->meta->encoding->is_proto;
    struct cn_error err;

    *out = (struct cn_hpc_table){0};
    if ((is_strict && array->stride % ALIGN != 0 &&
         !cn_hpc_walk_report(w, CN_HPC_BROKEN_RULE, "stride", w->section.off,
                             "%s of %" PRIu64 " bytes each are not a multiple of 8",
                             array->what, array->stride)) ||
        (is_strict && array->stride > STRIDE_MAX &&
         !cn_hpc_walk_report(w, CN_HPC_WARNING, "stride-signed", w->section.off,
                             "%s of %" PRIu64
                             " bytes each: hpcviewer reads sizes up to %d",
                             array->what, array->stride, STRIDE_MAX)) ||
        (is_strict && array->off % ALIGN != 0 &&
         !cn_hpc_walk_report(w, CN_HPC_BROKEN_RULE, "alignment", array->off,
                             "%s at 0x%" PRIx64 " is not 8-byte aligned", array->what,
                             array->off)))
        return false;
    if (!cn_hpc_table_open(w->section, array, out, &err))
        return cn_hpc_walk_report(w, CN_HPC_DAMAGE, "array-bounds", array->off, "%s",
                                  err.text);
    if (w->depth > 0)
        w->nested_len += out->span.bytes.len;
    if (w->nested_len <= w->section.bytes.len)
        return true;
    /* Arrays are not shared: together they fit the section. */
    w->nested_len -= out->span.bytes.len;
    if (w->f)
        *out = (struct cn_hpc_table){0};
    return cn_hpc_walk_report(
        w, CN_HPC_DAMAGE, "arrays-overlap", array->off,
        "%s at 0x%" PRIx64 " overlap with others: %" PRIu64 " bytes in a section of %zu",
        array->what, array->off, w->nested_len + array->count * array->stride,
        w->section.bytes.len);
}

static bool visit_arrays(struct cn_hpc_walk *w, const struct cn_hpc_item *item,
                         struct cn_hpc_span *rest);

/* A structure without the arrays that it refers to. `rest` is what follows it. */
static bool visit(struct cn_hpc_walk *w, struct cn_hpc_item *item,
                  struct cn_hpc_span *rest)
{
    const struct cn_hpc_shape *shape = shape_of(w, item->shape);

    item->layout = shape->layout;
    for (size_t i = 0; i < CN_HPC_PART_MAX; i++) {
        const struct cn_hpc_part *part = &shape->parts[i];

        item->parts[i].text = NULL;
        item->parts[i].target = CN_NONE;
        if ((part->type == CN_HPC_TEXT && !find_text(w, part, rest, item, i)) ||
            (part->type == CN_HPC_POINTER && !find_target(w, part, item, i)))
            return false;
    }
    return w->record(w->arg, item);
}

static void enter(struct cn_hpc_walk *w, const struct cn_hpc_item *item)
{
    assert(w->depth < CN_HPC_WALK_DEPTH_MAX);
    w->places[w->depth++] =
        (struct cn_hpc_place){shape_of(w, item->shape)->name, item->index, item->off};
}

/* Elements of one size: all of them, then what each refers to. */
static bool visit_table(struct cn_hpc_walk *w, unsigned shape,
                        const struct cn_hpc_table *table)
{
    struct cn_hpc_span nothing = {0};
    bool ok = true;

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; ok && i < table->count; i++) {
            struct cn_hpc_item item = {.shape = shape,
                                       .layout = shape_of(w, shape)->layout,
                                       .bytes = cn_hpc_table_at(table, i),
                                       .off = cn_hpc_table_off(table, i),
                                       .index = i};

            enter(w, &item);
            ok = pass == 0 ? visit(w, &item, &nothing) : visit_arrays(w, &item, &nothing);
            w->depth--;
        }
    return ok;
}

/* Elements that follow each other, each with what follows it. */
static bool visit_run(struct cn_hpc_walk *w, unsigned shape, uint64_t count,
                      struct cn_hpc_span *rest)
{
    const struct cn_record_layout *layout = shape_of(w, shape)->layout;
    struct cn_error err;
    bool ok = true;

    for (uint64_t i = 0; ok && i < count && !w->is_lost; i++) {
        struct cn_hpc_item item = {.shape = shape, .off = rest->off, .index = i};

        enter(w, &item);
        if (layout && !cn_hpc_span_take(rest, layout->size, shape_of(w, shape)->name,
                                        &item.bytes, &err)) {
            w->is_lost = true;
            ok = cn_hpc_walk_report(w, CN_HPC_DAMAGE, "array-bounds", item.off, "%s",
                                    err.text);
        } else {
            ok = visit(w, &item, rest) && visit_arrays(w, &item, rest);
        }
        w->depth--;
    }
    return ok;
}

static bool visit_arrays(struct cn_hpc_walk *w, const struct cn_hpc_item *item,
                         struct cn_hpc_span *rest)
{
    const struct cn_hpc_shape *shape = shape_of(w, item->shape);

    for (size_t i = 0; i < CN_HPC_PART_MAX; i++) {
        const struct cn_hpc_part *part = &shape->parts[i];
        struct cn_hpc_table *table = &w->tables[part->shape];
        struct cn_hpc_array array;

        if (part->type != CN_HPC_ARRAY)
            continue;
        array = array_of(w, part, item, rest->off);
        if (part->at || part->len) {
            struct cn_hpc_table opened;

            if (!open_array(w, &array, &opened))
                return false;
            *table = opened;
            if (!visit_table(w, part->shape, &opened))
                return false;
        } else if (!visit_run(w, part->shape, array.count, rest)) {
            return false;
        }
    }
    return true;
}

/* The header of a section; `rest` is what follows it. */
static bool begin_section(struct cn_hpc_walk *w, enum cn_hpc_meta_section section,
                          struct cn_hpc_span *rest)
{
    const struct cn_record_layout *layout =
        cn_hpc_meta_layout(w->meta->encoding, section);
    const struct cn_field *last =
        layout ? &layout->fields[layout->field_count - 1] : NULL;
    struct cn_bytes ignored;
    size_t len = last ? (size_t)last->offset + last->size : 0;

    w->section = *rest = w->meta->sections[section];
    w->nested_len = 0;
    w->is_lost = false;
    w->head =
        (struct cn_hpc_item){.shape = section, .layout = layout, .off = w->section.off};
    if (!layout)
        return true;
    /* A specification may end its header before the padding. */
    if (rest->bytes.len >= len &&
        cn_bytes_slice(w->meta->file, w->head.off, layout->size, &w->head.bytes)) {
        len = rest->bytes.len < layout->size ? rest->bytes.len : layout->size;
        rest->off += len;
        return cn_bytes_take(&rest->bytes, len, &ignored);
    }
    w->is_lost = true;
    return cn_hpc_walk_report(w, CN_HPC_DAMAGE, "section-header", w->section.off,
                              "section %s of %zu bytes is too short for its header",
                              w->meta->encoding->section_names[section],
                              w->section.bytes.len);
}

bool cn_hpc_walk_section(struct cn_hpc_walk *walk, enum cn_hpc_meta_section section,
                         struct cn_error *err)
{
    struct cn_hpc_span rest;

    walk->err = err;
    if (!walk->meta->encoding->shapes[section])
        return true;
    if (!begin_section(walk, section, &rest))
        return false;
    return walk->is_lost ||
           (visit(walk, &walk->head, &rest) && visit_arrays(walk, &walk->head, &rest));
}

bool cn_hpc_walk_header(struct cn_hpc_walk *walk, enum cn_hpc_meta_section section,
                        struct cn_error *err)
{
    struct cn_hpc_span rest;

    walk->err = err;
    return begin_section(walk, section, &rest);
}

bool cn_hpc_walk_table(struct cn_hpc_walk *walk, enum cn_hpc_meta_section section,
                       struct cn_hpc_table *out, struct cn_error *err)
{
    const struct cn_hpc_part *part = walk->meta->encoding->shapes[section]->parts;
    struct cn_hpc_array array;
    struct cn_hpc_span rest;

    walk->err = err;
    if (!begin_section(walk, section, &rest))
        return false;
    array = array_of(walk, part, &walk->head, rest.off);
    return open_array(walk, &array, out);
}
