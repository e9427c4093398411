"""Puts the sample portfolio into the wheel; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithSample(build_py):
    """Copies `data/sample` to `app/sample`, where an installed Footnote looks for it."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree("data/sample", Path(self.build_lib, "app", "sample"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithSample})
