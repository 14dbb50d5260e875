"""What the trials of the operators' page share: the token, the browser, and who does what between its steps."""
import json
import subprocess

from rig import PYTHON, ROOT, Failure

TOKEN = "0123456789abcdef0123456789abcdef"


def token(number):
    return f"{number:064x}"


def write_token(folder):
    (folder / "operators").write_text(TOKEN)
    (folder / "operators").chmod(0o600)


def axe():
    """axe-core, which a package of PyPI brings."""
    found = list((PYTHON.parents[1]).glob("lib/python*/site-packages/axe_playwright_python/axe.min.js"))
    if not found:
        raise Failure("axe-core is missing: Scripts/bootstrap --tests brings it")
    return str(found[0])


def seen_by(browser, options):
    """What every plan of a trial has."""
    return {"browser": browser, "token": TOKEN, "shots": str(options.shots.resolve()) if options.shots else None,
            "axe": None if options.no_axe else axe(), "quick": options.quick}


def drive_browser(script, plan, act):
    """Runs the browser, and does what it asks for between its steps. Returns its exit code."""
    child = subprocess.Popen(
        ["node", ROOT / "Tests/InteropTests/rig" / script, json.dumps(plan)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)
    for line in child.stdout:
        match line.split():
            case ["step", word]:
                act(word)
        child.stdin.write("go\n")
        child.stdin.flush()
    return child.wait()
