#include "formats/hpctoolkit/xml_events.h"

#include <expat.h>
#include <inttypes.h>
#include <string.h>

enum { FEED_LEN = 64 * 1024 };

struct xml_state {
    const struct cn_hpc_xml_reading *reading;
    XML_Parser parser;
    uint32_t depth;
    bool is_stopped;
    struct cn_error err; /* why a handler stopped the parser */
};

const char *cn_hpc_xml_event_get(const struct cn_hpc_xml_event *event, const char *name)
{
    for (size_t i = 0; event->attributes && event->attributes[i]; i += 2)
        if (strcmp(event->attributes[i], name) == 0)
            return event->attributes[i + 1];
    return NULL;
}

bool cn_hpc_xml_fail_at(struct cn_bytes text, uint64_t off, struct cn_error *err)
{
    uint64_t line = 1, line_off = 0;

    for (uint64_t i = 0; i < off && i < text.len; i++)
        if (text.ptr[i] == '\n') {
            line++;
            line_off = i + 1;
        }
    return cn_fail_in(err, "line %" PRIu64 ", column %" PRIu64, line, off - line_off + 1);
}

static void stop(struct xml_state *s)
{
    s->is_stopped = true;
    (void)XML_StopParser(s->parser, XML_FALSE);
}

static void handle(struct xml_state *s, const char *name, const char **attributes)
{
    XML_Index off = XML_GetCurrentByteIndex(s->parser);
    struct cn_hpc_xml_event event = {
        .name = name,
        .attributes = attributes,
        .off = off < 0 ? 0 : (uint64_t)off,
        .len = (uint64_t)XML_GetCurrentByteCount(s->parser),
        .depth = s->depth,
    };

    if (!s->reading->without_lines) {
        event.line = XML_GetCurrentLineNumber(s->parser);
        event.column = XML_GetCurrentColumnNumber(s->parser) + 1;
    }
    if (s->reading->handle(s->reading->arg, &event, &s->err) != CN_ITEM)
        stop(s);
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
    struct xml_state *s = arg;

    if (s->is_stopped)
        return;
    if (s->depth >= s->reading->depth_max) {
        (void)cn_fail(&s->err, CN_ERR_LIMIT, "elements nested deeper than %u",
                      s->reading->depth_max);
        stop(s);
        return;
    }
    handle(s, name, attributes);
    s->depth++;
}

static void XMLCALL on_end(void *arg, const char *name)
{
    struct xml_state *s = arg;

    /* For <S/>, expat reports the end although the start has stopped it. */
    if (s->is_stopped)
        return;
    s->depth--;
    handle(s, name, NULL);
}

static void XMLCALL on_entity(void *arg, const XML_Char *name, int is_parameter,
                              const XML_Char *value, int value_len, const XML_Char *base,
                              const XML_Char *system_id, const XML_Char *public_id,
                              const XML_Char *notation)
{
    struct xml_state *s = arg;

    (void)is_parameter, (void)value, (void)value_len, (void)base;
    (void)system_id, (void)public_id, (void)notation;
    (void)cn_fail(&s->err, CN_ERR_FORMAT,
                  "declares the entity %.64s; files with entities are not supported",
                  name);
    stop(s);
}

static void XMLCALL on_declaration(void *arg, const XML_Char *version,
                                   const XML_Char *encoding, int standalone)
{
    struct xml_state *s = arg;

    (void)version, (void)standalone;
    if (!encoding || strcasecmp(encoding, "UTF-8") == 0 ||
        strcasecmp(encoding, "US-ASCII") == 0)
        return;
    (void)cn_fail(&s->err, CN_ERR_FORMAT, "encoding %.64s, can read UTF-8", encoding);
    stop(s);
}

/* Feed the text to expat in parts. expat buffers an incomplete token: if the buffer exceeds
 * the longest tag, parsing fails. */
static bool feed(struct xml_state *s, struct cn_error *err)
{
    struct cn_bytes text = s->reading->text;
    size_t tag_max = s->reading->tag_max ? s->reading->tag_max : CN_HPC_XML_TAG_MAX;
    size_t fed = 0;
    uint64_t off = 0;
    enum XML_Status status = XML_STATUS_OK;

    while (fed < text.len && !s->is_stopped && status == XML_STATUS_OK) {
        size_t len = text.len - fed < FEED_LEN ? text.len - fed : FEED_LEN;
        struct cn_bytes part;
        XML_Index index;

        (void)cn_bytes_slice(text, fed, len, &part);
        status =
            XML_Parse(s->parser, (const char *)part.ptr, (int)len, fed + len == text.len);
        fed += len;
        index = XML_GetCurrentByteIndex(s->parser);
        off = index < 0 ? 0 : (uint64_t)index;
        if (status == XML_STATUS_OK && index >= 0 && fed - off > tag_max + len) {
            (void)cn_fail(&s->err, CN_ERR_LIMIT, "a tag of more than %zu bytes", tag_max);
            break;
        }
    }
    if (s->err.kind == CN_ERR_NONE && (s->is_stopped || status == XML_STATUS_OK))
        return true;
    if (s->err.kind == CN_ERR_NONE)
        (void)cn_fail(&s->err, CN_ERR_FORMAT, "%s",
                      XML_ErrorString(XML_GetErrorCode(s->parser)));
    if (s->reading->damage_off)
        *s->reading->damage_off = off;
    *err = s->err;
    return cn_hpc_xml_fail_at(text, off, err);
}

bool cn_hpc_xml_events_read(const struct cn_hpc_xml_reading *reading, bool *is_complete,
                            struct cn_error *err)
{
    struct cn_bytes text = reading->text;
    struct xml_state s = {.reading = reading};

    if (text.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the file is empty");
    if (text.len >= 2 && ((text.ptr[0] == 0xfe && text.ptr[1] == 0xff) ||
                          (text.ptr[0] == 0xff && text.ptr[1] == 0xfe) ||
                          text.ptr[0] == 0 || text.ptr[1] == 0))
        return cn_fail(err, CN_ERR_FORMAT, "encoding UTF-16 or UTF-32, can read UTF-8");
    s.parser = XML_ParserCreate(NULL);
    if (!s.parser)
        return cn_fail(err, CN_ERR_NO_MEMORY, "no memory for an XML parser");
    XML_SetUserData(s.parser, &s);
    XML_SetElementHandler(s.parser, on_start, on_end);
    XML_SetEntityDeclHandler(s.parser, on_entity);
    XML_SetXmlDeclHandler(s.parser, on_declaration);
    bool ok = feed(&s, err);
    XML_ParserFree(s.parser);
    *is_complete = !s.is_stopped;
    return ok;
}
