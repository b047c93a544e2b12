/* Lua 5.1 as LuaJIT offers it. Whatever may raise an error runs inside lua_cpcall(), in
 * functions that own nothing, because an error leaves them without returning. */

#include <string.h>

#include "base/alloc.h"
#include "script/engine.h"

typedef struct lua_state state;

#define LUA(F)                                                \
    F(state *, luaL_newstate, (void))                         \
    F(void, luaL_openlibs, (state *))                         \
    F(int, luaL_loadfile, (state *, const char *))            \
    F(void, lua_close, (state *))                             \
    F(int, lua_cpcall, (state *, int (*)(state *), void *))   \
    F(void, lua_call, (state *, int, int))                    \
    F(int, lua_error, (state *))                              \
    F(void, lua_createtable, (state *, int, int))             \
    F(void, lua_getfield, (state *, int, const char *))       \
    F(void, lua_setfield, (state *, int, const char *))       \
    F(void, lua_rawgeti, (state *, int, int))                 \
    F(void, lua_rawseti, (state *, int, int))                 \
    F(size_t, lua_objlen, (state *, int))                     \
    F(void, lua_pushboolean, (state *, int))                  \
    F(void, lua_pushnumber, (state *, double))                \
    F(void, lua_pushlstring, (state *, const char *, size_t)) \
    F(void, lua_settop, (state *, int))                       \
    F(void *, lua_touserdata, (state *, int))                 \
    F(const char *, lua_tolstring, (state *, int, size_t *))  \
    F(int, lua_type, (state *, int))

#define MEMBER(type, name, parameters) type(*name) parameters;

/* The functions of the library, the same for every script: what lua_cpcall() calls has no
 * other way to find them. */
static struct {
    LUA(MEMBER)
} lua;

enum { GLOBALS = -10002, TYPE_TABLE = 5, TYPE_FUNCTION = 6 }; /* of lua.h */

/* What a protected function works on. */
struct work {
    struct cn_script *script;
    const char *const *words;
    size_t word_count;
    enum cn_script_hook hook;
    const struct cn_script_field *fields;
    size_t count;
};

static void push(state *to, const struct cn_script_value *value)
{
    switch (value->kind) {
    case CN_SCRIPT_BOOL:
        lua.lua_pushboolean(to, value->is_true);
        break;
    case CN_SCRIPT_SIGNED:
        lua.lua_pushnumber(to, (double)value->number);
        break;
    case CN_SCRIPT_UNSIGNED:
        lua.lua_pushnumber(to, (double)value->natural);
        break;
    case CN_SCRIPT_FLOAT:
        lua.lua_pushnumber(to, value->real);
        break;
    case CN_SCRIPT_TEXT:
        lua.lua_pushlstring(to, value->text.chars, value->text.len);
        break;
    case CN_SCRIPT_LIST:
        lua.lua_createtable(to, (int)value->list.count, 0);
        for (size_t i = 0; i < value->list.count; i++) {
            push(to, &value->list.values[i]); /* never a list */
            lua.lua_rawseti(to, -2, (int)i + 1);
        }
        break;
    }
}

/* `arg`: the script's name at 0, then its arguments. */
static void push_words(state *to, const struct work *work)
{
    lua.lua_createtable(to, (int)work->word_count, 1);
    lua.lua_pushlstring(to, work->script->path, strlen(work->script->path));
    lua.lua_rawseti(to, -2, 0);
    for (size_t i = 0; i < work->word_count; i++) {
        lua.lua_pushlstring(to, work->words[i], strlen(work->words[i]));
        lua.lua_rawseti(to, -2, (int)i + 1);
    }
    lua.lua_setfield(to, GLOBALS, "arg");
}

static void read_patterns(state *from, struct cn_script *script)
{
    lua.lua_getfield(from, GLOBALS, "UFTRACE_FUNCS");
    if (lua.lua_type(from, -1) != TYPE_TABLE)
        return;
    script->has_patterns = true;
    size_t count = lua.lua_objlen(from, -1);
    for (size_t i = 0; i < count && i < CN_SCRIPT_PATTERNS_MAX; i++) {
        lua.lua_rawgeti(from, -1, (int)i + 1);
        const char *chars = lua.lua_tolstring(from, -1, NULL);
        if (chars)
            cn_script_add_pattern(script, chars, strlen(chars));
        lua.lua_settop(from, -2);
    }
}

static int run_file(state *from)
{
    const struct work *work = lua.lua_touserdata(from, 1);

    lua.luaL_openlibs(from);
    push_words(from, work);
    if (lua.luaL_loadfile(from, work->script->path) != 0)
        return lua.lua_error(from);
    lua.lua_call(from, 0, 0);
    for (int i = 0; i < CN_SCRIPT_HOOKS; i++) {
        lua.lua_getfield(from, GLOBALS, cn_script_hook_names[i]);
        work->script->has[i] = lua.lua_type(from, -1) == TYPE_FUNCTION;
    }
    read_patterns(from, work->script);
    return 0;
}

static int run_hook(state *from)
{
    const struct work *work = lua.lua_touserdata(from, 1);

    lua.lua_getfield(from, GLOBALS, cn_script_hook_names[work->hook]);
    if (work->hook != CN_SCRIPT_END) {
        lua.lua_createtable(from, 0, (int)work->count);
        for (size_t i = 0; i < work->count; i++) {
            push(from, &work->fields[i].value);
            lua.lua_setfield(from, -2, work->fields[i].key);
        }
    }
    lua.lua_call(from, work->hook != CN_SCRIPT_END, 0);
    return 0;
}

/* Messages of Lua begin with "FILE:LINE: "; a few do not. */
static bool protect(struct cn_script *script, int (*function)(state *), struct work *work,
                    struct cn_error *err)
{
    state *from = script->state;
    const char *text;
    size_t len = strlen(script->path);

    if (lua.lua_cpcall(from, function, work) == 0)
        return true;
    script->is_ended = true;
    text = lua.lua_tolstring(from, -1, NULL);
    if (!text)
        text = "error with a value that is not a text";
    if (strncmp(text, script->path, len) == 0 && text[len] == ':')
        (void)cn_fail(err, CN_ERR_IO, "%s", text);
    else
        (void)cn_fail(err, CN_ERR_IO, "%s: %s", script->path, text);
    lua.lua_settop(from, 0);
    return false;
}

static bool load_lua(struct cn_error *err)
{
#define ROW(type, name, parameters) {#name, &lua.name},
    static const struct cn_library_symbol symbols[] = {LUA(ROW)};
    static const char *const names[] = {"libluajit-5.1.so.2", "libluajit-5.1.so",
                                        "liblua5.1.so.0", NULL};

    return cn_script_load("CAIRN_LUA_LIBRARY", names, "libluajit-5.1-2", symbols,
                          sizeof(symbols) / sizeof(symbols[0]), err);
}

static bool open_lua(struct cn_script *script, const char *const *words,
                     size_t word_count, struct cn_error *err)
{
    struct work work = {.script = script, .words = words, .word_count = word_count};

    if (!load_lua(err))
        return false;
    script->state = lua.luaL_newstate();
    if (!script->state)
        return cn_fail(err, CN_ERR_LIMIT, "%s: no memory for Lua", script->path);
    return protect(script, run_file, &work, err);
}

static bool call_lua(struct cn_script *script, enum cn_script_hook hook,
                     const struct cn_script_field *fields, size_t count,
                     struct cn_error *err)
{
    struct work work = {.script = script, .hook = hook, .fields = fields, .count = count};

    return !cn_script_has(script, hook) || protect(script, run_hook, &work, err);
}

static void close_lua(struct cn_script *script)
{
    if (script->state)
        lua.lua_close(script->state);
}

const struct cn_script_engine cn_script_lua = {
    .suffix = ".lua",
    .feature = "luajit",
    .load = load_lua,
    .open = open_lua,
    .call = call_lua,
    .close = close_lua,
};
