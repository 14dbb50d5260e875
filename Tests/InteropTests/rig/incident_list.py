"""The incidents that Docs/Operate/Incidents.md tells of: how each begins, and how it is answered and mended on each way."""
from incident_world import OTHER_TOPIC
from rig import TOPIC, Failure, wait_until

LANE = "example/immediate/at-least-once"


class Incident:
    """What a world is made with; `begin` brings the fault about, with notifications that wait for its end."""
    script = ""
    flags = ()
    verifies = True

    @staticmethod
    def edit(text):
        """Changes the service's configuration."""
        return text

    def prepare(self, world):
        """Before the service is started."""

    def begin(self, world):
        raise NotImplementedError

    def prove(self, world):
        world.settles()
        return world.audit()

    def is_possible(self, world):
        """None, or what of this machine is missing."""
        return None


class ServiceDown(Incident):
    name, title = "service-down", "The push service is down"

    def begin(self, world):
        world.mock.process.kill()
        world.send(50)
        world.wait_for("service-away")

    def mend(self, way):
        way.outside("the push service is there again", way.world.is_well)

    def tool(self, way):
        way.is_told("service-away", "can't reach its push service", "holdfast routes connect example")
        self.mend(way)
        way.types("holdfast routes connect example", "connected", code=0)

    def page(self, way):
        way.is_told("service-away", "can't reach its push service", "connections are tried again")
        self.mend(way)
        way.presses("Try route example now", "tries at once")

    def alert(self, way):
        way.is_called("HoldfastServiceAway", "example", "since when")
        self.mend(way)
        way.reads("holdfast lanes resume --all --now", code=0)


class HoldfastDown(Incident):
    name, title = "holdfast-down", "Holdfast itself is down"

    def begin(self, world):
        world.mock.process.kill()
        world.send(50)
        world.start_mock()

    def falls(self, way):
        way.world.gateway.process.kill()

    def tool(self, way):
        self.falls(way)
        way.types("holdfast status", "nothing runs", "50 notifications wait, the oldest accepted", "next: ", "systemctl start holdfast", code=3)
        way.types("systemctl start holdfast", code=0)

    def page(self, way):
        way.stands_at("", "The last hour")
        self.falls(way)
        way.is_away("systemctl start holdfast")
        way.types("systemctl start holdfast", code=0)
        way.is_back()

    def alert(self, way):
        way.watches()
        self.falls(way)
        way.is_called("HoldfastDown", "does not answer")
        way.reads("systemctl start holdfast", code=0)


class WrongKey(Incident):
    name, title = "wrong-key", "The key is wrong"

    @staticmethod
    def edit(text):
        return text.replace("mock/AuthKey.p8", "push.p8")

    def prepare(self, world):
        world.make_key(world.folder / "push.p8")

    def begin(self, world):
        world.send(50)
        world.wait_for("credentials-refused")

    def tool(self, way):
        way.is_told("credentials-refused", "InvalidProviderToken", "holdfast lanes reload")
        way.types("install -m 600 mock/AuthKey.p8 push.p8", code=0)
        way.types("holdfast lanes reload", "example: read again", code=0)

    def page(self, way):
        way.is_told("credentials-refused", "InvalidProviderToken", "replace the key or certificate")
        way.types("install -m 600 mock/AuthKey.p8 push.p8", code=0)
        way.presses("Read credentials again", "were read again")

    def alert(self, way):
        way.is_called("HoldfastCredentialsRefused", "example")
        way.types("install -m 600 mock/AuthKey.p8 push.p8", code=0)
        way.reads("holdfast lanes reload", code=0)


class ExpiredCertificate(Incident):
    name, title = "expired-certificate", "The route's certificate has expired"
    flags = ("--client-certificate",)
    verifies = False

    @staticmethod
    def edit(text):
        key = text[text.index("    signing-key:"):text.index("gateway:")]
        return text.replace(key, "    certificate: {file: push.pem}\n")

    def prepare(self, world):
        world.make_expired_certificate(world.folder / "push.pem")
        (world.folder / "new.pem").write_text((world.folder / "mock/client.pem").read_text() + (world.folder / "mock/client.key").read_text())

    def begin(self, world):
        wait_until("it has expired", lambda: "expired" in (world.condition("certificate-expiring") or {}).get("what", ""), 30)
        world.send(50)

    def tool(self, way):
        way.is_told("certificate-expiring", "expired")
        way.types("install -m 600 new.pem push.pem", code=0)
        way.types("holdfast lanes reload", "example: read again", code=0)

    def page(self, way):
        way.is_told("certificate-expiring", "expired")
        way.types("install -m 600 new.pem push.pem", code=0)
        way.presses("Read credentials again", "were read again")

    def alert(self, way):
        way.is_called("HoldfastCertificateExpired", "example", "expire")
        way.types("install -m 600 new.pem push.pem", code=0)
        way.reads("holdfast lanes reload", code=0)


class ServiceCertificate(ServiceDown):
    name, title = "service-certificate", "The push service's certificate has expired"
    script = "steps:\n  - connection: {tls: expired}\n"

    def begin(self, world):
        world.send(50)
        world.wait_for("service-away")

    def mend(self, way):
        way.outside("the push service has a new certificate", way.world.is_well)

    def tool(self, way):
        way.is_told("service-away", "expired", "holdfast routes connect example")
        self.mend(way)
        way.types("holdfast routes connect example", "connected", code=0)

    def page(self, way):
        way.is_told("service-away", "expired")
        self.mend(way)
        way.presses("Try route example now", "tries at once")


class WrongTopic(Incident):
    name, title = "wrong-topic", "One topic is wrong"
    script = f"steps:\n  - {{when: {{topic: {OTHER_TOPIC}}}, answer: TopicDisallowed}}\n"

    def begin(self, world):
        world.send(40, first=1001, topic=OTHER_TOPIC)
        world.wait_for("topic-set-aside")
        world.send(40)

    def prove(self, world):
        world.settles()
        return world.audit(withdrawn=range(1001, 1041))

    def tool(self, way):
        way.is_told("topic-set-aside", OTHER_TOPIC, "TopicDisallowed")
        way.types(f"holdfast journal drop --topic {OTHER_TOPIC}", "40", code=0)

    def page(self, way):
        way.is_told("topic-set-aside", OTHER_TOPIC, "TopicDisallowed")
        way.presses(f"Take back topic {OTHER_TOPIC}", "taken back", confirm="Take back")

    def alert(self, way):
        way.is_called("HoldfastTopicSetAside", OTHER_TOPIC)
        way.reads("holdfast journal drop --topic TOPIC", code=0, TOPIC=OTHER_TOPIC)


class MassBadTokens(Incident):
    name, title = "mass-bad-tokens", "Nearly all tokens are called bad"
    script = f"steps:\n  - {{when: {{topic: {TOPIC}}}, answer: BadDeviceToken}}\n"

    def begin(self, world):
        world.send(200)
        world.wait_for("mass-bad-tokens")
        if world.ask("status")["blacklist"]:
            raise Failure("tokens were blacklisted")

    def mend(self, way):
        way.outside("the other environment is asked", way.world.is_well)

    def tool(self, way):
        way.is_told("mass-bad-tokens", TOPIC, "environment")
        self.mend(way)
        way.types("holdfast lanes resume example --now", code=0)

    def page(self, way):
        way.is_told("mass-bad-tokens", TOPIC, "environment")
        self.mend(way)
        way.presses(f"Try topic {TOPIC} now", "tries at once")

    def alert(self, way):
        way.is_called("HoldfastMassBadTokens", TOPIC, "no token is blacklisted")
        self.mend(way)
        way.reads("holdfast lanes resume --all --now", code=0)


class Throttled(Incident):
    name, title = "throttled", "The push service throttles"
    script = "steps:\n  - answer: {reason: ServiceUnavailable, status: 503, retry-after: '600'}\n"

    def begin(self, world):
        world.send(50)
        world.wait_for("throttled")

    def mend(self, way):
        way.outside("the push service takes everything again", way.world.is_well)

    def tool(self, way):
        way.is_told("throttled", "503", "nothing has to be done")
        self.mend(way)
        way.types("holdfast lanes resume example --now", code=0)

    def page(self, way):
        way.is_told("throttled", "503", "nothing has to be done")
        self.mend(way)
        way.presses("Try route example now", "tries at once")

    def alert(self, way):
        way.is_called("HoldfastThrottled", "example")
        self.mend(way)
        way.reads("holdfast lanes resume --all --now", code=0)


class DiskFull(Incident):
    name, title = "disk-full", "The disk is full"

    @staticmethod
    def edit(text):
        return text.replace("path: push.journal", "path: small/push.journal")

    def prepare(self, world):
        self.is_mounted = world.mount("small", 140)

    def is_possible(self, world):
        return None if self.is_mounted else "no file system can be mounted here"

    def begin(self, world):
        world.gateway.journal = world.folder / "small/push.journal"
        world.mock.process.kill()
        world.send(30)
        world.manage(["systemctl", "stop", "holdfast"])
        # What the journal has allocated ahead of use is gone, as on a disk that filled up before.
        world.run("truncate -s 1M small/push.journal/entries/data.mdb; dd if=/dev/zero of=small/old-backup bs=4k 2>/dev/null")
        world.start_mock()
        world.manage(["systemctl", "start", "holdfast"])
        world.wait_for("disk-refusing")
        world.send(20, first=101, status=503)

    def prove(self, world):
        wait_until("there is room", lambda: not world.condition("disk-refusing"), 30)
        # The sender repeats what it was refused.
        world.send(20, first=101)
        return super().prove(world)

    def tool(self, way):
        way.is_told("disk-refusing", "make room", "df -h")
        way.types("rm small/old-backup", code=0)

    def page(self, way):
        way.is_told("disk-refusing", "make room", "df -h")
        way.types("rm small/old-backup", code=0)

    def alert(self, way):
        way.is_called("HoldfastDiskRefusing", "full")
        way.types("rm small/old-backup", code=0)


class LaneStopped(Incident):
    name, title = "lane-stopped", "One lane is stuck: everything in it is refused"
    script = "steps:\n  - answer: BadCollapseId\n"

    def begin(self, world):
        world.send(300)
        world.wait_for("lane-stopped")

    def mend(self, way):
        way.outside("the cause is mended", way.world.is_well)

    def tool(self, way):
        way.is_told("lane-stopped", LANE, "BadCollapseId")
        self.mend(way)
        way.types(f"holdfast lanes resume {LANE} --now", code=0)
        way.types("holdfast rejections retry --reason BadCollapseId", code=0)

    def page(self, way):
        way.is_told("lane-stopped", LANE, "BadCollapseId")
        self.mend(way)
        way.presses(f"Try lane {LANE} now", "tries at once")
        way.presses("Send BadCollapseId again", "sent again", confirm="Send again")

    def alert(self, way):
        way.is_called("HoldfastLaneStopped", LANE.split("/", 1)[1])
        self.mend(way)
        way.reads("holdfast lanes resume LANE --now", code=0, LANE=LANE)
        way.reads("holdfast rejections retry --reason REASON", code=0, REASON="BadCollapseId")


class LanePaused(Incident):
    name, title = "lane-paused", "One lane is stuck: a colleague has paused it and gone home"

    def begin(self, world):
        world.send(1, first=900)
        world.settles()
        if world.run(f"holdfast lanes pause {LANE} --reason maintenance")[0] != 0:
            raise Failure("the lane can't be paused")
        world.send(50)
        world.wait_for("lane-paused")

    def tool(self, way):
        way.types("holdfast status", "lane-paused (for ", LANE, "maintenance", f"holdfast lanes resume {LANE}", code=0)
        way.types(f"holdfast lanes resume {LANE}", code=0)

    def page(self, way):
        way.is_told("lane-paused", LANE, "maintenance")
        way.presses(f"Resume lane {LANE}", "is resumed")

    def alert(self, way):
        way.is_called("HoldfastPausedForLong", LANE)
        way.reads("holdfast lanes resume LANE", code=0, LANE=LANE)
