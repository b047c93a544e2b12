#include "model/calls/values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes/record.h"
#include "base/text.h"

enum { VALUE_ALIGN = 4, STRING_HEAD = 2 };

static bool is_string(const struct cn_argument_spec *spec)
{
    return spec->format == 's' || spec->format == 'S';
}

/* Remove one value with its padding from the front of `rest`. */
static bool take_value(struct cn_bytes *rest, const struct cn_argument_spec *spec,
                       bool is_big_endian, struct cn_bytes *out)
{
    struct cn_bytes left = *rest, head, padding, value;
    size_t len = spec->size, skipped = 0;

    if (is_string(spec)) {
        if (!cn_bytes_take(&left, STRING_HEAD, &head))
            return false;
        len = is_big_endian ? cn_u16_be_get(head.ptr) : cn_u16_get(head.ptr);
        skipped = STRING_HEAD;
    }
    if (!cn_bytes_take(&left, len, &value) ||
        !cn_bytes_take(&left, (0 - (len + skipped)) % VALUE_ALIGN, &padding))
        return false;
    *rest = left;
    *out = value;
    return true;
}

bool cn_call_values_measure(const struct cn_argument_specs *specs, struct cn_bytes bytes,
                            bool is_big_endian, uint32_t *len)
{
    struct cn_bytes rest = bytes, value;

    if (specs->count == 0)
        return false;
    for (size_t i = 0; i < specs->count; i++)
        if (!take_value(&rest, &specs->list[i], is_big_endian, &value))
            return false;
    *len = (uint32_t)(bytes.len - rest.len);
    return true;
}

void cn_call_values_begin(struct cn_call_values *values, const struct cn_recording *rec,
                          const struct cn_call_batch *batch, const struct cn_call *call)
{
    *values = (struct cn_call_values){.is_big_endian = rec->is_big_endian};
    if (!(call->flags & CN_CALL_HAS_DATA) || call->function == CN_NONE ||
        (call->kind != CN_CALL_ENTER && call->kind != CN_CALL_EXIT))
        return;
    const struct cn_argument_specs *specs =
        call->kind == CN_CALL_ENTER ? &rec->functions[call->function].arguments
                                    : &rec->functions[call->function].result;
    if (specs->count == 0)
        return;
    values->next = specs->list;
    values->end = specs->list + specs->count;
    values->rest = cn_call_data(batch, call);
}

bool cn_call_values_next(struct cn_call_values *values, struct cn_call_value *out)
{
    if (values->next == values->end ||
        !take_value(&values->rest, values->next, values->is_big_endian, &out->bytes))
        return false;
    out->spec = values->next++;
    return true;
}

static uint64_t number_of(struct cn_bytes bytes, bool is_big_endian)
{
    uint64_t number = 0;
    size_t len = bytes.len < sizeof(number) ? bytes.len : sizeof(number);

    for (size_t i = 0; i < len; i++) {
        size_t at = is_big_endian ? i : len - 1 - i;

        number = number << 8 | bytes.ptr[at];
    }
    return number;
}

uint64_t cn_call_value_number(const struct cn_call_values *values,
                              const struct cn_call_value *value)
{
    return number_of(value->bytes, values->is_big_endian);
}

void cn_call_value_type_print(const struct cn_call_value *value, struct cn_text *text)
{
    const struct cn_argument_spec *spec = value->spec;

    if (is_string(spec))
        cn_text_str_add(text, "str");
    else if (spec->format == 'p')
        cn_text_char(text, 'p');
    else if (spec->format == 't')
        cn_text_printf(text, "struct %s", spec->type_name);
    else
        cn_text_printf(text, "%c%u", spec->format, spec->size * 8U);
}

/* Enums are recorded as whole registers; the upper half of one with an int is undefined. */
static int64_t enum_value(const struct cn_enum *enumeration, int64_t value)
{
    const struct cn_enum_member *members = enumeration->members;
    size_t count = enumeration->count;

    if (count == 0 ||
        (members[0].value >= INT32_MIN && members[count - 1].value <= INT32_MAX))
        return (int32_t)value;
    if (members[0].value >= 0 && members[count - 1].value <= UINT32_MAX)
        return (uint32_t)value;
    return value;
}

void cn_enum_print(const struct cn_enum *enumeration, int64_t value, struct cn_text *text)
{
    int64_t rest = value;
    bool is_any = false;

    for (size_t i = 0; i < enumeration->count; i++)
        if (enumeration->members[i].value == value) {
            cn_text_str_add(text, enumeration->members[i].name);
            return;
        }
    for (size_t i = enumeration->count; i-- > 0;) {
        const struct cn_enum_member *member = &enumeration->members[i];

        /* Subtract flags one by one, the largest first. */
        if (member->value > rest || (member->value < 0 && member->value != rest))
            continue;
        cn_text_printf(text, "%s%s", is_any ? "|" : "", member->name);
        is_any = true;
        rest -= member->value;
        if (rest == 0)
            return;
    }
    if (is_any)
        cn_text_printf(text, "+0x%" PRIx64, (uint64_t)rest);
    else
        cn_text_printf(text, "%" PRId64, value);
}

static int64_t sign_extend(uint64_t number, unsigned size)
{
    unsigned shift = size > 0 && size < sizeof(number) ? 64 - 8 * size : 0;

    return (int64_t)(number << shift) >> shift;
}

int64_t cn_call_value_signed(const struct cn_call_values *values,
                             const struct cn_call_value *value)
{
    return sign_extend(cn_call_value_number(values, value), value->spec->size);
}

/* Small numbers are decimal, large ones hexadecimal, as in uftrace. */
enum { DECIMAL_MAX = 100000 };

static void print_auto(uint64_t number, unsigned size, struct cn_text *text)
{
    int64_t value = sign_extend(number, size);

    if (value >= -DECIMAL_MAX && value <= DECIMAL_MAX)
        cn_text_printf(text, "%" PRId64, value);
    else if (number > 0xffff0000 && number <= UINT32_MAX)
        cn_text_printf(text, "%" PRId32, (int32_t)(uint32_t)number);
    else
        cn_text_printf(text, "%#" PRIx64, number);
}

static void print_char(uint8_t c, struct cn_text *text)
{
    switch (c) {
    case '\0':
        cn_text_str_add(text, "\\0");
        break;
    case '\b':
        cn_text_str_add(text, "\\b");
        break;
    case '\n':
        cn_text_str_add(text, "\\n");
        break;
    case '\033':
        /* A recording must not control the terminal. */
        cn_text_str_add(text, "\\x1b");
        break;
    default:
        cn_text_char(text, (char)c);
    }
}

static void print_string(const struct cn_call_value *value, struct cn_text *text)
{
    cn_text_char(text, '"');
    for (size_t i = 0; i < value->bytes.len && value->bytes.ptr[i] != '\0'; i++)
        print_char(value->bytes.ptr[i], text);
    cn_text_str_add(text, value->spec->format == 'S' ? "\"s" : "\"");
}

/* The 80-bit format of x87: 64 bits of mantissa, 15 of exponent. */
static double extended_value(struct cn_bytes bytes, bool is_big_endian)
{
    enum { BIAS = 16383, FRACTION_BITS = 63 };
    struct cn_bytes low = {bytes.ptr, 8}, high = {bytes.ptr + 8, 2};

    if (is_big_endian) {
        high.ptr = bytes.ptr;
        low.ptr = bytes.ptr + 2;
    }
    uint64_t mantissa = number_of(low, is_big_endian);
    uint64_t sign_exponent = number_of(high, is_big_endian);
    return ldexp((double)mantissa,
                 (int)cn_bits(sign_exponent, 0, 15) - BIAS - FRACTION_BITS) *
           (cn_bits(sign_exponent, 15, 1) ? -1 : 1);
}

double cn_call_value_real(const struct cn_call_values *values,
                          const struct cn_call_value *value)
{
    uint64_t bits = number_of(value->bytes, values->is_big_endian);
    double wide = 0;

    if (value->bytes.len == sizeof(float)) {
        uint32_t narrow_bits = (uint32_t)bits;
        float narrow;

        memcpy(&narrow, &narrow_bits, sizeof(narrow));
        wide = (double)narrow;
    } else if (value->bytes.len == sizeof(double)) {
        memcpy(&wide, &bits, sizeof(wide));
    } else if (value->bytes.len == 10) {
        wide = extended_value(value->bytes, values->is_big_endian);
    }
    return wide;
}

/* The call of a value: pointers are resolved there. */
struct where {
    const struct cn_recording *rec;
    uint32_t task;
    uint64_t time_ns;
};

static void print_pointer(const struct where *where, uint64_t address,
                          struct cn_text *text)
{
    uint32_t function =
        cn_recording_find_function(where->rec, where->task, where->time_ns, address);

    if (function == CN_NONE)
        cn_text_printf(text, "%#" PRIx64, address);
    else
        cn_text_printf(text, "&%s", where->rec->functions[function].name);
}

static void print_value(const struct where *where, const struct cn_call_values *values,
                        const struct cn_call_value *value, struct cn_text *text)
{
    const struct cn_argument_spec *spec = value->spec;
    uint64_t number = cn_call_value_number(values, value);

    switch (spec->format) {
    case 's':
    case 'S':
        print_string(value, text);
        break;
    case 'i':
        cn_text_printf(text, "%" PRId64, sign_extend(number, spec->size));
        break;
    case 'u':
        cn_text_printf(text, number > DECIMAL_MAX ? "%#" PRIx64 : "%" PRIu64, number);
        break;
    case 'x':
        cn_text_printf(text, "%#" PRIx64, number);
        break;
    case 'o':
        cn_text_printf(text, "%#" PRIo64, number);
        break;
    case 'c':
        cn_text_char(text, '\'');
        print_char((uint8_t)number, text);
        cn_text_char(text, '\'');
        break;
    case 'f':
        cn_text_printf(text, "%f", cn_call_value_real(values, value));
        break;
    case 'p':
        print_pointer(where, number, text);
        break;
    case 'e':
        if (spec->enumeration)
            cn_enum_print(spec->enumeration,
                          enum_value(spec->enumeration, sign_extend(number, spec->size)),
                          text);
        else
            cn_text_printf(text, "%" PRId64, sign_extend(number, spec->size));
        break;
    case 't':
        cn_text_printf(text, spec->size > 0 ? "%s{...}" : "%s{}", spec->type_name);
        break;
    default:
        print_auto(number, spec->size, text);
    }
}

void cn_call_value_print(const struct cn_recording *rec, uint32_t task, uint64_t time_ns,
                         const struct cn_call_values *values,
                         const struct cn_call_value *value, struct cn_text *text)
{
    struct where where = {rec, task, time_ns};

    print_value(&where, values, value, text);
}

void cn_recording_print_arguments(const struct cn_recording *rec, uint32_t task,
                                  const struct cn_call_batch *batch,
                                  const struct cn_call *call, struct cn_text *text)
{
    struct where where = {rec, task, call->time_ns};
    struct cn_call_values values;
    struct cn_call_value value;
    bool is_enter = call->kind == CN_CALL_ENTER, is_any = false;

    cn_call_values_begin(&values, rec, batch, call);
    if (is_enter)
        cn_text_char(text, '(');
    /* Of a result in several formats only the first is printed. */
    while ((is_enter || !is_any) && cn_call_values_next(&values, &value)) {
        cn_text_str_add(text, is_any ? ", " : is_enter ? "" : " = ");
        is_any = true;
        print_value(&where, &values, &value, text);
    }
    if (is_enter)
        cn_text_char(text, ')');
}
