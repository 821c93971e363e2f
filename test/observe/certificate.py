"""Certificates for tests, made by openssl."""
import os
import subprocess


def make(directory, name):
    """The files of one for 127.0.0.1 and admin.test, signed by itself, and of its
    key."""
    cert, key = (os.path.join(directory, f"{name}.{x}") for x in ("pem", "key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
         "-addext", "subjectAltName=IP:127.0.0.1,DNS:admin.test",
         "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key
