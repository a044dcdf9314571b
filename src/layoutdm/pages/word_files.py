"""Words with their boxes in the formats of text recognition: hOCR and ALTO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from math import ceil, floor
from typing import Any

from layoutdm.pages.truth import Box, around

Truth = Mapping[str, Any]


def _whole(box: Any) -> tuple[int, int, int, int]:
    return floor(box[0]), floor(box[1]), ceil(box[2]), ceil(box[3])


def _lines(block: Mapping[str, Any]) -> Iterator[tuple[Box, list[Any]]]:
    """The words of each line, and the box around them."""
    for _, some in groupby(block["words"], key=lambda word: word["line"]):
        words = list(some)
        found = around(tuple(word["box"]) for word in words)
        assert found is not None
        yield found, words


def hocr(truth: Truth, image: str) -> str:
    """
    >>> page = {"id": "0-1", "width": 90, "height": 50, "blocks": [{"label": "text",
    ...     "box": [1, 2, 30, 9], "words": [{"text": "a<b", "box": [1, 2, 30, 9], "line": 0}]}]}
    >>> [line for line in hocr(page, "a.jpg").splitlines() if "word_1" in line]
    ["<span class='ocrx_word' id='word_1' title='bbox 1 2 30 9'>a&lt;b</span>"]
    """
    out = [
        "<?xml version='1.0' encoding='UTF-8'?>",
        "<!DOCTYPE html>",
        "<html xmlns='http://www.w3.org/1999/xhtml'><head>",
        f"<title>{escape(truth['id'])}</title>",
        "<meta name='ocr-system' content='layoutdm'/>",
        "<meta name='ocr-capabilities' content='ocr_page ocr_carea ocr_line ocrx_word'/>",
        "</head><body>",
        f"<div class='ocr_page' id='page_1' title='image \"{escape(image)}\"; "
        f"bbox 0 0 {truth['width']} {truth['height']}; ppageno 0'>",
    ]
    line_number = word_number = 0
    for number, block in enumerate(truth["blocks"], start=1):
        box = " ".join(map(str, _whole(block["box"])))
        label = escape(block["label"], quote=True)
        out.append(f"<div class='ocr_carea' id='block_{number}' title='bbox {box}' "
                   f"data-label='{label}'>")  # fmt: skip
        for around_line, words in _lines(block):
            line_number += 1
            box = " ".join(map(str, _whole(around_line)))
            out.append(f"<span class='ocr_line' id='line_{line_number}' title='bbox {box}'>")
            for word in words:
                word_number += 1
                box = " ".join(map(str, _whole(word["box"])))
                out.append(
                    f"<span class='ocrx_word' id='word_{word_number}' title='bbox {box}'>"
                    f"{escape(word['text'])}</span>"
                )
            out.append("</span>")
        out.append("</div>")
    out += ["</div>", "</body></html>", ""]
    return "\n".join(out)


def alto(truth: Truth, image: str) -> str:
    """ALTO 4: text blocks with lines and strings; what has no words is an illustration."""
    width, height = truth["width"], truth["height"]
    labels = dict.fromkeys(block["label"] for block in truth["blocks"])
    tags = {label: f"LABEL{i}" for i, label in enumerate(labels)}
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#" SCHEMAVERSION="4.2">',
        "<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation>"
        f"<fileName>{escape(image)}</fileName></sourceImageInformation></Description>",
        "<Tags>",
        *(f'<LayoutTag ID="{tag}" LABEL="{escape(label)}"/>' for label, tag in tags.items()),
        "</Tags>",
        f'<Layout><Page ID="P1" PHYSICAL_IMG_NR="1" WIDTH="{width}" HEIGHT="{height}">',
        f'<PrintSpace HPOS="0" VPOS="0" WIDTH="{width}" HEIGHT="{height}">',
    ]
    for number, block in enumerate(truth["blocks"], start=1):
        where = _place(block["box"])
        kind = "TextBlock" if block["words"] else "Illustration"
        out.append(f'<{kind} ID="B{number}" {where} TAGREFS="{tags[block["label"]]}">')
        for line, (around_line, words) in enumerate(_lines(block), start=1):
            out.append(f'<TextLine ID="B{number}L{line}" {_place(around_line)}>')
            for at, word in enumerate(words):
                if at:
                    out.append("<SP/>")
                out.append(
                    f'<String ID="B{number}L{line}S{at + 1}" {_place(word["box"])} '
                    f'CONTENT="{escape(word["text"])}"/>'
                )
            out.append("</TextLine>")
        out.append(f"</{kind}>")
    out += ["</PrintSpace></Page></Layout>", "</alto>", ""]
    return "\n".join(out)


def _place(box: Any) -> str:
    left, top, right, bottom = _whole(box)
    return f'HPOS="{left}" VPOS="{top}" WIDTH="{right - left}" HEIGHT="{bottom - top}"'
