#include "unwind/go_table.h"

#include <string.h>

#include "unwind/elf.h"

/* The header: magic u32, 2 bytes, quantum, length of a pointer, then 8 bytes each. */
enum {
    MAGIC_18 = -16, /* Go 1.18 and 1.19 */
    MAGIC_20 = -15, /* Go 1.20 and later */
    QUANTUM_OFF = 6,
    POINTER_LEN_OFF = 7,
    COUNT_OFF = 8,
    TEXT_OFF = 24,
    NAMES_OFF = 32,
    UNITS_OFF = 40,
    FILES_OFF = 48,
    VALUES_OFF = 56,
    FUNCTIONS_OFF = 64,
    HEADER_LEN = 72,

    ENTRY_LEN =
        8, /* of the list of functions: offset of the code, offset of the function */

    /* A function: offsets of 4 bytes. */
    NAME_AT = 4,
    FRAME_AT = 16,
    FILE_AT = 20,
    LINE_AT = 24,
    VALUE_COUNT_AT = 28,
    UNIT_AT = 32,
    FIRST_LINE_AT = 36, /* Go 1.20 and later; the rest is 4 bytes later there */
    FLAGS_AT_18 = 37,
    DATA_COUNT_AT_18 = 39,
    FUNCTION_LEN_18 = 40,
    INLINE_VALUE = 2, /* which of the values is the call in the tree */
    TREE_DATA = 3,    /* which of the data is the tree */

    /* A call in a tree of inlined ones. */
    CALL_LEN_18 = 20,
    CALL_NAME_AT_18 = 12,
    CALL_PARENT_AT_18 = 16,
    CALL_LEN_20 = 16,
    CALL_NAME_AT_20 = 4,
    CALL_PARENT_AT_20 = 8,

    /* Words of the description of a module, which begins with the address of the table and that
     * of the names. */
    TREES_WORD_18 = 38,
    TREES_WORD_20 = 40,
    VARINT_LEN_MAX = 5,
};

static bool is_pclntab(const char *name)
{
    return strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0;
}

/* What a table is opened with. */
struct go_sections {
    struct cn_unwind_part table, text;
};

static bool find_sections(void *arg, const struct cn_unwind_named_section *section)
{
    struct go_sections *found = arg;

    if (is_pclntab(section->name))
        found->table = section->part;
    else if (strcmp(section->name, ".text") == 0)
        found->text = section->part;
    return true;
}

/* The part of the table from an offset in its header on. */
static bool part_at(const struct cn_go_table *table, unsigned at, struct cn_bytes *out)
{
    return cn_bytes_from(table->bytes, cn_u64_get(table->bytes.ptr + at), out);
}

bool cn_go_table_open(struct cn_go_table *table, struct cn_bytes file)
{
    struct go_sections sections = {0};
    struct cn_bytes list;

    cn_unwind_elf_sections(file, find_sections, &sections);
    *table = (struct cn_go_table){.bytes = sections.table.bytes,
                                  .address = sections.table.address};
    if (table->bytes.len < HEADER_LEN)
        return false;
    const uint8_t *head = table->bytes.ptr;
    uint32_t magic = cn_u32_get(head);
    uint64_t count = cn_u64_get(head + COUNT_OFF);
    table->is_new = magic == (uint32_t)MAGIC_20;
    table->quantum = head[QUANTUM_OFF];
    if ((magic != (uint32_t)MAGIC_18 && !table->is_new) || head[POINTER_LEN_OFF] != 8 ||
        (table->quantum != 1 && table->quantum != 4) ||
        !part_at(table, NAMES_OFF, &table->names) ||
        !part_at(table, UNITS_OFF, &table->units) ||
        !part_at(table, FILES_OFF, &table->files) ||
        !part_at(table, VALUES_OFF, &table->values) ||
        !part_at(table, FUNCTIONS_OFF, &table->functions) || count >= UINT32_MAX ||
        !cn_bytes_array(table->functions, 0, count + 1, ENTRY_LEN, &list))
        return false;
    table->function_count = (uint32_t)count;
    /* Of a program that can be loaded anywhere, the run-time linker fills it in. */
    table->text = cn_u64_get(head + TEXT_OFF);
    if (table->text == 0)
        table->text = sections.text.address;
    return true;
}

/* While the description of the module is looked for, then the trees. */
struct go_search {
    const struct cn_go_table *table;
    uint64_t trees; /* their address; 0: not found yet */
    struct cn_bytes found;
};

static bool find_module(void *arg, const struct cn_unwind_named_section *section)
{
    struct go_search *search = arg;
    const struct cn_go_table *table = search->table;
    uint64_t names = table->address + (uint64_t)(table->names.ptr - table->bytes.ptr);
    size_t at = 8 * (size_t)(table->is_new ? TREES_WORD_20 : TREES_WORD_18);
    struct cn_bytes bytes = section->part.bytes;

    if (!section->is_writable)
        return true;
    for (size_t i = 0; bytes.len >= at + 8 && i <= bytes.len - at - 8; i += 8)
        if (cn_u64_get(bytes.ptr + i) == table->address &&
            cn_u64_get(bytes.ptr + i + 8) == names) {
            search->trees = cn_u64_get(bytes.ptr + i + at);
            return false;
        }
    return true;
}

static bool find_trees(void *arg, const struct cn_unwind_named_section *section)
{
    struct go_search *search = arg;

    return search->trees < section->part.address ||
           !cn_bytes_from(section->part.bytes, search->trees - section->part.address,
                          &search->found) ||
           search->found.len == 0;
}

void cn_go_table_find_inlined(struct cn_go_table *table, struct cn_bytes file)
{
    struct go_search search = {.table = table};

    cn_unwind_elf_sections(file, find_module, &search);
    if (search.trees == 0)
        return;
    cn_unwind_elf_sections(file, find_trees, &search);
    table->inlined = search.found;
}

/* A number of 4 bytes; `otherwise` if it is not there. */
static uint32_t word_at(struct cn_bytes bytes, uint64_t off, uint32_t otherwise)
{
    struct cn_bytes word;

    return cn_bytes_slice(bytes, off, 4, &word) ? cn_u32_get(word.ptr) : otherwise;
}

static const char *text_at(struct cn_bytes bytes, uint64_t off)
{
    const char *text = cn_bytes_string(bytes, off);

    return text ? text : "";
}

bool cn_go_table_function(const struct cn_go_table *table, uint32_t i,
                          struct cn_go_function *out)
{
    uint32_t entry_len = table->is_new ? FUNCTION_LEN_18 + 4 : FUNCTION_LEN_18;
    uint32_t later = entry_len - FUNCTION_LEN_18;
    struct cn_bytes function;

    if (i >= table->function_count ||
        !cn_bytes_from(table->functions,
                       word_at(table->functions, (uint64_t)i * ENTRY_LEN + 4, UINT32_MAX),
                       &function) ||
        function.len < entry_len)
        return false;
    uint32_t value_count = cn_u32_get(function.ptr + VALUE_COUNT_AT);
    uint8_t data_count = function.ptr[DATA_COUNT_AT_18 + later];
    uint64_t data_at = entry_len + 4 * ((uint64_t)value_count + TREE_DATA);
    *out = (struct cn_go_function){
        .name = text_at(table->names, cn_u32_get(function.ptr + NAME_AT)),
        .begin = table->text + word_at(table->functions, (uint64_t)i * ENTRY_LEN, 0),
        .end = table->text + word_at(table->functions, (uint64_t)(i + 1) * ENTRY_LEN, 0),
        .first_line = table->is_new ? cn_u32_get(function.ptr + FIRST_LINE_AT) : 0,
        .frame_off = cn_u32_get(function.ptr + FRAME_AT),
        .file_off = cn_u32_get(function.ptr + FILE_AT),
        .line_off = cn_u32_get(function.ptr + LINE_AT),
        .inline_off = value_count > INLINE_VALUE
                          ? word_at(function, entry_len + 4 * INLINE_VALUE, 0)
                          : 0,
        .unit = cn_u32_get(function.ptr + UNIT_AT),
        .tree_off =
            data_count > TREE_DATA ? word_at(function, data_at, UINT32_MAX) : UINT32_MAX,
        .flags = function.ptr[FLAGS_AT_18 + later],
    };
    return out->begin < out->end;
}

bool cn_go_table_find(const struct cn_go_table *table, uint64_t address,
                      struct cn_go_function *out)
{
    uint32_t low = 0, high = table->function_count;

    if (address < table->text)
        return false;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (word_at(table->functions, (uint64_t)middle * ENTRY_LEN, 0) <=
            address - table->text)
            low = middle;
        else
            high = middle;
    }
    return cn_go_table_function(table, low, out) && address >= out->begin &&
           address < out->end;
}

static bool take_varint(struct cn_bytes *rest, uint32_t *out)
{
    uint64_t value = 0;
    struct cn_bytes byte;

    for (unsigned i = 0; i < VARINT_LEN_MAX; i++) {
        if (!cn_bytes_take(rest, 1, &byte))
            return false;
        value |= (uint64_t)(byte.ptr[0] & 0x7f) << 7 * i;
        if (!(byte.ptr[0] & 0x80)) {
            *out = (uint32_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

void cn_go_values_begin(struct cn_go_values *values, const struct cn_go_table *table,
                        const struct cn_go_function *function, uint32_t off)
{
    *values = (struct cn_go_values){
        .end = function->begin, .value = -1, .quantum = table->quantum};
    /* Offset 0 means that there are none. */
    if (off > 0)
        (void)cn_bytes_from(table->values, off, &values->rest);
}

bool cn_go_values_next(struct cn_go_values *values)
{
    uint32_t change, count;

    /* Each step advances: a function has at most as many values as instructions. */
    if (!take_varint(&values->rest, &change) || (change == 0 && values->has_begun) ||
        !take_varint(&values->rest, &count) || count == 0)
        return false;
    values->has_begun = true;
    values->value += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
    values->end += (uint64_t)count * values->quantum;
    return true;
}

/* The value at an address; -1 if there is none. */
static int64_t value_at(const struct cn_go_table *table,
                        const struct cn_go_function *function, uint32_t off,
                        uint64_t address)
{
    struct cn_go_values values;

    cn_go_values_begin(&values, table, function, off);
    while (cn_go_values_next(&values))
        if (address < values.end)
            return values.value;
    return -1;
}

static struct cn_go_location locate(const struct cn_go_table *table,
                                    const struct cn_go_function *function,
                                    uint64_t address)
{
    int64_t file = value_at(table, function, function->file_off, address);
    int64_t line = value_at(table, function, function->line_off, address);
    uint32_t off =
        file >= 0 ? word_at(table->units, 4 * ((uint64_t)function->unit + (uint64_t)file),
                            UINT32_MAX)
                  : UINT32_MAX;

    return (struct cn_go_location){
        .function = function->name,
        .file = off != UINT32_MAX ? text_at(table->files, off) : "",
        .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0,
    };
}

size_t cn_go_table_locations(const struct cn_go_table *table,
                             const struct cn_go_function *function, uint64_t address,
                             struct cn_go_location *out, size_t most)
{
    size_t call_len = table->is_new ? CALL_LEN_20 : CALL_LEN_18, count = 0;
    unsigned name_at = table->is_new ? CALL_NAME_AT_20 : CALL_NAME_AT_18;
    unsigned parent_at = table->is_new ? CALL_PARENT_AT_20 : CALL_PARENT_AT_18;

    /* From the innermost call outwards; what calls it is at another instruction. */
    while (count < most) {
        int64_t at = value_at(table, function, function->inline_off, address);
        struct cn_bytes call;

        out[count] = locate(table, function, address);
        count++;
        if (at < 0 || function->tree_off == UINT32_MAX || table->inlined.len == 0 ||
            !cn_bytes_slice(table->inlined, function->tree_off + (uint64_t)at * call_len,
                            call_len, &call))
            break;
        out[count - 1].function = text_at(table->names, cn_u32_get(call.ptr + name_at));
        address = function->begin + cn_u32_get(call.ptr + parent_at);
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct cn_go_location swapped = out[i];

        out[i] = out[count - 1 - i];
        out[count - 1 - i] = swapped;
    }
    return count;
}
