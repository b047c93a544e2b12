/* Unwind information (.eh_frame) and the exception tables it refers to.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CODE_FRAMES_H
#define CN_LAUNCHER_CODE_FRAMES_H

#include "launcher/code/code.h"

/* Add the frames of an .eh_frame at `address`, up to the first entry that cannot be read. */
void cn_code_add_frames(struct cn_code *code, uint64_t address, struct cn_bytes bytes);

/* Visit the calls of a frame that exceptions may leave: their range, and where the handler
 * is. False when its table cannot be read. */
typedef void (*cn_code_handler_fn)(void *arg, uint64_t start, uint64_t end,
                                   uint64_t handler);
bool cn_code_handlers_walk(const struct cn_code *code, const struct cn_code_frame *frame,
                           cn_code_handler_fn visit, void *arg);

#endif
