"""Builds the documentation site: build.py OUT TRIPLEMESH PLUGIN.

The pages are the Markdown files of the repository and a reference: of commands and settings, which the
program TRIPLEMESH prints, and of the contract, which the buf plugin PLUGIN describes. Links to other files of the repository lead to the hosted source. A link to
a file or heading that does not exist fails the build.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "https://github.com/triplemesh/triplemesh/blob/main/"
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
# The words after the language of a code block are for the tests.
FENCE = re.compile(r"^( *```[a-z]+) .*$", re.M)
NOT_PAGES = re.compile(r"testdata/|docs/tutorials/data/|console/|^services/")


def git_files(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    return [f for f in out.splitlines() if (ROOT / f).exists()]


def rewrite_links(page, text, pages):
    """Returns a page whose links to files that are not on the site lead to the source."""
    def rewrite(match):
        target = match[2]
        if re.match(r"[a-z]+:", target):
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if path in pages:
            return match[0]
        if path + "/README.md" in pages:
            return f"{match[1]}{target.rstrip('/')}/README.md{match[3]}"
        if not (ROOT / path).exists():
            sys.exit(f"{page}: link to {target}: no such file")
        if path.startswith("docs/images/"):
            return match[0]
        return match[1] + SOURCE + path + match[3]
    return LINK.sub(rewrite, FENCE.sub(r"\1", text))


def run(program, *args):
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run([program, *args], cwd=ROOT, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"{' '.join(args)}: {done.stderr}")
    return done.stdout


def describe_commands(program):
    """Returns a page with the help of every command."""
    listed = re.findall(r"^  ([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*)(?: [<\[(].*)?$",
                        run(program, "--help").split("\nCommands:\n")[1], re.M)
    sections = [f"## {name}\n\n```text\n{run(program, *name.split(), '--help').strip()}\n```\n" for name in listed]
    return "# Commands\n\nWhat `triplemesh COMMAND --help` prints.\n\n" + "\n".join(sections)


def describe_settings(program):
    """Returns a page with every setting and its default."""
    printed = run(program, "up", "--print-config")
    return ("# Settings\n\nEvery setting with its default, as `triplemesh up --print-config` prints them. How a file, "
            "variables and flags combine: [README](../README.md#configuration).\n\n```yaml\n" + printed + "```\n")


def describe_services(plugin, out):
    """Returns a page with every service and message of the contract, by way of a file in out."""
    template = ('{"version":"v2","plugins":[{"local":"%s","out":"%s","opt":"markdown,grpc.md","strategy":"all"}]}'
                % (plugin, out))
    subprocess.run([ROOT / ".cache/bin/buf", "generate", "--template", template, "--path", "proto/triplemesh"],
                   cwd=ROOT, check=True)
    text = (out / "grpc.md").read_text()
    text = re.sub(r"<a name=\"([^\"]*)\"></a>", r'<span id="\1"></span>', text)
    text = re.sub(r"\[(google\.[A-Za-z.]+)\]\(#[^)]*\)", r"\1", text)
    text = text[text.index("\n## ", text.index("## Table of Contents") + 5):]
    text = re.sub(r"<p align=\"right\">.*?</p>", "", text)
    return "# gRPC services and messages\n\nMade from the contract in `proto/`; how to call it: [gRPC](../docs/grpc.md).\n" + text


def main(out, program, plugin):
    out = pathlib.Path(out).resolve()
    stage = out / "src"
    shutil.rmtree(out, ignore_errors=True)
    pages = {f for f in git_files("*.md") if not NOT_PAGES.search(f)}
    pages |= {"reference/commands.md", "reference/settings.md", "reference/grpc.md"}
    written = {"reference/commands.md": describe_commands(program),
               "reference/settings.md": describe_settings(program),
               "reference/grpc.md": describe_services(plugin, out)}
    for page in sorted(pages):
        text = written.get(page) or (ROOT / page).read_text()
        target = stage / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewrite_links(page, text, pages))
    for image in git_files("docs/images/*"):
        (stage / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / image, stage / image)
    config = shutil.copy(ROOT / "deploy/site/mkdocs.yml", out)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", config,
                    "--site-dir", out / "html"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
