#include "s3/xml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct xml_reading {
    XML_Parser parser;
    const char *wanted; /* element; NULL: objects of a list */
    struct cn_text *found;
    bool is_inside, is_found;
    cn_s3_visit visit;
    void *arg;
    struct cn_error *err;
    bool has_failed;
    struct cn_text text; /* of the innermost element */
    struct cn_text key;
    uint64_t len, changed_ns;
};

static void XMLCALL begin(void *arg, const XML_Char *name, const XML_Char **attributes)
{
    struct xml_reading *reading = arg;

    (void)attributes;
    cn_text_clear(&reading->text);
    reading->is_inside |= strcmp(name, "Contents") == 0;
}

static void XMLCALL add_text(void *arg, const XML_Char *chars, int len)
{
    struct xml_reading *reading = arg;

    cn_text_add(&reading->text, chars, (size_t)len);
}

static uint64_t parse_date(const char *text)
{
    struct tm tm = {0};

    return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)
               ? (uint64_t)timegm(&tm) * UINT64_C(1000000000)
               : 0;
}

static void end_object(struct xml_reading *reading)
{
    struct cn_s3_object object = {cn_text_str(&reading->key), reading->len,
                                  reading->changed_ns};

    reading->is_inside = false;
    if (!reading->visit(reading->arg, &object, reading->err)) {
        reading->has_failed = true;
        (void)XML_StopParser(reading->parser, XML_FALSE);
    }
    cn_text_clear(&reading->key);
    reading->len = reading->changed_ns = 0;
}

static void XMLCALL end(void *arg, const XML_Char *name)
{
    struct xml_reading *reading = arg;
    const char *text = cn_text_str(&reading->text);

    if (reading->wanted) {
        if (!reading->is_found && strcmp(name, reading->wanted) == 0) {
            cn_text_str_add(reading->found, text);
            reading->is_found = true;
        }
    } else if (reading->is_inside && strcmp(name, "Key") == 0) {
        cn_text_clear(&reading->key);
        cn_text_str_add(&reading->key, text);
    } else if (reading->is_inside && strcmp(name, "Size") == 0) {
        reading->len = strtoull(text, NULL, 10);
    } else if (reading->is_inside && strcmp(name, "LastModified") == 0) {
        reading->changed_ns = parse_date(text);
    } else if (strcmp(name, "Contents") == 0) {
        end_object(reading);
    }
    cn_text_clear(&reading->text);
}

static bool parse(struct xml_reading *reading, const struct cn_text *xml)
{
    XML_Parser parser = XML_ParserCreate(NULL);
    bool ok = parser != NULL;

    reading->parser = parser;
    if (ok) {
        XML_SetUserData(parser, reading);
        XML_SetElementHandler(parser, begin, end);
        XML_SetCharacterDataHandler(parser, add_text);
        ok = XML_Parse(parser, cn_text_str(xml), (int)xml->len, 1) == XML_STATUS_OK;
        if (!ok && !reading->has_failed)
            (void)cn_fail(reading->err, CN_ERR_FORMAT,
                          "the answer is not XML: %s at byte %lld",
                          XML_ErrorString(XML_GetErrorCode(parser)),
                          (long long)XML_GetCurrentByteIndex(parser));
        XML_ParserFree(parser);
    }
    cn_text_done(&reading->text);
    cn_text_done(&reading->key);
    return ok;
}

bool cn_s3_xml_find(const struct cn_text *xml, const char *element, struct cn_text *out,
                    struct cn_error *err)
{
    struct xml_reading reading = {.wanted = element, .found = out, .err = err};

    cn_text_clear(out);
    return parse(&reading, xml);
}

bool cn_s3_xml_list(const struct cn_text *xml, cn_s3_visit visit, void *arg,
                    struct cn_error *err)
{
    struct xml_reading reading = {.visit = visit, .arg = arg, .err = err};

    return parse(&reading, xml);
}
