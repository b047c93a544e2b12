/* One recording that arrives as messages (remote/format.h), in any pieces.
 *
 *     cn_receiver_init(&receiver, folder, token, size_limit);
 *     cn_receiver_feed(&receiver, bytes, err)  ...  until receiver.is_complete
 *     cn_receiver_done(&receiver);
 *
 * Files are written to FOLDER/NAME.partial.XXXXXX, and nowhere else, whatever names the
 * sender uses. After END they are synced and the directory is renamed to FOLDER/NAME; an
 * earlier recording of that name becomes NAME.old. Without END it stays as it is, unless it
 * is empty. Memory does not depend on the messages.
 * Threads: one thread at a time.
 */
#ifndef CN_REMOTE_RECEIVER_H
#define CN_REMOTE_RECEIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "remote/format.h"

struct cn_receiver {
    const char *folder; /* borrowed, as the token */
    const char *token; /* that the sender must send first; NULL: any sender is accepted */
    bool is_trusted;   /* it has sent it */
    uint64_t size_limit;
    char *name;    /* of the recording; NULL: not yet known */
    char *partial; /* where it is written until it is complete */
    uint64_t len;  /* bytes of its files so far */
    size_t file_count;
    bool is_complete;

    /* The message in progress. */
    enum cn_receiver_step {
        CN_RECEIVER_HEADER,
        CN_RECEIVER_TOKEN,
        CN_RECEIVER_DIR,    /* the name of the recording */
        CN_RECEIVER_NUMBER, /* of a task or processor, or the length of a name */
        CN_RECEIVER_NAME,   /* of a file */
        CN_RECEIVER_INFO,   /* the header of the file info */
        CN_RECEIVER_BODY,   /* bytes of a file */
    } step;
    struct cn_remote_header header;
    uint32_t left;              /* bytes of the payload after this step */
    size_t head_len, head_need; /* of this step, unless it is the body */
    int dir, file;              /* descriptors; -1: none */
    uint8_t head[CN_REMOTE_PATH_MAX + 1];
};

void cn_receiver_init(struct cn_receiver *receiver, const char *folder, const char *token,
                      uint64_t size_limit);
void cn_receiver_done(struct cn_receiver *receiver);

/* Take the next bytes. After a failure, or when it is complete, only release it. */
CN_CHECK bool cn_receiver_feed(struct cn_receiver *receiver, struct cn_bytes bytes,
                               struct cn_error *err);

#endif
