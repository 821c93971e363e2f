/* Switching to a user permanently. */
#include "net/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool number(const char *text, unsigned long *ret)
{
    char *end;
    errno = 0;
    *ret = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno &&
           *ret < (uid_t)-1;
}

/* `*ret_name` is NULL for a number without a name. */
static bool find_user(const char *text, uid_t *ret_uid, gid_t *ret_gid,
                      const char **ret_name)
{
    unsigned long n = 0;
    bool is_number = number(text, &n);
    const struct passwd *pw = is_number ? getpwuid((uid_t)n) : getpwnam(text);

    if (!pw && !is_number)
        return false;
    *ret_uid = pw ? pw->pw_uid : (uid_t)n;
    *ret_gid = pw ? pw->pw_gid : (gid_t)n;
    *ret_name = pw ? pw->pw_name : NULL;
    return true;
}

static bool find_group(const char *text, gid_t *ret)
{
    unsigned long n = 0;
    const struct group *gr = getgrnam(text);

    if (!gr && !number(text, &n))
        return false;
    *ret = gr ? gr->gr_gid : (gid_t)n;
    return true;
}

static int become_user(const char *name, uid_t uid, gid_t gid)
{
    if ((name ? initgroups(name, gid) : setgroups(1, &gid)) < 0 ||
        setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return -1;
    errno = EPERM; /* it must not be able to go back */
    return uid != 0 && setuid(0) == 0 ? -1 : 0;
}

int privileges_drop(const char *user, const char *group, char *err,
                    size_t err_size)
{
    const char *name;
    uid_t uid;
    gid_t gid;

    if (!find_user(user, &uid, &gid, &name)) {
        snprintf(err, err_size, "proxy.user: there is no user `%s`", user);
        return -1;
    }
    if (group && !find_group(group, &gid)) {
        snprintf(err, err_size, "proxy.group: there is no group `%s`", group);
        return -1;
    }
    if (geteuid() != 0 && geteuid() == uid && getegid() == gid)
        return 0;
    if (become_user(name, uid, gid) == 0)
        return 0;
    snprintf(err, err_size, "proxy.user: cannot become `%s`: %s%s", user,
             strerror(errno),
             geteuid() == 0 ? "" : " (only root can become another user)");
    return -1;
}
