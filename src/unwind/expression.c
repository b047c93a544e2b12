#include "unwind/expression.h"

#include "unwind/elf.h"

enum { DEPTH_MAX = 64, STEP_MAX = 1 << 14 };

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct expression_machine {
    struct cn_bytes whole, rest;
    const struct cn_unwind_registers *registers;
    cn_unwind_read read;
    const void *arg;
    uint64_t stack[DEPTH_MAX];
    unsigned depth;
};

static bool push(struct expression_machine *m, uint64_t value)
{
    if (m->depth == DEPTH_MAX)
        return false;
    m->stack[m->depth++] = value;
    return true;
}

static bool push_register(struct expression_machine *m, uint64_t number)
{
    int64_t offset;

    return cn_unwind_sleb_take(&m->rest, &offset) && number < CN_UNWIND_REGISTER_MAX &&
           m->registers->known >> number & 1 &&
           push(m, m->registers->value[number] + (uint64_t)offset);
}

static bool push_number(struct expression_machine *m, uint8_t code)
{
    uint64_t value;
    int64_t number;

    if (code >= OP_LIT0 && code <= OP_LIT31)
        return push(m, (uint64_t)(code - OP_LIT0));
    if (code >= OP_BREG0 && code <= OP_BREG31)
        return push_register(m, (uint64_t)(code - OP_BREG0));
    if (code == OP_BREGX)
        return cn_unwind_uleb_take(&m->rest, &value) && push_register(m, value);
    if (code == OP_ADDR)
        return cn_unwind_int_take(&m->rest, 8, false, &value) && push(m, value);
    if (code == OP_CONSTU)
        return cn_unwind_uleb_take(&m->rest, &value) && push(m, value);
    if (code == OP_CONSTS)
        return cn_unwind_sleb_take(&m->rest, &number) && push(m, (uint64_t)number);
    /* CONST1U, CONST1S, CONST2U, ... */
    return cn_unwind_int_take(&m->rest, 1U << (code - OP_CONST1U) / 2,
                              (code - OP_CONST1U) % 2 == 1, &value) &&
           push(m, value);
}

static bool jump(struct expression_machine *m, bool is_taken)
{
    uint64_t distance;

    if (!cn_unwind_int_take(&m->rest, 2, true, &distance))
        return false;
    /* Before the beginning wraps around to beyond the end. */
    return !is_taken ||
           cn_bytes_from(m->whole, m->whole.len - m->rest.len + distance, &m->rest);
}

/* Replace the number on top. */
static bool unary(struct expression_machine *m, uint8_t code)
{
    struct cn_bytes len;
    uint64_t *top, value;

    if (m->depth < 1)
        return false;
    top = &m->stack[m->depth - 1];
    switch (code) {
    case OP_ABS:
        *top = (int64_t)*top < 0 ? 0 - *top : *top;
        return true;
    case OP_NEG:
        *top = 0 - *top;
        return true;
    case OP_NOT:
        *top = ~*top;
        return true;
    case OP_PLUS_UCONST:
        if (!cn_unwind_uleb_take(&m->rest, &value))
            return false;
        *top += value;
        return true;
    case OP_DEREF:
        return m->read(m->arg, *top, top);
    case OP_DEREF_SIZE:
        if (!cn_bytes_take(&m->rest, 1, &len) || len.ptr[0] == 0 || len.ptr[0] > 8 ||
            !m->read(m->arg, *top, &value))
            return false;
        *top = cn_bits(value, 0, 8U * len.ptr[0]);
        return true;
    default:
        return false;
    }
}

static bool compute(uint8_t code, uint64_t a, uint64_t b, uint64_t *out)
{
    int64_t x = (int64_t)a, y = (int64_t)b;

    switch (code) {
    case OP_AND:
        *out = a & b;
        break;
    case OP_DIV:
        if (b == 0 || (x == INT64_MIN && y == -1))
            return false;
        *out = (uint64_t)(x / y);
        break;
    case OP_MINUS:
        *out = a - b;
        break;
    case OP_MOD:
        if (b == 0)
            return false;
        *out = a % b;
        break;
    case OP_MUL:
        *out = a * b;
        break;
    case OP_OR:
        *out = a | b;
        break;
    case OP_PLUS:
        *out = a + b;
        break;
    case OP_SHL:
        *out = b < 64 ? a << b : 0;
        break;
    case OP_SHR:
        *out = b < 64 ? a >> b : 0;
        break;
    case OP_SHRA:
        *out = b < 64 ? (uint64_t)(x >> b) : x < 0 ? UINT64_MAX : 0;
        break;
    case OP_XOR:
        *out = a ^ b;
        break;
    case OP_EQ:
        *out = a == b;
        break;
    case OP_GE:
        *out = x >= y;
        break;
    case OP_GT:
        *out = x > y;
        break;
    case OP_LE:
        *out = x <= y;
        break;
    case OP_LT:
        *out = x < y;
        break;
    case OP_NE:
        *out = a != b;
        break;
    default:
        return false;
    }
    return true;
}

static bool rearrange(struct expression_machine *m, uint8_t code)
{
    uint64_t *top = m->stack + m->depth, kept;
    struct cn_bytes index;

    switch (code) {
    case OP_DUP:
        return m->depth >= 1 && push(m, top[-1]);
    case OP_DROP:
        return m->depth >= 1 && m->depth-- > 0;
    case OP_OVER:
        return m->depth >= 2 && push(m, top[-2]);
    case OP_PICK:
        return cn_bytes_take(&m->rest, 1, &index) && index.ptr[0] < m->depth &&
               push(m, m->stack[m->depth - 1 - index.ptr[0]]);
    case OP_SWAP:
        if (m->depth < 2)
            return false;
        kept = top[-1];
        top[-1] = top[-2];
        top[-2] = kept;
        return true;
    default: /* OP_ROT: the first becomes the third */
        if (m->depth < 3)
            return false;
        kept = top[-1];
        top[-1] = top[-2];
        top[-2] = top[-3];
        top[-3] = kept;
        return true;
    }
}

static bool step(struct expression_machine *m, uint8_t code)
{
    if (code == OP_NOP)
        return true;
    if (code == OP_SKIP)
        return jump(m, true);
    if (code == OP_BRA)
        return m->depth >= 1 && jump(m, m->stack[--m->depth] != 0);
    if ((code >= OP_LIT0 && code <= OP_LIT31) ||
        (code >= OP_BREG0 && code <= OP_BREG31) || code == OP_BREGX || code == OP_ADDR ||
        (code >= OP_CONST1U && code <= OP_CONSTS))
        return push_number(m, code);
    if (code >= OP_DUP && code <= OP_ROT)
        return rearrange(m, code);
    if (code == OP_ABS || code == OP_NEG || code == OP_NOT || code == OP_PLUS_UCONST ||
        code == OP_DEREF || code == OP_DEREF_SIZE)
        return unary(m, code);
    if (m->depth < 2)
        return false;
    m->depth--;
    return compute(code, m->stack[m->depth - 1], m->stack[m->depth],
                   &m->stack[m->depth - 1]);
}

bool cn_unwind_evaluate(struct cn_bytes expression,
                        const struct cn_unwind_registers *registers,
                        const uint64_t *pushed, cn_unwind_read read, const void *arg,
                        uint64_t *out)
{
    struct expression_machine m = {.whole = expression,
                                   .rest = expression,
                                   .registers = registers,
                                   .read = read,
                                   .arg = arg};
    struct cn_bytes byte;

    if (pushed)
        (void)push(&m, *pushed);
    for (unsigned i = 0; cn_bytes_take(&m.rest, 1, &byte); i++)
        if (i == STEP_MAX || !step(&m, byte.ptr[0]))
            return false;
    if (m.depth == 0)
        return false;
    *out = m.stack[m.depth - 1];
    return true;
}
