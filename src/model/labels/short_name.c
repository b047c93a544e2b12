#include "model/labels/short_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/list.h"
#include "base/text.h"

#define ELLIPSIS "…"

enum { PARTS_MAX = 64, CLASS_MIN = 8 };

/* A name in parts: "RESULT SCOPE::LAST(PARAMETERS)TAIL". */
struct name_parts {
    const char *begin, *end; /* of scopes and last part, with arguments of templates */
    const char *result;      /* the type of the result is from here to `begin` */
    const char *params, *params_end; /* inside of the parentheses; NULL: there are none */
    const char *parts[PARTS_MAX];    /* where parts begin */
    size_t separators[PARTS_MAX];    /* length of the separator before each */
    size_t count;
};

static bool fits(const struct cn_text *text, size_t from, size_t width)
{
    return cn_utf8_width(cn_text_str(text) + from) <= width;
}

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '[' || c == '{';
}

/* The ">" of an arrow or an operator closes nothing. */
static bool closes(const char *name, const char *at)
{
    return *at == ')' || *at == ']' || *at == '}' ||
           (*at == '>' && at > name && at[-1] != '-' && at[-1] != '=');
}

/* The parenthesis that belongs to the last character, ")"; NULL: none. */
static const char *find_opening(const char *name, const char *last)
{
    size_t depth = 0;

    for (const char *at = last; at >= name; at--) {
        depth += *at == ')';
        if (*at == '(' && --depth == 0)
            return at;
    }
    return NULL;
}

static bool ends_so(const char *name, const char *end, const char *suffix)
{
    size_t len = strlen(suffix);

    return (size_t)(end - name) >= len && memcmp(end - len, suffix, len) == 0;
}

/* Without qualifiers of a method. */
static const char *skip_qualifiers(const char *name, const char *end)
{
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &"};

    for (size_t i = 0; i < CN_COUNT_OF(qualifiers);) {
        if (ends_so(name, end, qualifiers[i])) {
            end -= strlen(qualifiers[i]);
            i = 0;
        } else {
            i++;
        }
    }
    return end;
}

/* "heat.c:25", "[unknown] [libz.so.1]" and "<main thread>" have no scopes. */
static bool is_plain(const char *name, const char *end)
{
    const char *colon = memchr(name, ':', (size_t)(end - name));
    size_t depth = 0;

    if (*name == '[' || strncmp(name, "loop at ", strlen("loop at ")) == 0 ||
        (colon && colon[1] >= '0' && colon[1] <= '9'))
        return true;
    for (const char *at = name; *name == '<' && at < end; at++) {
        if (opens(*at))
            depth++;
        else if (closes(name, at) && --depth == 0)
            return at + 1 == end;
    }
    return false;
}

/* The length of a separator of scopes. "::" is the only one of names that have it: dots in them
 * are those of clones ("f.isra.0"). */
static size_t separator_len(const char *at, bool has_colons)
{
    if (has_colons)
        return at[0] == ':' && at[1] == ':' ? 2 : 0;
    return *at == '.' || *at == '/' || *at == '\\' || *at == '#';
}

/* True if there is nothing but a word of the compiler and numbers after a dot. */
static bool is_clone(const char *at, const char *end)
{
    static const char *const words[] = {".isra.", ".part.",     ".constprop.",
                                        ".cold",  ".lto_priv.", ".llvm."};

    for (size_t i = 0; i < CN_COUNT_OF(words); i++)
        if ((size_t)(end - at) >= strlen(words[i]) &&
            memcmp(at, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void find_parts(struct name_parts *p)
{
    bool has_colons = false, has_operator = false;
    const char *at;
    size_t depth = 0, len;

    for (at = p->result; at < p->end; at++) {
        if (depth == 0 && strncmp(at, "operator", strlen("operator")) == 0)
            has_operator = true;
        if (depth == 0 && *at == ' ' && !has_operator)
            p->begin = at + 1;
        if (opens(*at) && !has_operator)
            depth++;
        else if (closes(p->result, at) && depth > 0)
            depth--;
        has_colons |= depth == 0 && at[0] == ':' && at[1] == ':';
    }
    p->parts[p->count++] = p->begin;
    depth = 0;
    for (at = p->begin; at < p->end && p->count < PARTS_MAX; at++) {
        if (depth == 0 && strncmp(at, "operator", strlen("operator")) == 0)
            break;
        if (depth == 0 && !has_colons && *at == '.' && is_clone(at, p->end))
            break;
        len = depth == 0 ? separator_len(at, has_colons) : 0;
        if (len > 0 && at + len < p->end && at > p->begin) {
            p->separators[p->count] = len;
            p->parts[p->count++] = at + len;
            at += len - 1;
            continue;
        }
        if (opens(*at))
            depth++;
        else if (closes(p->begin, at) && depth > 0)
            depth--;
    }
}

static void split(struct name_parts *p, const char *name, size_t len)
{
    const char *end = name + len, *bare = skip_qualifiers(name, end);
    const char *opening =
        bare > name && bare[-1] == ')' ? find_opening(name, bare - 1) : NULL;

    *p = (struct name_parts){.begin = name, .end = end, .result = name};
    if (opening && opening > name) {
        p->params = opening + 1;
        p->params_end = bare - 1;
        p->end = opening;
    }
    if (is_plain(name, p->end))
        p->parts[p->count++] = name;
    else
        find_parts(p);
}

/* The length of an operator at `at`, with its symbol; 0: there is none. */
static size_t operator_len(const char *at)
{
    static const char word[] = "operator";

    return strncmp(at, word, strlen(word)) == 0
               ? strlen(word) + strspn(at + strlen(word), "<>=-")
               : 0;
}

/* Copy a part of a name; without arguments of templates, "<…>" instead. A "<" at the start of the
 * name is no template: "<T as Display>::fmt". */
static void add_range(struct cn_text *out, const struct name_parts *p, const char *from,
                      const char *to, bool has_arguments)
{
    size_t depth = 0, len;

    for (const char *at = from; at < to; at++) {
        if (depth == 0 && (len = operator_len(at)) > 0) {
            cn_text_add(out, at, len);
            at += len - 1;
        } else if (depth > 0) {
            depth += *at == '<';
            if (*at == '>' && at[-1] != '-' && --depth == 0)
                cn_text_str_add(out, "<" ELLIPSIS ">");
        } else if (!has_arguments && *at == '<' && at > p->begin) {
            depth = 1;
        } else {
            cn_text_char(out, *at);
        }
    }
    if (depth > 0)
        cn_text_str_add(out, "<" ELLIPSIS);
}

/* The last part of a type: "Vec" of "&mut alloc::vec::Vec<T>". */
static void add_type(struct cn_text *out, const char *from, const char *to)
{
    const char *begin = from;
    size_t depth = 0;

    for (const char *at = from; at < to; at++) {
        if (opens(*at)) {
            to = depth == 0 && at > begin ? at : to;
            depth++;
        } else if (closes(from, at) && depth > 0) {
            depth--;
        } else if (depth == 0 && (*at == ' ' || (at[0] == ':' && at[1] == ':'))) {
            begin = at + (*at == ' ' ? 1 : 2);
        }
    }
    cn_text_add(out, begin, begin < to ? (size_t)(to - begin) : 0);
}

/* "<Vec as Drop>" of the first part of a name of Rust; false if it is none. */
static bool add_implementation(struct cn_text *out, const char *from, const char *to)
{
    static const char as[] = " as ";
    size_t depth = 0;

    for (const char *at = from; at < to; at++) {
        if (opens(*at))
            depth++;
        else if (closes(from, at) && depth > 0)
            depth--;
        if (depth != 1 || strncmp(at, as, strlen(as)) != 0)
            continue;
        cn_text_char(out, '<');
        add_type(out, from + 1, at);
        cn_text_str_add(out, as);
        add_type(out, at + strlen(as), to - 1);
        cn_text_char(out, '>');
        return true;
    }
    return false;
}

struct name_style {
    bool has_params, has_arguments, has_result;
    bool has_types; /* "<alloc::vec::Vec<T> as core::ops::Drop>", else "<Vec as Drop>" */
    size_t first; /* parts before that are left out, except the very first if has_first */
    bool has_first;
    bool is_bare; /* without an ellipsis for parts that are left out */
};

static void add_name(struct cn_text *out, const struct name_parts *p,
                     const struct name_style *style)
{
    if (style->has_result)
        cn_text_add(out, p->result, (size_t)(p->begin - p->result));
    if (style->first > 0 && !style->is_bare) {
        if (style->has_first)
            add_range(out, p, p->parts[0], p->parts[1], style->has_arguments);
        cn_text_str_add(out, ELLIPSIS);
        cn_text_add(out, p->parts[style->first] - p->separators[style->first],
                    p->separators[style->first]);
    }
    const char *from = p->parts[style->first];
    if (!style->has_types && style->first == 0 && *from == '<' && p->count > 1) {
        const char *to = p->parts[1] - p->separators[1];

        if (add_implementation(out, from, to))
            from = to;
    }
    add_range(out, p, from, p->end, style->has_arguments);
    if (!p->params)
        return;
    cn_text_char(out, '(');
    if (style->has_params)
        cn_text_add(out, p->params, (size_t)(p->params_end - p->params));
    else if (p->params_end > p->params)
        cn_text_str_add(out, ELLIPSIS);
    cn_text_char(out, ')');
}

/* Try a style; what does not fit is taken back. */
static bool try_style(struct cn_text *out, const struct name_parts *p,
                      const struct name_style *style, size_t width)
{
    size_t from = out->len;

    add_name(out, p, style);
    if (fits(out, from, width))
        return true;
    out->len = from;
    out->chars[from] = '\0';
    return false;
}

/* The first and the last characters of a text. */
static void cut_middle(struct cn_text *out, const char *text, size_t width)
{
    size_t head = 0, tail = strlen(text), used = 1;
    bool takes_tail = true;

    while (head < tail) {
        size_t next = head, before = tail;

        if (takes_tail) {
            do
                before--;
            while (before > head && ((unsigned char)text[before] & 0xc0) == 0x80);
        } else {
            do
                next++;
            while (next < tail && ((unsigned char)text[next] & 0xc0) == 0x80);
        }
        struct cn_text one = {0};
        cn_text_add(&one, text + (takes_tail ? before : head),
                    takes_tail ? tail - before : next - head);
        size_t columns = cn_utf8_width(cn_text_str(&one));
        cn_text_done(&one);
        if (used + columns > width)
            break;
        used += columns;
        if (takes_tail)
            tail = before;
        else
            head = next;
        takes_tail = !takes_tail;
    }
    cn_text_add(out, text, head);
    cn_text_str_add(out, ELLIPSIS);
    cn_text_str_add(out, text + tail);
}

/* True if the last part says little without the one before: "Thread.run", "(*conn).serve". */
static bool has_class(const struct name_parts *p)
{
    const char *before = p->parts[p->count - 1] - 1;

    return p->count > 1 && p->separators[p->count - 1] == 1 &&
           (*before == '.' || *before == '#');
}

/* A method with as much of its class as there is room for, at least CLASS_MIN columns. */
static bool try_class(struct cn_text *out, const struct name_parts *p,
                      struct name_style style, size_t width)
{
    const char *begin = p->parts[p->count - 2], *dot = p->parts[p->count - 1] - 1;
    struct cn_text class = {0}, method = {0};

    style.is_bare = true;
    style.first = p->count - 1;
    add_range(&class, p, begin, dot, false);
    cn_text_char(&method, *dot);
    add_name(&method, p, &style);
    size_t used = cn_utf8_width(cn_text_str(&method));
    bool has_room = used + CLASS_MIN <= width;

    if (has_room) {
        cut_middle(out, cn_text_str(&class), width - used);
        cn_text_str_add(out, cn_text_str(&method));
    }
    cn_text_done(&class);
    cn_text_done(&method);
    return has_room;
}

/* Leave out scopes from the left; the class of a method is kept longer than the ellipsis. */
static bool try_scopes(struct cn_text *out, const struct name_parts *p,
                       struct name_style style, size_t width)
{
    size_t kept = has_class(p) ? 2 : 1;

    style.has_first = true;
    for (style.first = 2; style.first + kept <= p->count; style.first++)
        if (try_style(out, p, &style, width))
            return true;
    style.has_first = false;
    for (style.first = 1; style.first + kept <= p->count; style.first++)
        if (try_style(out, p, &style, width))
            return true;
    if (kept == 1)
        return false;
    style.is_bare = true;
    style.first = p->count - 2;
    if (try_style(out, p, &style, width) || try_class(out, p, style, width))
        return true;
    style.is_bare = false;
    style.first = p->count - 1;
    return try_style(out, p, &style, width);
}

static void shorten(struct cn_text *out, const char *name, size_t len, size_t width)
{
    struct name_parts p;
    struct name_style style = {
        .has_arguments = true, .has_result = true, .has_types = true};
    struct cn_text last = {0};

    split(&p, name, len);
    if (try_style(out, &p, &style, width))
        return;
    style.has_arguments = false;
    if (try_style(out, &p, &style, width))
        return;
    style.has_result = false;
    if (try_style(out, &p, &style, width))
        return;
    style.has_types = false;
    if (try_style(out, &p, &style, width))
        return;
    if (try_scopes(out, &p, style, width))
        return;
    /* The last part alone. */
    p.begin = p.parts[p.count - 1];
    p.parts[0] = p.begin;
    p.count = 1;
    style.first = 0;
    add_name(&last, &p, &style);
    if (fits(&last, 0, width))
        cn_text_str_add(out, cn_text_str(&last));
    else
        cut_middle(out, cn_text_str(&last), width);
    cn_text_done(&last);
}

void cn_name_shorten(struct cn_text *out, const char *name, size_t width)
{
    static const char inlined[] = " (inlined)";
    enum { NAME_MIN = 8 };
    size_t len = strlen(name), suffix = sizeof(inlined) - 1;

    if (cn_utf8_width(name) <= width) {
        cn_text_str_add(out, name);
        return;
    }
    if (!cn_ends_with(name, inlined)) {
        shorten(out, name, len, width);
        return;
    }
    if (width >= suffix + NAME_MIN) {
        shorten(out, name, len - suffix, width - suffix);
        cn_text_str_add(out, inlined);
    } else {
        shorten(out, name, len - suffix, width);
    }
}

void cn_call_path_shorten(struct cn_text *out, const char *path, size_t width)
{
    static const char step[] = " > ";
    enum { CUT = 4 }; /* columns of "… > " */
    size_t rest = cn_utf8_width(path);
    const char *at = path, *next;

    while (rest > width && (next = strstr(at, step)) != NULL) {
        at = next + sizeof(step) - 1;
        rest = CUT + cn_utf8_width(at);
    }
    if (at > path && rest <= width)
        cn_text_str_add(out, ELLIPSIS " > ");
    cn_name_shorten(out, at, width);
}
