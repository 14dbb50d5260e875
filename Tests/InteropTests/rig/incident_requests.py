"""What somebody asks for while nothing is wrong: where a push is, a campaign that has to stop or go, another machine, a copy."""
import time

from incident_list import Incident
from incident_world import token
from rig import Failure, wait_until

BAD = token(77)


class FindPush(Incident):
    name, title = "find-push", "A customer asks what became of a push"
    flags = ("--reject", f"{BAD}=Unregistered")

    def begin(self, world):
        world.send(300)
        world.settles()
        self.uid = next(row["uid"] for row in world.ask("entries?state=rejected")["entries"])

    def prove(self, world):
        world.settles()
        return world.audit(rejected=[77])

    def tool(self, way):
        way.types(f"holdfast journal find --token {BAD}", "rejected", "Unregistered", str(self.uid), code=0)
        way.types(f"holdfast journal show {self.uid}", "Unregistered", "delete the token", code=0)

    def page(self, way):
        way.looks("journal")
        way.searches("Search", "rejected", token=BAD)
        way.follows(f"Notification {self.uid}", "Unregistered", "delete the token")

    def alert(self, way):
        way.is_asked("what-became-of-a-push")
        way.reads("holdfast journal find --token TOKEN", "Unregistered", code=0, TOKEN=BAD)
        way.reads("holdfast journal show UID", "delete the token", code=0, UID=self.uid)


class Campaign(Incident):
    """A campaign that goes out slowly, and codes behind it."""

    @staticmethod
    def edit(text):
        return text.replace("  - name: example\n", "  - name: example\n    rate: {per-second: 250, burst: 1}\n")

    def begin(self, world):
        world.send(world.scale, tag="sale")
        wait_until("some are out", lambda: len(world.taken()) > 10)



    def is_held(self, way):
        """Nothing of the campaign goes out any more, but what is with the service."""
        mock = way.world.mock

        def stands():
            before = mock.taken
            time.sleep(0.5)
            return before if mock.taken == before else None

        self.out = wait_until("what was with the service is answered", stands, 20)


class StopMarketing(Campaign):
    name, title = "stop-marketing", "Codes wait behind a campaign: stop it and let them through"

    def begin(self, world):
        self.count = min(world.scale, 2000)
        world.send(self.count, tag="sale")
        world.send(10, first=500_001, tag="codes")
        if any(token(number) in world.taken() for number in range(500_001, 500_011)):
            raise Failure("the codes did not wait")

    def codes_go(self, way):
        world = way.world
        codes = [token(number) for number in range(500_001, 500_011)]
        wait_until("the codes are out", lambda: all(one in world.taken() for one in codes), 10)
        if sum(world.taken().values()) >= self.count + 10:
            raise Failure("the campaign was out as well: nothing is shown by this")
        way.outside("the codes are out")

    def tool(self, way):
        way.types("holdfast tags pause sale --reason codes-first", code=0)
        self.codes_go(way)
        way.types("holdfast tags resume sale", code=0)

    def page(self, way):
        way.looks("campaigns", "sale", "codes")
        way.presses("Pause sale", "is paused", confirm="Pause", reason="codes first")
        self.codes_go(way)
        way.presses("Resume sale", "is resumed")

    def alert(self, way):
        way.is_called("HoldfastDeliveryDelayed", "immediate")
        way.reads("holdfast tags pause TAG", code=0, TAG="sale")
        self.codes_go(way)
        way.reads("holdfast tags resume TAG", code=0, TAG="sale")


class TakeBack(Campaign):
    name, title = "take-back", "A campaign of 100,000 has the wrong price: take it back"

    def prove(self, world):
        sums = world.audit(withdrawn=range(1, world.scale + 1))
        # What was out when it was stopped, and nothing behind it.
        if world.waiting() or sums["delivered"] != self.out or sums["takenBack"] == 0:
            raise Failure(f"{world.waiting()} wait, {self.out} were out, {sums}")
        # The tag can be used again.
        world.send(5, first=600_001, tag="sale")
        world.settles()
        return world.audit(withdrawn=range(1, world.scale + 1))

    def tool(self, way):
        way.types("holdfast tags pause sale --reason wrong-price", code=0)
        self.is_held(way)
        way.types("holdfast journal drop --tag sale", code=0)
        way.types("holdfast tags resume sale", code=0)

    def page(self, way):
        way.stands_at("campaigns", "sale")
        way.presses("Pause sale", "is paused", confirm="Pause", reason="wrong price")
        self.is_held(way)
        way.presses("Take back sale", "taken back", confirm="Take back")
        way.presses("Resume sale", "is resumed")

    def alert(self, way):
        way.is_asked("stopping-a-bad-campaign")
        way.reads('holdfast tags pause TAG --reason "wrong price"', code=0, TAG="sale")
        self.is_held(way)
        way.reads("holdfast journal drop --tag TAG", code=0, TAG="sale")
        way.reads("holdfast tags resume TAG", code=0, TAG="sale")


class Move(Incident):
    name, title = "move", "Move to another machine"

    def begin(self, world):
        world.mock.process.kill()
        world.send(50)
        world.send(10, first=101, holdfast_guarantee="at-most-once")

    def prove(self, world):
        if not (world.folder / "new-machine/push.journal").exists():
            raise Failure("the journal is not on the new machine")
        world.settles()
        return world.audit()

    def arrives(self, way):
        """The other machine is a directory; it has the same configuration."""
        world = way.world
        text = (world.folder / "holdfast.yaml").read_text()
        (world.folder / "holdfast.yaml").write_text(text.replace("path: push.journal", "path: new-machine/push.journal"))
        world.gateway.journal = world.folder / "new-machine/push.journal"
        world.start_mock()

    def moves(self, way, commands):
        world = way.world
        (world.folder / "new-machine").mkdir()
        stop, copy, start = commands
        way.types(stop, code=0)
        way.types(copy, code=0)
        self.arrives(way)
        way.types(start, code=0)

    def tool(self, way):
        journal = way.world.gateway.journal
        self.moves(way, ["systemctl disable --now holdfast", f"rsync -a {journal} NEW-MACHINE:{journal.parent}/",
                         "ssh NEW-MACHINE systemctl enable --now holdfast"])

    def page(self, way):
        self.moves(way, way.commands("service", "Copies")[1:])

    def alert(self, way):
        way.is_asked("moving-a-queue-to-another-machine")
        (way.world.folder / "new-machine").mkdir()
        way.reads("systemctl disable --now holdfast", code=0)
        journal = way.world.gateway.journal
        way.reads("rsync -a /var/lib/holdfast/push.journal NEW-MACHINE:/var/lib/holdfast/", code=0,
                  **{"/var/lib/holdfast": journal.parent})
        self.arrives(way)
        way.reads("ssh NEW-MACHINE systemctl enable --now holdfast", code=0)


class BackUp(Incident):
    name, title = "back-up", "Back up while it runs"

    def begin(self, world):
        world.send(1, first=999)
        world.settles()
        world.mock.process.kill()
        world.send(50)

    def prove(self, world):
        copies = list(world.folder.glob("backups/*"))
        if len(copies) != 1:
            raise Failure(f"there is no copy: {copies}")
        code, said = world.run(f"holdfast journal verify --journal {copies[0]}")
        if code != 0 or world.run(f"holdfast journal list --count --journal {copies[0]}")[1].split()[-1] != "50":
            raise Failure(f"the copy is not whole: {said}")
        # The service went on.
        world.start_mock()
        world.run("holdfast routes connect example")
        return super().prove(world)

    def tool(self, way):
        way.types("holdfast journal backup backups/today.journal", code=0)

    def page(self, way):
        way.types(way.commands("service", "Copies")[0], code=0)

    def alert(self, way):
        way.is_asked("backing-up-while-it-runs")
        way.reads("holdfast journal backup /var/backups/push-$(date +%F).journal", code=0, **{"/var/": ""})
