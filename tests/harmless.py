"""Is an HTML page harmless? What several tests of pages ask."""

from bs4 import BeautifulSoup

#: Markdown that runs, fetches, frames or leads astray where a page takes it as it is
PAYLOADS = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[x](javascript:alert(1))",
    '<a href="JaVa&#x09;Script:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<iframe src="https://e.invalid"></iframe>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    '<object data="data:text/html,<script>alert(1)</script>"></object>',
    "<details open ontoggle=alert(1)>x</details>",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 '
    'onerror=alert(1)&gt;">',
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\href{javascript:alert(1)}{x}$",
    '<p title="\n\n$x$ onmouseover=alert(1)\n\n">',
    "![$x$ onerror=alert(1)](https://e.invalid/seen.png)",
    "<style>body{background:url(https://e.invalid)}</style>",
    '<p style="position:fixed;inset:0">x</p>',
    '<meta http-equiv="refresh" content="0;url=https://e.invalid">',
    '<base href="https://e.invalid/">',
    '<form action="https://e.invalid"><button>x</button></form>',
    '<b id="exercise-relay">x</b>',
    "```mermaid\nclick A call alert(1)\n```",
]  # fmt: skip
_FORBIDDEN = {
    "script", "iframe", "frame", "object", "embed", "form", "input", "button", "base", "link",
    "noscript", "audio", "video", "portal", "template",
}  # fmt: skip


def harm(page: str) -> list[str]:
    """What in a page would run, fetch or send something; `[]` for a harmless one."""
    found = []
    for element in BeautifulSoup(page, "html.parser").find_all(True):
        said = str(element)[:80]
        if element.name in _FORBIDDEN:
            found.append(f"<{element.name}>: {said}")
        if element.name == "meta" and element.get("http-equiv", "").lower() == "refresh":
            found.append(f"refresh: {said}")
        for name, value in element.attrs.items():
            name, value = name.lower(), str(value)
            if name.startswith("on"):
                found.append(f"{name}: {said}")
            if name in ("src", "srcset", "srcdoc", "data", "poster") and not value.startswith(
                "data:image/"
            ):
                found.append(f"{name} {value}: {said}")
            if name in ("href", "xlink:href", "action") and not _leads_where_it_says(value):
                found.append(f"{name} {value}: {said}")
            if name == "style" and ("url(" in value or "position" in value):
                found.append(f"style: {said}")
    return found


def _leads_where_it_says(link: str) -> bool:
    scheme, colon, _ = link.partition(":")
    return not colon or "/" in scheme or scheme.lower() in ("http", "https", "mailto")
