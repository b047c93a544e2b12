#include "formats/hpctoolkit/xml/read/database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/entries.h"
#include "formats/hpctoolkit/xml/read/scanner.h"
#include "model/contexts/formula.h"

enum element_type {
    TREE,    /* SecCallPathProfileData itself */
    FRAME,   /* PF */
    INLINED, /* Pr */
    CALL,
    LOOP,
    LINE,
    VALUE,
    UNKNOWN,
};

enum xml_attribute {
    ID = 1 << 0,
    SAMPLE_ID = 1 << 1,
    NAME = 1 << 2,
    FILE_ID = 1 << 3,
    LINE_NUMBER = 1 << 4,
    MODULE = 1 << 5,
    ADDRESS = 1 << 6,
    STATIC_ID = 1 << 7,
};

/* The attributes of one element. */
struct tree_element {
    enum element_type type;
    unsigned given; /* set of enum xml_attribute */
    int64_t id, sample_id, name, file, module;
    uint64_t line, address;
    bool has_point; /* the address is "0x...", not "0" */
    struct cn_bytes value;
};

/* An open element. */
struct tree_frame {
    enum element_type type;
    bool is_context; /* has a node of its own; else its children belong to `owner` */
    bool is_ignored; /* with everything inside */
    bool has_calls;  /* some children were made from <C> */
    uint32_t owner;  /* the innermost frame, from here outwards, with a node */
    uint32_t node, last_child;
    uint32_t file, module; /* defaults for the elements inside */
    int64_t id;
};

struct tree_reading {
    struct cn_hpc_xml_tree *tree;
    const struct cn_hpc_xml_tree_source *source;
    struct cn_hpc_xml_scanner scanner;
    bool is_ours; /* written by cairn: addresses and lines are those of contexts */
    bool is_legacy;
    size_t forgotten;
    struct tree_frame *frames;
    size_t depth, capacity;
};

static enum element_type type_of(struct cn_bytes name)
{
    if (name.len == 1)
        switch (name.ptr[0]) {
        case 'C':
            return CALL;
        case 'S':
            return LINE;
        case 'L':
            return LOOP;
        case 'M':
            return VALUE;
        default:
            return UNKNOWN;
        }
    if (cn_bytes_equal(name, "PF"))
        return FRAME;
    if (cn_bytes_equal(name, "Pr"))
        return INLINED;
    return cn_bytes_equal(name, "SecCallPathProfileData") ? TREE : UNKNOWN;
}

static enum xml_attribute attribute_of(struct cn_bytes name)
{
    if (name.len == 1)
        switch (name.ptr[0]) {
        case 'i':
            return ID;
        case 'n':
            return NAME;
        case 'f':
            return FILE_ID;
        case 'l':
            return LINE_NUMBER;
        case 'v':
            return ADDRESS;
        case 's':
            return STATIC_ID;
        default:
            return 0;
        }
    if (name.len != 2)
        return 0;
    if (name.ptr[0] == 'l' && name.ptr[1] == 'm')
        return MODULE;
    return name.ptr[0] == 'i' && name.ptr[1] == 't' ? SAMPLE_ID : 0;
}

/* "12", or "12-14" for a range, of which the first counts. */
static bool parse_line(struct cn_bytes value, uint64_t *out)
{
    const uint8_t *dash = memchr(value.ptr, '-', value.len);

    if (dash && dash != value.ptr)
        value.len = (size_t)(dash - value.ptr);
    return cn_hpc_xml_parse_u64(value, out) && *out <= UINT32_MAX;
}

static bool parse_attribute(enum xml_attribute which, struct cn_bytes value,
                            struct tree_element *out)
{
    switch (which) {
    case ID:
        return cn_hpc_xml_parse_i64(value, &out->id) && out->id >= -(int64_t)UINT32_MAX &&
               out->id < (int64_t)UINT32_MAX;
    case SAMPLE_ID:
        return cn_hpc_xml_parse_i64(value, &out->sample_id);
    case NAME:
        return cn_hpc_xml_parse_i64(value, &out->name);
    case FILE_ID:
        return cn_hpc_xml_parse_i64(value, &out->file);
    case MODULE:
        return cn_hpc_xml_parse_i64(value, &out->module);
    case LINE_NUMBER:
        return parse_line(value, &out->line);
    case ADDRESS:
        out->value = value;
        out->has_point = value.len > 2 && value.ptr[0] == '0' && value.ptr[1] == 'x';
        /* 2.x also has sets of ranges, "{[0x400-0x410)}", which are no address. */
        return out->type == VALUE || (value.len > 0 && value.ptr[0] == '{') ||
               cn_hpc_xml_parse_u64(value, &out->address);
    case STATIC_ID:
        return true;
    }
    return true;
}

static bool bad_attribute(const struct cn_hpc_xml_attribute *attribute, const char *what,
                          struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "attribute %.*s=\"%.*s\" %s",
                   (int)(attribute->name.len < 32 ? attribute->name.len : 32),
                   (const char *)attribute->name.ptr,
                   (int)(attribute->value.len < 64 ? attribute->value.len : 64),
                   (const char *)attribute->value.ptr, what);
}

static bool decode(const struct cn_hpc_xml_tag *tag, struct tree_element *out,
                   struct cn_error *err)
{
    out->type = type_of(tag->name);
    out->given = 0;
    out->id = out->sample_id = 0;
    out->line = out->address = 0;
    out->has_point = false;
    for (size_t i = 0; i < tag->attribute_count; i++) {
        const struct cn_hpc_xml_attribute *attribute = &tag->attributes[i];
        enum xml_attribute which = attribute_of(attribute->name);

        if (out->given & which)
            return bad_attribute(attribute, "occurs twice", err);
        if (!parse_attribute(which, attribute->value, out))
            return bad_attribute(attribute, "is not a number, or too large", err);
        out->given |= which;
    }
    return true;
}

static struct tree_frame *top(struct tree_reading *r)
{
    return &r->frames[r->depth - 1];
}

static bool push(struct tree_reading *r, struct tree_frame frame, struct cn_error *err)
{
    if (r->depth == CN_HPC_XML_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "elements nested deeper than %d",
                       CN_HPC_XML_DEPTH_MAX);
    if (frame.is_context)
        frame.owner = (uint32_t)r->depth;
    frame.last_child = CN_HPC_XML_NO_NODE;
    CN_PUSH(r->frames, r->depth, r->capacity, frame);
    return true;
}

/* The index of a row of a table by its id; CN_NONE for a row that means "unknown". */
static bool look_up(const struct cn_hpc_xml_ids *ids, int64_t id, const char *what,
                    uint32_t *out, struct cn_error *err)
{
    *out = cn_hpc_xml_ids_find(ids, id);
    if (*out != CN_HPC_XML_MISSING)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "%s %" PRId64 " is in no table", what, id);
}

static bool find_location(struct tree_reading *r, const struct tree_element *e,
                          uint32_t *file, uint32_t *module, struct cn_error *err)
{
    *file = top(r)->file;
    *module = top(r)->module;
    return (!(e->given & FILE_ID) ||
            look_up(&r->tree->file_ids, e->file, "file", file, err)) &&
           (!(e->given & MODULE) ||
            look_up(&r->tree->module_ids, e->module, "module", module, err));
}

static bool link_node(struct tree_reading *r, struct cn_hpc_xml_node node, uint32_t *out,
                      struct cn_error *err)
{
    struct tree_frame *owner = &r->frames[top(r)->owner];

    if (r->tree->node_count >= CN_HPC_XML_NO_NODE - 1)
        return cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu32 " contexts",
                       CN_HPC_XML_NO_NODE - 1);
    *out = cn_hpc_xml_tree_add(r->tree, node);
    if (owner->last_child != CN_HPC_XML_NO_NODE)
        r->tree->nodes[owner->last_child].next = *out;
    else if (owner->type == TREE)
        r->tree->root = *out;
    else
        r->tree->nodes[owner->node].child = *out;
    owner->last_child = *out;
    owner->has_calls = owner->has_calls || node.flags & CN_HPC_XML_FROM_CALL;
    return true;
}

/* A function at the top of the tree. */
static struct cn_hpc_xml_node entry_node(struct tree_reading *r, uint32_t procedure)
{
    const char *name = r->tree->procedures[procedure].name;
    struct cn_hpc_xml_node node = {.kind = CN_CONTEXT_ENTRY, .function = CN_NONE};
    uint16_t entry;

    if (cn_hpc_entry_find(name, &entry))
        node.entry = (uint8_t)entry;
    else
        node.function = procedure;
    return node;
}

static struct cn_hpc_xml_node function_node(struct tree_reading *r,
                                            const struct tree_element *e,
                                            uint32_t procedure, uint32_t file,
                                            uint32_t module)
{
    const struct cn_hpc_xml_procedure *of = &r->tree->procedures[procedure];
    const struct tree_frame *parent = top(r);
    bool is_inlined = e->type == INLINED ||
                      (parent->type == CALL && parent->id < 0 && parent->id == -e->id);
    bool is_unknown = of->is_fake && !(e->given & ADDRESS) &&
                      strncmp(of->name, CN_HPC_XML_UNKNOWN_PROCEDURE,
                              strlen(CN_HPC_XML_UNKNOWN_PROCEDURE)) == 0;
    struct cn_hpc_xml_node node = {
        .kind = CN_CONTEXT_FUNCTION,
        .relation = is_inlined ? CN_INLINED_CALL : CN_CALL,
        .function = CN_NONE,
    };

    if (!is_unknown) {
        node.function = cn_hpc_xml_tree_function(
            r->tree, procedure,
            &(struct cn_function){
                .module = module,
                .offset = e->given & ADDRESS ? e->address : of->address,
                .file = file,
                .line = (uint32_t)e->line,
            });
    } else if (module != CN_NONE) {
        node.kind = CN_CONTEXT_INSTRUCTION;
        node.flags = CN_HPC_XML_HAS_POINT;
        node.module = module;
        node.offset = of->address;
    }
    return node;
}

static bool open_function(struct tree_reading *r, const struct tree_element *e,
                          struct cn_error *err)
{
    bool is_entry = top(r)->type == TREE;
    struct tree_frame frame = {.type = e->type, .is_context = true, .id = e->id};
    uint32_t procedure;

    if (!(e->given & NAME))
        return cn_fail(err, CN_ERR_FORMAT, "a procedure without a name");
    if (e->id <= 0)
        return cn_fail(err, CN_ERR_FORMAT, "a procedure with the id %" PRId64, e->id);
    if (!find_location(r, e, &frame.file, &frame.module, err) ||
        !look_up(&r->tree->procedure_ids, e->name, "procedure", &procedure, err))
        return false;
    if (is_entry && strcmp(r->tree->procedures[procedure].name, CN_HPC_IDLE) == 0) {
        r->tree->idle_context = (uint32_t)e->id;
        frame.is_context = false;
        frame.is_ignored = true;
        return push(r, frame, err);
    }
    struct cn_hpc_xml_node node =
        is_entry ? entry_node(r, procedure)
                 : function_node(r, e, procedure, frame.file, frame.module);
    node.id = (uint32_t)e->id;
    return link_node(r, node, &frame.node, err) && push(r, frame, err);
}

/* <L>, <S> or <C>. */
static struct cn_hpc_xml_node line_node(const struct tree_reading *r,
                                        const struct tree_element *e, uint32_t file,
                                        uint32_t module)
{
    struct cn_hpc_xml_node node = {
        .id = e->id > 0 ? (uint32_t)e->id : 0,
        .kind = e->type == LOOP ? CN_CONTEXT_LOOP : CN_CONTEXT_LINE,
        .relation = CN_LEXICAL,
        .flags = e->type == CALL ? CN_HPC_XML_FROM_CALL : 0,
        .function = file,
        .line = file == CN_NONE ? 0 : (uint32_t)e->line,
    };

    if (!e->has_point || module == CN_NONE || !(r->is_ours || e->type == LOOP))
        return node;
    node.flags |= CN_HPC_XML_HAS_POINT;
    node.module = module;
    node.offset = e->address;
    if (file == CN_NONE && e->type != LOOP) {
        node.kind = CN_CONTEXT_INSTRUCTION;
        node.flags &= (uint8_t)~CN_HPC_XML_FROM_CALL;
    }
    return node;
}

/* True for an <S> or <C> that is no context. */
static bool is_no_context(struct tree_reading *r, const struct tree_element *e,
                          const struct cn_hpc_xml_node *node, uint32_t file)
{
    uint32_t owner = r->frames[top(r)->owner].node;

    if (e->type == LINE)
        return e->id <= 0 || (r->is_legacy && file == CN_NONE);
    return e->type == CALL && node->kind == CN_CONTEXT_LINE &&
           (file == CN_NONE ||
            (!r->is_ours && r->tree->nodes[owner].kind == CN_CONTEXT_ENTRY));
}

static bool open_line(struct tree_reading *r, const struct tree_element *e,
                      struct cn_error *err)
{
    const struct tree_frame *owner = &r->frames[top(r)->owner];
    struct tree_frame frame = {
        .type = e->type, .id = e->id, .owner = top(r)->owner, .is_context = true};
    struct cn_hpc_xml_node node;

    if (owner->type == TREE)
        return cn_fail(err, CN_ERR_FORMAT,
                       "a loop, line or call outside of any procedure");
    if (e->type == LOOP && e->id <= 0)
        return cn_fail(err, CN_ERR_FORMAT, "a loop with the id %" PRId64, e->id);
    if (!find_location(r, e, &frame.file, &frame.module, err))
        return false;
    node = line_node(r, e, frame.file, frame.module);
    if (is_no_context(r, e, &node, frame.file)) {
        frame.is_context = false;
        frame.is_ignored = e->type == LINE; /* repeats the costs of the procedure */
        if (e->type == LINE && r->source->sink.sample_id && e->sample_id > 0)
            r->source->sink.sample_id(r->source->sink.arg, (uint64_t)e->sample_id,
                                      r->tree->nodes[owner->node].id);
    }
    if (frame.is_context && !link_node(r, node, &frame.node, err))
        return false;
    /* The called function may be in another file and module. */
    if (e->type == CALL) {
        frame.file = top(r)->file;
        frame.module = top(r)->module;
    }
    return push(r, frame, err);
}

static bool take_value(struct tree_reading *r, const struct tree_element *e,
                       struct cn_error *err)
{
    const struct cn_hpc_xml_tree_sink *sink = &r->source->sink;
    int64_t context = top(r)->type == TREE ? 0 : top(r)->id;
    struct cn_bytes digits;
    char text[64] = "";
    double value;

    if (!(e->given & NAME) || !(e->given & ADDRESS))
        return cn_fail(err, CN_ERR_FORMAT,
                       "a value without a metric or without a number");
    bool is_negative = e->value.len > 0 && e->value.ptr[0] == '-';
    if (cn_bytes_from(e->value, is_negative, &digits) && digits.len < sizeof(text))
        memcpy(text, digits.ptr, digits.len);
    if (text[0] == '\0' || cn_formula_number_scan(text, &value) != digits.len)
        return cn_fail(err, CN_ERR_FORMAT, "value \"%.*s\" is not a number",
                       (int)(e->value.len < 64 ? e->value.len : 64),
                       (const char *)e->value.ptr);
    if (sink->value && context >= 0 && !top(r)->is_ignored)
        sink->value(sink->arg, (uint32_t)context, e->name, is_negative ? -value : value);
    return true;
}

static bool open_element(struct tree_reading *r, const struct cn_hpc_xml_tag *tag,
                         struct cn_error *err)
{
    const struct cn_hpc_xml_tree_sink *sink = &r->source->sink;
    struct tree_frame ignored = {.is_ignored = true, .owner = top(r)->owner};
    struct tree_element e;

    if (!decode(tag, &e, err))
        return false;
    if (e.id > 0 && (uint64_t)e.id > r->tree->largest_id)
        r->tree->largest_id = (uint32_t)e.id;
    if (sink->sample_id && e.given & SAMPLE_ID && e.id > 0 && e.sample_id > 0)
        sink->sample_id(sink->arg, (uint64_t)e.sample_id,
                        top(r)->is_ignored ? r->tree->idle_context : (uint32_t)e.id);
    ignored.type = e.type;
    if (top(r)->is_ignored && e.type != UNKNOWN && e.type != TREE)
        return push(r, ignored, err);
    switch (e.type) {
    case FRAME:
    case INLINED:
        return open_function(r, &e, err);
    case CALL:
    case LOOP:
    case LINE:
        return open_line(r, &e, err);
    case VALUE:
        return take_value(r, &e, err) && push(r, ignored, err);
    case TREE:
    case UNKNOWN:
        break;
    }
    return cn_fail(
        err, CN_ERR_FORMAT, "element <%.*s> does not belong in the context tree",
        (int)(tag->name.len < 64 ? tag->name.len : 64), (const char *)tag->name.ptr);
}

static bool close_element(struct tree_reading *r, const struct cn_hpc_xml_tag *tag,
                          struct cn_error *err)
{
    const struct tree_frame *frame = top(r);

    if (tag->kind == CN_HPC_XML_CLOSE && type_of(tag->name) != frame->type)
        return cn_fail(err, CN_ERR_FORMAT, "</%.*s> ends an element that is not open",
                       (int)(tag->name.len < 64 ? tag->name.len : 64),
                       (const char *)tag->name.ptr);
    if (frame->has_calls && frame->is_context)
        cn_hpc_xml_tree_join_lines(r->tree, frame->node);
    r->depth--;
    return true;
}

/* Give back the pages of a mapped file that were read. */
static void forget(struct tree_reading *r)
{
    struct cn_bytes part;

    if (!r->source->is_mapped || r->scanner.at - r->forgotten < CN_HPC_XML_FORGET_LEN ||
        !cn_bytes_slice(r->source->text, r->forgotten, r->scanner.at - r->forgotten,
                        &part))
        return;
    cn_file_forget(part);
    r->forgotten = r->scanner.at;
}

static bool scan_tree(struct tree_reading *r, struct cn_error *err)
{
    struct cn_hpc_xml_tag tag;

    while (r->depth > 0) {
        enum cn_step step = cn_hpc_xml_scan(&r->scanner, &tag, err);
        uint64_t off = step == CN_ITEM ? tag.off : r->scanner.at;

        if (step == CN_END)
            step = cn_fail(err, CN_ERR_FORMAT, "the file ends inside the context tree");
        if (step == CN_FAIL ||
            (tag.kind != CN_HPC_XML_CLOSE && !open_element(r, &tag, err)) ||
            (tag.kind != CN_HPC_XML_OPEN && !close_element(r, &tag, err)))
            return cn_hpc_xml_fail_at(r->source->text, off, err);
        forget(r);
    }
    return true;
}

/* After the tree, only the elements around it end. */
static bool scan_end(struct tree_reading *r, struct cn_error *err)
{
    static const char *const names[] = {"SecCallPathProfile", "HPCToolkitExperiment"};
    struct cn_hpc_xml_tag tag = {0};
    enum cn_step step;

    for (size_t i = 0; i < 2; i++) {
        step = cn_hpc_xml_scan(&r->scanner, &tag, err);
        if (step == CN_ITEM &&
            (tag.kind != CN_HPC_XML_CLOSE || !cn_bytes_equal(tag.name, names[i])))
            step = cn_fail(err, CN_ERR_FORMAT,
                           "<%.*s> after the context tree instead of </%s>",
                           (int)(tag.name.len < 64 ? tag.name.len : 64),
                           (const char *)tag.name.ptr, names[i]);
        if (step == CN_END)
            step = cn_fail(err, CN_ERR_FORMAT, "the file ends without </%s>", names[i]);
        if (step == CN_FAIL)
            return cn_hpc_xml_fail_at(r->source->text, r->scanner.at, err);
    }
    step = cn_hpc_xml_scan(&r->scanner, &tag, err);
    if (step == CN_ITEM)
        step = cn_fail(err, CN_ERR_FORMAT, "an element after the root element");
    return step == CN_END || cn_hpc_xml_fail_at(r->source->text, r->scanner.at, err);
}

bool cn_hpc_xml_tree_read(struct cn_hpc_xml_tree *tree,
                          const struct cn_hpc_xml_head *head,
                          const struct cn_hpc_xml_tree_source *source,
                          struct cn_error *err)
{
    struct tree_reading r = {
        .tree = tree,
        .source = source,
        .scanner = {source->text, (size_t)head->tree_off},
        .is_ours = head->lines_have_calls,
        .is_legacy = head->major < CN_HPC_XML_MAJOR,
    };
    bool ok =
        push(&r, (struct tree_frame){.type = TREE, .file = CN_NONE, .module = CN_NONE},
             err) &&
        (head->tree_is_empty || scan_tree(&r, err)) && scan_end(&r, err);

    free(r.frames);
    if (ok)
        cn_hpc_xml_tree_finish(tree);
    return ok;
}
