/* What keys do, and once a second a new picture. */
#include "cmd/top/ui.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "bide/run.h"
#include "cmd/top/minute.h"
#include "cmd/top/order.h"
#include "cmd/top/screen.h"
#include "cmd/top/show.h"
#include "cmd/top/state.h"

enum { ESC = 27, BACKSPACE = 8, DELETE = 127 };

/* ===== requests ===== */

/* "/api/state?dep=" and the name, encoded. */
static char *get(const struct top *t, const char *path, const char *dep,
                 size_t *ret_len, char *why, size_t size)
{
    char target[128 + 3 * TOP_NAME];
    size_t n = (size_t)snprintf(target, sizeof target, "%s", path);

    for (; *dep; dep++)
        n += (size_t)snprintf(target + n, sizeof target - n, "%%%02X",
                              (unsigned char)*dep);
    return top_fetch(&t->place, target, ret_len, why, size);
}

/* The charts of a page. Without them it is a page all the same. */
static void load_history(struct top *t)
{
    char why[256];
    size_t len;
    struct bide__tree *tree = NULL;
    char *json = get(t, "/api/history?dep=", t->open, &len, why, sizeof why);

    if (json && bide__tree_json(&tree, "history", json, len, NULL) == 0) {
        bide__tree_free(t->history);
        t->history = tree;
    }
    free(json);
}

bool top_look_at(struct top *t, char *why, size_t size)
{
    size_t len;
    char *json = get(t, "/api/state?dep=", t->open, &len, why, size);
    bool fine =
        json && top_state_read(&t->state, json, len, t->open, why, size);

    free(json);
    if (!fine)
        return false;
    top_minute_add(&t->minute, &t->state);
    if (t->open[0])
        load_history(t);
    return true;
}

void top_begin(struct top *t)
{
    char why[256];
    size_t len;
    char *json = get(t, "/api/history?brief", "", &len, why, sizeof why);

    if (json)
        top_minute_load(&t->minute, json, len);
    free(json);
}

void top_done(struct top *t)
{
    bide__tree_free(t->history);
    top_minute_done(&t->minute);
    top_state_done(&t->state);
}

/* ===== what is selected ===== */

static size_t shown(struct top *t)
{
    return top_order(&t->state, t->order, t->filter);
}

/* The line of the selected one; it is selected by name, since lines move. */
static size_t chosen_line(const struct top *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(t->state.deps[i].name, t->chosen) == 0)
            return i;
    return 0;
}

static void choose(struct top *t, size_t line, size_t n)
{
    if (n == 0)
        return;
    if (line >= n)
        line = n - 1;
    strcpy(t->chosen, t->state.deps[line].name);
}

static void move(struct top *t, long by)
{
    size_t n = shown(t), line = chosen_line(t, n);
    choose(t, by < 0 && (size_t)-by > line ? 0 : (size_t)((long)line + by), n);
}

static void look_now(struct top *t)
{
    char why[256];
    t->scroll = 0;
    top_look_at(t, why, sizeof why);
}

static void open_chosen(struct top *t)
{
    size_t n = shown(t);
    if (n == 0)
        return;
    choose(t, chosen_line(t, n), n);
    strcpy(t->open, t->chosen);
    look_now(t);
}

/* ===== keys ===== */

static void scroll(struct top *t, long by)
{
    long most = (long)t->lines - (long)t->rows;
    long to = (long)t->scroll + by;

    t->scroll = to < 0 || most < 0 ? 0 : (size_t)(to > most ? most : to);
}

static void step(struct top *t, int by)
{
    if (t->open[0]) {
        strcpy(t->chosen, t->open);
        move(t, by);
        open_chosen(t);
        return;
    }
    t->order =
        (enum top_order)(((int)t->order + by + TOP_N_ORDERS) % TOP_N_ORDERS);
}

/* Up, down, and so on; true: it was one of these. */
static bool moves(struct top *t, const struct top_press *p)
{
    long page = t->rows > 1 ? (long)t->rows - 1 : 1;
    long by = 0;

    switch (p->key) {
    case TOP_KEY_UP:
        by = -1;
        break;
    case TOP_KEY_DOWN:
        by = 1;
        break;
    case TOP_KEY_PAGE_UP:
        by = -page;
        break;
    case TOP_KEY_PAGE_DOWN:
        by = page;
        break;
    case TOP_KEY_FIRST:
        by = -100000;
        break;
    case TOP_KEY_LAST:
        by = 100000;
        break;
    default:
        return false;
    }
    if (t->open[0])
        scroll(t, by);
    else
        move(t, by);
    return true;
}

static void click(struct top *t, int y)
{
    size_t n = shown(t), line = (size_t)y - t->at;

    if (t->open[0] || y < (int)t->at || line >= t->rows || t->first + line >= n)
        return;
    choose(t, t->first + line, n);
    open_chosen(t);
}

static void back(struct top *t)
{
    if (t->open[0])
        t->open[0] = '\0';
    else
        t->filter[0] = '\0';
    t->typing = false;
}

static void erase(struct top *t)
{
    size_t n = strlen(t->filter);
    if (n)
        t->filter[bide__utf8_cut(t->filter, n - 1)] = '\0';
}

/* A byte of the filter; names may have any. */
static void type(struct top *t, int key)
{
    size_t n = strlen(t->filter);
    if (n + 1 < sizeof t->filter && key >= ' ' && key < 256 && key != DELETE) {
        t->filter[n] = (char)key;
        t->filter[n + 1] = '\0';
    }
    t->typing = true;
}

/* Keys that mean the same on each page. True: it was one of these. */
static bool is_common(struct top *t, const struct top_press *p)
{
    if (moves(t, p))
        return true;
    if (p->key == TOP_KEY_CLICK)
        click(t, p->y);
    else if (p->key == ESC)
        back(t);
    else if (p->key != '\r' && p->key != '\n')
        return p->key <= 0 || p->key == TOP_KEY_OTHER;
    else if (!t->open[0])
        open_chosen(t);
    return true;
}

bool top_press_key(struct top *t, const struct top_press *p)
{
    if (p->key == TOP_KEY_END)
        return false;
    if (t->help && p->key != TOP_KEY_NONE) {
        t->help = false;
        return p->key != 'q';
    }
    if (is_common(t, p))
        return true;
    if (t->typing && !t->open[0] && p->key != BACKSPACE && p->key != DELETE)
        type(t, p->key);
    else if (p->key == 'q' || p->key == 'Q')
        return false;
    else if (p->key == ' ')
        t->paused = !t->paused;
    else if (p->key == '?')
        t->help = true;
    else if (p->key == '<' || p->key == '>')
        step(t, p->key == '<' ? -1 : 1);
    else if (p->key == BACKSPACE || p->key == DELETE)
        erase(t);
    else if (p->key == '/')
        t->typing = !t->open[0];
    else if (!t->open[0])
        type(t, p->key);
    return true;
}

/* ===== drawing ===== */

static int terminal_height(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
        return size.ws_row;
    return 24;
}

/* The selected line is always among those that are seen. */
static void follow(struct top *t, struct top_look *look)
{
    look->chosen = chosen_line(t, look->shown);
    if (look->chosen < t->first)
        t->first = look->chosen;
    if (t->rows && look->chosen >= t->first + t->rows)
        t->first = look->chosen - t->rows + 1;
    if (t->first + t->rows > look->shown)
        t->first = look->shown > t->rows ? look->shown - t->rows : 0;
    look->first = t->first;
}

static const struct bide__node *charts(const struct top *t)
{
    const struct bide__node *deps =
        t->history ? top_get(t->history->root, "deps") : NULL;
    return top_get(deps, t->open);
}

void top_draw(FILE *out, struct top *t, struct top_look *look)
{
    char shared[TOP_NAME];

    top_shared(&t->state, shared);
    look->shared = shared;
    look->minute = &t->minute;
    look->order = t->order;
    look->filter = t->filter;
    look->typing = t->typing;
    look->shown = shown(t);
    if (t->help) {
        top_help(out, look);
    } else if (t->open[0] && t->state.full) {
        t->rows = look->height > 3 ? (size_t)look->height - 2 : 1;
        look->first = t->scroll;
        t->lines = top_page(out, &t->state, look, charts(t));
    } else {
        follow(t, look);
        t->rows = top_list(out, &t->state, look, &t->at);
    }
}

/* Each line ends by clearing what was there before. */
static void put_lines(const char *text)
{
    fputs("\033[H", stdout);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        fwrite(text, 1, (size_t)(end - text), stdout);
        fputs("\033[K\r\n", stdout);
    }
    fprintf(stdout, "%s\033[K\033[J", text);
    fflush(stdout);
}

static void draw(struct top *t, const char *status)
{
    struct paint paint = paint_for(stdout);
    struct top_look look = { .width = terminal_width(stdout),
                             .height = terminal_height(),
                             .utf8 = use_utf8(),
                             .paint = paint,
                             .place = t->place.text,
                             .status = status,
                             .reverse = "\033[7m",
                             .interactive = true };
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return;
    if (!paint.plain[0]) /* it ends the reversal */
        look.reverse = "";
    top_draw(to, t, &look);
    fclose(to);
    put_lines(text);
    free(text);
}

void top_run(struct top *t)
{
    int64_t due = bide_now_ns() + t->interval_ns;
    char why[256] = "";

    draw(t, NULL);
    for (;;) {
        int64_t left = due - bide_now_ns();
        struct top_press p =
            top_screen_key(left > 0 ? (int)(left / BIDE_MILLISECOND) + 1 : 0);
        if (!top_press_key(t, &p))
            return;
        if (bide_now_ns() >= due) {
            if (!t->paused && top_look_at(t, why, sizeof why))
                why[0] = '\0';
            due = bide_now_ns() + t->interval_ns;
        }
        draw(t, t->paused ? "paused" : why[0] ? why : NULL);
    }
}
