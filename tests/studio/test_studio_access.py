"""Accessibility: names, roles, contrast, focus, reduced motion, light and dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hands import Studio

# Everything that can be used, with the name that a screen reader would say.
NAMELESS = """() => {
  const all = document.querySelectorAll(
    'button, a[href], input, select, textarea, [role=button], [role=radio], [role=menuitem], ' +
    '[role=img], [tabindex="0"]');
  const seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  const name = e => (e.getAttribute('aria-label') || e.textContent.trim() ||
    (e.getAttribute('aria-labelledby') || '').split(' ').map(
      id => document.getElementById(id)?.textContent ?? '').join(' ').trim() ||
    [...(e.labels ?? [])].map(l => l.textContent.trim()).join(' ') || '').trim();
  return [...all].filter(e => seen(e) && !e.closest('[aria-hidden=true]') && !name(e))
    .map(e => e.outerHTML.slice(0, 120));
}"""

# Text whose contrast with the first opaque ground behind it is below 4.5 to 1 (3 for large text).
PALE = """() => {
  const parse = c => {
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1;
    const g = canvas.getContext('2d'); g.clearRect(0, 0, 1, 1); g.fillStyle = c;
    g.fillRect(0, 0, 1, 1);
    const [r, gr, b, a] = g.getImageData(0, 0, 1, 1).data; return [r, gr, b, a / 255];
  };
  const light = rgb => { const l = rgb.slice(0, 3).map(v => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
  const ground = e => { for (let n = e; n; n = n.parentElement) {
    const c = parse(getComputedStyle(n).backgroundColor); if (c[3] > 0.99) return c; }
    return [255, 255, 255, 1]; };
  const out = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e instanceof SVGElement || !e.getClientRects().length || e.closest(':disabled')) continue;
    if (getComputedStyle(e).visibility === 'hidden' || e.closest('label:has(:disabled)')) continue;
    const words = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!words) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parse(style.color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) out.push([e.textContent.trim().slice(0, 30), ratio.toFixed(2)]);
  }
  return out;
}"""

DUPLICATES = """() => {
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""


def states(studio: Studio) -> None:
    """Look at the empty page, one box, many boxes with variants, a menu and a dialog."""
    check(studio)
    studio.example("Settings")
    studio.settle()
    check(studio)
    studio.page.locator("[data-element]").nth(1).click()
    studio.settle()
    check(studio)
    studio.generate()
    studio.keys("Control+a")
    studio.settle()
    check(studio)
    studio.page.get_by_role("button", name="Export", exact=True).click()
    check(studio)
    studio.keys("Escape", "?")
    check(studio)
    studio.keys("Escape")


def check(studio: Studio) -> None:
    studio.sees(lambda: studio.page.evaluate(NAMELESS), [])
    studio.sees(lambda: studio.page.evaluate(PALE), [])
    studio.sees(lambda: studio.page.evaluate(DUPLICATES), [])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_and_contrast(open_studio: Callable[..., Studio], scheme: str) -> None:
    studio = open_studio(color_scheme=scheme).ready()
    studio.sees(lambda: studio.page.evaluate("document.documentElement.dataset.theme"), scheme)
    states(studio)


def test_the_theme_is_chosen_and_kept(studio: Studio) -> None:
    studio.page.get_by_role("button", name="Dark colours").click()
    studio.settle()
    studio.page.reload()
    studio.ready()
    studio.sees(lambda: studio.page.evaluate("document.documentElement.dataset.theme"), "dark")
    studio.page.get_by_role("button", name="Light colours").click()
    studio.settle()
    studio.sees(lambda: studio.page.evaluate("document.documentElement.dataset.theme"), "light")


def test_landmarks_and_roles(studio: Studio) -> None:
    page = studio.page
    for role in ("banner", "main", "contentinfo"):
        studio.sees(page.get_by_role(role).count, 1)
    for name in ("Labels and elements", "Properties"):
        studio.sees(page.get_by_role("complementary", name=name).count, 1)
    studio.sees(lambda: page.locator("html").get_attribute("lang"), "en")
    studio.open_layout([("Toolbar", 0, 20, 400, 50)], ["bar"])
    box = page.get_by_role("button", name="bar, Toolbar, 400 by 50 at 0, 20")
    studio.sees(lambda: box.get_attribute("aria-pressed"), "false")
    studio.click(200, 40)
    studio.sees(lambda: box.get_attribute("aria-pressed"), "true")
    studio.sees(page.get_by_role("group", name="Wishes for the selected element").count, 1)


def test_menus_give_the_focus_back(studio: Studio) -> None:
    button = studio.page.get_by_role("button", name="File", exact=True)
    button.focus()
    studio.keys("Enter")
    studio.sees(lambda: studio.page.evaluate("document.activeElement.textContent"), "New")
    studio.keys("ArrowDown", "s")
    studio.sees(lambda: "Save" in studio.page.evaluate("document.activeElement.textContent"))
    studio.keys("Escape")
    studio.sees(lambda: "File" in studio.page.evaluate("document.activeElement.textContent"))
    studio.sees(lambda: studio.page.locator("#menu").is_hidden())


def test_those_who_wish_no_motion_get_none(open_studio: Callable[..., Studio]) -> None:
    studio = open_studio(reduced_motion="reduce").ready()
    studio.open_layout([("Icon", 50, 50, 40, 40)])
    studio.click(70, 70)
    studio.keys("Shift+ArrowRight", "Control+z")
    for _ in range(2):
        studio.page.evaluate("() => new Promise(requestAnimationFrame)")
    at = studio.page.locator(".boxes .body").get_attribute("x")
    studio.settle()
    studio.sees(lambda: studio.page.locator(".boxes .body").get_attribute("x"), at)


def test_the_page_is_strict_about_what_it_runs(studio: Studio, server: object) -> None:
    """No inline script or style is in the page, so the strictest policy holds."""
    page = studio.page.request.get(studio.page.url.split("#")[0])
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    text = page.text()
    assert "style=" not in text and "onclick=" not in text and "<script>" not in text


def test_a_menu_is_as_wide_as_its_words(studio: Studio) -> None:
    studio.page.get_by_role("button", name="Export", exact=True).click()
    assert studio.page.locator("#menu").bounding_box()["width"] < 300
