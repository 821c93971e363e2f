/* Takes over the terminal and restores it. */
#include "cmd/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static sigset_t mask_waiting; /* signal mask while it waits for a key */
static volatile sig_atomic_t taken, ending;

/* Async-signal-safe: also called when a signal stops the program. */
static void give_back(void)
{
    static const char back[] = "\033[?1006l\033[?1000l\033[?25h\033[?1049l";
    if (!taken)
        return;
    taken = 0;
    if (write(STDOUT_FILENO, back, sizeof back - 1) < 0)
        return; /* the terminal is gone: nothing to restore */
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void take(void)
{
    static const char over[] =
        "\033[?1049h\033[?25l\033[?1000h\033[?1006h\033[H\033[2J";
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    taken = write(STDOUT_FILENO, over, sizeof over - 1) > 0;
}

static void on_end(int signal_number)
{
    (void)signal_number;
    ending = 1;
}

/* Ctrl-Z: restores the shell's screen; `fg` takes it over again. */
static void on_stop(int signal_number)
{
    int err = errno;
    (void)signal_number;
    give_back();
    raise(SIGSTOP);
    errno = err;
}

static void on_continue(int signal_number)
{
    int err = errno;
    (void)signal_number;
    if (!taken)
        take();
    errno = err;
}

static void on_resize(int signal_number)
{
    (void)signal_number; /* ends the wait for a key, to redraw */
}

/* Signals are unblocked only while it waits for a key: one that arrived during
 * a request or while the screen is written would leave half of it. */
static void handle_signals(void)
{
    static const struct {
        int number;
        void (*handler)(int);
    } mine[] = {
        { SIGINT, on_end },   { SIGTERM, on_end },      { SIGHUP, on_end },
        { SIGTSTP, on_stop }, { SIGCONT, on_continue }, { SIGWINCH, on_resize },
    };
    sigset_t all;

    sigemptyset(&all);
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) {
        struct sigaction sa = { .sa_handler = mine[i].handler };
        sigaction(mine[i].number, &sa, NULL);
        sigaddset(&all, mine[i].number);
    }
    sigprocmask(SIG_BLOCK, &all, &mask_waiting);
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        sigdelset(&mask_waiting, mine[i].number);
}

void top_screen_init(void)
{
    tcgetattr(STDIN_FILENO, &before);
    handle_signals();
    take();
}

void top_screen_done(void)
{
    give_back();
}

struct top_press top_screen_key(int timeout_ms)
{
    static char text[256]; /* what was read and is not a key yet */
    static size_t len;
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    struct timespec timeout = { timeout_ms / 1000,
                                timeout_ms % 1000 * 1000000L };
    struct top_press press = { TOP_KEY_NONE, 0, 0 };

    if (len == 0) {
        if (ppoll(&p, 1, &timeout, &mask_waiting) <= 0) {
            press.key = ending ? TOP_KEY_END : TOP_KEY_NONE;
            return press;
        }
        ssize_t n = read(STDIN_FILENO, text, sizeof text);
        if (n <= 0) { /* the terminal is gone */
            press.key = TOP_KEY_END;
            return press;
        }
        len = (size_t)n;
    }
    size_t used = top_key_read(text, len, &press);
    len -= used;
    memmove(text, text + used, len);
    return press;
}
