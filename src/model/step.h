/* The result of the `next` function of a stream.
 * Threads: immutable.
 */
#ifndef CN_MODEL_STEP_H
#define CN_MODEL_STEP_H

enum cn_step {
    CN_FAIL, /* 0, so that `return cn_fail(err, ...)` works */
    CN_ITEM,
    CN_END,
};

#endif
