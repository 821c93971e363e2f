/* suggest.c: the nearest of some words, or all of them if they are few. */
#include "base/suggest.h"

#include <string.h>

#include "lib/ascii.h"

enum { MAX_WORD = 48, MAX_LISTED = 10 };

static char folded(char c)
{
    return c == '-' ? '_' : bide__lower(c);
}

static int least(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* The number of insertions, deletions, replacements and swaps of neighbours
 * that turn one word into the other; case and the kind of dash are ignored. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    int d[MAX_WORD + 1][MAX_WORD + 1];

    for (size_t i = 0; i <= n; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            char x = folded(a[i - 1]), y = folded(b[j - 1]);

            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
                            d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == folded(b[j - 2]) &&
                y == folded(a[i - 2]) && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    }
    return d[n][m];
}

/* One letter in three may be wrong. */
static const char *nearest(const char *found, const char *const *known)
{
    size_t n = strlen(found);
    int best = (int)(n + 2) / 3 + 1;
    const char *word = NULL;

    for (; n > 0 && n <= MAX_WORD && *known; known++) {
        size_t m = strlen(*known);
        int d = m <= MAX_WORD ? distance(found, n, *known, m) : best;

        if (d < best && d < (int)m) {
            best = d;
            word = *known;
        }
    }
    return word;
}

static void quote(struct bide__out *out, const char *before, const char *word,
                  const char *behind)
{
    bide__out_text(out, before);
    bide__out_text(out, word);
    bide__out_text(out, behind);
}

static bool list(struct bide__out *out, const char *const *known)
{
    size_t n = 0;

    while (known[n])
        n++;
    if (n == 0 || n > MAX_LISTED)
        return false;
    bide__out_text(out, n > 2 ? "expected one of" : "expected");
    for (size_t i = 0; i < n; i++)
        quote(out, i == 0 ? " `" : i + 1 == n ? " or `" : ", `", known[i], "`");
    return true;
}

bool bide__suggest(struct bide__out *out, const char *found,
                   const char *const *known)
{
    const char *word = nearest(found, known);

    if (!word)
        return list(out, known);
    quote(out, "did you mean `", word, "`?");
    return true;
}
