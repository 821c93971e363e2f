"""Certificates for tests, made by openssl: NAME.pem and NAME.key in a directory."""
import os
import subprocess

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], check=True, cwd=directory,
                   capture_output=True)


NAMES = "IP:127.0.0.1,DNS:localhost,DNS:x.example,DNS:admin.test"


def make(directory, name, names=NAMES, subject=None):
    """One that is signed by itself, for these names; without any, it has only its
    subject. The paths of it and of its key."""
    more = ["-addext", f"subjectAltName={names}"] if names else []
    openssl(directory, "req", "-x509", *KEY, "-days", "2", "-subj",
            f"/CN={subject or name}", *more, "-keyout", f"{name}.key", "-out",
            f"{name}.pem")
    return tuple(os.path.join(directory, f"{name}.{x}") for x in ("pem", "key"))


def authority(directory, name):
    return make(directory, name, None)


def issue(directory, name, ca, names):
    """One that this authority has signed."""
    openssl(directory, "req", *KEY, "-subj", f"/CN={name}", "-keyout",
            f"{name}.key", "-out", f"{name}.csr")
    with open(os.path.join(directory, "ext"), "w", encoding="utf-8") as f:
        f.write(f"subjectAltName={names}\n" if names else "")
    openssl(directory, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem",
            "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2", "-extfile",
            "ext", "-out", f"{name}.pem")
