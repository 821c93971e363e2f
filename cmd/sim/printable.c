/* Texts of a scenario are printed on a terminal, which would obey control
 * characters in them. */
#include <string.h>

#include "cmd/sim/subject.h"

/* Line breaks are allowed in prose, but not in names. */
static bool is_printable(const char *text, bool prose)
{
    for (const unsigned char *c = (const unsigned char *)text; c && *c; c++) {
        if (prose && (*c == '\n' || *c == '\t'))
            continue;
        if (*c < ' ' || *c == 0x7f ||
            (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return false;
    }
    return true;
}

const char *unprintable_part(const struct sim_model *m)
{
    if (!is_printable(m->title, true))
        return "`title`";
    if (!is_printable(m->about, true))
        return "`about`";
    if (!is_printable(m->look_at, true))
        return "`look_at`";
    for (uint32_t i = 0; i < m->n_variants; i++)
        if (!is_printable(m->variants[i].name, false))
            return "the name of a variant";
    for (uint32_t i = 0; i < m->n_policies; i++)
        if (!is_printable(m->policies[i].name, false))
            return "the name of a policy";
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (!is_printable(m->fleets[i].name, false))
            return "the name of a fleet of clients";
    for (uint32_t i = 0; i < m->n_services; i++)
        if (!is_printable(m->services[i].name, false))
            return "the name of a service";
    return NULL;
}
