#!/usr/bin/env python3
"""The dashboard in a real browser: test/web/dashboard.py LIVE"""
import os
import subprocess
import sys

import npm

HERE = os.path.dirname(os.path.abspath(__file__))
npm.install(HERE, "playwright-core")
sys.exit(subprocess.run(["node", os.path.join(HERE, "dashboard.mjs"),
                         os.path.abspath(sys.argv[1])], check=False).returncode)
