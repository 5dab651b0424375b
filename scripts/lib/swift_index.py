"""Reads the index that `swift build` leaves in .build/debug/index/store, through the toolchain's libIndexStore."""
import ctypes
import os
import shutil

STORE = os.environ.get("INDEX_STORE", ".build/debug/index/store")
DEFINITION, REFERENCE = 1 << 1, 1 << 2
_RECORD = 2  # indexstore_unit_dependency_kind_t

_pointer = ctypes.c_void_p


class _StringRef(ctypes.Structure):
    _fields_ = [("data", _pointer), ("length", ctypes.c_size_t)]

    def text(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


_name_callback = ctypes.CFUNCTYPE(ctypes.c_bool, _pointer, _StringRef)
_item_callback = ctypes.CFUNCTYPE(ctypes.c_bool, _pointer, _pointer)

_FUNCTIONS = {
    "store_create": (_pointer, [ctypes.c_char_p, _pointer]),
    "store_units_apply_f": (ctypes.c_bool, [_pointer, ctypes.c_uint, _pointer, _name_callback]),
    "unit_reader_create": (_pointer, [_pointer, ctypes.c_char_p, _pointer]),
    "unit_reader_get_main_file": (_StringRef, [_pointer]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [_pointer, _pointer, _item_callback]),
    "unit_dependency_get_name": (_StringRef, [_pointer]),
    "unit_dependency_get_filepath": (_StringRef, [_pointer]),
    "unit_dependency_get_kind": (ctypes.c_int, [_pointer]),
    "record_reader_create": (_pointer, [_pointer, ctypes.c_char_p, _pointer]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [_pointer, _pointer, _item_callback]),
    "occurrence_get_symbol": (_pointer, [_pointer]),
    "occurrence_get_roles": (ctypes.c_uint64, [_pointer]),
    "occurrence_get_line_col": (None, [_pointer, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]),
    "symbol_get_usr": (_StringRef, [_pointer]),
    "symbol_get_name": (_StringRef, [_pointer]),
}


def _load():
    compiler = os.path.realpath(shutil.which("swiftc") or "swiftc")
    beside = os.path.join(os.path.dirname(compiler), "..", "lib", "libIndexStore.so")
    library = ctypes.CDLL(os.environ.get("LIBINDEXSTORE", beside))
    functions = {}
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return functions


def _records(index, store, folders):
    """The newest record of each source file below the folders: {record name: file}."""
    units, records = [], {}

    @_name_callback
    def unit(_, name):
        units.append(name.text())
        return True

    index["store_units_apply_f"](store, 0, None, unit)
    for name in units:
        reader = index["unit_reader_create"](store, name.encode(), None)
        main = index["unit_reader_get_main_file"](reader).text() if reader else ""
        # The index keeps units of files that are gone.
        if not main.startswith(folders) or not os.path.exists(main):
            continue

        @_item_callback
        def dependency(_, item):
            if (index["unit_dependency_get_kind"](item) == _RECORD
                    and index["unit_dependency_get_filepath"](item).text() == main):
                records[index["unit_dependency_get_name"](item).text()] = main
            return True

        index["unit_reader_dependencies_apply_f"](reader, None, dependency)
    return records


def occurrences(folders, store=STORE):
    """Every use and definition of a symbol in files below the folders: (file, line, roles, usr, name)."""
    if not os.path.isdir(store):
        raise SystemExit(f"no index at {store}: run `swift build --build-tests` first")
    index = _load()
    opened = index["store_create"](store.encode(), None)
    if not opened:
        raise SystemExit(f"the index at {store} cannot be read")
    prefixes = tuple(os.path.abspath(folder) + os.sep for folder in folders)
    found = []
    for record, main in _records(index, opened, prefixes).items():
        reader = index["record_reader_create"](opened, record.encode(), None)

        @_item_callback
        def occurrence(_, item):
            symbol = index["occurrence_get_symbol"](item)
            line, column = ctypes.c_uint(), ctypes.c_uint()
            index["occurrence_get_line_col"](item, ctypes.byref(line), ctypes.byref(column))
            found.append((main, line.value, index["occurrence_get_roles"](item),
                          index["symbol_get_usr"](symbol).text(), index["symbol_get_name"](symbol).text()))
            return True

        if reader:
            index["record_reader_occurrences_apply_f"](reader, None, occurrence)
    if not found:
        raise SystemExit(f"the index knows no file below {', '.join(folders)}: run `swift build --build-tests` first")
    return found
