"""The three ways to answer and mend an incident: the tool alone, the page alone, and from the alert. Each notes its steps: a step is one
command or one action on the page. What the world does by itself, or somebody else, is noted and not counted."""
import json
import re
import shutil
import subprocess
import urllib.request
from urllib.parse import quote
from pathlib import Path

from incident_world import OPERATORS, age
from rig import ROOT, Failure, Process, free_port, wait_until

MONITORING = ROOT / "Docs/Operate/Monitoring"
RUNBOOK = ROOT / "Docs/Operate/Runbook.md"
PAGE_URL = "https://github.com/holdfast-push/holdfast/blob/main/Docs/Operate/Runbook.md#"


class Way:
    name = "tool"

    def __init__(self, world):
        self.world = world
        self.steps = []

    def note(self, words, counts=True):
        self.steps.append({"step": words, "counts": counts})

    @property
    def count(self):
        return sum(1 for step in self.steps if step["counts"])

    def outside(self, words, action=lambda: None):
        """What others do: the push service comes back, a new key is delivered."""
        action()
        self.note(words, counts=False)

    def types(self, command, *says, code=None):
        """Types a command. `says` are words that its output has to have."""
        got, output = self.world.run(command)
        if code is not None and got != code:
            raise Failure(f"`{command}` ends with {got} instead of {code}: {output}")
        missing = [words for words in says if words.lower() not in output.lower()]
        if missing:
            raise Failure(f"`{command}` does not say {missing}: {output}")
        self.note(f"`{self.shown(command)}`")
        return output

    def shown(self, command):
        return command.replace(str(self.world.folder), "…")

    def is_told(self, kind, *says):
        """What is wrong, since when, and what to do: one look."""
        output = self.types("holdfast status", kind, "next: ", *says, code=1)
        line = next(line for line in output.splitlines() if f" {kind} (" in line)
        lasted = age(line)
        if lasted is None or lasted > 120:
            raise Failure(f"`holdfast status` does not say since when: {line}")

    def begin(self):
        pass

    def end(self):
        pass


class AlertWay(Way):
    """An alert fires in a real Prometheus; its runbook_url leads to the section, and only what the section says is typed."""
    name = "alert"

    def begin(self):
        self.prometheus = None
        self.section = ""

    def end(self):
        if self.prometheus and self.prometheus.is_running:
            self.prometheus.kill()

    def watches(self):
        """Prometheus has seen the service at work."""
        wait_until("Prometheus reads the service", lambda: self.query("up{job='holdfast'}") == "1", 30)

    def query(self, expression):
        if self.prometheus is None:
            self.start()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?query={quote(expression)}", timeout=5) as answer:
                found = json.load(answer)["data"]["result"]
        except OSError:
            return None
        return found[0]["value"][1] if found else None

    def is_called(self, alert, *says):
        """The alert fires, with words, and leads to its section."""
        found = wait_until(f"the alert {alert} fires", lambda: self.firing().get(alert), 30)
        told = found["summary"] + found["description"]
        missing = [words for words in says if words.lower() not in told.lower()]
        if missing:
            raise Failure(f"{alert} does not say {missing}: {told}")
        if not found["runbook_url"].startswith(PAGE_URL):
            raise Failure(f"{alert} leads to {found['runbook_url']}")
        anchor = found["runbook_url"].removeprefix(PAGE_URL)
        self.section = section(anchor)
        self.note(f"{alert}: “{found['summary']}” leads to [{anchor}](Runbook.md#{anchor})")

    def is_asked(self, anchor):
        """Nothing is wrong: somebody asks for something, and the runbook has the commands."""
        self.section = section(anchor)
        self.note(f"no alert: [{anchor}](Runbook.md#{anchor})", counts=False)

    def reads(self, template, *says, code=None, **values):
        """Types a command of the section, with its words in capitals replaced."""
        if f"`{template}`" not in self.section:
            raise Failure(f"the section does not have `{template}`: {self.section}")
        command = template
        for name, value in values.items():
            command = command.replace(name, str(value))
        return self.types(command, *says, code=code)

    def firing(self):
        if self.prometheus is None:
            self.start()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/alerts", timeout=5) as answer:
                alerts = json.load(answer)["data"]["alerts"]
        except OSError:
            if not self.prometheus.is_running:
                raise Failure(f"Prometheus ended: {self.prometheus.said()}") from None
            return {}
        return {alert["labels"]["alertname"]: alert["annotations"] for alert in alerts if alert["state"] == "firing"}

    def start(self):
        """With the repository's rules, whose patience is shortened: nobody waits for two minutes here."""
        folder = self.world.folder
        rules = re.sub(r"\n        for: .*", "", (MONITORING / "alerts.yaml").read_text())
        (folder / "alerts.yaml").write_text(rules.replace('{lane=~"immediate/.*"} > 60', '{lane=~"immediate/.*"} > 1'))
        (folder / "prometheus.yaml").write_text(f"""\
global: {{scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}}
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: holdfast
    static_configs: [{{targets: ["127.0.0.1:{self.world.gateway.ports['admin']}"]}}]
""")
        self.port = free_port()
        self.prometheus = Process(
            ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/metrics",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], folder / "prometheus.log")


def section(anchor):
    """What the runbook has under a heading."""
    parts = re.split(r"^#{2,3} ", RUNBOOK.read_text(), flags=re.M)
    for part in parts[1:]:
        heading, _, text = part.partition("\n")
        if re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") == anchor:
            return text
    raise Failure(f"the runbook has no section {anchor}")


class PageWay(Way):
    """The operators' page in a real browser, signed in."""
    name = "page"
    browser = None

    def begin(self):
        self.order("open", port=self.world.gateway.ports["admin"], token=OPERATORS)

    def end(self):
        self.order("close")

    def order(self, act, **order):
        child = PageWay.browser
        child.stdin.write(json.dumps({"act": act, **order}) + "\n")
        child.stdin.flush()
        line = child.stdout.readline()
        answer = json.loads(line) if line else {"error": "the browser ended"}
        if "error" in answer:
            raise Failure(f"page: {answer['error']}")
        return answer["result"]

    def is_told(self, kind, *says):
        text = self.looks("", kind, *says)
        if "since" not in text:
            raise Failure(f"the page does not say since when: {text}")

    def is_away(self, *says):
        """The page says by itself that nothing answers, since when, and what to do."""
        self.order("hears", says=["doesn't answer since", *says], seconds=30)
        self.note("it says that the service doesn't answer")

    def is_back(self):
        self.order("live")

    def looks(self, view, *says, seconds=20):
        text = self.order("look", view=view, says=says, seconds=seconds)
        self.note(f"look at {'Overview' if not view else view.split('?')[0].split('/')[0].capitalize()}")
        return text

    def hears(self, *says, seconds=20):
        """It says so by itself: no step."""
        return self.order("hears", says=says, seconds=seconds)

    def presses(self, name, *says, confirm=None, reason=None):
        result = self.order("press", name=name, says=says, confirm=confirm, reason=reason)
        self.note(f"“{name}”" + (f", “{confirm}”" if confirm else ""))
        return result

    def stands_at(self, view, *says):
        """The view from which it begins: no step."""
        self.order("look", view=view, says=says)
        self.note(f"at {view.capitalize() or 'Overview'}", counts=False)

    def follows(self, name, *says):
        """Follows a link."""
        self.order("follow", name=name, says=says)
        self.note(f"“{name}”")

    def commands(self, view, part):
        """The commands that a part of a view shows, one a line."""
        self.stands_at(view, part)
        text = self.order("commands", part=part)
        return text.replace("/var/backups/", "backups/").splitlines()

    def searches(self, action, *says, **fields):
        text = self.order("search", fields={name.replace("_", "-"): value for name, value in fields.items()}, action=action, says=says)
        self.note(f"“{action}” with {', '.join(fields)}")
        return text

    @staticmethod
    def open_browser():
        program = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
        if program is None:
            raise Failure("there is no chromium: install the Debian package chromium (Scripts/bootstrap --tests)")
        PageWay.browser = subprocess.Popen(["node", Path(__file__).parent / "incident_browser.js", program], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)

    @staticmethod
    def close_browser():
        if PageWay.browser:
            PageWay.browser.stdin.close()
            PageWay.browser.wait(20)


WAYS = {way.name: way for way in (Way, PageWay, AlertWay)}


