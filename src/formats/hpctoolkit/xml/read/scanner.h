/* The tags of an experiment.xml's context tree: a subset of XML, scanned fast.
 *
 * Supports elements with attributes, comments and processing instructions; text, CDATA,
 * declarations and entities fail. Names and values borrow the text.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_SCANNER_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_SCANNER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml_events.h"
#include "model/step.h"

enum cn_hpc_xml_tag_kind {
    CN_HPC_XML_OPEN,
    CN_HPC_XML_CLOSE,
    CN_HPC_XML_EMPTY, /* <S/> */
};

struct cn_hpc_xml_attribute {
    struct cn_bytes name, value;
};

struct cn_hpc_xml_tag {
    enum cn_hpc_xml_tag_kind kind;
    uint64_t off; /* of its `<` */
    struct cn_bytes name;
    size_t attribute_count;
    struct cn_hpc_xml_attribute attributes[CN_HPC_XML_ATTRIBUTE_MAX];
};

struct cn_hpc_xml_scanner {
    struct cn_bytes text;
    size_t at; /* the next byte */
};

/* The next tag; CN_END at the end of the text. After a failure, scanner->at is its offset. */
CN_CHECK enum cn_step cn_hpc_xml_scan(struct cn_hpc_xml_scanner *scanner,
                                      struct cn_hpc_xml_tag *out, struct cn_error *err);

/* A number from the digits at `at`; `base` is 10 or 16. */
static inline bool cn_hpc_xml_parse_digits(struct cn_bytes value, size_t at,
                                           unsigned base, uint64_t *out)
{
    uint64_t number = 0;

    if (at >= value.len)
        return false;
    for (; at < value.len; at++) {
        uint8_t c = value.ptr[at];
        unsigned digit = c <= '9' ? c - (unsigned)'0' : (c | 0x20u) - 'a' + 10;

        /* A character below '0' wraps to a large digit. */
        if (digit >= base || number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    *out = number;
    return true;
}

/* A whole number, decimal or hexadecimal with 0x; false if it is none or too large. */
static inline bool cn_hpc_xml_parse_u64(struct cn_bytes value, uint64_t *out)
{
    if (value.len > 2 && value.ptr[0] == '0' && value.ptr[1] == 'x')
        return cn_hpc_xml_parse_digits(value, 2, 16, out);
    return cn_hpc_xml_parse_digits(value, 0, 10, out);
}

/* The same with a sign. */
static inline bool cn_hpc_xml_parse_i64(struct cn_bytes value, int64_t *out)
{
    bool is_negative = value.len > 0 && value.ptr[0] == '-';
    uint64_t number;

    if (!(is_negative ? cn_hpc_xml_parse_digits(value, 1, 10, &number)
                      : cn_hpc_xml_parse_u64(value, &number)) ||
        number > INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)number : (int64_t)number;
    return true;
}

#endif
