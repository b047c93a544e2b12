#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "sampler/languages/file.h"
#include "sampler/languages/java.h"

enum {
    ENTRY_LEN_MAX = 128,
    ENTRIES_MAX = 1 << 14,
    TABLES_BYTES = 4 << 20, /* may be read for the tables, once */
    NAME_MAX_LEN = 96,
    ENTRY_FIELDS = 6,
};

/* What tells the layout of the tables. */
enum java_symbol {
    STRUCTS,
    STRUCT_STRIDE,
    STRUCT_TYPE,
    STRUCT_FIELD,
    STRUCT_IS_STATIC,
    STRUCT_OFFSET,
    STRUCT_ADDRESS,
    STRUCT_VALUE_TYPE,
    TYPES,
    TYPE_STRIDE,
    TYPE_NAME,
    TYPE_SIZE,
    INTS,
    INT_STRIDE,
    INT_NAME,
    INT_VALUE,
    SYMBOLS,
};

static const char *const symbol_names[SYMBOLS] = {
    [STRUCTS] = "gHotSpotVMStructs",
    [STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
    [STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
    [STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
    [STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
    [STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
    [STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
    [STRUCT_VALUE_TYPE] = "gHotSpotVMStructEntryTypeStringOffset",
    [TYPES] = "gHotSpotVMTypes",
    [TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
    [TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
    [TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
    [INTS] = "gHotSpotVMIntConstants",
    [INT_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
    [INT_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
    [INT_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
};

/* A field, or the size of a type (without a field), or a constant (without a type). */
struct java_wanted {
    enum cn_java_field at;
    const char *type, *field;
};

static const struct java_wanted wanted[] = {
    {CN_JAVA_CODE_HEAPS, "CodeCache", "_heaps"},
    {CN_JAVA_CODE_HEAP, "CodeCache", "_heap"},
    {CN_JAVA_INTERPRETER, "AbstractInterpreter", "_code"},
    {CN_JAVA_CALL_STUB_RETURN, "StubRoutines", "_call_stub_return_address"},
    {CN_JAVA_MAJOR_VERSION, "Abstract_VM_Version", "_vm_major_version"},
    {CN_JAVA_RELEASE, "Abstract_VM_Version", "_s_vm_release"},
    {CN_JAVA_ARRAY_LEN, "GrowableArrayBase", "_len"},
    {CN_JAVA_ARRAY_LEN, "GenericGrowableArray", "_len"},
    {CN_JAVA_ARRAY_DATA, "GrowableArray<int>", "_data"},
    {CN_JAVA_HEAP_MEMORY, "CodeHeap", "_memory"},
    {CN_JAVA_HEAP_SEGMENTS, "CodeHeap", "_segmap"},
    {CN_JAVA_HEAP_LOG2, "CodeHeap", "_log2_segment_size"},
    {CN_JAVA_SPACE_LOW, "VirtualSpace", "_low"},
    {CN_JAVA_SPACE_HIGH, "VirtualSpace", "_high"},
    {CN_JAVA_BLOCK_USED, "HeapBlock::Header", "_used"},
    {CN_JAVA_BLOCK_SIZE, "HeapBlock", NULL},
    {CN_JAVA_QUEUE_BUFFER, "StubQueue", "_stub_buffer"},
    {CN_JAVA_QUEUE_LIMIT, "StubQueue", "_buffer_limit"},
    {CN_JAVA_BLOB_NAME, "CodeBlob", "_name"},
    {CN_JAVA_BLOB_SIZE, "CodeBlob", "_size"},
    {CN_JAVA_BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset"},
    {CN_JAVA_BLOB_FRAME, "CodeBlob", "_frame_size"},
    {CN_JAVA_BLOB_CODE_BEGIN, "CodeBlob", "_code_begin"},
    {CN_JAVA_BLOB_CODE_END, "CodeBlob", "_code_end"},
    {CN_JAVA_BLOB_CODE_OFF, "CodeBlob", "_code_offset"},
    {CN_JAVA_BLOB_DATA_OFF, "CodeBlob", "_data_offset"},
    {CN_JAVA_BLOB_MUTABLE, "CodeBlob", "_mutable_data"},
    {CN_JAVA_BLOB_MUTABLE_LEN, "CodeBlob", "_mutable_data_size"},
    {CN_JAVA_BLOB_RELOCATION_LEN, "CodeBlob", "_relocation_size"},
    {CN_JAVA_COMPILED_METHOD, "CompiledMethod", "_method"},
    {CN_JAVA_COMPILED_METHOD, "nmethod", "_method"},
    {CN_JAVA_COMPILED_ID, "nmethod", "_compile_id"},
    {CN_JAVA_COMPILED_SCOPES, "CompiledMethod", "_scopes_data_begin"},
    {CN_JAVA_COMPILED_SCOPES_OFF, "nmethod", "_scopes_data_offset"},
    {CN_JAVA_COMPILED_PCS_OFF, "nmethod", "_scopes_pcs_offset"},
    {CN_JAVA_COMPILED_PCS_END_OFF, "nmethod", "_dependencies_offset"},
    {CN_JAVA_COMPILED_METADATA_OFF, "nmethod", "_metadata_offset"},
    {CN_JAVA_COMPILED_IMMUTABLE, "nmethod", "_immutable_data"},
    {CN_JAVA_COMPILED_IMMUTABLE_LEN, "nmethod", "_immutable_data_size"},
    {CN_JAVA_COMPILED_DEOPT, "CompiledMethod", "_deopt_handler_begin"},
    {CN_JAVA_COMPILED_DEOPT_OFF, "nmethod", "_deoptimize_offset"},
    {CN_JAVA_COMPILED_DEOPT_OFF, "nmethod", "_deopt_handler_offset"},
    {CN_JAVA_COMPILED_ORIGINAL_OFF, "nmethod", "_orig_pc_offset"},
    {CN_JAVA_COMPILED_ENTRY, "nmethod", "_verified_entry_point"},
    {CN_JAVA_COMPILED_ENTRY_OFF, "nmethod", "_verified_entry_offset"},
    {CN_JAVA_PC_OFF, "PcDesc", "_pc_offset"},
    {CN_JAVA_PC_SCOPE, "PcDesc", "_scope_decode_offset"},
    {CN_JAVA_PC_SIZE, "PcDesc", NULL},
    {CN_JAVA_METHOD_CONST, "Method", "_constMethod"},
    {CN_JAVA_CONST_POOL, "ConstMethod", "_constants"},
    {CN_JAVA_CONST_FLAGS, "ConstMethod", "_flags"},
    {CN_JAVA_CONST_FLAGS, "ConstMethod", "_flags._flags"},
    {CN_JAVA_CONST_CODE_LEN, "ConstMethod", "_code_size"},
    {CN_JAVA_CONST_NAME, "ConstMethod", "_name_index"},
    {CN_JAVA_CONST_SIZE, "ConstMethod", NULL},
    {CN_JAVA_CONST_HAS_LINES, NULL, "ConstMethod::_has_linenumber_table"},
    {CN_JAVA_CONST_HAS_LINES, NULL, "ConstMethodFlags::_misc_has_linenumber_table"},
    {CN_JAVA_POOL_HOLDER, "ConstantPool", "_pool_holder"},
    {CN_JAVA_POOL_LENGTH, "ConstantPool", "_length"},
    {CN_JAVA_POOL_FILE, "ConstantPool", "_source_file_name_index"},
    {CN_JAVA_POOL_SIZE, "ConstantPool", NULL},
    {CN_JAVA_CLASS_FILE, "InstanceKlass", "_source_file_name_index"},
    {CN_JAVA_CLASS_NAME, "Klass", "_name"},
    {CN_JAVA_SYMBOL_LEN, "Symbol", "_length"},
    {CN_JAVA_SYMBOL_BODY, "Symbol", "_body[0]"},
    {CN_JAVA_SYMBOL_BODY, "Symbol", "_body"},
    {CN_JAVA_THREAD_COMPILATION, "CompilerThread", "_env"},
    {CN_JAVA_THREAD_STACK_END, "JavaThread", "_stack_base"},
    {CN_JAVA_THREAD_STACK_LEN, "JavaThread", "_stack_size"},
    {CN_JAVA_COMPILATION_TASK, "ciEnv", "_task"},
    {CN_JAVA_TASK_METHOD, "CompileTask", "_method"},
};

/* Without any of these nothing can be done. */
static const enum cn_java_field needed[] = {
    CN_JAVA_INTERPRETER,     CN_JAVA_CALL_STUB_RETURN, CN_JAVA_MAJOR_VERSION,
    CN_JAVA_HEAP_MEMORY,     CN_JAVA_HEAP_SEGMENTS,    CN_JAVA_HEAP_LOG2,
    CN_JAVA_SPACE_LOW,       CN_JAVA_SPACE_HIGH,       CN_JAVA_BLOCK_USED,
    CN_JAVA_BLOCK_SIZE,      CN_JAVA_QUEUE_BUFFER,     CN_JAVA_QUEUE_LIMIT,
    CN_JAVA_BLOB_NAME,       CN_JAVA_BLOB_SIZE,        CN_JAVA_BLOB_COMPLETE,
    CN_JAVA_BLOB_FRAME,      CN_JAVA_BLOB_DATA_OFF,    CN_JAVA_COMPILED_METHOD,
    CN_JAVA_COMPILED_ID,     CN_JAVA_COMPILED_PCS_OFF, CN_JAVA_COMPILED_ORIGINAL_OFF,
    CN_JAVA_PC_OFF,          CN_JAVA_PC_SCOPE,         CN_JAVA_PC_SIZE,
    CN_JAVA_METHOD_CONST,    CN_JAVA_CONST_POOL,       CN_JAVA_CONST_FLAGS,
    CN_JAVA_CONST_CODE_LEN,  CN_JAVA_CONST_NAME,       CN_JAVA_CONST_SIZE,
    CN_JAVA_CONST_HAS_LINES, CN_JAVA_POOL_HOLDER,      CN_JAVA_POOL_LENGTH,
    CN_JAVA_POOL_SIZE,       CN_JAVA_CLASS_NAME,       CN_JAVA_SYMBOL_LEN,
    CN_JAVA_SYMBOL_BODY,
};

void cn_java_vm_find(struct cn_java_vm *vm, const struct cn_language_mapping *mapping)
{
    _Static_assert(SYMBOLS <= sizeof(vm->symbols) / sizeof(*vm->symbols), "");

    for (size_t i = 0; i < CN_JAVA_FIELDS; i++)
        vm->at[i] = CN_JAVA_ABSENT;
    cn_language_symbols(mapping, symbol_names, SYMBOLS, vm->symbols);
    for (size_t i = 0; i < SYMBOLS; i++)
        if (vm->symbols[i] == 0)
            vm->state = CN_JAVA_UNKNOWN;
}

static bool is_text(struct cn_java_vm *vm, uint64_t address, const char *expected,
                    char text[NAME_MAX_LEN])
{
    size_t len = strlen(expected) + 1;

    return len <= NAME_MAX_LEN && cn_memory_read(vm->memory, address, text, len) &&
           memcmp(text, expected, len) == 0;
}

static void keep(struct cn_java_vm *vm, enum cn_java_field at, uint64_t value)
{
    if (vm->at[at] == CN_JAVA_ABSENT)
        vm->at[at] = value;
}

/* A table while its entries are visited. */
struct java_table {
    uint64_t address, stride;
    uint64_t offsets[ENTRY_FIELDS]; /* in an entry: the first is the name, 0 at the end */
    size_t offset_count;
};

static bool open_table(struct cn_java_vm *vm, struct java_table *table,
                       enum java_symbol first, size_t offset_count)
{
    if (!cn_memory_u64(vm->memory, vm->symbols[first], &table->address) ||
        !cn_memory_u64(vm->memory, vm->symbols[first + 1], &table->stride) ||
        table->address == 0 || table->stride == 0 || table->stride > ENTRY_LEN_MAX)
        return false;
    table->offset_count = offset_count;
    for (size_t i = 0; i < offset_count; i++)
        if (!cn_memory_u64(vm->memory, vm->symbols[first + 2 + i], &table->offsets[i]) ||
            table->offsets[i] > table->stride - 4)
            return false;
    return true;
}

/* The fields of an entry; false after the last. */
static bool read_entry(struct cn_java_vm *vm, const struct java_table *table,
                       size_t number, uint64_t out[ENTRY_FIELDS])
{
    uint8_t entry[ENTRY_LEN_MAX + 8] = {0};

    if (number == ENTRIES_MAX ||
        !cn_memory_read(vm->memory, table->address + number * table->stride, entry,
                        table->stride))
        return false;
    for (size_t i = 0; i < table->offset_count; i++)
        out[i] = cn_u64_get(entry + table->offsets[i]);
    return out[0] != 0;
}

static void take_field(struct cn_java_vm *vm, const uint64_t fields[ENTRY_FIELDS],
                       char *text)
{
    /* Type, field, is static, offset, address, type of the value. */
    const char *type = NULL;

    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        if (!wanted[i].type || !wanted[i].field)
            continue;
        if (type != wanted[i].type && (!type || strcmp(type, wanted[i].type) != 0) &&
            !is_text(vm, fields[0], wanted[i].type, text))
            continue;
        type = wanted[i].type;
        if (!is_text(vm, fields[1], wanted[i].field, text))
            continue;
        keep(vm, wanted[i].at, (uint32_t)fields[2] ? fields[4] : fields[3]);
        if (wanted[i].at == CN_JAVA_BLOB_COMPLETE)
            vm->has_short_complete = is_text(vm, fields[5], "int16_t", text);
    }
}

static bool read_tables(struct cn_java_vm *vm)
{
    struct java_table structs, types, ints;
    char text[NAME_MAX_LEN];
    uint64_t fields[ENTRY_FIELDS];

    if (!open_table(vm, &structs, STRUCTS, ENTRY_FIELDS) ||
        !open_table(vm, &types, TYPES, 2) || !open_table(vm, &ints, INTS, 2))
        return false;
    for (size_t i = 0; read_entry(vm, &structs, i, fields); i++)
        take_field(vm, fields, text);
    for (size_t i = 0; read_entry(vm, &types, i, fields); i++)
        for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++)
            if (!wanted[k].field && is_text(vm, fields[0], wanted[k].type, text))
                keep(vm, wanted[k].at, fields[1]);
    for (size_t i = 0; read_entry(vm, &ints, i, fields); i++)
        for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++)
            if (!wanted[k].type && is_text(vm, fields[0], wanted[k].field, text))
                keep(vm, wanted[k].at, (uint32_t)fields[1]);
    return true;
}

/* Scopes and methods of compiled code are in its image, or both elsewhere. Those of 23 and 24, which
 * have one of the two elsewhere, were never tried. */
static bool has_scopes(const struct cn_java_vm *vm)
{
    if (!cn_java_has(vm, CN_JAVA_COMPILED_IMMUTABLE))
        return cn_java_has(vm, CN_JAVA_COMPILED_PCS_END_OFF) &&
               cn_java_has(vm, CN_JAVA_COMPILED_METADATA_OFF);
    return cn_java_has(vm, CN_JAVA_COMPILED_IMMUTABLE_LEN) &&
           cn_java_has(vm, CN_JAVA_COMPILED_SCOPES_OFF) &&
           cn_java_has(vm, CN_JAVA_BLOB_MUTABLE) &&
           cn_java_has(vm, CN_JAVA_BLOB_MUTABLE_LEN) &&
           cn_java_has(vm, CN_JAVA_BLOB_RELOCATION_LEN);
}

/* Offsets are within a page: they are added to pointers. */
static bool is_sane(const struct cn_java_vm *vm)
{
    for (size_t i = CN_JAVA_ARRAY_LEN; i < CN_JAVA_FIELDS; i++)
        if (vm->at[i] != CN_JAVA_ABSENT && vm->at[i] > 4096 &&
            i != CN_JAVA_CONST_HAS_LINES)
            return false;
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!cn_java_has(vm, needed[i]))
            return false;
    return (cn_java_has(vm, CN_JAVA_CODE_HEAPS) || cn_java_has(vm, CN_JAVA_CODE_HEAP)) &&
           (cn_java_has(vm, CN_JAVA_BLOB_CODE_BEGIN) ||
            cn_java_has(vm, CN_JAVA_BLOB_CODE_OFF)) &&
           (cn_java_has(vm, CN_JAVA_COMPILED_SCOPES) ||
            cn_java_has(vm, CN_JAVA_COMPILED_SCOPES_OFF)) &&
           has_scopes(vm) && vm->at[CN_JAVA_PC_SIZE] >= 8 &&
           vm->at[CN_JAVA_BLOCK_SIZE] >= 8;
}

static bool read_heap(struct cn_java_vm *vm, uint64_t address)
{
    struct cn_java_heap heap = {0};
    uint64_t memory = address + vm->at[CN_JAVA_HEAP_MEMORY];
    uint64_t segments = address + vm->at[CN_JAVA_HEAP_SEGMENTS];
    uint32_t log2;

    if (!cn_memory_u64(vm->memory, memory + vm->at[CN_JAVA_SPACE_LOW], &heap.low) ||
        !cn_memory_u64(vm->memory, memory + vm->at[CN_JAVA_SPACE_HIGH], &heap.high) ||
        !cn_memory_u64(vm->memory, segments + vm->at[CN_JAVA_SPACE_LOW],
                       &heap.segments) ||
        !cn_memory_u32(vm->memory, address + vm->at[CN_JAVA_HEAP_LOG2], &log2) ||
        heap.low == 0 || heap.high <= heap.low || log2 < 4 || log2 > 16)
        return false;
    heap.log2 = log2;
    if (vm->low == 0 || heap.low < vm->low)
        vm->low = heap.low;
    if (heap.high > vm->high)
        vm->high = heap.high;
    vm->heaps[vm->heap_count++] = heap;
    return true;
}

bool cn_java_vm_read_heaps(struct cn_java_vm *vm)
{
    uint64_t pointer, data, queue;
    uint32_t len = 1, limit;

    vm->heap_count = 0;
    vm->low = vm->high = 0;
    if (vm->at[CN_JAVA_CODE_HEAPS] == CN_JAVA_ABSENT) {
        data = vm->at[CN_JAVA_CODE_HEAP];
    } else if (vm->at[CN_JAVA_ARRAY_LEN] == CN_JAVA_ABSENT ||
               vm->at[CN_JAVA_ARRAY_DATA] == CN_JAVA_ABSENT ||
               !cn_memory_u64(vm->memory, vm->at[CN_JAVA_CODE_HEAPS], &pointer) ||
               !cn_memory_u32(vm->memory, pointer + vm->at[CN_JAVA_ARRAY_LEN], &len) ||
               !cn_memory_u64(vm->memory, pointer + vm->at[CN_JAVA_ARRAY_DATA], &data)) {
        return false;
    }
    for (size_t i = 0; i < len && i < CN_JAVA_HEAPS_MAX; i++)
        if (cn_memory_u64(vm->memory, data + 8 * i, &pointer))
            (void)read_heap(vm, pointer);
    if (vm->heap_count == 0 ||
        !cn_memory_u64(vm->memory, vm->at[CN_JAVA_INTERPRETER], &queue) ||
        !cn_memory_u64(vm->memory, queue + vm->at[CN_JAVA_QUEUE_BUFFER],
                       &vm->interpreter) ||
        !cn_memory_u32(vm->memory, queue + vm->at[CN_JAVA_QUEUE_LIMIT], &limit) ||
        !cn_memory_u64(vm->memory, vm->at[CN_JAVA_CALL_STUB_RETURN],
                       &vm->call_stub_return))
        return false;
    vm->interpreter_end = vm->interpreter + limit;
    return vm->call_stub_return != 0;
}

/* A version that lacks something: what is it? */
static void refuse(struct cn_java_vm *vm)
{
    uint64_t text;
    size_t len = 0;

    vm->state = CN_JAVA_UNKNOWN;
    if (vm->at[CN_JAVA_RELEASE] == CN_JAVA_ABSENT ||
        !cn_memory_u64(vm->memory, vm->at[CN_JAVA_RELEASE], &text))
        return;
    while (len + 1 < sizeof(vm->release) &&
           cn_memory_read(vm->memory, text + len, vm->release + len, 1) &&
           vm->release[len] > ' ' && vm->release[len] <= '~')
        len++;
    vm->release[len] = '\0';
}

void cn_java_vm_read(struct cn_java_vm *vm)
{
    uint32_t major;

    if (vm->state == CN_JAVA_NOT_READY && vm->at[CN_JAVA_INTERPRETER] == CN_JAVA_ABSENT) {
        vm->memory->left += TABLES_BYTES;
        if (!read_tables(vm))
            return;
        if (!is_sane(vm))
            refuse(vm);
    }
    if (vm->state != CN_JAVA_NOT_READY || !cn_java_vm_read_heaps(vm) ||
        !cn_memory_u32(vm->memory, vm->at[CN_JAVA_MAJOR_VERSION], &major))
        return;
    /* Up to Java 8 the virtual machine counted for itself: 25 is that of Java 8. */
    vm->major = !cn_java_has(vm, CN_JAVA_CODE_HEAPS) ? 8 : major;
    vm->state = CN_JAVA_READY;
}
