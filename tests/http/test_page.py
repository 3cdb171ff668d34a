"""The page in a real browser: what people see and do, with nothing from outside and nothing said on the console."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from haversack.tools.road.call import Options, call
from haversack.web.static_files import files
from tests.conftest import Clock
from tests.http.browsing import Visitor, chromium, visiting
from tests.http.sample import fill
from tests.http.serving import Served, serving

VIEWS = (
    "memory",
    "memory?q=token&id=2",
    "pack",
    "timeline",
    "ledger",
    "review?tab=changed",
    "review?tab=deleted",
    "figures",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@pytest.fixture
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = Clock()
    with serving(str(tmp_path_factory.mktemp("home")), now=clock) as served:
        fill(served.app, clock)
        yield served


@pytest.fixture
def visitor(browser: Any, stocked: Served) -> Iterator[Visitor]:
    with visiting(browser, stocked) as held:
        held.sign_in()
        yield held


def figure(visitor: Visitor) -> str:
    return str(visitor.page.text_content(".meter .figure"))


def test_the_page_is_small_and_names_nothing_outside() -> None:
    held = files()
    assert sum(len(each.content) for each in held.values()) <= 60 * 1024
    for name, each in held.items():
        text = each.content.decode()
        assert "//" not in text.replace("http://www.w3.org", ""), f"{name} names another place"
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text and "document.write" not in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_is_accessible_in_both_themes(browser: Any, stocked: Served, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with visiting(browser, stocked, color_scheme=theme) as visitor:
        visitor.sign_in()
        for view in VIEWS:
            visitor.open(view)
            found = axe.run(visitor.page).response["violations"]
            serious = [
                (view, each["id"], each["nodes"][0]["html"][:120], each["nodes"][0].get("failureSummary", "")[:200])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert not serious
            assert visitor.page.locator("h1").count() == 1


def test_a_phone_shows_every_view_without_scrolling_sideways(browser: Any, stocked: Served) -> None:
    with visiting(browser, stocked, viewport={"width": 320, "height": 640}) as visitor:
        visitor.sign_in()
        for view in VIEWS:
            visitor.open(view)
            width = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert width <= 320, f"{view} is {width} wide"


def test_the_meter_is_the_figure_of_the_reply_an_agent_gets(visitor: Visitor) -> None:
    visitor.page.fill("#query", "token rotation")
    for budget in (64, 150, 700):
        visitor.page.fill(".bar input[type=number]", str(budget))
        arguments = {"query": "token rotation", "max_tokens": budget, "detail_level": "auto", "limit": 100}
        reply = call(visitor.served.app.caller(account=""), "mem_search", arguments)
        visitor.page.wait_for_selector(f".meter .figure:text-is('{reply.tokens:,} / {budget:,}')")
        meter = visitor.page.locator("[role=meter]")
        assert meter.get_attribute("aria-valuenow") == str(reply.tokens)
        assert f"{reply.shown} of {reply.total} shown" in str(visitor.page.text_content(".meter .note"))


def test_a_reply_is_shown_as_its_items_under_their_days(visitor: Visitor) -> None:
    visitor.open("memory?q=how did we do the jwt auth&n=300")
    visitor.page.wait_for_selector(".list [role=option]")
    first = visitor.page.locator(".list [role=option]").first
    assert first.locator(".kind").text_content() == "decision"
    assert "2026-02-07" not in str(first.text_content())
    assert "2026-02-07" in visitor.page.locator(".list .head").all_text_contents()


def test_a_pack_is_the_bytes_the_command_line_prints(visitor: Visitor) -> None:
    visitor.open("pack?n=300")
    visitor.page.wait_for_selector(".lane li")
    caller = visitor.served.app.caller(account="")
    reply = call(caller, "context_pack", {"max_tokens": 300}, Options(footer=False))
    visitor.page.wait_for_selector(f".meter .figure:text-is('{reply.tokens} / 300')")
    visitor.page.click("text=Copy Markdown")
    visitor.page.wait_for_selector("#undo :text('Copied')")
    assert visitor.page.evaluate("navigator.clipboard.readText()") == reply.text
    visitor.page.click("text=Copy JSON")
    visitor.page.wait_for_selector("#undo :text('as JSON')")
    copied = json.loads(visitor.page.evaluate("navigator.clipboard.readText()"))
    assert copied["total_tokens"] <= 300


def test_leaving_out_and_putting_in_change_the_pack(visitor: Visitor) -> None:
    visitor.open("pack?n=300")
    lane = visitor.page.get_by_label("In the pack")
    lane.locator("li").first.wait_for()
    first = str(lane.locator("li").first.get_attribute("data-id"))
    visitor.page.click(f"[aria-label='Leave out #{first}']")
    out = visitor.page.get_by_label("Left out", exact=True).locator(f"li[data-id='{first}']")
    out.wait_for()
    assert "left out" in str(out.text_content())
    assert f"without={first}" in visitor.page.url
    visitor.page.click(f"[aria-label='Put in #{first}']")
    lane.locator(f"li[data-id='{first}']").wait_for()
    visitor.page.get_by_role("button", name="Undo (u)").click()
    visitor.page.wait_for_selector(f"#undo :text('Undone: Put in #{first}.')")
    out.wait_for()
    visitor.page.locator("main").focus()
    visitor.page.keyboard.press("u")
    visitor.page.wait_for_selector(f"#undo :text('Undone: Left out #{first}.')")
    assert "without" not in visitor.page.url


def test_a_change_can_be_undone_with_the_bar_and_with_the_key(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")

    def importance(name: str) -> object:
        return json.loads(call(caller, "mem_get_observation", {"id": 3, "format": "json"}).text).get(name)

    visitor.open("memory?id=3")
    visitor.page.get_by_role("button", name="Pin", exact=True).click()
    visitor.page.wait_for_selector("#undo :text('Pinned #3.')")
    assert importance("pinned") is True
    visitor.page.get_by_role("button", name="Undo (u)").click()
    visitor.page.wait_for_selector("#undo :text('Undone: Pinned #3.')")
    assert importance("pinned") is None
    visitor.page.get_by_role("button", name="Archive").click()
    visitor.page.wait_for_selector("#undo :text('Archived #3.')")
    visitor.page.locator("main").focus()
    visitor.page.keyboard.press("u")
    visitor.page.wait_for_selector("#undo :text('Undone: Archived #3.')")
    assert importance("status") == "active"


def test_what_an_agent_wrote_meanwhile_is_not_overwritten(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")
    visitor.open("memory?id=4")
    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    call(caller, "mem_update", {"id": 4, "title": "Written by an agent"})
    visitor.page.fill("form.form input[name=title]", "Written on the page")
    visitor.page.get_by_role("button", name="Save", exact=True).click()
    visitor.page.wait_for_selector("#strip:has-text('Changed since you opened it')")
    visitor.page.click("#strip button")
    visitor.page.wait_for_selector("article h2:text('Written by an agent')")


def test_undoing_does_not_overwrite_what_was_written_after_the_change(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")
    visitor.open("memory?id=4")
    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    visitor.page.fill("form.form input[name=title]", "Written on the page")
    visitor.page.get_by_role("button", name="Save", exact=True).click()
    visitor.page.wait_for_selector("#undo :text('Changed #4.')")
    call(caller, "mem_update", {"id": 4, "title": "Written by an agent"})
    visitor.page.get_by_role("button", name="Undo (u)").click()
    visitor.page.wait_for_selector("#undo :text('Not undone: it has been changed since.')")
    assert "Written by an agent" in call(caller, "mem_get_observation", {"id": 4}).text


def test_what_goes_wrong_without_anybody_waiting_for_it_is_told(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")
    visitor.open("memory?id=4")
    call(caller, "mem_delete", {"id": 4, "hard": True})
    visitor.page.get_by_role("button", name="Pin", exact=True).click()
    visitor.page.wait_for_selector("#strip.bad:has-text('no observation #4')")
    visitor.page.get_by_role("button", name="Close").click()
    visitor.page.wait_for_selector("#strip", state="hidden")


def test_review_accepts_and_restores(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")
    visitor.open("review?tab=pending")
    visitor.page.click("[aria-label='Accept #13']")
    visitor.page.wait_for_selector("#undo :text('Accepted #13.')")
    facts = json.loads(call(caller, "mem_get_observation", {"id": 13, "format": "json"}).text)
    assert (facts["status"], facts["verification"]) == ("active", "verified")
    visitor.open("review?tab=deleted")
    visitor.page.click("[aria-label='Restore #8']")
    visitor.page.wait_for_selector("#undo :text('Restored #8.')")
    assert call(caller, "mem_get_observation", {"id": 8}).text
    visitor.open("review?tab=changed")
    visitor.page.get_by_role("button", name="Diff to the last text").first.click()
    visitor.page.wait_for_selector(".diff .old:text('20 connections')")
    visitor.page.wait_for_selector(".diff .new:text('25 connections')")


HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
    "\u202egnp.exe \u2066bidi\u2069 \u200f",
    "long " * 39_000,
)


def test_hostile_texts_are_shown_as_text(visitor: Visitor) -> None:
    caller = visitor.served.app.caller(account="")
    ids = []
    for number, text in enumerate(HOSTILE):
        saved = call(
            caller, "mem_save", {"title": text[:120], "content": text, "project": f"p{number} <b>", "format": "json"}
        )
        ids.append(json.loads(saved.text)["id"])
    for identifier in ids:
        visitor.open(f"memory?q=owned bidi long&level=full&n=3000&id={identifier}")
        visitor.page.wait_for_selector(f"article[aria-label='Memory #{identifier}']")
    for view in VIEWS:
        visitor.open(view)
    assert "owned" not in visitor.page.title()
    assert visitor.page.locator("main img, main script").count() == 0


def test_everything_can_be_done_with_the_tab_key_alone(visitor: Visitor) -> None:
    page = visitor.page

    def tab_to(name: str) -> None:
        script = "() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent }"
        for _ in range(80):
            page.keyboard.press("Tab")
            if str(page.evaluate(script)).strip().startswith(name):
                return
        raise AssertionError(f"{name} is not reached")

    page.evaluate("document.activeElement.blur()")
    tab_to("Skip to the content")
    tab_to("New memory")
    page.keyboard.press("Enter")
    page.wait_for_selector("form.form")
    page.keyboard.type("Typed without a mouse")
    page.keyboard.press("Tab")
    page.keyboard.type("tabbing through the whole walk")
    tab_to("Save")
    page.keyboard.press("Enter")
    page.wait_for_selector("#undo :text('Saved #')")
    tab_to("Undo")
    page.keyboard.press("Enter")
    page.wait_for_selector("#undo :text('Undone: Saved')")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    tab_to("Search")
    page.keyboard.type("token rotation")
    page.wait_for_selector(".list [role=option]")
    tab_to("#")
    page.keyboard.press("Enter")
    page.wait_for_selector("article.detail")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    tab_to("Pack")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lane li")
    tab_to("Copy Markdown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#undo :text('Copied the pack.')")


def test_keys_move_and_open_and_do_nothing_while_typing(visitor: Visitor) -> None:
    page = visitor.page
    page.locator("main").focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("u token g p")
    assert page.input_value("#query") == "u token g p"
    page.keyboard.press("Escape")
    page.wait_for_selector(".list [role=option]")
    page.keyboard.press("j")
    page.wait_for_selector("article.detail")
    for key, view in zip("ptlrfm", ("pack", "timeline", "ledger", "review", "figures", "memory"), strict=True):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_selector(f"#views a[data-view={view}][aria-current=page]")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")


def test_nobody_sees_anything_without_signing_in(browser: Any, stocked: Served) -> None:
    with visiting(browser, stocked) as visitor:
        visitor.page.goto(stocked.url)
        visitor.page.wait_for_selector("h2:text('Sign in')")
        assert "Tokens rotate" not in visitor.page.content()
        visitor.page.fill("input[type=password]", stocked.token)
        visitor.page.get_by_role("button", name="Sign in").click()
        visitor.page.wait_for_selector(".list [role=option]")
        cookies = visitor.page.context.cookies()
        assert [each["httpOnly"] for each in cookies] == [True]
        assert visitor.page.evaluate("document.cookie") == ""


def test_a_server_that_goes_away_is_told_and_what_was_shown_stays(browser: Any, tmp_path: Any) -> None:
    clock = Clock()
    with serving(str(tmp_path), now=clock) as served:
        fill(served.app, clock)
        with visiting(browser, served) as visitor:
            visitor.sign_in()
            visitor.page.context.set_offline(True)
            visitor.page.fill("#query", "token")
            visitor.page.wait_for_selector("#strip:has-text('cannot be reached')")
            assert visitor.page.locator(".list [role=option]").count()
            assert not figure(visitor).startswith("0 /")
            visitor.page.locator("main").focus()
            visitor.page.keyboard.press("j")
            assert visitor.page.locator("[role=alert]").count() == 0
            visitor.page.context.set_offline(False)
            visitor.page.wait_for_selector("#strip", state="hidden")
            visitor.page.wait_for_selector(".list [role=option]")
