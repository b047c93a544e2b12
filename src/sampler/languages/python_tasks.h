/* Tasks of asyncio: which of them a thread runs, and their names.
 *
 * Up to 3.13, _asyncio._current_tasks is a dict with the running task of each loop. Its address is
 * found once, in the modules of an interpreter; the table of frames then has reads of its first
 * values, so that the task is known at the sample. A task is believed if its coroutine is one of
 * the frames. The length of its name and its first and last 8 characters are read at the sample as
 * well, as another task may be at its address when the rest is.
 *
 *     cn_python_tasks_find(&tasks, memory, &layout, runtime);  until it is true
 *     cn_python_tasks_describe(&tasks, &layout, &table);
 *     has_one = cn_python_tasks_match(head, generator, &task);  for each frame
 *     cn_python_task_name(memory, &layout, &task, name);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_PYTHON_TASKS_H
#define CN_SAMPLER_LANGUAGES_PYTHON_TASKS_H

#include "sampler/languages/frame_walk.h"
#include "sampler/languages/python.h"

struct cn_text;

enum {
    CN_PYTHON_TASKS_MAX = 5, /* loops at a time, as many as the smallest dict has */
    CN_PYTHON_TASK_WORDS = 5 * CN_PYTHON_TASKS_MAX,
};

/* A zeroed one is ready for use. */
struct cn_python_tasks {
    uint64_t running; /* the dict; 0: not found */
    uint64_t modules; /* the dict that was searched */
    uint64_t searched;
};

/* Look for the dict among the modules that were imported since the last time. */
bool cn_python_tasks_find(struct cn_python_tasks *tasks, struct cn_memory *memory,
                          const struct cn_python_layout *layout, uint64_t runtime);

/* Read running tasks once for each walk: CN_PYTHON_TASK_WORDS words, those of struct
 * cn_python_task for each. */
void cn_python_tasks_describe(const struct cn_python_tasks *tasks,
                              const struct cn_python_layout *layout,
                              struct cn_frame_table *table);

/* The running task of a coroutine. False if it is none of them. */
bool cn_python_tasks_match(const uint64_t words[CN_PYTHON_TASK_WORDS], uint64_t coroutine,
                           struct cn_python_task *out);

/* Append the name of a task. False if it has none but its number, or is no longer the task that it
 * was. */
bool cn_python_task_name(struct cn_memory *memory, const struct cn_python_layout *layout,
                         const struct cn_python_task *task, struct cn_text *out);

#endif
