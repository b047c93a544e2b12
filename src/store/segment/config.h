/* config.props: the settings of a store or of one segment, one "key = value" per line.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_CONFIG_H
#define CN_STORE_SEGMENT_CONFIG_H

#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/disk.h"

struct cn_redaction;
struct cn_text;

enum cn_store_dialect {
    CN_STORE_SPEC, /* as specified */
    CN_STORE_JAVA, /* traces.dat and text-*.wal can be read by the original tools */
};

/* How the chunks of traces.dat are stored. */
enum cn_store_form {
    CN_STORE_FORM_DEFAULT, /* columns; of a store that exists: unless another was asked for */
    CN_STORE_FORM_SAME, /* of a store that exists */
    CN_STORE_COLUMNS,   /* spans by column, others deflate */
    CN_STORE_DEFLATE,   /* can be read by versions up to 0.9 */
    CN_STORE_LZ4,       /* likewise; faster and larger */
};

/* All zero is the default. Written to config.props when the store is created. */
struct cn_store_options {
    enum cn_store_dialect dialect;
    enum cn_store_form form;
    uint64_t rotate_len; /* bytes of a segment before the next one is started */
    uint64_t rotate_ns;  /* its age; 0: any */
    uint64_t commit_len; /* bytes in memory before a commit is forced */
    bool saves_behind;   /* save full commits in a thread while the next is filled */
    bool seals_later;    /* the owner seals full segments */
    bool samples;        /* the owner samples segments when they are settled */
    const struct cn_redaction *redaction; /* of all traces that are added; NULL: none */
    const struct cn_disk *io;             /* NULL: files */
};

enum { CN_STORE_DAMAGE_LEN = 200, CN_STORE_LANE_LEN = 72 };

/* Of tail sampling (store/sampling): shares of traces that stay, in millionths. */
enum { CN_RATE_ALL = 1000000, CN_STORE_RATES_MAX = 16 };

/* Traces of chunks from this offset in traces.dat on were kept at this rate. */
struct cn_store_rate {
    uint64_t from_off;
    uint32_t rate;
};

/* What sampling did to a segment. Its traces and spans are counted once: those of a trace in several
 * segments are counted where it was decided. */
struct cn_store_sampled {
    bool is_awaited; /* a collector that samples wrote it, and has not sampled it yet */
    bool is_sampled;
    uint64_t dropped_traces, dropped_spans;
    struct cn_store_rate rates[CN_STORE_RATES_MAX]; /* none: all are CN_RATE_ALL */
    size_t rate_count;
};

struct cn_store_config {
    uint32_t version; /* of the layout */
    enum cn_store_dialect dialect;
    enum cn_store_form form; /* of its chunks; none of the first two */
    bool is_form_asked;      /* for it: compaction keeps it */
    uint64_t rotate_len, rotate_ns;
    uint64_t created_ns; /* since the epoch */
    bool is_sealed;      /* this and the following: segments only */
    bool is_gone;        /* readers ignore it: its files are removed later */
    bool has_replaced;   /* it replaced other segments */
    uint32_t replaced_first, replaced_last;
    char lane[CN_STORE_LANE_LEN]; /* that wrote it; "": the first one */
    struct cn_store_sampled sampled;
    char damage
        [CN_STORE_DAMAGE_LEN]; /* the first damage that cost data; "": none is known */
};

/* Of stores with packed chunks; of others 1. */
enum { CN_STORE_VERSION = 2, CN_STORE_VERSION_PLAIN = 1 };

/* Options that are 0 get their defaults. */
struct cn_store_config cn_store_config_of(const struct cn_store_options *options,
                                          uint64_t now_ns);

/* Choose the form of chunks from now on. A store of the dialect java keeps its own. */
void cn_store_config_set_form(struct cn_store_config *config, enum cn_store_form form);

struct cn_form_change {
    bool is_any; /* the config has to be written */
    bool is_new; /* versions up to 0.9 cannot read the store any more */
};

/* The same in the config of the store at `path`. Fails if another form is asked for one of the dialect java. */
CN_CHECK bool cn_store_config_change_form(struct cn_store_config *config,
                                          enum cn_store_form form, const char *path,
                                          struct cn_form_change *out,
                                          struct cn_error *err);

/* Unknown keys are ignored, an unknown version is an error. */
CN_CHECK bool cn_store_config_read(struct cn_store_config *out, const char *dir,
                                   struct cn_error *err);
CN_CHECK bool cn_store_config_parse(struct cn_store_config *out, struct cn_bytes text,
                                    struct cn_error *err);

/* Append the text of the file. */
void cn_store_config_print(const struct cn_store_config *config, struct cn_text *text);

/* True for letters, digits, '.', '_' and '-': a machine can have this name. */
bool cn_store_lane_is_name(const char *name);

/* Set the damage of a segment to a message without the path of its directory, unless it has one.
 * False if it has. */
bool cn_store_config_note_damage(struct cn_store_config *config, const char *dir,
                                 const char *text);

/* Replaces the file atomically. */
CN_CHECK bool cn_store_config_write(const struct cn_store_config *config, const char *dir,
                                    const struct cn_disk *io, struct cn_error *err);

#endif
