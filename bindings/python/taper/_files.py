"""Files that are written completely or not at all."""

import os


def write(path, data):
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # A device or a pipe stays what it is.
        with open(path, "wb") as file:
            file.write(data)
        return
    import threading
    temporary = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
