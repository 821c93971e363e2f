/* The built-in scenarios. */
#include "cmd/sim/list.h"

#include <stdlib.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/sim/table.h"
#include "sim/scenario/builtin.h"

void sim_list_print(FILE *out)
{
    size_t n;
    const struct sim_builtin *list = sim_builtins(&n);
    struct paint p = paint_for(out);
    int width = terminal_width(out), head = 0;

    for (size_t i = 0; i < n; i++)
        if (text_width(list[i].name) > head)
            head = text_width(list[i].name);
    if (width > 100)
        width = 100;
    for (size_t i = 0; i < n; i++) {
        int column = width < 60 ? 6 : head + 4;
        fprintf(out, "  %s", p.bold);
        print_padded(out, list[i].name, width < 60 ? 0 : head, false);
        if (width < 60)
            fprintf(out, "%s%s\n%*s", list[i].name, p.plain, column, "");
        else
            fprintf(out, "%s  ", p.plain);
        bide__print_wrapped(out, list[i].sentence, column, column, width);
    }
}

int sim_no_such_scenario(const char *flag, const char *name)
{
    size_t n;
    const struct sim_builtin *list = sim_builtins(&n);
    const char **names = calloc(n + 1, sizeof *names);

    complain("sim", "%sthere is no scenario `%s`%s", flag, name,
             *flag ? "" : ", and no file of that name");
    for (size_t i = 0; names && i < n; i++)
        names[i] = list[i].name;
    if (names)
        suggest(name, names);
    fprintf(stderr, "  see `bide sim --list`\n");
    free(names);
    return EXIT_USAGE;
}

int sim_scenario_print(const char *name)
{
    const struct sim_builtin *b = sim_builtin_find(name);

    if (!b)
        return sim_no_such_scenario("--print: ", name);
    fwrite(b->text, 1, b->len, stdout);
    return EXIT_OK;
}
