"""`lakeward completion SHELL`: a script that completes commands, options and their choices.

The script is written once from the parser, so a press of TAB starts no Python.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import click


@dataclass(frozen=True)
class Node:
    """A command or group of commands, and the words that complete it.

    Attributes:
        path: The words of the command, `bundle deploy`; empty for `lakeward` itself.
        commands: Names and first help lines of the commands below it.
        options: Spellings and help texts of its options.
        values: Choices of every option that takes a value, empty for a free one.
    """

    path: str
    commands: dict[str, str]
    options: dict[str, str]
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Return all completions: commands first."""
        return [*self.commands, *self.options]


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL.

    bash: `eval "$(lakeward completion bash)"` in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after
    compinit. fish: `lakeward completion fish > ~/.config/fish/completions/lakeward.fish`.
    """
    click.echo(_WRITERS[shell](list(parser_nodes(ctx.find_root()))), nl=False)
    return 0


def parser_nodes(ctx: click.Context, path: tuple[str, ...] = ()) -> Iterator[Node]:
    """Yield the command of a context and all commands below it."""
    command = ctx.command
    below: dict[str, click.Command] = {}
    if isinstance(command, click.Group):
        found = ((name, command.get_command(ctx, name)) for name in command.list_commands(ctx))
        below = {name: each for name, each in found if each is not None and not each.hidden}
    options: dict[str, str] = {}
    values: dict[str, tuple[str, ...]] = {}
    for parameter in command.get_params(ctx):
        if not isinstance(parameter, click.Option) or parameter.hidden:
            continue
        for spelling in (*parameter.opts, *parameter.secondary_opts):
            options[spelling] = _first_sentence(parameter.help or "")
            if not parameter.is_flag and not parameter.count:
                kind = parameter.type
                values[spelling] = tuple(map(str, kind.choices)) if isinstance(kind, click.Choice) else ()
    commands = {name: _first_sentence(each.get_short_help_str(limit=500)) for name, each in below.items()}
    yield Node(" ".join(path), commands, options, values)
    for name, each in below.items():
        yield from parser_nodes(click.Context(each, info_name=name, parent=ctx), (*path, name))


def _first_sentence(text: str) -> str:
    """Return the first sentence on one line, without what a shell's quotes could end."""
    line = " ".join(text.split()).partition(". ")[0].rstrip(".")
    return line.replace("'", "").replace('"', "").replace("`", "").replace("\\", "").replace("$", "")


def _cases(nodes: list[Node]) -> str:
    """Return the two `case` tables of bash and zsh: descent into a command, and a command's words."""
    inner = [f"{node.path} {name}" for node in nodes for name in node.commands]
    descent = [f"            {shlex.quote(each)}) place={shlex.quote(each.strip())} ;;" for each in inner]
    words = [
        f"        {shlex.quote(node.path)}) candidates={shlex.quote(' '.join(node.words))} ;;"
        for node in nodes
    ]
    after = {
        f"{node.path} {name}": " ".join(values) for node in nodes for name, values in node.values.items()
    }
    values = [
        f"        {shlex.quote(at)}) candidates={shlex.quote(each)}; free=1 ;;" for at, each in after.items()
    ]
    return _TABLES.format(descent="\n".join(descent), words="\n".join(words), values="\n".join(values))


_TABLES = """\
        case "$place $word" in
{descent}
        esac
    done
    case "$place" in
{words}
    esac
    case "$place $previous" in
{values}
    esac
"""
_BASH = """\
# Completion of lakeward for bash: eval "$(lakeward completion bash)"
_lakeward() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local place="" candidates="" free="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
{tables}    # Files are completed by `-o default` where nothing matches.
    COMPREPLY=()
    if [[ -z "$free" && -n "$place" && "$current" != -* ]]; then
        case "$place" in {groups}) ;; *) return ;; esac
    fi
    COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}}
complete -o default -F _lakeward lakeward
"""
_ZSH = """\
#compdef lakeward
# Completion of lakeward for zsh: eval "$(lakeward completion zsh)" after compinit
_lakeward() {{
    local current="${{words[CURRENT]}}" previous="${{words[CURRENT-1]}}"
    local place="" candidates="" free="" word
    for word in "${{(@)words[2,CURRENT-1]}}"; do
{tables}    if [[ -z "$free" && -n "$place" && "$current" != -* ]]; then
        case "$place" in {groups}) ;; *) _files; return ;; esac
    fi
    if [[ -n "$candidates" ]]; then
        compadd -- ${{=candidates}}
    else
        _files
    fi
}}
compdef _lakeward lakeward
"""
_FISH_HEAD = """\
# Completion of lakeward for fish: lakeward completion fish > ~/.config/fish/completions/lakeward.fish
function __lakeward_place
    set -l place ''
    for word in (commandline -opc)[2..]
        switch "$place $word"
{descent}
        end
    end
    test "$place" = "$argv[1]"
end
"""


def _bash(nodes: list[Node]) -> str:
    return _BASH.format(tables=_cases(nodes), groups=_groups(nodes))


def _zsh(nodes: list[Node]) -> str:
    return _ZSH.format(tables=_cases(nodes), groups=_groups(nodes))


def _groups(nodes: list[Node]) -> str:
    """Return the commands that have commands, as one pattern of `case`."""
    return "|".join(shlex.quote(node.path) for node in nodes if node.commands and node.path)


def _fish(nodes: list[Node]) -> str:
    descent = "\n".join(
        f"            case '{node.path} {name}'\n                set place '{f'{node.path} {name}'.strip()}'"
        for node in nodes
        for name in node.commands
    )
    lines = [_FISH_HEAD.format(descent=descent)]
    for node in nodes:
        at = f"complete -c lakeward -n '__lakeward_place \"{node.path}\"'"
        lines += [f"{at} -f -a {name} -d '{help_}'\n" for name, help_ in node.commands.items()]
        for spelling, help_ in node.options.items():
            flag = f"-l {spelling[2:]}" if spelling.startswith("--") else f"-s {spelling[1:]}"
            choices = node.values.get(spelling)
            value = "" if choices is None else f" -x -a '{' '.join(choices)}'" if choices else " -r"
            lines.append(f"{at} {flag}{value} -d '{help_}'\n")
    return "".join(lines)


_WRITERS: dict[str, Callable[[list[Node]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
