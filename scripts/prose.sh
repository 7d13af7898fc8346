#!/usr/bin/env bash
# Prints the prose of the repository, one sentence per line, as `path:line: sentence`. The prose consists of comments,
# documentation, messages and docs. Data, code blocks and the strings of tests are left out.
#   scripts/prose.sh                        all sentences
#   scripts/prose.sh --change BASE          only sentences with a line that was added since the commit BASE
#   scripts/prose.sh --sample 100 --seed 7  a random sample; the same seed draws the same sentences
#   scripts/prose.sh --dialect              only sentences of *.rs and *.md with a phrase that no technical writer uses
# The options can be combined.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import argparse
import ast
import io
import json
import pathlib
import random
import re
import subprocess
import tokenize

# The phrases that the guide to English never allows. "There is no" and "is no longer" are allowed.
DIALECT = re.compile(
    r"\b(?:(?:is|are|unless) told|so many\b(?! \w+ that)|be it|anew|of theirs|from here on|goes by|has it that|by and by"
    r"|which is said|taken up|known again|stands once|none was|(?<!there )(?<!There )(?:is|are) none\b"
    r"|(?<!there )(?<!There )(?:is|are) no (?!longer|more than|way\b|one\b)\w+)",
)


def sentences(line, text):
    """The sentences of `text`, whose first line is `line`, each with the numbers of its first and last line."""
    found, start = [], 0
    for match in re.finditer(r"[.!?][\"')`*]*(?=\s+[A-Z`\"'(\[*\d{]|\s*$)|\n\s*\n", text):
        found.append((start, match.end()))
        start = match.end()
    found.append((start, len(text)))
    for start, end in found:
        words = " ".join(text[start:end].split())
        if len(re.findall(r"[A-Za-z]{2,}", words)) < 3:
            continue
        start += len(text[start:end]) - len(text[start:end].lstrip())
        yield line + text.count("\n", 0, start), line + text.count("\n", 0, start + len(text[start:end].strip())), words


RUST = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<raw>\bb?r(?P<hashes>#*)\".*?\"(?P=hashes))"
    r"|(?P<string>\bb?\"(?:[^\"\\]|\\.)*\"|\"(?:[^\"\\]|\\.)*\")|(?P<char>'(?:[^'\\\n]|\\[^\n]{1,8}?)')",
    re.S,
)


def rust(text, is_test):
    """Yields the comments of consecutive lines as one text, and each string that reads like a sentence as another."""
    tests_from = text.find("#[cfg(test)]\nmod ")
    run, run_line, last_line, last_mark = [], 0, -2, ""
    for match in RUST.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if comment := match["comment"]:
            mark = re.match(r"//[/!]?", comment)[0]
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            if run and (line != last_line + 1 or mark != last_mark or before):
                yield run_line, "\n".join(run)
                run = []
            if not run:
                run_line = line
            run.append(comment[len(mark) :].strip())
            last_line, last_mark = line, mark
        elif (literal := match["string"]) and not is_test and not 0 <= tests_from < match.start():
            body = re.sub(r"\\n", " ", re.sub(r"\\\n\s*", "\n", literal.lstrip("b")[1:-1])).replace('\\"', '"')
            if len(re.findall(r"(?<![\w{])[a-zA-Z]{2,}(?![\w}(:=<])", body)) >= 3 and " " in body:
                yield line, body
    if run:
        yield run_line, "\n".join(run)


def without_code(blocks):
    """The texts of `blocks` without fenced code."""
    for line, text in blocks:
        kept, fenced = [], False
        for part in text.split("\n"):
            is_fence = part.lstrip().startswith("```")
            fenced ^= is_fence
            kept.append("" if fenced or is_fence else part)
        yield line, "\n".join(kept)


def markdown(text):
    """Paragraphs, list items and table cells, each as a separate text."""
    fenced, run, run_line = False, [], 1
    for line, part in enumerate(text.split("\n"), 1):
        if part.lstrip().startswith("```"):
            fenced = not fenced
            part = ""
        is_table, is_item = part.startswith("|"), re.match(r"\s*(?:[-*]|\d+\.)\s|#", part)
        if fenced or not part.strip() or is_table or is_item:
            if run:
                yield run_line, "\n".join(run)
            run = []
        if fenced:
            continue
        if is_table:
            yield from ((line, cell.strip()) for cell in re.split(r"(?<!\\)\|", part))
        elif part.strip():
            if not run:
                run_line = line
            run.append(re.sub(r"^\s*(?:[-*]|\d+\.|#+)\s+", "", part))
    if run:
        yield run_line, "\n".join(run)


def python(text, is_test):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#! ")
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        is_sentence = len(re.findall(r"\b[a-zA-Z]{2,}\b", node.value)) >= 3 and " " in node.value.strip()
        is_documentation = lines[node.lineno - 1].lstrip().startswith('"""')
        if is_sentence and (is_documentation or not is_test):
            yield node.lineno, node.value


def hash_comments(text):
    run, run_line = [], 0
    for line, part in enumerate(text.split("\n") + [""], 1):
        match = re.match(r"\s*#(?!!)\s?(.*)", part)
        if match:
            run_line = run_line if run else line
            run.append(match[1])
        elif run:
            yield run_line, "\n".join(run)
            run = []


def notebook(text):
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        line = text[: max(text.find(json.dumps(cell["source"][0])), 0)].count("\n") + 1 if cell["source"] else 1
        if cell["cell_type"] == "markdown":
            yield from ((line + at - 1, part) for at, part in markdown(source))


def blocks(path, text):
    is_test = "tests" in path.parts or "benches" in path.parts
    if path.suffix == ".rs":
        return without_code(rust(text, is_test))
    if path.suffix == ".md":
        return markdown(text)
    if path.suffix in (".py", ".pyi"):
        return python(text, is_test)
    if path.suffix == ".ipynb":
        return notebook(text)
    if path.suffix in (".sh", ".toml", ".yml", ".cmake") or path.name in ("Makefile", "run"):
        return hash_comments(text)
    return ()


def added_lines(base):
    """For each file, the numbers of the lines that were added since `base`."""
    added, path = {}, None
    diff = subprocess.run(["git", "diff", "-U0", "--no-color", base], check=True, capture_output=True, text=True).stdout
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[6:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(match[1]), int(match[2] or 1)
            added.setdefault(path, set()).update(range(first, first + count))
    return added


def main():
    options = argparse.ArgumentParser(prog="scripts/prose.sh", description="Prints the prose of the repository.")
    options.add_argument("--change", metavar="BASE", help="only sentences with a line added since this commit")
    options.add_argument("--sample", metavar="N", type=int, help="a random sample of N sentences")
    options.add_argument("--seed", metavar="S", type=int, default=0, help="seed of the sample (default: 0)")
    options.add_argument("--dialect", action="store_true", help="only sentences with a phrase of the dialect")
    wanted = options.parse_args()
    added = added_lines(wanted.change) if wanted.change else None
    files = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    found = []
    for name in sorted(filter(None, files.split("\0"))):
        path = pathlib.Path(name)
        if added is not None and name not in added or not path.is_file():
            continue
        if wanted.dialect and path.suffix not in (".rs", ".md"):
            continue
        text = path.read_text(errors="replace") if path.stat().st_size < 1 << 21 else ""
        for start, block in blocks(path, text):
            for first, last, sentence in sentences(start, block):
                if added is not None and added[name].isdisjoint(range(first, last + 1)):
                    continue
                if wanted.dialect and not DIALECT.search(sentence):
                    continue
                found.append((name, first, sentence))
    found.sort(key=lambda entry: entry[:2])
    if wanted.sample is not None and wanted.sample < len(found):
        found = sorted(random.Random(wanted.seed).sample(found, wanted.sample))
    for name, line, sentence in found:
        print(f"{name}:{line}: {sentence}")


main()
PYTHON
