"""Read YAML that anybody may have written: limits on size, depth and aliases come before anything is constructed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rationalize.errors import ConfigError, describe_os_error

MOST_BYTES = 2**20
DEEPEST = 30
MOST_NODES = 100_000
"""Values after aliases are followed: nine lines of aliases to aliases can stand for billions."""
_SHOWN = 200


def read_yaml_file(path: Path) -> dict[str, Any]:
    """Read a YAML file of settings by name.

    Raises:
        ConfigError: If it cannot be read, or is not such a file.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ConfigError(f"{path}: {size:,} bytes, expected a YAML file of at most {MOST_BYTES:,}.")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such config file. Expected a YAML file.") from None
    except OSError as error:
        raise ConfigError(f"{describe_os_error(error)} Expected a YAML file.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid YAML: not UTF-8 at byte {error.start:,}.") from None
    values = parse_yaml(text, str(path))
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected settings by name, got {type(values).__name__}.")
    return values


def parse_yaml(text: str, where: str) -> Any:
    """Parse YAML into plain values whose names are texts.

    Raises:
        ConfigError: If it is not valid, or larger, deeper or more folded than settings ever are.
    """
    try:
        _check_depth(text, where)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return None
        _check_nodes(node, where)
        return _construct(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not valid YAML: {_shorten(str(error))}") from None
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        # What the loader raises on values such as 2024-99-99 or !!int abc.
        raise ConfigError(f"{where}: not valid YAML: {_shorten(str(error))}.") from None


def _check_depth(text: str, where: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ConfigError(
                f"{where}: nested more than {DEEPEST} deep at line {event.start_mark.line + 1}."
            )


def _check_nodes(root: yaml.Node, where: str) -> None:
    """Count values with aliases followed, each node once; refuse names that are no texts, and nodes in themselves."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def measure(node: yaml.Node) -> int:
        if id(node) in open_nodes:
            raise ConfigError(f"{where}: line {node.start_mark.line + 1}: an alias to what it stands in.")
        if id(node) not in sizes:
            open_nodes.add(id(node))
            sizes[id(node)] = 1 + sum(map(measure, _list_inside(node, where)))
            open_nodes.discard(id(node))
        return sizes[id(node)]

    if measure(root) > MOST_NODES:
        raise ConfigError(f"{where}: stands for {sizes[id(root)]:,} values, expected at most {MOST_NODES:,}.")


def _list_inside(node: yaml.Node, where: str) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if not isinstance(node, yaml.MappingNode):
        return []
    for name, _ in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise ConfigError(f"{where}: line {name.start_mark.line + 1}: expected a name, got {name.id}.")
    return [each for pair in node.value for each in pair]


def _construct(node: yaml.Node) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return _name_by_text(loader.construct_document(node))
    finally:
        loader.dispose()


def _name_by_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _name_by_text(each) for name, each in value.items()}
    return [_name_by_text(each) for each in value] if isinstance(value, list) else value


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
