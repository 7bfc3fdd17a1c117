"""A figure as the bytes of a file: the same bytes for the same picture, with what is to be known about it inside."""

from __future__ import annotations

import io
from xml.sax.saxutils import escape

from matplotlib.figure import Figure

from expandlab.figures.canvas import defaults

FORMATS = ("png", "svg", "pdf")
# A PNG of 1920 pixels' width: sharp on a dense screen, small enough for a notebook.
PNG_DPI = 150
# The element that carries the provenance of an SVG.
SVG_METADATA = "expandlab-provenance"


def render(
    figure: Figure, fmt: str, *, title: str, description: str, provenance: str = "", dpi: float = PNG_DPI
) -> bytes:
    """`figure` as png, svg or pdf.

    title, description: plain text, the latter the alternative text. provenance: JSON in ASCII, or nothing.
    """
    out = io.BytesIO()
    with defaults():
        if fmt == "png":
            text = {"Title": title, "Description": description, "Software": None}
            figure.savefig(
                out, format="png", dpi=dpi, metadata=text | ({"Provenance": provenance} if provenance else {})
            )
            return out.getvalue()
        if fmt == "pdf":
            info = {"Title": title, "Subject": description, "Keywords": provenance or None, "CreationDate": None}
            figure.savefig(out, format="pdf", metadata=info)
            return out.getvalue()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _described(out.getvalue().decode(), title, description, provenance).encode()


def _described(svg: str, title: str, description: str, provenance: str) -> str:
    """The SVG with title, description and provenance as its first children, where readers look for them."""
    head, opening, rest = svg.partition("<svg ")
    attributes, _, body = rest.partition(">")
    said = f"\n <title>{_text(title)}</title>\n <desc>{_text(description)}</desc>\n"
    if provenance:
        said += f' <metadata id="{SVG_METADATA}">{_text(provenance)}</metadata>\n'
    return f'{head}{opening}{attributes} role="img">{said}{body}'


def _text(text: str) -> str:
    """Escaped, without the characters that XML 1.0 forbids even so."""
    allowed = (char for char in text if char in "\t\n\r" or _in_xml(ord(char)))
    return escape("".join(allowed))


def _in_xml(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


_PDF_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def pdf_string(data: bytes, key: bytes) -> str | None:
    """The ASCII string behind `key` in a PDF's information dictionary, which `render` leaves uncompressed."""
    start = data.rfind(key + b" (")
    if start < 0:
        return None
    out, position, depth = bytearray(), start + len(key) + 2, 1
    while position < len(data):
        char = data[position : position + 1]
        if char == b"\\":
            position += 1
            escaped = data[position : position + 1]
            out += _PDF_ESCAPES.get(escaped, escaped)
        else:
            depth += (char == b"(") - (char == b")")
            if not depth:
                return out.decode("ascii", "replace")
            out += char
        position += 1
    return None
