#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/text.h"
#include "symbols/mangled_scope.h"

/* Longer names stay mangled: the parser of libiberty recurses, and its output can be
 * exponentially longer than its input. */
enum { RAW_LEN_MAX = 4096, OUTPUT_LEN_MAX = 1 << 16 };

struct output {
    struct cn_text *text;
    size_t limit;
    bool is_too_long;
    jmp_buf give_up;
};

static void collect(const char *chars, size_t len, void *arg)
{
    struct output *out = arg;

    /* The demangler has no way to stop. It allocates on its stack only, so that longjmp()
     * leaks nothing. */
    if (out->text->len + len > out->limit) {
        out->is_too_long = true;
        longjmp(out->give_up, 1);
    }
    if (!out->is_too_long)
        cn_text_add(out->text, chars, len);
}

static void truncate_text(struct cn_text *text, size_t len)
{
    if (text->chars) {
        text->len = len;
        text->chars[len] = '\0';
    }
}

typedef int (*demangle_fn)(const char *raw, int options, demangle_callbackref collect_fn,
                           void *arg);

enum demangled { DEMANGLED, NOT_DEMANGLED, TOO_LONG };

static enum demangled demangle_with(demangle_fn demangler, const char *raw, int options,
                                    struct cn_text *text)
{
    struct output out = {.text = text, .limit = text->len + OUTPUT_LEN_MAX};
    size_t volatile before = text->len;

    if (setjmp(out.give_up) == 0 && demangler(raw, options, collect, &out) != 0 &&
        !out.is_too_long)
        return DEMANGLED;
    truncate_text(text, before);
    return out.is_too_long ? TOO_LONG : NOT_DEMANGLED;
}

/* The text being simplified. Everything below is linear in its length. */
struct demangle_reading {
    const char *at;
    struct cn_text *out;
    size_t begin; /* of this name in the output */
};

static bool take(struct demangle_reading *in, const char *prefix)
{
    size_t len = strlen(prefix);

    if (strncmp(in->at, prefix, len) != 0)
        return false;
    in->at += len;
    return true;
}

/* Skip a bracketed group with all nested ones; `in->at` is its opening bracket. Arrows are no
 * brackets; comparison operators in expressions are inside parentheses. */
static void skip_group(struct demangle_reading *in)
{
    unsigned angles = 0, others = 0;

    for (; *in->at; in->at++) {
        char c = *in->at;

        if (c == '-' && in->at[1] == '>')
            in->at++;
        else if (c == '(' || c == '{' || c == '[')
            others++;
        else if ((c == ')' || c == '}' || c == ']') && others > 0)
            others--;
        else if (c == '<' && others == 0)
            angles++;
        else if (c == '>' && others == 0 && angles > 0)
            angles--;
        if (angles == 0 && others == 0) {
            in->at += *in->at != '\0';
            return;
        }
    }
}

/* The name of an operator, after "operator". */
static void take_operator(struct demangle_reading *in)
{
    /* Longer ones first: template arguments may follow without a space. */
    static const char *const words[] = {
        " new[]", " new", " delete[]", " delete", " co_await", "()", "[]", "<=>", "<<=",
        ">>=",    "->*",  "<<",        ">>",      "<=",        ">=", "==", "!=",  "&&",
        "||",     "++",   "--",        "->",      "+=",        "-=", "*=", "/=",  "%=",
        "^=",     "&=",   "|=",        "+",       "-",         "*",  "/",  "%",   "^",
        "&",      "|",    "~",         "!",       "=",         "<",  ">",  ",",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (take(in, words[i])) {
            cn_text_str_add(in->out, words[i]);
            return;
        }
    if (take(in, "\"\" ")) {
        cn_text_str_add(in->out, "\"\"");
        return;
    }
    /* A conversion: the rest is the type it converts to. */
    cn_text_str_add(in->out, "(cast)");
    in->at += strlen(in->at);
}

/* "{lambda(int)#1}" becomes "$_0"; other unnamed entities are dropped with their "::". */
static void take_unnamed(struct demangle_reading *in)
{
    bool is_lambda = strncmp(in->at, "{lambda", 7) == 0;
    const char *hash;
    unsigned number = 0;

    skip_group(in);
    if (!is_lambda) {
        (void)take(in, "::");
        return;
    }
    hash = in->at - 1;
    while (hash[-1] >= '0' && hash[-1] <= '9')
        hash--;
    for (; *hash >= '0' && *hash <= '9' && number < 100000000; hash++)
        number = number * 10 + (unsigned)(*hash - '0');
    cn_text_printf(in->out, "$_%u", number > 0 ? number - 1 : 0);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static void take_one(struct demangle_reading *in)
{
    bool is_start =
        in->out->len == in->begin || !is_word(in->out->chars[in->out->len - 1]);

    if (is_start && strncmp(in->at, "operator", 8) == 0 && !is_word(in->at[8])) {
        (void)take(in, "operator");
        cn_text_str_add(in->out, "operator");
        take_operator(in);
    } else if (take(in, "(anonymous namespace)")) {
        cn_text_str_add(in->out, "_GLOBAL__N_1");
    } else if (take(in, "[abi:")) {
        size_t len = strcspn(in->at, "]");

        cn_text_str_add(in->out, "::");
        cn_text_add(in->out, in->at, len);
        in->at += len;
        (void)take(in, "]");
    } else if (*in->at == '{') {
        take_unnamed(in);
    } else if (*in->at == '<' || *in->at == '(' || *in->at == '[') {
        skip_group(in);
        while (take(in, " const") || take(in, " volatile") || take(in, "&"))
            continue;
    } else if (strncmp(in->at, " <", 2) == 0 || strncmp(in->at, " [", 2) == 0) {
        in->at++;
    } else if (*in->at == ' ') {
        /* The end of a return type: the name begins after it. */
        truncate_text(in->out, in->begin);
        in->at++;
    } else {
        cn_text_char(in->out, *in->at++);
    }
}

static void simplify(const char *full, struct cn_text *out)
{
    static const struct {
        const char *full, *simple;
    } prefixes[] = {
        {"vtable for ", "__vtable__"},
        {"typeinfo for ", "__typeinfo__"},
        {"typeinfo name for ", "__typeinfo_name__"},
        {"guard variable for ", "__guard_variable__"},
    };
    struct demangle_reading in = {.at = full, .out = out, .begin = out->len};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (take(&in, prefixes[i].full)) {
            cn_text_str_add(out, prefixes[i].simple);
            in.begin = out->len;
            break;
        }
    while (*in.at)
        take_one(&in);
}

/* A name with its arguments, or without those that libiberty does not read. */
static bool demangle_cxx(const char *raw, int options, struct cn_text *text)
{
    size_t before = text->len;
    enum demangled done = demangle_with(cplus_demangle_v3_callback, raw, options, text);

    if (done == DEMANGLED || (done == NOT_DEMANGLED && cn_mangled_scope(raw, text)))
        return true;
    truncate_text(text, before);
    return false;
}

bool cn_demangle(const char *raw, enum cn_demangle how, struct cn_text *out)
{
    enum { OPTIONS = DMGL_ANSI | DMGL_NO_RECURSE_LIMIT };
    bool is_cxx = strncmp(raw, "_Z", 2) == 0;
    struct cn_text full = {0};

    if (how == CN_DEMANGLE_NO || (!is_cxx && strncmp(raw, "_R", 2) != 0) ||
        strnlen(raw, RAW_LEN_MAX + 1) > RAW_LEN_MAX)
        return false;
    if (demangle_with(rust_demangle_callback, raw, OPTIONS, out) == DEMANGLED)
        return true;
    if (!is_cxx)
        return false;
    if (how == CN_DEMANGLE_FULL)
        return demangle_cxx(raw, OPTIONS | DMGL_PARAMS, out);
    bool ok = demangle_cxx(raw, OPTIONS | DMGL_VERBOSE, &full);
    if (ok)
        simplify(cn_text_str(&full), out);
    cn_text_done(&full);
    return ok;
}
