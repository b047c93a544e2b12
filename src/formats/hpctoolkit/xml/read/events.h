/* Any XML, element by element, read with expat in small pieces.
 *
 * What is too much is refused before it costs memory: a tag longer than CN_HPC_XML_TAG_MAX,
 * elements nested too deep, declarations of entities (so that nothing expands), encodings other
 * than UTF-8.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_EVENTS_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_EVENTS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"

/* The begin of an element, or its end. Borrowed until the handler returns. */
struct cn_hpc_xml_event {
    const char *name;
    const char **attributes; /* name, value, ..., NULL; NULL itself at the end */
    uint64_t off, len; /* the tag, in the text; an end made up for <S/> has no length */
    uint64_t line, column; /* from 1 on */
    uint32_t depth;        /* elements around it */
};

/* CN_ITEM to go on, CN_END to stop here, CN_FAIL to fail. */
typedef enum cn_step (*cn_hpc_xml_event_fn)(void *arg,
                                            const struct cn_hpc_xml_event *event,
                                            struct cn_error *err);

struct cn_hpc_xml_reading {
    struct cn_bytes text;
    unsigned depth_max;
    cn_hpc_xml_event_fn handle;
    void *arg;
    uint64_t *damage_off; /* where a failure is told to have happened; may be NULL */
};

/* Messages say line and column. *is_complete tells whether the handler let it come to the end
 * of the document. */
CN_CHECK bool cn_hpc_xml_events_read(const struct cn_hpc_xml_reading *reading,
                                     bool *is_complete, struct cn_error *err);

/* The value of an attribute, or NULL. */
const char *cn_hpc_xml_event_get(const struct cn_hpc_xml_event *event, const char *name);

#endif
