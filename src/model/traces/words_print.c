/* Words in readable form. */

#include <inttypes.h>
#include <string.h>

#include "base/bytes/base64.h"
#include "base/text.h"
#include "model/traces/words.h"

static void add_bytes(struct cn_text *out, struct cn_bytes bytes)
{
    cn_text_add(out, (const char *)bytes.ptr, bytes.len);
}

static const char *primitive(uint8_t code)
{
    static const char *const names[] = {
        ['B' - 'A'] = "byte",  ['C' - 'A'] = "char", ['D' - 'A'] = "double",
        ['F' - 'A'] = "float", ['I' - 'A'] = "int",  ['J' - 'A'] = "long",
        ['S' - 'A'] = "short", ['V' - 'A'] = "void", ['Z' - 'A'] = "boolean",
    };

    return code >= 'A' && code <= 'Z' ? names[code - 'A'] : NULL;
}

/* "java/util/List" -> "List" */
static struct cn_bytes simple_name(struct cn_bytes name)
{
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == '/' || name.ptr[i - 1] == '.') {
            (void)cn_bytes_from(name, i, &name);
            break;
        }
    return name;
}

/* Remove the first type of a descriptor and append it; false if there is none. */
static bool take_type(struct cn_bytes *rest, struct cn_text *out)
{
    size_t dimensions = 0, len = 1;
    struct cn_bytes type;

    while (rest->len > dimensions && rest->ptr[dimensions] == '[')
        dimensions++;
    if (!cn_bytes_take(rest, dimensions, &type) || rest->len == 0)
        return false;
    const char *name = primitive(rest->ptr[0]);
    if (name)
        cn_text_str_add(out, name);
    else if (rest->ptr[0] == 'L' && memchr(rest->ptr, ';', rest->len)) {
        len = (size_t)((const uint8_t *)memchr(rest->ptr, ';', rest->len) - rest->ptr);
        (void)cn_bytes_slice(*rest, 1, len - 1, &type);
        add_bytes(out, simple_name(type));
        len++;
    } else
        return false;
    for (size_t i = 0; i < dimensions; i++)
        cn_text_str_add(out, "[]");
    return cn_bytes_take(rest, len, &type);
}

/* "(Ljava/util/List;I)V" -> arguments "(List, int)", result "void". */
static bool read_signature(struct cn_bytes signature, struct cn_text *arguments,
                           struct cn_text *result)
{
    struct cn_bytes mark;

    if (!cn_bytes_take(&signature, 1, &mark) || mark.ptr[0] != '(')
        return false;
    cn_text_char(arguments, '(');
    for (size_t i = 0; signature.len > 0 && signature.ptr[0] != ')'; i++) {
        cn_text_str_add(arguments, i == 0 ? "" : ", ");
        if (!take_type(&signature, arguments))
            return false;
    }
    cn_text_char(arguments, ')');
    return cn_bytes_take(&signature, 1, &mark) && take_type(&signature, result) &&
           signature.len == 0;
}

static void print_part(const struct cn_words *words, uint32_t id, struct cn_text *out)
{
    if (cn_word_kind(words, id) == CN_WORD_LOST)
        cn_text_printf(out, "#%" PRIu32, id);
    else
        add_bytes(out, cn_word_bytes(words, id));
}

void cn_words_print_method_name(const struct cn_words *words, uint32_t id,
                                struct cn_text *out)
{
    uint32_t class = cn_word_part(words, id, 0);

    if (cn_word_kind(words, id) != CN_WORD_METHOD) {
        cn_words_print(words, id, out);
        return;
    }
    print_part(words, class, out);
    if (class != 0 && cn_word_bytes(words, class).len > 0)
        cn_text_char(out, '.');
    print_part(words, cn_word_part(words, id, 1), out);
}

static void print_method(const struct cn_words *words, uint32_t id, struct cn_text *out)
{
    struct cn_bytes signature = cn_word_bytes(words, cn_word_part(words, id, 2));
    struct cn_text arguments = {0}, result = {0};
    bool is_java = read_signature(signature, &arguments, &result);

    if (is_java)
        cn_text_printf(out, "%s ", cn_text_str(&result));
    cn_words_print_method_name(words, id, out);
    if (is_java)
        cn_text_str_add(out, cn_text_str(&arguments));
    else
        add_bytes(out, signature);
    cn_text_done(&arguments);
    cn_text_done(&result);
}

static void print_frame(const struct cn_words *words, uint32_t id, struct cn_text *out)
{
    uint32_t class = cn_word_part(words, id, 0), file = cn_word_part(words, id, 2);
    int32_t line = cn_word_line(words, id);

    if (class != 0) {
        print_part(words, class, out);
        cn_text_char(out, '.');
    }
    print_part(words, cn_word_part(words, id, 1), out);
    if (class == 0 && file == 0 && line < 0)
        return;
    cn_text_char(out, '(');
    print_part(words, file, out);
    if (line >= 0)
        cn_text_printf(out, ":%" PRId32, line);
    cn_text_char(out, ')');
}

void cn_words_print(const struct cn_words *words, uint32_t id, struct cn_text *out)
{
    uint32_t second = cn_word_part(words, id, 1);

    switch (cn_word_kind(words, id)) {
    case CN_WORD_VALUE:
        print_part(words, cn_word_part(words, id, 0), out);
        cn_text_char(out, '=');
        add_bytes(out, cn_word_value_text(words, id));
        break;
    case CN_WORD_PAIR:
    case CN_WORD_AGENT:
        print_part(words, cn_word_part(words, id, 0), out);
        cn_text_char(out, '=');
        print_part(words, second, out);
        break;
    case CN_WORD_METHOD:
        print_method(words, id, out);
        break;
    case CN_WORD_EXCEPTION:
        print_part(words, cn_word_part(words, id, 0), out);
        cn_text_str_add(out, second != 0 ? ": " : "");
        print_part(words, second, out);
        break;
    case CN_WORD_STACK:
        for (size_t i = 0; i < cn_word_part_count(words, id); i++) {
            cn_text_str_add(out, i == 0 ? "" : "\n");
            print_frame(words, cn_word_part(words, id, i), out);
        }
        break;
    case CN_WORD_FRAME:
        print_frame(words, id, out);
        break;
    case CN_WORD_BYTES:
        cn_base64_add(out, cn_word_bytes(words, id));
        break;
    case CN_WORD_SCALAR:
    case CN_WORD_LIST:
    case CN_WORD_MAP:
    case CN_WORD_RESOURCE:
    case CN_WORD_SCOPE: /* only spans use them: cn_trace_complete() */
        break;
    case CN_WORD_TEXT:
    case CN_WORD_KEYWORD:
    case CN_WORD_CLASS:
    case CN_WORD_METHOD_NAME:
    case CN_WORD_UUID:
    case CN_WORD_SIGNATURE:
    case CN_WORD_LOST:
    default:
        print_part(words, id, out);
        break;
    }
}
