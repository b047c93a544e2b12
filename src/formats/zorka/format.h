/* The records of the trace store and the bodies that agents send, byte by byte.
 *
 * Three wire generations and two dialects of stored records use CBOR; their tags and keys
 * identify them. docs/formats/store.md describes all of it.
 *
 *   wire A, B   agents of 2018 and 2019: tags 01 06 08 09 0a-0f 21-23, 8-byte prologs
 *   wire C      agents since 2020: tags 01-08
 *   Java        stored by the original collector: the tags of wire A and B, dictionary ids
 *   spec        stored by cairn: tags 08 02 03 as specified
 * Threads: immutable.
 */
#ifndef CN_FORMATS_ZORKA_FORMAT_H
#define CN_FORMATS_ZORKA_FORMAT_H

/* First bytes of CBOR items. */
enum {
    CN_ZORKA_TAG = 0xc0,        /* | a tag below 24 */
    CN_ZORKA_ARRAY = 0x80,      /* | a length below 24 */
    CN_ZORKA_OPEN_ARRAY = 0x9f, /* without a length */
    CN_ZORKA_MAP = 0xa0,        /* | a length below 24 */
    CN_ZORKA_NULL = 0xf6,
};

/* Wire A and B, and records of the Java dialect. */
enum {
    CN_ZORKA_STRING_DEF = 0x01,  /* [id, text, kind] */
    CN_ZORKA_METHOD_DEF = 0x02,  /* [id, class, method, signature] */
    CN_ZORKA_AGENT_ATTR = 0x03,  /* [key, value] */
    CN_ZORKA_STRING_REF = 0x06,  /* id */
    CN_ZORKA_TRACE_START = 0x08, /* [...] of a call, without a length */
    CN_ZORKA_TRACE_ATTR = 0x09,  /* {key: value} */
    CN_ZORKA_PROLOG_BE = 0x0a,   /* bytes(8): 40 bits of time, 24 bits method id */
    CN_ZORKA_PROLOG_LE = 0x0b,   /* the same, little endian */
    CN_ZORKA_EPILOG_BE =
        0x0c, /* bytes(8): 40 bits of time, 24 bits calls; or bytes(16) */
    CN_ZORKA_EPILOG_LE = 0x0d,   /* the same, little endian */
    CN_ZORKA_TRACE_INFO = 0x0e,  /* {key: number} */
    CN_ZORKA_TRACE_FLAGS = 0x0f, /* number */
    CN_ZORKA_TRACE_BEGIN = 0x21, /* A: [clock, type]; B: [clock, span, parent] */
    /* [id, class, message, cause, [[class, method, file, line]]] */
    CN_ZORKA_EXCEPTION = 0x22,
    CN_ZORKA_EXCEPTION_REF = 0x23, /* id */

    CN_ZORKA_FLAG_ERROR = 0x08, /* of TRACE_FLAGS and TI_FLAGS */
    CN_ZORKA_TICK_BITS = 16,    /* times count in 2^16 ns */
    CN_ZORKA_PROLOG_TIME = 40,  /* bits */
};

/* Wire C. */
enum {
    CN_ZORKA_C_STRING_DEF = 0x01,    /* [id, text] */
    CN_ZORKA_C_METHOD_DEF = 0x02,    /* [id, class, method, signature] */
    CN_ZORKA_C_TRACE_START = 0x03,   /* [start, method id, ...] without a length */
    CN_ZORKA_C_TRACE_END = 0x04,     /* [stop, calls, flags] */
    CN_ZORKA_C_TRACE_BEGIN = 0x05,   /* [clock ms, type, span, parent] */
    CN_ZORKA_C_TRACE_ATTR = 0x06,    /* [type, key, value] or [key, value] */
    CN_ZORKA_C_EXCEPTION = 0x07,     /* [id, class, message, cause, stack, attributes] */
    CN_ZORKA_C_EXCEPTION_REF = 0x08, /* id */

    CN_ZORKA_C_FLAG_OVERFLOW = 0x0001, /* calls were dropped */
    CN_ZORKA_C_FLAG_ERROR = 0x1000,    /* the trace failed; repeated in all its calls */
    CN_ZORKA_C_FLAG_SENT = 0x2000,     /* the span was also sent on its own */
};

/* Records of the spec dialect. */
enum {
    CN_ZTS_TRACE = 0x08,     /* [info, attributes, exception, nested traces] */
    CN_ZTS_INFO = 0x02,      /* {key: value} */
    CN_ZTS_ATTRIBUTES = 0x03 /* {string ref: value} */
};

/* Keys of method call info; the first fifteen are specified. */
enum {
    CN_ZTS_TRACE_ID = 0x01, /* bytes(16) */
    CN_ZTS_CH_NUM = 0x02,   /* number of the part, from 0 */
    CN_ZTS_CH_OFFS = 0x03,  /* where the part begins in the logical trace */
    CN_ZTS_CH_LEN = 0x04,   /* bytes of the part */
    CN_ZTS_TSTAMP = 0x05,   /* milliseconds since the epoch */
    CN_ZTS_DURATION = 0x06, /* ticks */
    CN_ZTS_TYPE = 0x07,     /* word */
    CN_ZTS_RECS = 0x08,     /* records in the part */
    CN_ZTS_CALLS = 0x09,    /* absent: the number of records in the subtree */
    CN_ZTS_ERRORS = 0x0a,   /* records with an error in the subtree */
    CN_ZTS_FLAGS = 0x0b,    /* CN_TRACE_* */
    CN_ZTS_TSTART = 0x0c,  /* ticks since the event before; first record: agent's clock */
    CN_ZTS_TSTOP = 0x0d,   /* ticks since the event before */
    CN_ZTS_METHOD = 0x0e,  /* word */
    CN_ZTS_SKIP = 0x0f,    /* bytes from the end of this map to the end of the record */
    CN_ZTS_PARENT = 0x11,  /* id of the span that caused this one */
    CN_ZTS_SPAN = 0x12,    /* id */
    CN_ZTS_TICK = 0x13,    /* ns of a tick; absent: 1 */
    CN_ZTS_SERVICE = 0x14, /* word */
    CN_ZTS_TSTAMP_NS = 0x15, /* ns beyond TSTAMP; absent: 0 */
    CN_ZTS_SPAN_REST = 0x16  /* of a span: a map, see record_span.c */
};

/* A record has a SKIP if its nested records take at least this many bytes. */
enum { CN_ZTS_SKIP_MIN = 16384 };

/* Limits for reading. */
enum {
    CN_ZORKA_STACK_MAX = 4096, /* frames of an exception */
    CN_ZORKA_CAUSES_MAX = 64,  /* exceptions that cause each other */
    CN_ZORKA_ID_MAX = 1 << 30, /* of a symbol */
};

#endif
