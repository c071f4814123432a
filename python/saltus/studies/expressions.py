"""Expressions over named figures: metrics, objectives, constraints. Arithmetic and a few functions, nothing else."""
from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from ..errors import InputError

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
           ast.Div: operator.truediv, ast.Pow: operator.pow}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs, "min": min, "max": max, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "atan2": math.atan2, "hypot": math.hypot}
_CONSTANTS = {"pi": math.pi}
Lookup = Callable[[str], "float | None"]


class Missing(Exception):
    """A figure that the run has, but without a value: not reached, or not a number."""


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else None
    return None


class Expression:
    """`work / (9.81 * x6_9)`: `names` says what it needs, `value(lookup)` computes it."""

    def __init__(self, text: str):
        self.text = text.strip()
        try:
            tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"expected an expression like work / (9.81 * x), got {text!r}") from None
        self.names: list[str] = []
        self._check(tree)
        self._tree = tree

    def _check(self, node: ast.expr) -> None:
        name = _dotted(node)
        if name is not None:
            if name not in _CONSTANTS and name not in self.names:
                self.names.append(name)
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            self._check(node.left)
            self._check(node.right)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            self._check(node.operand)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords \
                and node.func.id in _FUNCTIONS and node.args:
            for argument in node.args:
                self._check(argument)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise InputError(f"expected numbers, names, + - * / **, and {', '.join(_FUNCTIONS)}, got "
                             f"{ast.unparse(node)!r}")

    def value(self, lookup: Lookup) -> float:
        """Missing: a figure without a value, or no number comes out."""
        try:
            found = float(self._value(self._tree, lookup))
        except (ArithmeticError, ValueError, TypeError) as e:
            raise Missing(f"'{self.text}' is not a number: {e}") from None
        if not math.isfinite(found):
            raise Missing(f"'{self.text}' is not a number: {found}")
        return found

    def _value(self, node: ast.expr, lookup: Lookup) -> Any:
        name = _dotted(node)
        if name is not None:
            if name in _CONSTANTS:
                return _CONSTANTS[name]
            found = lookup(name)
            if found is None:
                raise Missing(f"'{name}' has no value: not reached, or not a number")
            return found
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self._value(node.left, lookup),
                                          self._value(node.right, lookup))
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand, lookup))
        if isinstance(node, ast.Call):
            return _FUNCTIONS[node.func.id](*(self._value(a, lookup) for a in node.args))
        return float(node.value)

    def __getstate__(self) -> str:
        return self.text

    def __setstate__(self, text: str) -> None:
        self.__init__(text)


def constraint(text: str) -> tuple[Expression, str]:
    """`a <= b` or `a >= b` as (an expression that must be <= 0, the text)."""
    for sign in ("<=", ">="):
        left, found, right = text.partition(sign)
        if found:
            a, b = (left, right) if sign == "<=" else (right, left)
            Expression(left), Expression(right)
            return Expression(f"({a.strip()}) - ({b.strip()})"), text.strip()
    raise InputError(f"expected a <= b or a >= b, got {text!r}")
