#include "record/calls/arguments.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "record/process.h"
#include "record/state/thread.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    PAYLOAD_MAX = 1016, /* uftrace reads at most 1020 */
    STRING_MAX = 98,    /* characters stored of a string, with the dots of a longer one */
    STRING_HEAD = 2,
    UNKNOWN_LEN = 8,
    VECTOR_LEN = 16,
};

/* Where each stub saved the registers, by DWARF number: slot + 1, or 0 when not saved. */
#if defined(__x86_64__)
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, STACK_REGISTER, R8, R9, R10, R11, R12 };
enum { REGISTER_COUNT = 16 };
static const uint8_t saved_at[][REGISTER_COUNT] = {
    [CN_REC_SAVED_AT_ENTRY] = {[RBX] = 1,
                               [R11] = 2,
                               [R10] = 3,
                               [R9] = 4,
                               [R8] = 5,
                               [RDI] = 6,
                               [RSI] = 7,
                               [RDX] = 8,
                               [RCX] = 9,
                               [RAX] = 10},
    [CN_REC_SAVED_AT_RETURN] = {[RDX] = 9, [RCX] = 10, [RAX] = 11},
    [CN_REC_SAVED_BY_INSTRUMENT] = {[RBX] = 4, [RBP] = 7, [R12] = 13, 14, 15, 16},
};
#else
enum { REGISTER_COUNT = 32, STACK_REGISTER = 31 };
static const uint8_t saved_at[][REGISTER_COUNT] = {
    [CN_REC_SAVED_AT_ENTRY] = {3, 4, 5, 6, 7, 8, 9, 10, 11},
    [CN_REC_SAVED_AT_RETURN] = {3, 4},
    [CN_REC_SAVED_BY_INSTRUMENT] = {[19] = 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
    [CN_REC_SAVED_BY_MCOUNT] = {[19] = 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1},
};
#endif

struct arguments_copy {
    const struct cn_rec_registers *registers;
    uint8_t *at, *end;
};

static void copy_bytes(uint8_t *to, const volatile uint8_t *from, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = from[i];
}

/* Read memory where process_vm_readv() is forbidden. The kernel reads the 8 bytes of a
 * signal mask before it rejects the operation, which shows whether they are mapped. It reads
 * none at NULL. */
static uint32_t read_probed(uintptr_t from, uint8_t *to, uint32_t len)
{
    uint32_t done = 0;

    while (done < len) {
        uintptr_t at = from + done;
        uint32_t left = 8 - (uint32_t)(at & 7);

        if (at < 8 || cn_rec_syscall6(SYS_rt_sigprocmask, -1, (long)(at & ~(uintptr_t)7),
                                      0, sizeof(uint64_t), 0, 0) == -EFAULT)
            break;
        if (left > len - done)
            left = len - done;
        copy_bytes(to + done, (const uint8_t *)at, left);
        done += left;
    }
    return done;
}

/* Read memory that may be unmapped; returns how many bytes were read. Pages are separate
 * iovecs, as the kernel reads all of an iovec or nothing. */
static uint32_t read_memory(uintptr_t from, uint8_t *to, uint32_t len)
{
    uintptr_t left = CN_REC_PAGE_LEN - (from & (CN_REC_PAGE_LEN - 1));
    uint32_t first = len < left ? len : (uint32_t)left;
    struct iovec local = {to, len};
    struct iovec remote[2] = {{(void *)from, first},
                              {(void *)(from + first), len - first}};
    long pid = (long)atomic_load_explicit(&cn_rec_process.pid, memory_order_relaxed);
    long done = cn_rec_syscall6(SYS_process_vm_readv, pid, (long)&local, 1, (long)remote,
                                len > first ? 2 : 1, 0);

    if (done == -ENOSYS || done == -EPERM)
        return read_probed(from, to, len);
    return done < 0 ? 0 : (uint32_t)done;
}

static bool find_register(const struct cn_rec_registers *registers, uint8_t number,
                          uint64_t *out)
{
    uint8_t slot = number < REGISTER_COUNT ? saved_at[registers->saver][number] : 0;

    if (number == STACK_REGISTER)
        *out = registers->sp;
    else if (slot > 0)
        *out = registers->saved[slot - 1];
    return number == STACK_REGISTER || slot > 0;
}

/* The recorder does not use vector registers, so they are as they were when the hook was
 * called. */
#if defined(__x86_64__)
#define VECTOR(n)                                                \
    case n:                                                      \
        __asm__ volatile("movups %%xmm" #n ", %0" : "=m"(*out)); \
        break
#else
#define VECTOR(n)                                         \
    case n:                                               \
        __asm__ volatile("str q" #n ", %0" : "=m"(*out)); \
        break
#endif

struct vector {
    uint8_t bytes[VECTOR_LEN];
};

static void read_vector(uint8_t number, struct vector *out)
{
    switch (number) {
        VECTOR(0);
        VECTOR(1);
        VECTOR(2);
        VECTOR(3);
        VECTOR(4);
        VECTOR(5);
        VECTOR(6);
        VECTOR(7);
    default:
        *out = (struct vector){0};
    }
}

static void read_x87(struct vector *out)
{
#if defined(__x86_64__)
    __asm__ volatile("fstpt %0\n\tfldt %0" : "=m"(*out));
#else
    *out = (struct vector){0};
#endif
}

/* Read at most `len` bytes of a piece. False when they cannot be read. */
static bool read_piece(const struct cn_rec_registers *registers,
                       const struct cn_rec_piece *piece, uint8_t *to, uint32_t len)
{
    struct vector vector;
    uint64_t word = 0;

    switch (piece->source) {
    case CN_REC_FROM_VECTOR:
        read_vector(piece->reg, &vector);
        copy_bytes(to, vector.bytes, len);
        return true;
    case CN_REC_FROM_X87:
        read_x87(&vector);
        copy_bytes(to, vector.bytes, len);
        return true;
    case CN_REC_FROM_STACK:
    case CN_REC_FROM_STACK_POINTER:
        word = registers->sp;
        break;
    default:
        if (!find_register(registers, piece->reg, &word))
            return false;
    }
    if (piece->source == CN_REC_FROM_REGISTER) {
        copy_bytes(to, (const uint8_t *)&word + piece->offset, len);
        return true;
    }
    word += (uint64_t)(int64_t)piece->offset;
    if (piece->source == CN_REC_FROM_STACK_POINTER ||
        piece->source == CN_REC_FROM_FRAME_POINTER)
        word = *(const volatile uint64_t *)word;
    else if (piece->source != CN_REC_FROM_POINTER) {
        copy_bytes(to, (const uint8_t *)word, len);
        return true;
    }
    return read_memory(word, to, len) == len;
}

static void pad(struct arguments_copy *copy, const uint8_t *begin, uint32_t align)
{
    while ((uint32_t)(copy->at - begin) % align != 0)
        *copy->at++ = 0;
}

/* Fast path: most values are one register. There is always room for a word. */
static bool store_word(struct arguments_copy *copy, const struct cn_rec_value *value)
{
    const struct cn_rec_piece *piece = &value->pieces[0];
    struct vector vector;
    uint64_t word;

    if (value->piece_count != 1 || value->size > sizeof(word) ||
        piece->len != value->size || piece->offset != 0)
        return false;
    if (piece->source == CN_REC_FROM_VECTOR) {
        read_vector(piece->reg, &vector);
        __builtin_memcpy(&word, &vector, sizeof(word));
    } else if (piece->source != CN_REC_FROM_REGISTER ||
               !find_register(copy->registers, piece->reg, &word)) {
        return false;
    }
    if (value->size < sizeof(word))
        word &= ((uint64_t)1 << 8 * value->size) - 1;
    __builtin_memcpy(copy->at, &word, sizeof(word));
    copy->at += value->size;
    return true;
}

/* Bytes that cannot be read are stored as zero. */
static void store_plain(struct arguments_copy *copy, const struct cn_rec_value *value)
{
    uint8_t *to = copy->at;
    uint32_t left = value->size;

    if (store_word(copy, value))
        return;
    for (uint32_t i = 0; i < value->size; i++)
        to[i] = 0;
    for (uint32_t i = 0; i < value->piece_count; i++) {
        const struct cn_rec_piece *piece = &value->pieces[i];
        uint32_t len = piece->len < left ? piece->len : left;

        (void)read_piece(copy->registers, piece, to, len);
        to += len;
        left -= len;
    }
    uint8_t sign = to > copy->at && (to[-1] & 0x80) ? UINT8_MAX : 0;
    while (value->kind == CN_REC_VALUE_SIGNED && left-- > 0)
        *to++ = sign;
    copy->at += value->size;
}

static void store_text(struct arguments_copy *copy, const char *text, uint32_t len)
{
    copy->at[0] = (uint8_t)len;
    copy->at[1] = 0;
    copy_bytes(copy->at + STRING_HEAD, (const uint8_t *)text, len);
    copy->at += STRING_HEAD + len;
}

/* Invalid pointers are stored as uftrace does. */
static void store_bad_pointer(struct arguments_copy *copy, uint64_t pointer)
{
    char space[24];
    struct cn_rec_text text = {space, sizeof(space), 0, false};

    cn_rec_text_str(&text, "<0x");
    cn_rec_text_number(&text, pointer, 16, 1);
    cn_rec_text_char(&text, '>');
    store_text(copy, space, text.len);
}

/* Store at most `most` characters, up to a NUL. */
static void store_string(struct arguments_copy *copy, uint64_t pointer, uint64_t most)
{
    char *chars = (char *)copy->at + STRING_HEAD;
    uint32_t wanted = most < STRING_MAX + 1 ? (uint32_t)most : STRING_MAX + 1;
    uint32_t got, len = 0;

    if (pointer == 0) {
        store_text(copy, "NULL", 4);
        return;
    }
    got = wanted > 0 ? read_memory(pointer, (uint8_t *)chars, wanted) : 0;
    if (got == 0 && wanted > 0) {
        store_bad_pointer(copy, pointer);
        return;
    }
    while (len < got && chars[len] != '\0')
        len++;
    if (len > STRING_MAX) {
        len = STRING_MAX;
        chars[len - 3] = chars[len - 2] = chars[len - 1] = '.';
    }
    copy->at[0] = (uint8_t)len;
    copy->at[1] = 0;
    copy->at += STRING_HEAD + len;
}

static void store_pointed(struct arguments_copy *copy, const struct cn_rec_value *value)
{
    uint64_t words[2] = {0, UINT64_MAX}, pointer = 0;

    if (!read_piece(copy->registers, &value->pieces[0], (uint8_t *)&pointer,
                    sizeof(pointer))) {
        store_text(copy, "?", 1);
        return;
    }
    if (value->kind == CN_REC_VALUE_STRING) {
        store_string(copy, pointer, UINT64_MAX);
        return;
    }
    if (read_memory(pointer, (uint8_t *)words, sizeof(words)) < sizeof(words))
        store_bad_pointer(copy, pointer);
    else
        store_string(copy, words[0], words[1]);
}

static bool store_value(struct arguments_copy *copy, const struct cn_rec_value *value)
{
    const uint8_t *begin = copy->at;
    bool is_plain =
        value->kind == CN_REC_VALUE_PLAIN || value->kind == CN_REC_VALUE_SIGNED;
    uint32_t most = is_plain                              ? value->size
                    : value->kind == CN_REC_VALUE_UNKNOWN ? UNKNOWN_LEN
                                                          : STRING_HEAD + STRING_MAX + 1;

    if (copy->end - copy->at < (ptrdiff_t)((most + 7) & ~7u))
        return false;
    if (is_plain) {
        store_plain(copy, value);
    } else if (value->kind == CN_REC_VALUE_UNKNOWN) {
        for (uint32_t i = 0; i < UNKNOWN_LEN; i++)
            *copy->at++ = 0;
    } else {
        store_pointed(copy, value);
    }
    pad(copy, begin, 4);
    return true;
}

uint32_t cn_rec_arguments_store(struct cn_rec_thread *self, uint32_t first,
                                uint32_t count, const struct cn_rec_registers *registers)
{
    uint32_t used = self->filter.values_used;
    uint8_t *begin = self->values + used;
    struct arguments_copy copy = {registers, begin, begin + PAYLOAD_MAX};
    bool ok = true;

    if (used > CN_REC_VALUES_LEN - PAYLOAD_MAX)
        return 0;
    /* A signal handler that runs meanwhile stores its values above. */
    *(volatile uint32_t *)&self->filter.values_used = used + PAYLOAD_MAX;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = store_value(&copy, &cn_rec_process.values[first + i]);
    pad(&copy, begin, 8);
    if (!ok)
        copy.at = begin;
    *(volatile uint32_t *)&self->filter.values_used = used + (uint32_t)(copy.at - begin);
    return (uint32_t)(copy.at - begin);
}

bool cn_rec_arguments_number(uint32_t index, const struct cn_rec_registers *registers,
                             int64_t *out)
{
    const struct cn_rec_value *value = &cn_rec_process.values[index];
    const struct cn_rec_piece *piece = &value->pieces[0];
    unsigned unused = value->size < sizeof(*out) ? 64 - 8u * value->size : 0;
    uint64_t word = 0;

    if (value->piece_count != 1 || value->size == 0 || value->size > sizeof(word) ||
        piece->len < value->size ||
        !read_piece(registers, piece, (uint8_t *)&word, value->size))
        return false;
    *out = (int64_t)(word << unused) >> unused;
    return true;
}
