/* XML documents, element by element, parsed with expat.
 *
 * Hostile documents fail before they cost memory: the limits are the length of a tag and the
 * nesting of elements. Declared entities fail, so that nothing expands; so do encodings other
 * than UTF-8.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_EVENTS_H
#define CN_FORMATS_HPCTOOLKIT_XML_EVENTS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"

enum { CN_HPC_XML_TAG_MAX = 256 * 1024 }; /* default limit of a tag, in bytes */

/* The start or end of an element. Borrowed until the handler returns. */
struct cn_hpc_xml_event {
    const char *name;
    const char **attributes; /* name, value, ..., NULL; NULL itself at the end */
    uint64_t off, len;       /* the tag in the text; the end of <S/> has no length */
    uint64_t line, column;   /* from 1 */
    uint32_t depth;          /* elements around it */
};

/* Return CN_ITEM to continue, CN_END to stop, CN_FAIL to fail. */
typedef enum cn_step (*cn_hpc_xml_event_fn)(void *arg,
                                            const struct cn_hpc_xml_event *event,
                                            struct cn_error *err);

struct cn_hpc_xml_reading {
    struct cn_bytes text;
    unsigned depth_max; /* nested elements */
    size_t tag_max;     /* bytes of a tag; 0: CN_HPC_XML_TAG_MAX */
    cn_hpc_xml_event_fn handle;
    void *arg;
    bool without_lines;   /* leave `line` and `column` of events 0; saves a tenth */
    uint64_t *damage_off; /* receives the offset of a failure; may be NULL */
};

/* Parse a document. Messages name line and column. *is_complete is false if the handler
 * stopped early. */
CN_CHECK bool cn_hpc_xml_events_read(const struct cn_hpc_xml_reading *reading,
                                     bool *is_complete, struct cn_error *err);

/* The value of an attribute, or NULL. */
const char *cn_hpc_xml_event_get(const struct cn_hpc_xml_event *event, const char *name);

/* Prepend "line 12, column 3" of offset `off` to a message. Returns false. */
bool cn_hpc_xml_fail_at(struct cn_bytes text, uint64_t off, struct cn_error *err);

#endif
