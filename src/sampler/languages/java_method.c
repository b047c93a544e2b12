#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/text.h"
#include "sampler/languages/java.h"

enum { SYMBOL_LEN_MAX = 1024, LINES_LEN_MAX = 1 << 16, METHODS_MAX = 1 << 17 };

/* Bytes of the table of lines have differences of both; 0 is the end, 255 that both are
 * numbers. */
enum { LINES_END = 0, LINES_NUMBERS = 0xff, LINE_BITS = 3 };

void cn_java_methods_done(struct cn_java_methods *methods)
{
    free(methods->list);
    cn_map_done(&methods->number_of);
    cn_arena_done(&methods->arena);
    *methods = (struct cn_java_methods){0};
}

static bool add_symbol(struct cn_java_vm *vm, uint64_t address, struct cn_text *text)
{
    uint16_t len;

    if (address == 0 ||
        !cn_memory_u16(vm->memory, address + vm->at[CN_JAVA_SYMBOL_LEN], &len) ||
        len == 0 || len > SYMBOL_LEN_MAX)
        return false;
    char *room = cn_text_room(text, len);
    if (!cn_memory_read(vm->memory, address + vm->at[CN_JAVA_SYMBOL_BODY], room, len))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)room[i] < ' ')
            return false;
    cn_text_advance(text, len);
    return true;
}

/* The name of a class as the language writes it. Classes that were made while the program ran
 * have a number and an address in their name, which are others in each run. */
static void add_class(struct cn_text *text, char *name)
{
    static const char lambda[] = "$$Lambda";
    char *hidden = strstr(name, "+0x"), *at;

    if (!hidden)
        hidden = strstr(name, "/0x");
    if (hidden)
        *hidden = '\0';
    at = strstr(name, lambda);
    if (at)
        at[sizeof(lambda) - 1] = '\0';
    for (at = name; *at; at++)
        *at = *at == '/' ? '.' : *at;
    cn_text_str_add(text, name);
}

static bool pool_symbol(struct cn_java_vm *vm, uint64_t pool, uint32_t number,
                        struct cn_text *text)
{
    uint32_t count;
    uint64_t symbol;

    return cn_memory_u32(vm->memory, pool + vm->at[CN_JAVA_POOL_LENGTH], &count) &&
           number > 0 && number < count && count <= UINT16_MAX + 1U &&
           cn_memory_u64(vm->memory,
                         pool + vm->at[CN_JAVA_POOL_SIZE] + 8 * (uint64_t)number,
                         &symbol) &&
           add_symbol(vm, symbol, text);
}

/* The name of the file of a class, "" if it has none. */
static void add_file(struct cn_java_vm *vm, uint64_t pool, uint64_t holder,
                     struct cn_text *text)
{
    bool has_pool = vm->at[CN_JAVA_POOL_FILE] != CN_JAVA_ABSENT;
    uint64_t field = vm->at[has_pool ? CN_JAVA_POOL_FILE : CN_JAVA_CLASS_FILE];
    uint16_t number;

    if (field == CN_JAVA_ABSENT ||
        !cn_memory_u16(vm->memory, (has_pool ? pool : holder) + field, &number) ||
        !pool_symbol(vm, pool, number, text))
        cn_text_clear(text);
}

static void read_lines(struct cn_java_vm *vm, struct cn_java_methods *methods,
                       struct cn_java_method *method)
{
    uint64_t begin = method->code + method->code_len;
    struct cn_text text = {0};
    unsigned number_count = 0, number_len = 0; /* that follow, bytes of the first */
    size_t len = 0;
    uint8_t byte;
    uint16_t flags;

    if (!cn_memory_u16(vm->memory, method->constants + vm->at[CN_JAVA_CONST_FLAGS],
                       &flags) ||
        !(flags & vm->at[CN_JAVA_CONST_HAS_LINES]))
        return;
    while (len < LINES_LEN_MAX && cn_memory_u8(vm->memory, begin + len, &byte)) {
        cn_text_char(&text, (char)byte);
        len++;
        if (number_count == 0 && byte == LINES_END)
            break;
        if (number_count == 0) {
            number_count = byte == LINES_NUMBERS ? 2 : 0;
            number_len = 0;
        } else if (byte < CN_JAVA_NUMBER_FOLLOWED || ++number_len == CN_JAVA_NUMBER_MAX) {
            number_count--;
            number_len = 0;
        }
    }
    method->lines =
        (struct cn_bytes){cn_arena_dup(&methods->arena, cn_text_str(&text), len, 1), len};
    cn_text_done(&text);
}

/* What tells whether it is still the same. */
static bool read_head(struct cn_java_vm *vm, uint64_t address, struct cn_java_method *out)
{
    uint16_t code_len;

    *out = (struct cn_java_method){.address = address};
    if (address == 0 || address % 8 != 0 ||
        !cn_memory_u64(vm->memory, address + vm->at[CN_JAVA_METHOD_CONST],
                       &out->constants) ||
        out->constants == 0 || out->constants % 8 != 0 ||
        !cn_memory_u16(vm->memory, out->constants + vm->at[CN_JAVA_CONST_CODE_LEN],
                       &code_len))
        return false;
    out->code = out->constants + vm->at[CN_JAVA_CONST_SIZE];
    out->code_len = code_len;
    return true;
}

static bool read_method(struct cn_java_methods *methods, struct cn_java_vm *vm,
                        struct cn_java_method *method)
{
    struct cn_text function = {0}, name = {0};
    uint64_t pool, holder, symbol;
    uint16_t number;
    bool ok = cn_memory_u64(vm->memory, method->constants + vm->at[CN_JAVA_CONST_POOL],
                            &pool) &&
              cn_memory_u16(vm->memory, method->constants + vm->at[CN_JAVA_CONST_NAME],
                            &number) &&
              cn_memory_u64(vm->memory, pool + vm->at[CN_JAVA_POOL_HOLDER], &holder) &&
              cn_memory_u64(vm->memory, holder + vm->at[CN_JAVA_CLASS_NAME], &symbol) &&
              add_symbol(vm, symbol, &name);

    if (ok) {
        add_class(&function, name.chars);
        cn_text_char(&function, '.');
        ok = pool_symbol(vm, pool, number, &function);
    }
    if (ok) {
        cn_text_clear(&name);
        add_file(vm, pool, holder, &name);
        method->function = cn_arena_strdup(&methods->arena, cn_text_str(&function));
        method->file = cn_arena_strdup(&methods->arena, cn_text_str(&name));
        read_lines(vm, methods, method);
        method->first_line = cn_java_method_line(vm, method, 0);
    }
    cn_text_done(&function);
    cn_text_done(&name);
    return ok;
}

const struct cn_java_method *cn_java_method_find(struct cn_java_methods *methods,
                                                 struct cn_java_vm *vm, uint64_t address)
{
    uint32_t number = cn_map_find(&methods->number_of, address, UINT32_MAX);
    struct cn_java_method fresh;

    /* The metadata of a class stays where it is until the class is unloaded. */
    if (!read_head(vm, address, &fresh))
        return number < methods->count ? &methods->list[number] : NULL;
    if (number < methods->count && methods->list[number].constants == fresh.constants &&
        methods->list[number].code_len == fresh.code_len)
        return &methods->list[number];
    if (!read_method(methods, vm, &fresh))
        return NULL;
    if (methods->count == METHODS_MAX) {
        cn_java_methods_done(methods);
        if (!read_method(methods, vm, &fresh))
            return NULL;
    }
    *cn_map_at(&methods->number_of, address, 0) = (uint32_t)methods->count;
    CN_PUSH(methods->list, methods->count, methods->capacity, fresh);
    return &methods->list[methods->count - 1];
}

static bool take_signed(const struct cn_java_vm *vm, struct cn_bytes *rest, int64_t *out)
{
    uint32_t number;

    if (!cn_java_number_take(vm, rest, &number))
        return false;
    *out = (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
    return true;
}

uint32_t cn_java_method_line(const struct cn_java_vm *vm,
                             const struct cn_java_method *method, int32_t bci)
{
    struct cn_bytes rest = method->lines, byte;
    int64_t at = 0, line = 0, best_at = -1, best = 0;

    while (cn_bytes_take(&rest, 1, &byte) && byte.ptr[0] != LINES_END) {
        int64_t more_at = byte.ptr[0] >> LINE_BITS;
        int64_t more = byte.ptr[0] & ((1 << LINE_BITS) - 1);

        if (byte.ptr[0] == LINES_NUMBERS &&
            (!take_signed(vm, &rest, &more_at) || !take_signed(vm, &rest, &more)))
            break;
        at += more_at;
        line += more;
        if (at <= bci && at >= best_at) {
            best_at = at;
            best = line;
        }
    }
    return bci >= 0 && best > 0 && best <= UINT16_MAX ? (uint32_t)best : 0;
}
