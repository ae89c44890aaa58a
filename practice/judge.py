#!/usr/bin/env python3
"""Judge a practice file: ``python practice/judge.py 101``. Works from any folder, installed or not."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  asked before newer syntax is met
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"Tacit needs Python 3.11 or newer; this is {version}. / Tacit 需要 Python 3.11 及以上版本。")

import os

# Not pathlib: until this folder is off the path, that may be a file of the learner's.
HERE = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
# Being first on the path, this folder would shadow the package: this file is called judge.py too.
sys.path[:] = [os.path.dirname(HERE)] + [p for p in sys.path if os.path.realpath(p or os.curdir) != HERE]  # noqa: PTH120

if __name__ == "__main__":
    try:
        from judge.cli import main
    except ModuleNotFoundError as fault:
        sys.stderr.write(f"{__file__}: {fault}. This file must stay in its repository. / 请勿将此文件移出仓库。\n")
        sys.exit(3)
    sys.exit(main())
