"""How far each token profile is from the real tokenizer, and how fast the exact one is beside it.

    python bench/bench_tokens.py [--quick]

The reference is tiktoken with the ranks of our own vocabulary file, since its own would be downloaded. All
texts are made here or taken from Python's standard library, so that one Python always gives the same errors.
Errors are signed: -50 % means that half of the tokens were not seen. MAPE is the mean of the absolute errors,
each class weighing the same. The paragraphs in other languages are repeated to the size of the other texts,
which leaves their errors as they are but makes their cold speed look better than it would be on a book.
The `claude` column shows the margin over o200k; how near it comes to Claude's own count cannot be measured here.
Estimates for other models are held against their own tokenizers where the extra `exact` is installed. None of
these texts had a part in fitting them.
"""

import argparse
import base64
import difflib
import hashlib
import io
import json
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import patch

import tiktoken
from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # it ships without types

from haversack.tokens import Profile, count_tokens, o200k, other_model_estimates, profile_names
from haversack.tokens.profiles import estimated_profile, exact_profile
from haversack.tokens.vocabulary import open_vocabulary

ESTIMATORS: dict[str, Callable[[str], int]] = {
    "chars/4": lambda text: max(1, len(text) // 4),
    "bytes4": lambda text: count_tokens(text, "bytes4"),
    "o200k": lambda text: count_tokens(text, "o200k"),
    "claude": lambda text: count_tokens(text, "claude"),
}

PARAGRAPHS = {
    "German": "Wir haben gestern beschlossen, die Zwischenergebnisse nicht länger im Speicher zu halten. "
    "Die Datenbank schreibt jede Änderung sofort auf die Festplatte, und nach einem Absturz fehlt nichts. "
    "Übrigens müssen die Größenangaben in den Einstellungen noch übersetzt werden.",
    "French": "L’équipe a décidé hier de ne plus garder les résultats intermédiaires en mémoire. Chaque "
    "modification est écrite aussitôt, et rien ne manque après une panne. Il reste à vérifier où l’ancienne "
    "clé était utilisée, car son format a changé au début de l’été.",
    "Chinese": "我们昨天决定不再把中间结果保存在内存里。数据库会立即把每次修改写入磁盘，"
    "因此程序崩溃以后不会丢失任何内容。下一步是检查旧的接口在哪些地方还被使用，"
    "并把配置文件中的说明翻译成中文。",
    "Japanese": "昨日、途中の結果をメモリに残さないことに決めました。データベースは変更を"
    "すぐにディスクへ書き込むので、プログラムが止まっても何も失われません。"
    "次は古いインターフェースがどこで使われているかを調べます。",
    "Korean": "어제 우리는 중간 결과를 더 이상 메모리에 보관하지 않기로 했습니다. 데이터베이스는 "
    "모든 변경 사항을 즉시 디스크에 기록하므로 프로그램이 멈춰도 아무것도 잃지 않습니다. "
    "다음에는 이전 설정을 확인하겠습니다.",
    "Russian": "Вчера мы решили больше не хранить промежуточные результаты в памяти. База данных сразу "
    "записывает каждое изменение на диск, поэтому после сбоя ничего не пропадает. Осталось проверить, "
    "где ещё используется старый ключ, и перевести пояснения в настройках.",
    "Hindi": "कल हमने तय किया कि बीच के परिणाम अब मेमोरी में नहीं रखे जाएँगे। डेटाबेस हर बदलाव को तुरंत "
    "डिस्क पर लिखता है, इसलिए प्रोग्राम रुकने पर भी कुछ नहीं खोता। अब देखना है कि पुरानी कुंजी कहाँ "
    "इस्तेमाल हो रही है।",
    "Arabic": "قررنا أمس ألا نحتفظ بالنتائج المؤقتة في الذاكرة بعد الآن. تكتب قاعدة البيانات كل تغيير "
    "على القرص فورا، ولذلك لا يضيع شيء عندما يتوقف البرنامج. بقي أن نراجع أين يستخدم المفتاح القديم.",
    "Thai": "เมื่อวานเราตัดสินใจว่าจะไม่เก็บผลลัพธ์ระหว่างทางไว้ในหน่วยความจำอีกต่อไป "
    "ฐานข้อมูลจะเขียนทุกการเปลี่ยนแปลงลงดิสก์ทันที ดังนั้นเมื่อโปรแกรมหยุดทำงานก็ไม่มีอะไรสูญหาย",
    "emoji chat": "omg 😂😂 it works now 🎉🎉🎉 thx a lot 🙏🏽 ❤️ brb 5 min ☕️ … back 👋 pls check 👀 "
    "the PR 🚀 (tests ✅ lint ✅ docs ❌) 👩‍💻👨‍👩‍👧 lol 🤷‍♀️ no idea 😅 ttyl ✌️",
}
NAMES = ("anchor", "barrel", "candle", "drawer", "engine", "feather", "garden", "hammer", "island", "jacket")


def contents(size: int) -> dict[str, str]:
    """One text of about `size` characters for each class of content."""
    source = "\n".join(_library(size))
    classes: dict[str, Iterable[str]] = {
        "English prose": _prose(),
        "Python": source.splitlines(keepends=True),
        "Markdown": _markdown(),
        "JSON, indented": _json(indent=2),
        "JSON, one line each": _json(indent=None),
        "diff": _diff(source),
        "log lines": _log(),
        "lock file": _lock_file(),
        "CSV": _csv(),
        "HTML": _html(),
        "base64": _base64(),
        "hexadecimal": _hexadecimal(),
    }
    for name, paragraph in PARAGRAPHS.items():
        classes[name] = [paragraph + "\n"] * (size // len(paragraph) + 1)
    return {name: _joined(lines, size) for name, lines in classes.items()}


def _joined(lines: Iterable[str], size: int) -> str:
    text = io.StringIO()
    for line in lines:
        text.write(line)
        if text.tell() >= size:
            break
    return text.getvalue()


def _library(size: int) -> Iterable[str]:
    read = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*.py")):
        if read >= size:
            return
        text = path.read_text("utf-8")
        read += len(text)
        yield text


def _prose() -> Iterable[str]:
    from pydoc_data.topics import topics  # the language reference as plain text

    for topic in sorted(topics):
        yield topics[topic]


def _markdown() -> Iterable[str]:
    for number in count():
        name = NAMES[number % len(NAMES)]
        yield f"## {number}. The {name}\n\n- **Status**: *open*, see [the plan](docs/{name}-{number}.md)\n"
        yield f"- [x] `{name}.load()` returns early — it was slow\n\n"
        yield f"```python\n{name} = load({number})\n```\n\n> Kept as is.\n\n"
        yield f"| {name} | count |\n|---|---:|\n| new | {number * 7} |\n| old | {number * 3} |\n\n"


def _json(indent: int | None) -> Iterable[str]:
    chance = random.Random(1)
    for number in count():
        record = {
            "id": number,
            "name": chance.choice(NAMES),
            "tags": chance.sample(NAMES, 3),
            "score": round(chance.random(), 6),
            "owner": {"email": f"{chance.choice(NAMES)}@example.org", "active": chance.random() < 0.5},
            "created_at": f"{_date(chance)}T10:{number % 60:02}:00Z",
        }
        yield json.dumps(record, indent=indent) + "\n"


def _diff(source: str) -> Iterable[str]:
    lines = source.splitlines(keepends=True)
    for start in range(0, len(lines), 400):
        before = lines[start : start + 400]
        after = [line if index % 17 else line.replace("self", "this") + "\n" for index, line in enumerate(before)]
        yield from difflib.unified_diff(before, after, f"a/part_{start}.py", f"b/part_{start}.py")


def _log() -> Iterable[str]:
    chance = random.Random(2)
    for number in count():
        clock = f"{number // 3_600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.{chance.randint(0, 999):03}"
        level = chance.choice(("INFO", "DEBUG", "WARN", "ERROR"))
        address = ".".join(str(chance.randint(1, 254)) for _ in range(4))
        path = f"/api/v1/{chance.choice(NAMES)}/{chance.randint(1, 99_999)}"
        request = f"request={chance.getrandbits(48):012x}"
        yield f"2025-03-14T{clock}Z {level} [worker-{number % 8}] {address} {request} "
        yield f"GET {path} 200 {chance.randint(1, 900)}ms\n"


def _lock_file() -> Iterable[str]:
    for number in count():
        name = f"{NAMES[number % len(NAMES)]}-{NAMES[number // 10 % len(NAMES)]}"
        version = f"{number % 9}.{number % 13}.{number % 7}"
        digest = hashlib.sha256(f"{name}-{number}".encode()).hexdigest()
        address = f"https://files.example.org/{digest[:20]}/{name}-{version}-py3-none-any.whl"
        yield f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        yield 'source = { registry = "https://example.org/simple" }\n'
        yield f'wheels = [\n    {{ url = "{address}", '
        yield f'hash = "sha256:{digest}", size = {number * 997} }},\n]\n\n'


def _csv() -> Iterable[str]:
    chance = random.Random(3)
    yield "id,date,item,quantity,price,remark\n"
    for number in count():
        order = f"{chance.choice(NAMES)},{chance.randint(1, 40)},{chance.uniform(1, 900):.2f}"
        yield f'{number},{_date(chance)},{order},"{chance.choice(NAMES)}, new"\n'


def _html() -> Iterable[str]:
    for number in count():
        name = NAMES[number % len(NAMES)]
        yield f'<div class="card card--{name}" id="item-{number}" data-count="{number * 3}">\n'
        yield f"  <h2>{name.title()}</h2>\n  <p>Made of wood &amp; iron; "
        yield f'<a href="/items/{number}?ref={name}">see more</a>.</p>\n</div>\n'


def _date(chance: random.Random) -> str:
    return f"2025-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def _base64() -> Iterable[str]:
    chance = random.Random(4)
    while True:
        yield base64.b64encode(chance.randbytes(57)).decode() + "\n"


def _hexadecimal() -> Iterable[str]:
    chance = random.Random(5)
    while True:
        yield chance.randbytes(32).hex() + "\n"


def reference() -> tiktoken.Encoding:
    """tiktoken with its own pattern and the ranks of our vocabulary file."""
    ranks = {token: rank for rank, token in enumerate(open_vocabulary())}
    with patch.object(openai_public, "load_tiktoken_bpe", return_value=ranks):
        return tiktoken.Encoding(**openai_public.o200k_base())


def seconds(work: Callable[[], object], repeat: int, prepare: Callable[[], object] = lambda: None) -> float:
    """The shortest of `repeat` runs."""
    best = float("inf")
    for _ in range(repeat):
        prepare()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def report_errors(texts: dict[str, str], encoding: tiktoken.Encoding) -> None:
    """Prints the signed error of each estimator for each class, then the means and the worst cases."""
    print(f"{'class':<20} {'tokens':>8}" + "".join(f"{name:>10}" for name in ESTIMATORS))
    errors: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for name, text in texts.items():
        true = len(encoding.encode_ordinary(text))
        row = f"{name:<20} {true:>8,}"
        for estimator, estimate in ESTIMATORS.items():
            errors[estimator].append(100 * (estimate(text) - true) / true)
            row += f"{errors[estimator][-1]:>+8.1f} %"
        print(row)
    means = [sum(map(abs, values)) / len(values) for values in errors.values()]
    print(f"{'macro MAPE':<29}" + "".join(f"{mean:>8.1f} %" for mean in means))
    print(f"{'worst under-estimate':<29}" + "".join(f"{min(0, *values):>+8.1f} %" for values in errors.values()))
    for name, mean in zip(errors, means, strict=True):
        if name == "o200k":
            print(f"claim: mean error of the o200k profile | {mean:.2f} | at most 0 | %")


def report_models(texts: dict[str, str], repeat: int) -> None:
    """Prints the signed error of each model's estimate for each class, then how fast estimates and real counts are."""
    models = [name for name in profile_names() if name not in ESTIMATORS]
    pairs = {name: (exact_profile(name), estimated_profile(name)) for name in models}
    real = {name: (exact, estimate) for name, (exact, estimate) in pairs.items() if exact is not None}
    if not real:
        print("estimates for other models: install haversack[exact] to hold them against the real tokenizers")
        return
    print(f"{'estimate for':<20}" + "".join(f"{name:>11}" for name in real))
    errors: dict[str, list[float]] = {name: [] for name in real}
    for kind, text in texts.items():
        for name, (exact, estimate) in real.items():
            errors[name].append(100 * (estimate.count(text) / exact.count(text) - 1))
        print(f"{kind:<20}" + "".join(f"{values[-1]:>+9.1f} %" for values in errors.values()))
    means = (sum(map(abs, values)) / len(values) for values in errors.values())
    print(f"{'macro MAPE':<20}" + "".join(f"{mean:>9.1f} %" for mean in means))
    print(f"{'worst under-estimate':<20}" + "".join(f"{min(0, *values):>+9.1f} %" for values in errors.values()))
    other_model_estimates._counter.cache_clear()
    megabytes = sum(len(text.encode()) for text in texts.values()) / 1e6
    for label, place in (("real tokenizer", 0), ("estimate", 1)):
        rates = (megabytes / _seconds_for(profiles[place], texts, repeat) for profiles in real.values())
        print(f"{label:<20}" + "".join(f"{rate:>6.1f} MB/s" for rate in rates))


def _seconds_for(profile: Profile, texts: dict[str, str], repeat: int) -> float:
    return seconds(lambda: [profile.count(text) for text in texts.values()], repeat)


def report_speed(texts: dict[str, str], encoding: tiktoken.Encoding, repeat: int) -> None:
    """Prints the speed of the o200k profile, with empty and with filled memories, beside tiktoken's."""
    print(f"{'class':<20} {'tiktoken':>12} {'cold':>12} {'ratio':>6} {'warm':>12} {'ratio':>6}")
    ratios: list[tuple[float, float]] = []
    for name, text in texts.items():
        megabytes = len(text.encode()) / 1e6
        theirs = seconds(partial(encoding.encode_ordinary, text), repeat)
        cold = seconds(partial(o200k.count, text), repeat, o200k._counter.cache_clear)
        warm = seconds(partial(o200k.count, text), repeat)
        ratios.append((theirs / cold, theirs / warm))
        rates = [f"{megabytes / taken:>7.1f} MB/s" for taken in (theirs, cold, warm)]
        print(f"{name:<20} {rates[0]} {rates[1]} {theirs / cold:>6.2f} {rates[2]} {theirs / warm:>6.2f}")
    cold_ratio, warm_ratio = (sum(values) / len(values) for values in zip(*ratios, strict=True))
    print(f"{'mean':<33} {'':>12} {cold_ratio:>6.2f} {'':>12} {warm_ratio:>6.2f}")


def report_first_count(repeat: int) -> None:
    """Prints what the first count of 2 KB costs a new process."""
    script = (
        "import time, argparse, haversack.tokens; text = open(argparse.__file__).read()[:2048]; "
        "start = time.perf_counter(); haversack.tokens.count_tokens(text); "
        "print(1000 * (time.perf_counter() - start))"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, check=True) for _ in range(repeat)]
    best = min(float(run.stdout) for run in runs)
    print(f"first count of 2 KB in a new process, opening the vocabulary included: {best:.1f} ms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints all four reports."""
    parser = argparse.ArgumentParser(description="Error and speed of the token profiles.")
    parser.add_argument("--quick", action="store_true", help="small texts, one run each")
    quick = parser.parse_args(arguments).quick
    encoding = reference()
    texts = contents(10_000 if quick else 300_000)
    repeat = 1 if quick else 5
    report_errors(texts, encoding)
    print()
    report_models(texts, repeat)
    print()
    report_speed(texts, encoding, repeat)
    print()
    report_first_count(repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
