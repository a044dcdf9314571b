"""Phone screens for the sample set, in the manner and with the label names of Rico.

>>> from layoutdm.data.sketch import Dice
>>> draw_screen(Dice("any")).layout("a").width
1440

As in Rico, containers are elements too and come before what they hold.
"""

from __future__ import annotations

from collections.abc import Callable

from layoutdm.data.sketch import Dice, Sketch

WIDTH, HEIGHT = 1440, 2560
STATUS = 84  # the phone's own bar at the top stays empty
BAR = 196
EDGES = (48, 64, 96)

Kind = Callable[[Sketch, Dice, int, int], None]


def draw_screen(dice: Dice) -> Sketch:
    """One screen: perhaps a toolbar and a bar at the bottom, and one kind of content between."""
    sketch = Sketch(WIDTH, HEIGHT)
    kind = dice.one_of(FRAMED if dice.chance(0.72) else FULL)
    if kind in FULL:
        kind(sketch, dice, STATUS, HEIGHT)
        return sketch
    top, bottom = STATUS + BAR, HEIGHT
    _toolbar(sketch, dice)
    footer = dice.one_of(("", "", "", "navigation", "advertisement", "buttons"))
    if footer == "navigation":
        bottom -= 224
        sketch.add("Bottom Navigation", 0, bottom, WIDTH, 224)
        _row(sketch, "Icon", dice.between(3, 5), 0, bottom + 52, WIDTH, 120, 120)
    elif footer == "advertisement":
        bottom -= 200
        sketch.add("Advertisement", 0, bottom, WIDTH, 200)
    elif footer == "buttons":
        bottom -= 180
        sketch.add("Button Bar", 0, bottom, WIDTH, 180)
        _halves(sketch, "Text Button", dice.between(2, 3), bottom, 180)
    kind(sketch, dice, top, bottom)
    return sketch


def _toolbar(sketch: Sketch, dice: Dice) -> None:
    sketch.add("Toolbar", 0, STATUS, WIDTH, BAR)
    left = 48
    if dice.chance(0.8):
        sketch.add("Icon", 0, STATUS, BAR, BAR)
        left = 252
    sketch.add("Text", left, STATUS + 60, dice.between(240, 620), 76)
    for number in range(dice.between(0, 2)):
        sketch.add("Icon", WIDTH - (number + 1) * 168, STATUS + 14, 168, 168)


def _row(
    sketch: Sketch, label: str, count: int, left: int, top: int, room: int, wide: int, high: int
) -> None:
    """Boxes of one size, evenly spread over a width."""
    for number in range(count):
        middle = left + room * (2 * number + 1) // (2 * count)
        sketch.add(label, middle - wide // 2, top, wide, high)


def _halves(sketch: Sketch, label: str, count: int, top: int, high: int) -> None:
    """Boxes side by side over the whole width."""
    for number in range(count):
        left = WIDTH * number // count
        sketch.add(label, left, top, WIDTH * (number + 1) // count - left, high)


def _centred(sketch: Sketch, label: str, top: int, wide: int, high: int) -> None:
    sketch.add(label, (WIDTH - wide) // 2, top, wide, high)


def item_list(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    high = dice.one_of((220, 264, 312, 360))
    edge, lines = dice.one_of(EDGES), dice.between(1, 2)
    picture = dice.one_of(("Image", "Icon", ""))
    trailing = dice.one_of(("", "", "", "Icon", "Checkbox", "Text"))
    indent = edge + (high - 60 if picture else 0)
    for row in range(dice.between(4, 10)):
        y = top + row * high
        if y + high > bottom or not sketch.room(2 + lines + bool(trailing)):
            return
        sketch.add("List Item", 0, y, WIDTH, high)
        if picture:
            sketch.add(picture, edge, y + 48, high - 96, high - 96)
        gap = (high - lines * 64) // (lines + 1)
        for line in range(lines):
            y_line = y + gap + line * (64 + gap)
            sketch.add("Text", indent, y_line, dice.between(320, 720), 64 - 12 * line)
        if trailing:
            sketch.add(trailing, WIDTH - edge - 120, y + (high - 96) // 2, 120, 96)


def tabs(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    sketch.add("Multi-Tab", 0, top, WIDTH, 168)
    _halves(sketch, "Text Button", dice.between(2, 4), top, 168)
    dice.one_of((item_list, cards, gallery))(sketch, dice, top + 168, bottom)


def settings(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    edge, y = dice.one_of(EDGES), top + 24
    control = dice.one_of(("On/Off Switch", "Checkbox", "Radio Button"))
    for _ in range(dice.between(2, 3)):
        sketch.add("Text", edge, y + 24, dice.between(260, 480), 56)
        y += 120
        for _ in range(dice.between(2, 3)):
            if y + 200 > bottom or not sketch.room(3):
                return
            sketch.add("List Item", 0, y, WIDTH, 200)
            sketch.add("Text", edge, y + 64, dice.between(380, 800), 72)
            wide = 200 if control == "On/Off Switch" else 112
            sketch.add(control, WIDTH - edge - wide, y + 44, wide, 112)
            y += 200


def form(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    edge, y = dice.one_of(EDGES), top + 64
    wide = WIDTH - 2 * edge
    for _ in range(dice.between(2, 5)):
        sketch.add("Text", edge, y, dice.between(220, 460), 56)
        sketch.add("Input", edge, y + 72, wide, 144)
        y += 264
    extra = dice.one_of(("choice", "date", "number", "range"))
    if extra == "choice":
        _row(sketch, "Radio Button", dice.between(2, 3), edge, y, wide, 360, 112)
        y += 160
    elif extra == "date" and y + 640 < bottom - 300:
        sketch.add("Date Picker", edge, y, wide, 600)
        y += 648
    elif extra == "number":
        sketch.add("Text", edge, y + 36, 400, 72)
        sketch.add("Number Stepper", WIDTH - edge - 420, y, 420, 144)
        y += 200
    else:
        sketch.add("Slider", edge, y, wide, 96)
        y += 144
    if dice.chance(0.5):
        sketch.add("Checkbox", edge, y, 88, 88)
        sketch.add("Text", edge + 128, y + 12, dice.between(500, 900), 64)
        y += 136
    if y + 172 <= bottom:
        sketch.add("Text Button", edge, y + 24, wide, 148)


def cards(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    columns, gap = dice.between(1, 2), dice.one_of((32, 48))
    wide = (WIDTH - (columns + 1) * gap) // columns
    high = dice.one_of((600, 680, 760))
    button = dice.chance(0.4)
    for number in range(2 * columns + columns):
        row, column = divmod(number, columns)
        x, y = gap + column * (wide + gap), top + gap + row * (high + gap)
        if y + high > bottom or not sketch.room(5):
            return
        sketch.add("Card", x, y, wide, high)
        sketch.add("Image", x, y, wide, high - 260)
        sketch.add("Text", x + 32, y + high - 228, wide * 2 // 3, 68)
        sketch.add("Text", x + 32, y + high - 136, wide // 2, 52)
        if button:
            sketch.add("Text Button", x + wide - 280, y + high - 128, 248, 104)


def gallery(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    columns, gap = dice.between(2, 3), dice.one_of((0, 12, 24))
    side = (WIDTH - (columns - 1) * gap) // columns
    for number in range(columns * dice.between(3, 6)):
        row, column = divmod(number, columns)
        y = top + row * (side + gap)
        if y + side > bottom:
            return
        sketch.add("Image", column * (side + gap), y, side, side)


def article(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    edge, y = dice.one_of(EDGES), top
    wide = WIDTH - 2 * edge
    if dice.chance(0.75):
        high = dice.between(480, 860)
        sketch.add(dice.one_of(("Image", "Image", "Video")), 0, y, WIDTH, high)
        y += high
    sketch.add("Text", edge, y + 48, wide - dice.between(0, 300), dice.one_of((88, 176)))
    y += 264
    sketch.add("Text", edge, y, dice.between(300, 640), 52)
    y += 100
    while y + 160 < bottom and sketch.room(4):
        high = min(dice.between(180, 620), bottom - y - 32)
        sketch.add("Text", edge, y, wide, high)
        y += high + 48
        if dice.chance(0.35):
            break
    if dice.chance(0.6) and y + 160 < bottom:
        _row(sketch, "Icon", dice.between(2, 4), edge, y + 16, wide, 112, 112)


def web_page(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    if dice.chance(0.4):
        sketch.add("Input", 48, top + 28, WIDTH - 96, 128)
        top += 184
    sketch.add("Web View", 0, top, WIDTH, bottom - top)


def place_map(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    sketch.add("Map View", 0, top, WIDTH, bottom - top)
    sketch.add("Card", 48, top + 48, WIDTH - 96, 176)
    sketch.add("Icon", 72, top + 72, 128, 128)
    sketch.add("Input", 216, top + 72, WIDTH - 312, 128)
    for number in range(dice.between(1, 3)):
        sketch.add("Icon", WIDTH - 240, bottom - (number + 1) * 232, 184, 184)
    if dice.chance(0.5):
        sketch.add("Text Button", 48, bottom - 208, 760, 152)


def sign_in(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    edge, y = dice.between(96, 180), top + dice.between(160, 360)
    wide, side = WIDTH - 2 * edge, dice.between(280, 520)
    if dice.chance(0.4):
        sketch.add("Background Image", 0, 0, WIDTH, HEIGHT)
    _centred(sketch, "Image", y, side, side)
    y += side + 80
    if dice.chance(0.6):
        _centred(sketch, "Text", y, dice.between(480, 900), 88)
        y += 160
    for _ in range(dice.between(2, 3)):
        sketch.add("Input", edge, y, wide, 148)
        y += 196
    if dice.chance(0.4):
        sketch.add("Checkbox", edge, y, 80, 80)
        sketch.add("Text", edge + 116, y + 12, 420, 56)
        y += 128
    for _ in range(dice.between(1, 3)):
        sketch.add("Text Button", edge, y, wide, 152)
        y += 192
    _centred(sketch, "Text", y + 24, dice.between(420, 760), 56)


def welcome(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    if dice.chance(0.5):
        sketch.add("Background Image", 0, 0, WIDTH, HEIGHT)
    y, side = top + dice.between(200, 400), dice.between(640, 1000)
    _centred(sketch, "Image", y, side, side)
    y += side + 96
    _centred(sketch, "Text", y, dice.between(640, 1000), 104)
    _centred(sketch, "Text", y + 152, dice.between(880, 1200), dice.one_of((64, 136, 208)))
    _centred(sketch, "Pager Indicator", bottom - 420, dice.between(200, 360), 48)
    if dice.chance(0.5):
        _halves(sketch, "Text Button", 2, bottom - 192, 192)
    else:
        _centred(sketch, "Text Button", bottom - 288, dice.between(640, 1200), 160)


def dialog(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    if dice.chance(0.6):
        sketch.add("Background Image", 0, 0, WIDTH, HEIGHT)
    edge, rows = dice.between(80, 160), dice.between(0, 4)
    wide, high = WIDTH - 2 * edge, 520 + 152 * rows
    y = (HEIGHT - high) // 2
    sketch.add("Modal", edge, y, wide, high)
    sketch.add("Text", edge + 72, y + 72, wide - dice.between(240, 500), 88)
    sketch.add("Text", edge + 72, y + 200, wide - 144, 112)
    for row in range(rows):
        sketch.add("Radio Button", edge + 72, y + 352 + 152 * row, wide - 144, 120)
    sketch.add("Text Button", edge + wide - 680, y + high - 160, 300, 128)
    sketch.add("Text Button", edge + wide - 348, y + high - 160, 300, 128)


def side_menu(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    wide = dice.between(1040, 1200)
    sketch.add("Drawer", 0, top, wide, bottom - top)
    y = top + 32
    if dice.chance(0.6):
        high = dice.between(480, 640)
        sketch.add("Background Image", 0, top, wide, high)
        sketch.add("Image", 64, top + high - 440, 224, 224)
        sketch.add("Text", 64, top + high - 172, dice.between(300, 600), 72)
        if dice.chance(0.5):
            sketch.add("Text", 64, top + high - 84, dice.between(400, 700), 52)
        y += high
    high, icons = dice.one_of((168, 184, 212)), dice.chance(0.7)
    for _ in range(dice.between(4, 8)):
        if not sketch.room(3):
            return
        sketch.add("List Item", 0, y, wide, high)
        if icons:
            sketch.add("Icon", 64, y + (high - 96) // 2, 96, 96)
        sketch.add("Text", 256 if icons else 64, y + (high - 68) // 2, dice.between(240, 560), 68)
        y += high


def player(sketch: Sketch, dice: Dice, top: int, bottom: int) -> None:
    high, y = dice.between(810, 1300), top + BAR
    sketch.add("Icon", 24, top + 24, 148, 148)
    sketch.add("Text", 220, top + 64, dice.between(400, 800), 72)
    sketch.add(dice.one_of(("Video", "Image")), 0, y, WIDTH, high)
    y += high + 88
    _centred(sketch, "Text", y, dice.between(560, 1000), 96)
    _centred(sketch, "Text", y + 128, dice.between(320, 640), 60)
    sketch.add("Slider", 96, y + 264, WIDTH - 192, 88)
    sketch.add("Text", 96, y + 364, 140, 48)
    sketch.add("Text", WIDTH - 236, y + 364, 140, 48)
    _row(sketch, "Icon", dice.one_of((3, 5)), 48, y + 480, WIDTH - 96, 176, 176)


FRAMED: tuple[Kind, ...] = (
    item_list,
    item_list,
    tabs,
    settings,
    form,
    form,
    cards,
    gallery,
    article,
    article,
    web_page,
    place_map,
)
FULL: tuple[Kind, ...] = (sign_in, sign_in, welcome, welcome, dialog, side_menu, player)
