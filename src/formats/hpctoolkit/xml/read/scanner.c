#include "formats/hpctoolkit/xml/read/scanner.h"

static inline bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* True for characters of names; all bytes beyond ASCII are accepted. */
static inline bool is_name(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == ':' || c == '.' || c >= 0x80;
}

/* A byte, or NUL after the end, which is no name, space or quote. */
static inline uint8_t byte_at(struct cn_bytes text, size_t at)
{
    return at < text.len ? text.ptr[at] : 0;
}

static inline size_t skip_space(struct cn_bytes text, size_t at)
{
    while (is_space(byte_at(text, at)))
        at++;
    return at;
}

static inline bool take_name(struct cn_bytes text, size_t *at, struct cn_bytes *out)
{
    size_t end = *at;

    while (is_name(byte_at(text, end)))
        end++;
    bool ok = end > *at && cn_bytes_slice(text, *at, end - *at, out);
    *at = end;
    return ok;
}

/* Skip past `mark`, which ends a comment or an instruction. */
static bool skip_past(struct cn_hpc_xml_scanner *scanner, const char *mark,
                      struct cn_error *err)
{
    size_t len = strlen(mark);
    struct cn_bytes rest, part;

    if (cn_bytes_from(scanner->text, scanner->at, &rest)) {
        const uint8_t *found = memmem(rest.ptr, rest.len, mark, len);

        if (found && cn_bytes_take(&rest, (size_t)(found - rest.ptr) + len, &part)) {
            scanner->at += part.len;
            return true;
        }
    }
    return cn_fail(err, CN_ERR_FORMAT, "no \"%s\" before the end of the file", mark);
}

/* Skip a comment or instruction; anything else fails. */
static bool skip_remark(struct cn_hpc_xml_scanner *scanner, struct cn_error *err)
{
    size_t at = scanner->at;
    struct cn_bytes begin;

    if (byte_at(scanner->text, at + 1) == '?')
        return skip_past(scanner, "?>", err);
    if (cn_bytes_slice(scanner->text, at, 4, &begin) && cn_bytes_equal(begin, "<!--")) {
        scanner->at += begin.len;
        return skip_past(scanner, "-->", err);
    }
    return cn_fail(err, CN_ERR_FORMAT,
                   "a declaration or CDATA section inside the context tree");
}

static bool take_attribute(struct cn_bytes text, size_t *at,
                           struct cn_hpc_xml_attribute *out, struct cn_error *err)
{
    size_t begin;

    if (!take_name(text, at, &out->name))
        return cn_fail(err, CN_ERR_FORMAT, "neither an attribute nor the end of a tag");
    *at = skip_space(text, *at);
    if (byte_at(text, *at) != '=')
        return cn_fail(err, CN_ERR_FORMAT, "no = after the name of an attribute");
    *at = skip_space(text, *at + 1);
    uint8_t quote = byte_at(text, *at);
    if (quote != '"' && quote != '\'')
        return cn_fail(err, CN_ERR_FORMAT, "the value of an attribute is not quoted");
    begin = ++*at;
    while (byte_at(text, *at) != quote) {
        if (byte_at(text, *at) == '<' || *at >= text.len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "the value of an attribute does not end before %s",
                           *at < text.len ? "a <" : "the file does");
        ++*at;
    }
    (void)cn_bytes_slice(text, begin, *at - begin, &out->value);
    ++*at;
    return true;
}

/* The rest of a tag, after its name. */
static bool take_attributes(struct cn_bytes text, size_t *at, struct cn_hpc_xml_tag *tag,
                            struct cn_error *err)
{
    while (true) {
        size_t before = *at;

        *at = skip_space(text, *at);
        if (byte_at(text, *at) == '>') {
            ++*at;
            return true;
        }
        if (byte_at(text, *at) == '/' && byte_at(text, *at + 1) == '>' &&
            tag->kind == CN_HPC_XML_OPEN) {
            tag->kind = CN_HPC_XML_EMPTY;
            *at += 2;
            return true;
        }
        if (*at == before || tag->kind == CN_HPC_XML_CLOSE)
            return cn_fail(err, CN_ERR_FORMAT, "a tag that does not end with >");
        if (tag->attribute_count == CN_HPC_XML_ATTRIBUTE_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d attributes",
                           CN_HPC_XML_ATTRIBUTE_MAX);
        if (!take_attribute(text, at, &tag->attributes[tag->attribute_count], err))
            return false;
        tag->attribute_count++;
    }
}

static enum cn_step take_tag(struct cn_hpc_xml_scanner *scanner,
                             struct cn_hpc_xml_tag *out, struct cn_error *err)
{
    struct cn_bytes text = scanner->text;
    size_t at = scanner->at + 1;

    /* A tag must end within the limit. */
    if (text.len - scanner->at > CN_HPC_XML_TAG_MAX)
        text.len = scanner->at + CN_HPC_XML_TAG_MAX;
    out->off = scanner->at;
    out->kind = byte_at(text, at) == '/' ? CN_HPC_XML_CLOSE : CN_HPC_XML_OPEN;
    at += out->kind == CN_HPC_XML_CLOSE;
    out->attribute_count = 0;
    if (!take_name(text, &at, &out->name))
        return cn_fail(err, CN_ERR_FORMAT, "a < that begins no tag");
    if (!take_attributes(text, &at, out, err)) {
        if (at >= text.len && text.len < scanner->text.len)
            return cn_fail(err, CN_ERR_LIMIT, "a tag of more than %d bytes",
                           CN_HPC_XML_TAG_MAX);
        scanner->at = at < scanner->text.len ? at : scanner->text.len;
        return CN_FAIL;
    }
    scanner->at = at;
    return CN_ITEM;
}

enum cn_step cn_hpc_xml_scan(struct cn_hpc_xml_scanner *scanner,
                             struct cn_hpc_xml_tag *out, struct cn_error *err)
{
    while (true) {
        scanner->at = skip_space(scanner->text, scanner->at);
        if (scanner->at >= scanner->text.len)
            return CN_END;
        if (scanner->text.ptr[scanner->at] != '<')
            return cn_fail(err, CN_ERR_FORMAT, "text between elements");
        uint8_t next = byte_at(scanner->text, scanner->at + 1);
        if (next != '!' && next != '?')
            return take_tag(scanner, out, err);
        if (!skip_remark(scanner, err))
            return CN_FAIL;
    }
}
