#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "sampler/languages/java.h"

enum {
    IMAGE_LEN_MAX = 1 << 20,   /* of one compiled method */
    IMAGES_LEN_MAX = 64 << 20, /* of all that are kept */
    CODES_MAX = 1 << 16,
    SEGMENT_STEPS_MAX = 4096,
    FRAME_LEN_MAX = 1 << 20,
    STUB_NAME_MAX = 64,
    FREE_SEGMENT = 0xff,
    CHECK_NS = 10000000, /* code that was there is not looked at for so long */
};

void cn_java_codes_done(struct cn_java_codes *codes)
{
    for (size_t i = 0; i < codes->count; i++) {
        free(codes->list[i].bytes);
        free(codes->list[i].others);
    }
    free(codes->list);
    cn_map_done(&codes->number_of);
    cn_map_done(&codes->code_of);
    cn_arena_done(&codes->arena);
    *codes = (struct cn_java_codes){.next_number = codes->next_number};
}

/* The CodeBlob whose segments contain an address. The map has, for each segment, how far back
 * the first one is, in steps. */
static bool find_blob(struct cn_java_vm *vm, uint64_t pc, uint64_t *out)
{
    const struct cn_java_heap *heap = NULL;
    uint8_t step, is_used;
    uint64_t segment;

    for (size_t i = 0; i < vm->heap_count; i++)
        if (pc >= vm->heaps[i].low && pc < vm->heaps[i].high)
            heap = &vm->heaps[i];
    if (!heap)
        return false;
    segment = (pc - heap->low) >> heap->log2;
    for (unsigned i = 0;; i++) {
        if (i == SEGMENT_STEPS_MAX ||
            !cn_memory_u8(vm->memory, heap->segments + segment, &step) ||
            step == FREE_SEGMENT || step > segment)
            return false;
        if (step == 0)
            break;
        segment -= step;
    }
    uint64_t block = heap->low + (segment << heap->log2);
    *out = block + vm->at[CN_JAVA_BLOCK_SIZE];
    return cn_memory_u8(vm->memory, block + vm->at[CN_JAVA_BLOCK_USED], &is_used) &&
           is_used != 0;
}

/* The head of a CodeBlob while it is decoded. */
struct java_head {
    struct cn_java_vm *vm;
    uint64_t address;
    bool is_bad;
};

static uint64_t get_u64(struct java_head *head, enum cn_java_field field)
{
    uint64_t value = 0;

    if (head->vm->at[field] == CN_JAVA_ABSENT ||
        !cn_memory_u64(head->vm->memory, head->address + head->vm->at[field], &value))
        head->is_bad = true;
    return value;
}

static uint32_t get_u32(struct java_head *head, enum cn_java_field field)
{
    uint32_t value = 0;

    if (head->vm->at[field] == CN_JAVA_ABSENT ||
        !cn_memory_u32(head->vm->memory, head->address + head->vm->at[field], &value))
        head->is_bad = true;
    return value;
}

/* What tells whether it is still the same. */
static bool read_head(struct cn_java_vm *vm, uint64_t address, struct cn_java_code *out)
{
    struct java_head head = {.vm = vm, .address = address};
    int32_t words;

    *out = (struct cn_java_code){.address = address};
    out->name = get_u64(&head, CN_JAVA_BLOB_NAME);
    out->begin = cn_java_has(vm, CN_JAVA_BLOB_CODE_BEGIN)
                     ? get_u64(&head, CN_JAVA_BLOB_CODE_BEGIN)
                     : address + get_u32(&head, CN_JAVA_BLOB_CODE_OFF);
    out->end = cn_java_has(vm, CN_JAVA_BLOB_CODE_END)
                   ? get_u64(&head, CN_JAVA_BLOB_CODE_END)
                   : address + get_u32(&head, CN_JAVA_BLOB_DATA_OFF);
    words = (int32_t)get_u32(&head, CN_JAVA_BLOB_FRAME);
    out->frame_len = words > 0 && words < FRAME_LEN_MAX / 8 ? 8 * (uint64_t)words : 0;
    uint32_t complete = get_u32(&head, CN_JAVA_BLOB_COMPLETE);
    out->complete_len =
        vm->has_short_complete ? (int16_t)(uint16_t)complete : (int32_t)complete;
    out->image.len = get_u32(&head, CN_JAVA_BLOB_SIZE);
    return !head.is_bad && out->begin > address && out->end > out->begin &&
           out->end - address <= out->image.len && out->image.len <= IMAGE_LEN_MAX;
}

static void read_compiled(struct cn_java_vm *vm, struct cn_java_code *code)
{
    struct java_head head = {.vm = vm, .address = code->address};

    code->method = get_u64(&head, CN_JAVA_COMPILED_METHOD);
    code->id = get_u32(&head, CN_JAVA_COMPILED_ID);
    code->original_off = get_u32(&head, CN_JAVA_COMPILED_ORIGINAL_OFF);
    if (cn_java_has(vm, CN_JAVA_COMPILED_DEOPT))
        code->deopt = get_u64(&head, CN_JAVA_COMPILED_DEOPT);
    else if (cn_java_has(vm, CN_JAVA_COMPILED_DEOPT_OFF))
        code->deopt = code->address + get_u32(&head, CN_JAVA_COMPILED_DEOPT_OFF);
    if (cn_java_has(vm, CN_JAVA_COMPILED_ENTRY))
        code->entry = get_u64(&head, CN_JAVA_COMPILED_ENTRY);
    else if (cn_java_has(vm, CN_JAVA_COMPILED_ENTRY_OFF))
        code->entry = code->begin + (uint16_t)get_u32(&head, CN_JAVA_COMPILED_ENTRY_OFF);
}

/* Scopes and the methods that they name, where they are not part of the code. */
static bool read_others(struct cn_java_vm *vm, struct cn_java_code *code)
{
    struct java_head head = {.vm = vm, .address = code->address};
    uint64_t debug = get_u64(&head, CN_JAVA_COMPILED_IMMUTABLE);
    uint64_t mutable = get_u64(&head, CN_JAVA_BLOB_MUTABLE);
    size_t debug_len = get_u32(&head, CN_JAVA_COMPILED_IMMUTABLE_LEN);
    size_t len = get_u32(&head, CN_JAVA_BLOB_MUTABLE_LEN);
    size_t relocation_len = get_u32(&head, CN_JAVA_BLOB_RELOCATION_LEN);

    if (head.is_bad || relocation_len > len || debug_len > IMAGE_LEN_MAX ||
        len > IMAGE_LEN_MAX)
        return false;
    len -= relocation_len;
    code->others = cn_alloc(debug_len + len + 1, 1);
    vm->memory->left += debug_len + len;
    code->debug = (struct cn_bytes){code->others, debug_len};
    code->methods = (struct cn_bytes){code->others + debug_len, len};
    return (debug_len == 0 ||
            cn_memory_read(vm->memory, debug, code->others, debug_len)) &&
           (len == 0 || cn_memory_read(vm->memory, mutable + relocation_len,
                                       code->others + debug_len, len));
}

/* The same where they are. */
static void find_others(const struct cn_java_vm *vm, struct cn_java_code *code)
{
    uint64_t field = vm->at[CN_JAVA_COMPILED_METADATA_OFF];

    code->debug = code->image;
    if (code->image.len >= field + 4)
        (void)!cn_bytes_from(code->image, cn_u32_get(code->image.ptr + field),
                             &code->methods);
}

static bool is_same(const struct cn_java_code *a, const struct cn_java_code *b)
{
    return a->begin == b->begin && a->end == b->end && a->name == b->name &&
           a->method == b->method && a->id == b->id && a->image.len == b->image.len;
}

static bool is_text(struct cn_java_vm *vm, uint64_t address, const char *expected)
{
    char text[STUB_NAME_MAX];
    size_t len = strlen(expected) + 1;

    return cn_memory_read(vm->memory, address, text, len) &&
           memcmp(text, expected, len) == 0;
}

static bool read_code(struct cn_java_codes *codes, struct cn_java_vm *vm,
                      uint64_t address, struct cn_java_code *out)
{
    if (!read_head(vm, address, out))
        return false;
    out->kind = is_text(vm, out->name, "nmethod")          ? CN_JAVA_COMPILED
                : is_text(vm, out->name, "native nmethod") ? CN_JAVA_NATIVE
                                                           : CN_JAVA_STUB;
    if (out->kind == CN_JAVA_STUB) {
        char text[STUB_NAME_MAX];
        size_t len = 0;

        while (len + 1 < sizeof(text) &&
               cn_memory_read(vm->memory, out->name + len, text + len, 1) &&
               text[len] >= ' ' && text[len] <= '~')
            len++;
        out->stub_name = cn_arena_copy(&codes->arena, text, len);
    } else {
        read_compiled(vm, out);
    }
    size_t len = out->image.len;
    out->bytes = cn_alloc(len, 1);
    vm->memory->left += len;
    out->image.ptr = out->bytes;
    bool ok = cn_memory_read(vm->memory, address, out->bytes, len);
    if (ok && out->kind == CN_JAVA_COMPILED &&
        cn_java_has(vm, CN_JAVA_COMPILED_IMMUTABLE))
        ok = read_others(vm, out);
    else if (ok && out->kind == CN_JAVA_COMPILED)
        find_others(vm, out);
    if (!ok) {
        free(out->bytes);
        free(out->others);
    }
    return ok;
}

/* Is a known one still there? A process that has ended has no other by now. */
static bool is_current(struct cn_java_vm *vm, struct cn_java_code *code, uint64_t now_ns)
{
    struct cn_java_code now;

    if (now_ns - code->checked_ns < CHECK_NS)
        return true;
    if (read_head(vm, code->address, &now)) {
        if (code->kind != CN_JAVA_STUB)
            read_compiled(vm, &now);
        if (!is_same(code, &now))
            return false;
    }
    code->checked_ns = now_ns;
    return true;
}

static size_t kept_len(const struct cn_java_code *code)
{
    return code->image.len + (code->others ? code->debug.len + code->methods.len : 0);
}

static bool contains(const struct cn_java_code *code, uint64_t pc)
{
    return pc >= code->begin && pc <= code->end;
}

const struct cn_java_code *cn_java_code_find(struct cn_java_codes *codes,
                                             struct cn_java_vm *vm, uint64_t pc,
                                             uint64_t now_ns)
{
    uint32_t known = cn_map_find(&codes->code_of, pc, UINT32_MAX), *number;
    struct cn_java_code *code = known < codes->count ? &codes->list[known] : NULL;
    struct cn_java_code fresh;
    uint64_t address;

    if (code && contains(code, pc) && is_current(vm, code, now_ns))
        return code;
    if (!find_blob(vm, pc, &address))
        return NULL;
    number = cn_map_at(&codes->number_of, address, UINT32_MAX);
    code = *number < codes->count ? &codes->list[*number] : NULL;
    if (!code || !contains(code, pc) || !is_current(vm, code, now_ns)) {
        if (codes->image_len > IMAGES_LEN_MAX || codes->count == CODES_MAX) {
            cn_java_codes_done(codes);
            code = NULL;
        }
        if (!read_code(codes, vm, address, &fresh))
            return NULL;
        number = cn_map_at(&codes->number_of, address, UINT32_MAX);
        if (!code) {
            *number = (uint32_t)codes->count;
            CN_PUSH(codes->list, codes->count, codes->capacity, (struct cn_java_code){0});
            code = &codes->list[*number];
        }
        codes->image_len += kept_len(&fresh) - kept_len(code);
        free(code->bytes);
        free(code->others);
        fresh.number = codes->next_number++;
        fresh.checked_ns = now_ns;
        *code = fresh;
    }
    if (!contains(code, pc))
        return NULL;
    *cn_map_at(&codes->code_of, pc, 0) = *number;
    return code;
}

bool cn_java_number_take(const struct cn_java_vm *vm, struct cn_bytes *rest,
                         uint32_t *out)
{
    /* Bytes from 192 on are followed by another one; since Java 20 no byte is 0. */
    enum { BITS = 6 };
    uint32_t excluded = vm->major >= 20, sum = 0;

    for (unsigned i = 0; i < CN_JAVA_NUMBER_MAX; i++) {
        struct cn_bytes byte;

        if (!cn_bytes_take(rest, 1, &byte) || byte.ptr[0] < excluded)
            return false;
        sum += (byte.ptr[0] - excluded) << (BITS * i);
        if (byte.ptr[0] < CN_JAVA_NUMBER_FOLLOWED)
            break;
    }
    *out = sum;
    return true;
}

/* The record of an address: the first at or after it. Records are sorted. */
static bool find_scope(const struct cn_java_vm *vm, const struct cn_java_code *code,
                       uint64_t pc, uint32_t *out)
{
    /* Scopes follow them where both are elsewhere. */
    uint64_t end_field = vm->at[cn_java_has(vm, CN_JAVA_COMPILED_IMMUTABLE)
                                    ? CN_JAVA_COMPILED_SCOPES_OFF
                                    : CN_JAVA_COMPILED_PCS_END_OFF];
    uint64_t size = vm->at[CN_JAVA_PC_SIZE], begin, end, low = 0, count;
    const uint8_t *image = code->image.ptr;
    struct cn_bytes records;

    if (code->image.len < vm->at[CN_JAVA_COMPILED_PCS_OFF] + 4 ||
        code->image.len < end_field + 4)
        return false;
    begin = cn_u32_get(image + vm->at[CN_JAVA_COMPILED_PCS_OFF]);
    end = cn_u32_get(image + end_field);
    if (end < begin || !cn_bytes_slice(code->debug, begin, end - begin, &records) ||
        vm->at[CN_JAVA_PC_OFF] > size - 4 || vm->at[CN_JAVA_PC_SCOPE] > size - 4)
        return false;
    count = records.len / size;
    for (uint64_t high = count; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        struct cn_bytes record = cn_bytes_element(records, middle, size);
        int32_t off = (int32_t)cn_u32_get(record.ptr + vm->at[CN_JAVA_PC_OFF]);

        if (off < (int64_t)(pc - code->begin))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return false;
    *out =
        cn_u32_get(cn_bytes_element(records, low, size).ptr + vm->at[CN_JAVA_PC_SCOPE]);
    return true;
}

/* A method by its number in the metadata of compiled code. */
static bool method_at(const struct cn_java_code *code, uint32_t number, uint64_t *out)
{
    struct cn_bytes word;

    if (number == 0 ||
        !cn_bytes_slice(code->methods, 8 * ((uint64_t)number - 1), 8, &word))
        return false;
    *out = cn_u64_get(word.ptr);
    return true;
}

size_t cn_java_code_scopes(const struct cn_java_vm *vm, const struct cn_java_code *code,
                           uint64_t pc, struct cn_java_scope out[CN_JAVA_FRAMES_MAX])
{
    uint64_t scopes_off, field = vm->at[CN_JAVA_COMPILED_SCOPES];
    struct cn_bytes scopes;
    uint32_t off = 0, number, bci;
    size_t count = 0;

    out[0] = (struct cn_java_scope){code->method, -1};
    if (code->kind != CN_JAVA_COMPILED || !find_scope(vm, code, pc, &off))
        return 1;
    if (field != CN_JAVA_ABSENT) {
        if (code->image.len < field + 8)
            return 1;
        scopes_off = cn_u64_get(code->image.ptr + field) - code->address;
    } else {
        field = vm->at[CN_JAVA_COMPILED_SCOPES_OFF];
        if (code->image.len < field + 4)
            return 1;
        scopes_off = cn_u32_get(code->image.ptr + field);
    }
    if (!cn_bytes_from(code->debug, scopes_off, &scopes))
        return 1;
    /* A scope: that of its caller, method, index of the bytecode, which counts from -1. */
    while (off != 0 && count < CN_JAVA_FRAMES_MAX) {
        struct cn_bytes rest;

        if (!cn_bytes_from(scopes, off, &rest) || !cn_java_number_take(vm, &rest, &off) ||
            !cn_java_number_take(vm, &rest, &number) ||
            !cn_java_number_take(vm, &rest, &bci) ||
            !method_at(code, number, &out[count].method))
            break;
        out[count++].bci = (int32_t)(bci - 1);
    }
    return count > 0 ? count : 1;
}
