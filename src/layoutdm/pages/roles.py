"""Which content a label asks for: `Section-header` is a heading, `Picture` a figure.

>>> role_of("Section-header"), role_of("figure"), role_of("Text Button"), role_of("stamp")
('heading', 'figure', 'button', 'paragraph')
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdm.errors import LayoutdmError

ROLES = (
    "heading", "paragraph", "list", "item", "table", "figure", "caption", "footnote", "formula",
    "running", "button", "field", "bar", "card", "icon",
)  # fmt: skip

OF_SCREENS = ("button", "field", "bar", "card", "icon")

# The first that is part of the label, in lower case and without signs, is taken.
_PARTS = (
    ("sectionheader", "heading"), ("pageheader", "running"), ("pagefooter", "running"),
    ("header", "running"), ("footer", "running"), ("pagenumber", "running"),
    ("footnote", "footnote"), ("caption", "caption"), ("title", "heading"), ("heading", "heading"),
    ("headline", "heading"), ("formula", "formula"), ("equation", "formula"), ("table", "table"),
    ("listitem", "item"), ("list", "list"), ("reference", "list"), ("bibliography", "list"),
    ("backgroundimage", "figure"), ("figure", "figure"), ("picture", "figure"),
    ("image", "figure"), ("chart", "figure"), ("plot", "figure"), ("photo", "figure"),
    ("video", "figure"), ("map", "figure"), ("webview", "figure"), ("advertisement", "figure"),
    ("logo", "figure"), ("datepicker", "table"), ("buttonbar", "bar"), ("toolbar", "bar"),
    ("bottomnavigation", "bar"), ("multitab", "bar"), ("button", "button"), ("input", "field"),
    ("numberstepper", "field"), ("icon", "icon"), ("checkbox", "icon"), ("switch", "icon"),
    ("slider", "icon"), ("pager", "icon"), ("card", "card"), ("modal", "card"),
    ("drawer", "card"), ("text", "paragraph"), ("paragraph", "paragraph"),
)  # fmt: skip


def role_of(label: str, own: Mapping[str, str] | None = None) -> str:
    """The role of a label; one that says nothing is a paragraph. `own` are the user's words."""
    if own and label in own:
        return own[label]
    bare = "".join(c for c in label.lower() if c.isalnum())
    if bare == "radiobutton":
        return "icon"
    return next((role for part, role in _PARTS if part in bare), "paragraph")


def parse(pairs: list[str]) -> dict[str, str]:
    """`--as LABEL=ROLE`, as often as given.

    >>> parse(["stamp=figure"])
    {'stamp': 'figure'}
    """
    found = {}
    for pair in pairs:
        label, equals, role = pair.rpartition("=")
        if not equals or role not in ROLES:
            raise LayoutdmError(
                f"--as {pair}: should be LABEL=ROLE with a role of {', '.join(ROLES)}"
            )
        found[label] = role
    return found
