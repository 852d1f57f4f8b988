"""Composite keys whose byte order is the order of their values, for code that sortkey design gen writes.

A Template builds keys from values and parses them; it refuses a value that would break the key, such as one with
the delimiter that follows it. The functions at the end make items and the requests of queries of such keys, in the form
of the client of boto3, whose numbers are texts, so that no digit is lost.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

# Values in keys. A time is a text such as 2026-01-05T10:00:00Z, a date, or a datetime with a time zone.
Text = Union[str, decimal.Decimal, uuid.UUID]
Time = Union[str, datetime.date]
Value = Union[Text, int, Time]
Bound = Union[Value, "Excluding", None]

# Values of attributes in the form of the client of boto3, such as {"N": "7"}.
AttributeValue = Mapping[str, Any]
Item = Dict[str, AttributeValue]
Request = Dict[str, Any]


class InvalidKeyError(ValueError):
    """A value or a key that a template refuses. Members that do not apply are empty."""

    def __init__(self, msg: str, advice: str = "", template: str = "", component: str = "") -> None:
        self.msg, self.advice, self.template, self.component = msg, advice, template, component
        super().__init__(msg)

    def __str__(self) -> str:
        text = self.msg
        if self.component:
            text = f"component {self.component}: {text}"
        if self.template:
            text = f"template {_quote(self.template)}: {text}"
        if self.advice:
            text += "; " + self.advice
        return text


@dataclasses.dataclass(frozen=True)
class KeyType:
    """How the value of a component becomes a part of a key."""

    name: str
    width: int = 0
    scale: int = 0
    values: Tuple[str, ...] = ()
    desc: bool = False

    def __str__(self) -> str:
        text = self.name
        if self.values:
            text += "(" + ",".join(self.values) + ")"
        elif self.name == "decimal":
            text += f"({self.width},{self.scale})"
        elif self.width:
            text += f"({self.width})"
        return text + (":desc" if self.desc else "")

    def fixed(self) -> int:
        """The number of bytes of every part, or 0 if it varies."""
        if self.name in ("string", "int", "hex"):
            return self.width
        if self.name == "signed":
            return 1 + self.width
        if self.name == "decimal":
            return 1 + self.width + (1 + self.scale if self.scale else 0)
        if self.name == "enum":
            sizes = {len(v.encode()) for v in self.values}
            return sizes.pop() if len(sizes) == 1 else 0
        if self.name in _LAYOUTS:
            return {"epoch": 10, "epochms": 13}.get(self.name, len(_LAYOUTS[self.name]))
        return {"uuid": 36, "ulid": 26, "ksuid": 27}.get(self.name, 0)

    def ordered(self) -> bool:
        """Whether the byte order of parts is the order of the values."""
        if self.name == "enum":
            return list(self.values) == sorted(self.values)
        return self.name != "number"

    def canonical(self, text: str) -> str:
        """The canonical text form of a value."""
        if self.name in ("string", "path"):
            size = len(text.encode(errors="surrogatepass"))
            if self.name == "string" and self.width and size != self.width:
                advice = "pass a value of that length, or use the type string"
                raise _invalid(text, f"has {size} bytes, not {self.width}", advice)
            return _utf8(text)
        if self.name in ("int", "signed", "decimal", "number"):
            return self._number(text)
        if self.name in _LAYOUTS:
            return self._time(text)
        if self.name == "enum":
            if text not in self.values:
                advice = "use one of these values or add it to the enum; values are case-sensitive"
                raise _invalid(text, "is not one of " + ", ".join(self.values), advice)
            return text
        return self._id(text)

    def _number(self, text: str) -> str:
        number = _decimal(text)
        if number is None:
            example = {"decimal": "12.5", "number": "-3.5"}.get(self.name, "42")
            raise _invalid(text, "is not a number", f"write it in digits, as {example}")
        negative, whole, frac = number
        wide = (
            "choose a width that fits the largest value there will ever be: "
            "keys of different widths do not sort by value"
        )
        if self.name == "number":
            self._in_range(text, whole, frac)
        elif self.name == "decimal":
            if len(whole) > self.width:
                raise _invalid(text, f"has more than {_digits(self.width)} before the point", wide)
            if len(frac) > self.scale:
                advice = "round the value, or use a larger scale"
                raise _invalid(text, f"has more than {_digits(self.scale)} after the point", advice)
        elif frac:
            raise _invalid(text, "has a fraction", "use decimal(w,s), which keeps fractions")
        elif len(whole) > self.width:
            raise _invalid(text, "has more than " + _digits(self.width), wide)
        if self.name == "int" and negative:
            raise _invalid(text, "is negative", "use signed(w), which sorts negative numbers")
        return ("-" if negative else "") + (whole or "0") + ("." + frac if frac else "")

    def _in_range(self, text: str, whole: str, frac: str) -> None:
        significant = (whole + frac).strip("0")
        if len(significant) > 38:
            raise _invalid(text, "has more than 38 significant digits", "round it: the service keeps no more")
        first = len(whole) - 1 if whole else len(frac.lstrip("0")) - len(frac) - 1
        if significant and not -130 <= first <= 125:
            advice = "use a number between 1E-130 and 9.99E+125, zero, or the same below zero"
            raise _invalid(text, "is not in the range of the service's numbers", advice)

    def _time(self, text: str) -> str:
        layout = _LAYOUTS[self.name]
        at = None
        if self.name in ("epoch", "epochms") and re.fullmatch("[+-]?[0-9]+", text):
            if -(2**63) <= int(text) < 2**63:
                per = 1 if self.name == "epoch" else 1000
                at = (int(text) // per, int(text) % per * (10**9 // per))
        if at is None:
            at = _parse_time(text, layout)
        if at is None:
            raise _not_time(self, text)
        if self.name in ("epoch", "epochms"):
            digits, since = self.fixed(), self._since(at)
            if since < 0 or len(str(since)) > digits:
                advice = (
                    "check that the value is in the right unit, or use time or millis, "
                    "which support the years 0 to 9999"
                )
                raise _invalid(text, f"does not fit into {digits} digits of an epoch", advice)
        return _format_time(at, layout)

    def _since(self, at: Tuple[int, int]) -> int:
        return at[0] if self.name == "epoch" else at[0] * 1000 + at[1] // 10**6

    def _id(self, text: str) -> str:
        if self.name == "ulid":
            upper = _map(str.upper, text)
            if not re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", upper):
                advice = (
                    "write it as 01ARZ3NDEKTSV4RRFFQ69G5FAV: 26 digits and letters "
                    "without I, L, O and U, the first at most 7"
                )
                raise _invalid(text, "is not a ULID", advice)
            return upper
        if self.name == "ksuid":
            if not re.fullmatch("[0-9A-Za-z]{27}", text) or text > "aWgEPTl1tmebfsQzFP4bxwgy80V":
                advice = "write it as 0ujtsYcgvSTl8PAuAdqWYSMnLOv: 27 digits and letters"
                raise _invalid(text, "is not a KSUID", advice)
            return text
        lower = _map(str.lower, text)
        if self.name == "uuid":
            if not re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lower):
                raise _invalid(text, "is not a UUID", "write it as 123e4567-e89b-12d3-a456-426614174000")
        elif not re.fullmatch("[0-9a-f]{%d}" % self.width, lower):
            raise _invalid(text, f"is not {self.width} hexadecimal digits", "write it in 0-9 and a-f")
        return lower

    def encode(self, text: str) -> str:
        """The part of a key for a value in text form."""
        part = self.canonical(text)
        if self.name == "int":
            part = part.zfill(self.width)
        elif self.name in ("signed", "decimal"):
            number = _decimal(part)
            assert number is not None
            negative, whole, frac = number
            digits = whole.rjust(self.width, "0")
            if self.scale:
                digits += "." + frac.ljust(self.scale, "0")
            part = "0" + _complement(digits) if negative else "1" + digits
        elif self.name in ("epoch", "epochms"):
            at = _parse_time(part, _LAYOUTS[self.name])
            assert at is not None
            part = str(self._since(at)).rjust(self.fixed(), "0")
        return _complement(part) if self.desc else part

    def decode(self, part: str) -> str:
        """The value of a part of a key, in canonical text form."""
        bad = _invalid(part, f"is not a valid {self} in a key", "")
        text = _complement(part) if self.desc else part
        if self.name == "int":
            text = text.lstrip("0") or "0"
        elif self.name in ("signed", "decimal"):
            if len(text) < 2 or text[0] not in "01":
                raise bad
            text = text[1:] if text[0] == "1" else "-" + _complement(text[1:])
        elif self.name in ("epoch", "epochms"):
            if not re.fullmatch("[0-9]{%d}" % self.fixed(), text):
                raise bad
            text = self.canonical(text)
        try:
            again = self.encode(text)
        except InvalidKeyError:
            if self.desc:
                raise bad from None
            raise
        if again != part:
            raise _invalid(part, f"is not a valid {self} in a key", "write " + _clip(again))
        return self.canonical(text)

    def encode_prefix(self, partial: str) -> str:
        """The common beginning of the parts of all values that begin with partial."""
        if self.name in ("int", "signed", "decimal", "epoch", "epochms"):
            advice = "keys of this type are padded to sort by value: use a range with two bounds"
            raise _invalid(partial, f"cannot be a prefix of keys of type {self}", advice)
        if self.name in _LAYOUTS:
            layout = _LAYOUTS[self.name]
            for i, c in enumerate(partial):
                if i >= len(layout) or c != layout[i] and not (c in _DIGITS and layout[i] in _DIGITS):
                    sample = _format_time((1767607200, 0), layout)
                    advice = f"write the beginning of a time such as {sample}, in UTC"
                    raise _invalid(partial, f"is not the beginning of a time of type {self}", advice)
            part = partial
        elif self.name in ("uuid", "hex"):
            part = _utf8(_map(str.lower, partial))
        elif self.name == "ulid":
            part = _utf8(_map(str.upper, partial))
        else:
            part = _utf8(partial)
        if self.fixed() and len(part.encode()) > self.fixed():
            raise _invalid(partial, f"is longer than every {self.name}", "")
        return _complement(part) if self.desc else part

    def compare(self, a: str, b: str) -> int:
        """-1, 0 or 1 in the order that the keys of two values should have."""
        a, b = self.canonical(a), self.canonical(b)
        if self.name in ("int", "signed", "decimal", "number"):
            order = _compare_numbers(a, b)
        elif self.name == "enum":
            order = _sign(self.values.index(a) - self.values.index(b))
        else:
            order = (a > b) - (a < b)
        return -order if self.desc else order


@dataclasses.dataclass(frozen=True)
class Part:
    """A component of a template, or literal text if name is empty."""

    literal: str = ""
    name: str = ""
    type: KeyType = KeyType("string")


@dataclasses.dataclass(frozen=True)
class KeyRange:
    """A contiguous interval of keys, both ends included; "" means no bound."""

    low: str = ""
    high: str = ""
    prefix: str = ""

    def condition(self) -> Tuple[str, List[str]]:
        """The range as an operator of a key condition and its operands; "" needs no condition."""
        if self.prefix:
            return "begins_with", [self.prefix]
        if not self.low and not self.high:
            return "", []
        if not self.high:
            return ">=", [self.low]
        if not self.low:
            return "<=", [self.high]
        if self.low == self.high:
            return "=", [self.low]
        return "BETWEEN", [self.low, self.high]


@dataclasses.dataclass(frozen=True)
class Excluding:
    """A bound that does not belong to its range."""

    value: Optional[Value]


class Template:
    """Builds keys from values and parses keys."""

    def __init__(self, source: str, parts: Sequence[Part]) -> None:
        self.source, self.parts = source, list(parts)
        self.components = [p for p in parts if p.name]

    def format(self, *values: Optional[Value]) -> str:
        """The key of values, one for each component in order."""
        if len(values) != len(self.components):
            raise self._count(len(values), "Format")
        return self.prefix(*values)

    def prefix(self, *values: Optional[Value]) -> str:
        """The common prefix of all keys with these first components, with the text after the last."""
        if len(values) > len(self.components):
            raise self._count(len(values), "the call")
        texts = [self._text(c, v) for c, v in zip(self.components, values)]
        key = ""
        for i, p in enumerate(self.parts):
            if not p.name:
                key += p.literal
            elif not texts:
                break
            else:
                key += self._part(i, texts.pop(0))
        return key

    def values(self, key: str) -> List[str]:
        """The values in a key, in canonical text form and in the order of the components."""
        rest, found = key, []
        for i, p in enumerate(self.parts):
            part = self._cut(i, rest)
            if part is None:
                raise self._mismatch(key)
            rest = rest[len(part):]
            if p.name:
                with _named(self, p):
                    found.append(p.type.decode(part))
        if rest:
            raise self._mismatch(key)
        return found

    def under(self, *values: Optional[Value]) -> KeyRange:
        """The range of the keys with these first components."""
        prefix = self.prefix(*values)
        if len(values) == len(self.components):
            return KeyRange(prefix, prefix)
        return _within(prefix)

    def begins_with(self, partial: Optional[Value], *outer: Optional[Value]) -> KeyRange:
        """The range of the keys whose next component begins with partial."""
        i, base = self._level(outer)
        p = self.parts[i]
        with _named(self, p):
            return _within(base + p.type.encode_prefix(text_of(partial)))

    def between(self, low: Bound, high: Bound, *outer: Optional[Value]) -> KeyRange:
        """The range of the keys whose next component is between two values; None means no bound."""
        i, base = self._level(outer)
        p = self.parts[i]
        if low is None and high is None:
            return _within(base)
        if not p.type.ordered():
            msg = f"keys of {p.type} do not sort by value, so the keys between two values are not one range"
            advice = "use a type that sorts by value, as int(8), signed(8) or decimal(8,2)"
            raise InvalidKeyError(msg, advice, self.source, p.name)
        if p.type.desc:
            low, high = high, low
        start, end = base, _successor(base) or ""
        if low is not None:
            start = self._bound(i, base, low, True)
        if high is not None:
            end = self._bound(i, base, high, False)
        if end and start > end:
            raise InvalidKeyError("no value is between the bounds", "pass the smaller value first", self.source, p.name)
        return KeyRange(start, end)

    def _count(self, n: int, caller: str) -> InvalidKeyError:
        names = [c.name for c in self.components]
        listed = "[" + " ".join(_quote(name) for name in names) + "]"
        msg = f"wrong number of values for {caller}: got {n}, want {len(names)}"
        return InvalidKeyError(msg, f"pass the values of {listed}, in this order", self.source)

    def _text(self, p: Part, value: Optional[Value]) -> str:
        with _named(self, p):
            return text_of(value)

    def _part(self, i: int, text: str) -> str:
        p = self.parts[i]
        with _named(self, p):
            part = p.type.encode(text)
        if not part and len(self.parts) > 1:
            advice = "use a value of at least one byte: a key with an empty part would look like a prefix of other keys"
            raise InvalidKeyError("the value is empty", advice, self.source, p.name)
        if not p.type.fixed() and i + 1 < len(self.parts):
            self._closes(p, part, self.parts[i + 1].literal)
        return part

    def _closes(self, p: Part, part: str, literal: str) -> None:
        if p.type.name == "path" or (part + literal).index(literal) == len(part):
            return
        why = f"contains {_clip(literal)}, the text that follows the component"
        if literal not in part:
            why = f"followed by {_clip(literal)} contains that text before the end of the value"
        msg = f"{_clip(part)} {why}, so the key could not be parsed back"
        advice = "remove it from the value, or use a delimiter that no value contains"
        raise InvalidKeyError(msg, advice, self.source, p.name)

    def _cut(self, i: int, key: str) -> Optional[str]:
        p = self.parts[i]
        if not p.name:
            return p.literal if key.startswith(p.literal) else None
        n = len(key)
        if p.type.fixed():
            encoded = key.encode(errors="surrogatepass")
            if p.type.fixed() > len(encoded):
                return None
            n = len(encoded[: p.type.fixed()].decode(errors="ignore"))
        elif i + 1 < len(self.parts):
            literal = self.parts[i + 1].literal
            n = len(key) - len(literal) if p.type.name == "path" else key.find(literal)
        if n < 0 or n == 0 and len(self.parts) > 1:
            return None
        return key[:n]

    def _mismatch(self, key: str) -> InvalidKeyError:
        advice = "check that the key belongs to this template"
        rest = key

        def at() -> int:
            return len(key.encode(errors="surrogatepass")) - len(rest.encode(errors="surrogatepass"))

        for i, p in enumerate(self.parts):
            part = self._cut(i, rest)
            if part is None:
                msg = f"the key {_clip(key)} ends before {p.name}"
                if not p.name:
                    msg = f"the key {_clip(key)} does not have {_clip(p.literal)} at byte {at()}"
                elif not p.type.fixed() and i + 1 < len(self.parts) and rest:
                    msg = f"the key {_clip(key)} does not have {_clip(self.parts[i + 1].literal)} after {p.name}"
                return InvalidKeyError(msg, advice, self.source, p.name)
            rest = rest[len(part):]
        msg = f"the key {_clip(key)} continues at byte {at()}, after the end of the template"
        return InvalidKeyError(msg, advice, self.source)

    def _level(self, outer: Sequence[Optional[Value]]) -> Tuple[int, str]:
        base = self.prefix(*outer)
        if len(outer) == len(self.components):
            msg = "the template has no component after these values"
            raise InvalidKeyError(msg, "pass fewer outer values", self.source)
        return self.parts.index(self.components[len(outer)]), base

    def _bound(self, i: int, base: str, bound: Union[Value, Excluding], low: bool) -> str:
        p = self.parts[i]
        excluded = isinstance(bound, Excluding)
        value = bound.value if isinstance(bound, Excluding) else bound
        part = self._part(i, self._text(p, value))
        if not part:
            raise InvalidKeyError("the bound is empty", "pass None for no bound", self.source, p.name)
        key, last = base + part, True
        if i + 1 < len(self.parts):
            key += self.parts[i + 1].literal
            last = not self.parts[i + 1].name and i + 2 == len(self.parts)
        if low and not excluded or not low and excluded != last:
            return key
        if not low and excluded:
            return _below(key)
        if low and last:
            return key + "\x00"
        above = _successor(key)
        if low and above is None:
            raise InvalidKeyError("no key is greater than the bound", "pass a smaller bound", self.source, p.name)
        return above or ""


class _named:
    """Adds the template and the component to errors."""

    def __init__(self, template: Template, part: Part) -> None:
        self.template, self.part = template, part

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: object, _traceback: object) -> None:
        if isinstance(error, InvalidKeyError):
            error.template, error.component = self.template.source, self.part.name


_DIGITS = "0123456789"

_LAYOUTS = {
    "year": "2006",
    "month": "2006-01",
    "date": "2006-01-02",
    "time": "2006-01-02T15:04:05Z",
    "millis": "2006-01-02T15:04:05.000Z",
    "micros": "2006-01-02T15:04:05.000000Z",
    "nanos": "2006-01-02T15:04:05.000000000Z",
    "epoch": "2006-01-02T15:04:05Z",
    "epochms": "2006-01-02T15:04:05.000Z",
}


def text_of(value: Optional[Value]) -> str:
    """The text form of a value."""
    if isinstance(value, str):
        return value
    if value is None:
        raise InvalidKeyError("the value is None", "pass a value")
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            msg = f"{_quote(value.isoformat())} has no time zone, so it is ambiguous"
            raise InvalidKeyError(msg, "pass a datetime with tzinfo, such as datetime.timezone.utc")
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, uuid.UUID):
        return str(value)
    advice = "pass a str, an int, a Decimal, a UUID, a date or a datetime with a time zone; a float is not exact"
    raise InvalidKeyError(f"cannot use a {type(value).__name__} in a key", advice)


def _invalid(value: str, why: str, advice: str) -> InvalidKeyError:
    return InvalidKeyError(f"{_clip(value)} {why}", advice)


def _utf8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        advice = "keys of type S must be UTF-8; store bytes in an attribute of type B, or encode them with hex"
        raise _invalid(text, "is not UTF-8", advice) from None
    return text


def _clip(value: str) -> str:
    raw = value.encode(errors="replace")
    return _quote(value) if len(raw) <= 80 else _quote(raw[:80].decode(errors="ignore")) + "…"


def _quote(text: str) -> str:
    short = {'"': '\\"', "\\": "\\\\"}
    short.update(zip("\a\b\f\n\r\t\v", ("\\" + c for c in "abfnrtv")))
    out = []
    for c in text:
        if c in short:
            out.append(short[c])
        elif c.isprintable():
            out.append(c)
        else:
            code = ord(c)
            out.append(f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(out) + '"'


def _map(change: Callable[[str], str], text: str) -> str:
    """The characters of a text in upper or lower case, as far as that is one character."""
    text = text.replace("\u0130", "i") if change is str.lower else text
    return "".join(c if len(change(c)) != 1 else change(c) for c in text)


def _digits(n: int) -> str:
    return "1 digit" if n == 1 else f"{n} digits"


def _complement(text: str) -> str:
    return text.translate(str.maketrans(_DIGITS, _DIGITS[::-1]))


def _sign(n: int) -> int:
    return (n > 0) - (n < 0)


def _decimal(text: str) -> Optional[Tuple[bool, str, str]]:
    """The sign of a number, and its digits before and after the point without outer zeros."""
    found = re.fullmatch(r"([+-]?)([0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", text)
    if not found or not (found[2] or found[3]):
        return None
    whole, frac, exponent = found[2], found[3] or "", int(found[4] or 0)
    if not -32768 <= exponent <= 32767:
        return None
    if exponent > 0:
        frac = frac.ljust(exponent, "0")
        whole, frac = whole + frac[:exponent], frac[exponent:]
    elif exponent < 0:
        whole = whole.rjust(-exponent, "0")
        whole, frac = whole[:exponent], whole[exponent:] + frac
    whole, frac = whole.lstrip("0"), frac.rstrip("0")
    return found[1] == "-" and bool(whole or frac), whole, frac


def _compare_numbers(a: str, b: str) -> int:
    def order(text: str) -> Tuple[bool, int, str, str]:
        number = _decimal(text)
        assert number is not None
        return number[0], len(number[1]), number[1], number[2]

    x, y = order(a), order(b)
    if x[0] != y[0]:
        return -1 if x[0] else 1
    size = (x[1:] > y[1:]) - (x[1:] < y[1:])
    return -size if x[0] else size


def _days(year: int, month: int, day: int) -> int:
    """The days from 1970 to a date."""
    year -= month <= 2
    era, of_era = year // 400, year % 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def _date(days: int) -> Tuple[int, int, int]:
    """The inverse of _days."""
    days += 719468
    era, of_era = days // 146097, days % 146097
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return years + era * 400 + (month <= 2), month, day


def _parse_time(text: str, layout: str) -> Optional[Tuple[int, int]]:
    """The seconds since 1970 and the nanoseconds of a time in the years 0 to 9999."""
    if layout == "2006" and re.fullmatch("[0-9]{4}", text):
        text += "-01-01"
    elif layout == "2006-01" and re.fullmatch("[0-9]{4}-[0-9]{2}", text):
        text += "-01"
    clock = "T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})"
    found = re.fullmatch(f"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})(?:{clock})?", text)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not 1 <= month <= 12 or not 1 <= day <= longest[month - 1]:
        return None
    seconds, nanos = _days(year, month, day) * 86400, 0
    if found[4]:
        hour, minute, second, zone = int(found[4]), int(found[5]), int(found[6]), found[8]
        if hour > 23 or minute > 59 or second > 59:
            return None
        seconds += hour * 3600 + minute * 60 + second
        nanos = int((found[7] or "0")[:9].ljust(9, "0"))
        if zone != "Z":
            if int(zone[1:3]) > 24 or int(zone[4:]) > 60:
                return None
            offset = int(zone[1:3]) * 3600 + int(zone[4:]) * 60
            seconds -= offset if zone[0] == "+" else -offset
    return (seconds, nanos) if 0 <= _date(seconds // 86400)[0] <= 9999 else None


def _format_time(at: Tuple[int, int], layout: str) -> str:
    seconds, nanos = at
    year, month, day = _date(seconds // 86400)
    clock = seconds % 86400
    full = f"{year:04}-{month:02}-{day:02}T{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}"
    if len(layout) < 20:
        return full[: len(layout)]
    return full + (f".{nanos:09}"[: len(layout) - 20] if len(layout) > 20 else "") + "Z"


def _not_time(t: KeyType, text: str) -> InvalidKeyError:
    advice = {
        "year": "write it as 2026, or a date or time in it",
        "month": "write it as 2026-01, or a date or time in it",
        "date": "write it as 2026-01-05, or a time in it with its zone",
    }.get(t.name, "write it as 2026-01-05T10:00:00Z, with Z or a zone such as +01:00")
    if t.name == "epoch":
        advice += ", or as 1767607200, the seconds since 1970"
    elif t.name == "epochms":
        advice += ", or as 1767607200000, the milliseconds since 1970"
    if _parse_time(text.replace(" ", "T", 1) + "Z", _LAYOUTS["time"]) and "Z" not in text and len(text) > 10:
        return _invalid(text, "has no time zone, so it is ambiguous", advice)
    return _invalid(text, f"is not a valid time of type {t}", advice)


def moment(value: Optional[Value], unit: str, last: bool) -> str:
    """The first or the last moment of the period of a time: of the day of a time, or of the day 2026-01-05."""
    text = text_of(value)
    size = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16}[unit]
    at = _parse_time(text + "0000-01-01T00:00:00Z"[size:] if len(text) == size else text, _LAYOUTS["time"])
    if at is None:
        return text  # the template refuses it
    start = _format_time(at, _LAYOUTS["nanos"])[:size]
    if not last:
        return start + "0000-01-01T00:00:00Z"[size:]
    if unit in ("year", "month"):
        year, month = int(start[:4]), int(start[5:7] or 12)
        days = _days(year + (month == 12), month % 12 + 1, 1) - _days(year, month, 1)
        start = f"{year:04}-{month:02}-{days:02}"
    return start + "0000-01-01T23:59:59.999999999Z"[len(start):]


def _within(prefix: str) -> KeyRange:
    return KeyRange(prefix, _successor(prefix) or "", prefix)


def _successor(prefix: str) -> Optional[str]:
    """The smallest text greater than all texts that begin with prefix."""
    prefix = prefix.rstrip("\U0010ffff")
    if not prefix:
        return None
    code = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if code == 0xD800 else code)


def _below(key: str) -> str:
    """A text less than key that is greater than all lesser texts without U+10FFFF."""
    code = ord(key[-1])
    if code == 0:
        return key[:-1]
    return key[:-1] + chr(0xD7FF if code == 0xE000 else code - 1) + "\U0010ffff"


def given(*values: Optional[Value]) -> bool:
    """Whether all values are given: None and empty texts are not."""
    return all(value is not None and value != "" for value in values)


def compares(t: KeyType, value: Optional[Value], op: str, bound: str) -> bool:
    """Whether a value of a field is <, <=, > or >= a bound. One that is not of its type is not."""
    try:
        order = t.compare(text_of(value), bound)
    except InvalidKeyError:
        return False
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]


def one_of(t: Optional[KeyType], value: Optional[Value], values: Sequence[str]) -> bool:
    """Whether a value of a field is one of some values, compared by a type or as text."""
    if t is None:
        return text_of(value) in values
    for other in values:
        try:
            if t.compare(text_of(value), other) == 0:
                return True
        except InvalidKeyError:
            pass
    return False


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition on a key attribute; it has no operator if it matches every key."""

    attribute: str
    op: str
    operands: List[AttributeValue]


def in_range(attribute: str, r: KeyRange, value: Callable[[str], AttributeValue]) -> Condition:
    op, operands = r.condition()
    return Condition(attribute, op, [value(text) for text in operands])


def query(request: Request, *conditions: Condition) -> Request:
    """Adds key conditions to a query, with their own placeholders."""
    names: Dict[str, str] = dict(request.get("ExpressionAttributeNames", {}))
    values: Item = dict(request.get("ExpressionAttributeValues", {}))
    clauses = []
    for i, c in enumerate(conditions):
        if not c.op:
            continue
        name, operands = f"#key{i}", [f":key{i}_{j}" for j in range(len(c.operands))]
        names[name] = c.attribute
        values.update(zip(operands, c.operands))
        if c.op == "begins_with":
            clauses.append(f"begins_with({name}, {operands[0]})")
        elif c.op == "BETWEEN":
            clauses.append(f"{name} BETWEEN {operands[0]} AND {operands[1]}")
        else:
            clauses.append(f"{name} {c.op} {operands[0]}")
    return {
        **request,
        "KeyConditionExpression": " AND ".join(clauses),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def S(text: str) -> AttributeValue:
    return {"S": text}


def N(text: str) -> AttributeValue:
    return {"N": text}


def B(text: str) -> AttributeValue:
    return {"B": text.encode()}
