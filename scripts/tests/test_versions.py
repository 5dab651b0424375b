"""The steps that hold versions find what they are for."""
import importlib.machinery
import importlib.util
import pathlib
import shutil
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def step(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts/steps" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Baseline(unittest.TestCase):
    step = step("public-baseline")
    old = {
        "Holdfast\t\tstruct Pin", "Holdfast\tPin\tinit(_ text: String)", "Holdfast\tPin\t: Sendable",
        "Holdfast\t\tenum Rule", "Holdfast\tRule\tcase any", "Holdfast\t\tprotocol Source",
        "HoldfastTesting\tTestDER\tlet bytes: [UInt8]", "HoldfastCompatibility\t\tclass GCX",
    }

    def wrong(self, version, old_version="1.2.3", without=(), adding=()):
        return self.step.compare(old_version, self.old, version, self.old - set(without) | set(adding))

    def test_what_is_the_same_needs_no_version(self):
        self.assertEqual(self.wrong("1.2.3"), [])

    def test_a_removed_symbol_needs_a_major_version(self):
        gone = "Holdfast\tPin\tinit(_ text: String)"
        for version in ("1.2.3", "1.2.4", "1.3.0"):
            self.assertEqual(self.wrong(version, without=[gone]), [f"is gone or another: {gone}"])
        self.assertEqual(self.wrong("2.0.0", without=[gone]), [])

    def test_before_one_a_removed_symbol_needs_a_minor_version(self):
        gone = "Holdfast\tPin\t: Sendable"
        self.assertEqual(len(self.wrong("0.2.4", "0.2.3", [gone])), 1)
        self.assertEqual(self.wrong("0.3.0", "0.2.3", [gone]), [])

    def test_a_changed_declaration_is_a_removed_one(self):
        gone, other = "Holdfast\tPin\tinit(_ text: String)", "Holdfast\tPin\tinit(_ text: String) throws"
        self.assertEqual(self.wrong("1.3.0", without=[gone], adding=[other]), [f"is gone or another: {gone}"])

    def test_a_new_case_and_a_new_requirement_break(self):
        for line in ("Holdfast\tRule\tcase one", "Holdfast\tSource\trequirement var pins: [Pin] { get }"):
            self.assertEqual(len(self.wrong("1.3.0", adding=[line])), 1, line)
        fresh = ["Holdfast\t\tenum Other", "Holdfast\tOther\tcase one"]
        self.assertEqual(self.wrong("1.3.0", adding=fresh), [])

    def test_what_is_new_needs_a_minor_version(self):
        self.assertEqual(len(self.wrong("1.2.4", adding=["Holdfast\tPin\tlet text: String"])), 1)
        self.assertEqual(self.wrong("1.3.0", adding=["Holdfast\tPin\tlet text: String"]), [])

    def test_the_test_kit_may_change_in_a_minor_version_and_foreign_names_never(self):
        self.assertEqual(self.wrong("1.3.0", without=["HoldfastTesting\tTestDER\tlet bytes: [UInt8]"]), [])
        self.assertEqual(len(self.wrong("2.0.0", without=["HoldfastCompatibility\t\tclass GCX"])), 1)

    def test_a_version_does_not_go_back(self):
        self.assertEqual(len(self.wrong("1.2.2")), 1)

    def test_the_committed_baseline_can_be_read_and_misses_what_is_taken_away(self):
        version, lines = self.step.read(self.step.BASELINE)
        self.assertGreater(len(lines), 3000)
        gone = next(line for line in sorted(lines) if "\tPinSet\t" in line)
        major, minor, patch = self.step.parts(version)
        self.assertEqual(len(self.step.compare(version, lines, f"{major}.{minor}.{patch + 1}", lines - {gone})), 1)


class Version(unittest.TestCase):
    step = step("version")

    def problems(self, changelog=None, releasing=False, **changes):
        """Those of a copy of the files in which texts are replaced."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            names = ("CHANGELOG.md", "Sources/Holdfast/Foundations/HoldfastRelease.swift",
                     "Server/Sources/ServerWeb/Administration/openapi.yaml")
            for name in names + self.step.INSTALLS + self.step.ARTIFACTS + self.step.READERS:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name)
                text = (root / name).read_text().replace("0.1.0", "1.4.0")
                (root / name).write_text(text)
            (root / "CHANGELOG.md").write_text(changelog or "## [Unreleased]\n\n## [1.4.0] - 2030-01-01\n")
            for name, (old, new) in changes.items():
                path = next(root / other for other in names + self.step.INSTALLS + self.step.ARTIFACTS + self.step.READERS
                            if pathlib.Path(other).stem.replace("-", "") == name)
                path.write_text(path.read_text().replace(old, new))
            return self.step.problems(root, releasing)

    def test_what_agrees_is_accepted(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.problems("## [1.4.0] - 2030-01-01\n", releasing=True), [])
        self.assertEqual(self.problems("## [Unreleased]\n"), [])

    def test_a_release_has_a_heading(self):
        self.assertEqual(len(self.problems(releasing=True)), 1)
        self.assertGreaterEqual(len(self.problems("## [1.3.0] - 2030-01-01\n")), 1)

    def test_each_place_must_agree(self):
        for name in ("README", "installing", "wultrasslpinning", "Package", "openapi", "compose", "postgresql", "holdfastctl"):
            self.assertGreaterEqual(len(self.problems(**{name: ("1.4.0", "1.3.0")})), 1, name)
        self.assertEqual(len(self.problems(Holdfastctl=("HoldfastRelease.version", '"1.4.0"'))), 1)

    def test_after_a_release_the_version_may_be_higher(self):
        self.assertEqual(self.problems(HoldfastRelease=("1.4.0", "1.5.0"), openapi=("1.4.0", "1.5.0")), [])
        self.assertGreaterEqual(len(self.problems(HoldfastRelease=("1.4.0", "1.3.9"))), 1)


if __name__ == "__main__":
    unittest.main()
