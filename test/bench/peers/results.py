"""Results of a benchmark in a JSON file, which a later run goes on with."""

import json
import os


class Results(dict):
    def __init__(self, folder, name):
        """Reads what the file has, if it is there."""
        super().__init__()
        os.makedirs(folder, exist_ok=True)
        self._file = os.path.join(folder, name)
        if os.path.exists(self._file):
            with open(self._file, encoding="utf-8") as file:
                self.update(json.load(file))

    def keep(self, key, result):
        self[key] = result
        with open(self._file + ".new", "w", encoding="utf-8") as file:
            json.dump(self, file, indent=1)
        os.replace(self._file + ".new", self._file)
