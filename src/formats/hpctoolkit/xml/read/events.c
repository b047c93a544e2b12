#include "formats/hpctoolkit/xml/read/events.h"

#include <expat.h>
#include <string.h>

#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/scanner.h"

enum { FEED_LEN = 64 * 1024 };

struct state {
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

static void stop(struct state *s)
{
    s->is_stopped = true;
    (void)XML_StopParser(s->parser, XML_FALSE);
}

static void tell(struct state *s, const char *name, const char **attributes)
{
    XML_Index off = XML_GetCurrentByteIndex(s->parser);
    struct cn_hpc_xml_event event = {
        .name = name,
        .attributes = attributes,
        .off = off < 0 ? 0 : (uint64_t)off,
        .len = (uint64_t)XML_GetCurrentByteCount(s->parser),
        .line = XML_GetCurrentLineNumber(s->parser),
        .column = XML_GetCurrentColumnNumber(s->parser) + 1,
        .depth = s->depth,
    };

    if (s->reading->handle(s->reading->arg, &event, &s->err) != CN_ITEM)
        stop(s);
}

/* After a stop, expat may still have an end to tell. */
static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
    struct state *s = arg;

    if (s->is_stopped)
        return;
    if (s->depth >= s->reading->depth_max) {
        (void)cn_fail(&s->err, CN_ERR_LIMIT, "elements nested deeper than %u",
                      s->reading->depth_max);
        stop(s);
        return;
    }
    tell(s, name, attributes);
    s->depth++;
}

static void XMLCALL on_end(void *arg, const char *name)
{
    struct state *s = arg;

    if (s->is_stopped)
        return;
    s->depth--;
    tell(s, name, NULL);
}

static void XMLCALL on_entity(void *arg, const XML_Char *name, int is_parameter,
                              const XML_Char *value, int value_len, const XML_Char *base,
                              const XML_Char *system_id, const XML_Char *public_id,
                              const XML_Char *notation)
{
    struct state *s = arg;

    (void)is_parameter, (void)value, (void)value_len, (void)base;
    (void)system_id, (void)public_id, (void)notation;
    (void)cn_fail(&s->err, CN_ERR_FORMAT,
                  "entity %.64s is declared: such files are not read", name);
    stop(s);
}

static void XMLCALL on_declaration(void *arg, const XML_Char *version,
                                   const XML_Char *encoding, int standalone)
{
    struct state *s = arg;

    (void)version, (void)standalone;
    if (!encoding || strcasecmp(encoding, "UTF-8") == 0 ||
        strcasecmp(encoding, "US-ASCII") == 0)
        return;
    (void)cn_fail(&s->err, CN_ERR_FORMAT, "encoding %.64s, can read UTF-8", encoding);
    stop(s);
}

/* Say where it happened. */
static bool fail_at(struct state *s, uint64_t off, struct cn_error *err)
{
    if (s->reading->damage_off)
        *s->reading->damage_off = off;
    return cn_hpc_xml_fail_at(s->reading->text, off, err);
}

/* Why the parser gave up; true when a handler asked for it. */
static bool parser_result(struct state *s, struct cn_error *err)
{
    XML_Index off = XML_GetCurrentByteIndex(s->parser);

    if (s->is_stopped && s->err.kind == CN_ERR_NONE)
        return true;
    if (s->err.kind != CN_ERR_NONE)
        *err = s->err;
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "%s",
                      XML_ErrorString(XML_GetErrorCode(s->parser)));
    return fail_at(s, off < 0 ? 0 : (uint64_t)off, err);
}

/* Give the text to expat piece by piece. It keeps what it has not understood yet: more of that
 * than the longest tag ends the reading. */
static bool feed(struct state *s, struct cn_error *err)
{
    struct cn_bytes text = s->reading->text;
    size_t fed = 0;

    while (fed < text.len && !s->is_stopped) {
        size_t len = text.len - fed < FEED_LEN ? text.len - fed : FEED_LEN;
        struct cn_bytes part;
        XML_Index off;

        (void)cn_bytes_slice(text, fed, len, &part);
        fed += len;
        if (XML_Parse(s->parser, (const char *)part.ptr, (int)len, fed == text.len) !=
            XML_STATUS_OK)
            return parser_result(s, err);
        off = XML_GetCurrentByteIndex(s->parser);
        if (off >= 0 && fed - (uint64_t)off > CN_HPC_XML_TAG_MAX + len) {
            (void)cn_fail(err, CN_ERR_LIMIT, "a tag of more than %d bytes",
                          CN_HPC_XML_TAG_MAX);
            return fail_at(s, (uint64_t)off, err);
        }
    }
    return true;
}

static bool is_wide(struct cn_bytes text)
{
    return text.len >= 2 && ((text.ptr[0] == 0xfe && text.ptr[1] == 0xff) ||
                             (text.ptr[0] == 0xff && text.ptr[1] == 0xfe) ||
                             text.ptr[0] == 0 || text.ptr[1] == 0);
}

bool cn_hpc_xml_events_read(const struct cn_hpc_xml_reading *reading, bool *is_complete,
                            struct cn_error *err)
{
    struct state s = {.reading = reading};
    bool ok;

    if (reading->text.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the file is empty");
    if (is_wide(reading->text))
        return cn_fail(err, CN_ERR_FORMAT, "encoding UTF-16 or UTF-32, can read UTF-8");
    s.parser = XML_ParserCreate(NULL);
    if (!s.parser)
        return cn_fail(err, CN_ERR_LIMIT, "no memory for an XML parser");
    XML_SetUserData(s.parser, &s);
    XML_SetElementHandler(s.parser, on_start, on_end);
    XML_SetEntityDeclHandler(s.parser, on_entity);
    XML_SetXmlDeclHandler(s.parser, on_declaration);
    ok = feed(&s, err);
    XML_ParserFree(s.parser);
    if (ok)
        *is_complete = !s.is_stopped;
    return ok;
}
