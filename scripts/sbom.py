#!/usr/bin/env python3
"""Lists what a program or wheel of a release contains: its crates, the library HiGHS, and libraries of Debian packages.

    sbom.py --package gleaner --target x86_64-unknown-linux-gnu --features cli,highs --sbom FILE --licences FILE

Writes a software bill of materials in CycloneDX's JSON format, and a text with the licences of all components. Reads
only cargo's lock file and the downloaded sources, so it needs no network access.
"""

import argparse
import json
import os
import pathlib
import subprocess
import uuid

CARGO = os.environ.get("CARGO", "cargo")
NO_TEXT = "This component contains no licence text."
LICENCE_NAMES = ("licen", "copying", "notice", "unlicense", "third_party")


def cargo(*words):
    return subprocess.run([CARGO, *words, "--locked"], check=True, capture_output=True, text=True).stdout


def linked(package, target, features):
    """Names and versions of the crates that are linked, without those that only build scripts or tests use."""
    words = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--no-default-features"]
    tree = cargo("tree", "--package", package, "--target", target, "--features", features, *words)
    # A line is `name v1.2.3`, which may be followed by a path or `(*)`.
    return {(line.split()[0], line.split()[1].lstrip("v")) for line in tree.splitlines()}


def licence_files(folder):
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return [path for path in files if path.name.lower().startswith(LICENCE_NAMES)]


def crate(package):
    """A crate as a component, with the paths of its licence files."""
    name, version = package["name"], package["version"]
    component = {"type": "library", "name": name, "version": version, "bom-ref": f"pkg:cargo/{name}@{version}"}
    component["purl"] = component["bom-ref"]
    if package["license"]:
        # Old manifests separate alternatives with a slash.
        expression = package["license"].strip().replace(" / ", "/").replace("/", " OR ")
        component["licenses"] = [{"expression": expression}]
    return component, licence_files(pathlib.Path(package["manifest_path"]).parent)


def highs(package):
    """HiGHS as a component, with the paths of its licence files. Its sources are part of the crate highs-sys."""
    folder = pathlib.Path(package["manifest_path"]).parent / "HiGHS"
    numbers = dict(line.split("=") for line in (folder / "Version.txt").read_text().split() if "=" in line)
    version = ".".join(numbers[f"HIGHS_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))
    purl = f"pkg:github/ERGO-Code/HiGHS@v{version}"
    component = {"type": "library", "name": "HiGHS", "version": version, "bom-ref": purl, "purl": purl}
    component["licenses"] = [{"expression": "MIT"}]
    return component, licence_files(folder)


def debian(name):
    """A package of Debian or Ubuntu as a component, with the path of its licence file."""
    form = "${Version} ${Architecture}"
    query = ["dpkg-query", "--show", "--showformat", form, name]
    version, architecture = subprocess.run(query, check=True, capture_output=True, text=True).stdout.split()
    purl = f"pkg:deb/debian/{name}@{version}?arch={architecture}"
    component = {"type": "library", "name": name, "version": version, "bom-ref": purl, "purl": purl}
    return component, [pathlib.Path("/usr/share/doc", name, "copyright")]


def main():
    options = argparse.ArgumentParser(prog="scripts/sbom.py", description=__doc__.split("\n")[0])
    options.add_argument("--package", required=True, help="crate of the program or Python module")
    options.add_argument("--target", required=True, help="target triple of the build")
    options.add_argument("--features", required=True, help="features of the package, which replace its defaults")
    options.add_argument("--sbom", type=pathlib.Path, required=True, help="file to write the bill of materials to")
    options.add_argument("--licences", type=pathlib.Path, required=True, help="file to write all licences to")
    options.add_argument("--debian", nargs="*", default=[], help="installed packages whose static libraries are linked")
    given = options.parse_args()

    metadata = json.loads(cargo("metadata", "--format-version=1", "--filter-platform", given.target, "--all-features"))
    members = set(metadata["workspace_members"])
    wanted = linked(given.package, given.target, given.features)
    packages = [package for package in metadata["packages"] if (package["name"], package["version"]) in wanted]
    packages.sort(key=lambda package: (package["name"], package["version"]))
    root = next(package for package in packages if package["name"] == given.package)

    found = [crate(package) for package in packages if package is not root]
    found += [highs(package) for package in packages if package["name"] == "highs-sys"]
    found += [debian(name) for name in given.debian]

    # All crates of the workspace have Gleaner's licence, which archives contain as a separate file.
    own = {f"pkg:cargo/{package['name']}@{package['version']}" for package in packages if package["id"] in members}
    # Components with the same licence text are listed together above the text. Differences in white space are ignored.
    texts, names = {}, {}
    for component, files in found:
        if component["bom-ref"] in own:
            continue
        for text in [path.read_text(errors="replace") for path in files] or [NO_TEXT]:
            key = " ".join(text.split())
            texts.setdefault(key, text.strip("\n"))
            expression = component.get("licenses", [{"expression": "see the text"}])[0]["expression"]
            names.setdefault(key, []).append(f"{component['name']} {component['version']}: {expression}")
    rule = "\n\n" + "-" * 80 + "\n\n"
    head = "Licences of the components that are linked into this program or Python module."
    sections = ("\n".join(names[key]) + "\n\n" + text for key, text in texts.items())
    given.licences.write_text(head + rule + rule.join(sections) + "\n")

    main_component, _ = crate(root)
    main_component["type"] = "application"
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([given.target, main_component, found], default=str))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same components give the same serial number.
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": main_component,
            "properties": [{"name": "target", "value": given.target}, {"name": "features", "value": given.features}],
        },
        "components": [component for component, _ in found],
    }
    given.sbom.write_text(json.dumps(document, indent=2) + "\n")


main()
