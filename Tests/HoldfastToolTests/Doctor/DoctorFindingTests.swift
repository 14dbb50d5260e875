import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastGateway
import HoldfastService
import Testing

@testable import HoldfastTool

@Suite("What the doctor makes of facts")
struct DoctorFindingTests {
    private static let now = WallTime(seconds: 1_800_000_000)
    private static let day: Int64 = 86_400

    private func disk(
        _ kind: String = "ext4", free: Int = 100 << 30, growth: Int? = 1 << 30, times: [Int] = [1, 2, 3],
        full: Bool = true
    ) -> [DoctorFinding] {
        var facts = DiskFacts(
            fileSystem: kind, free: free, total: 200 << 30, growth: growth,
            sync: SyncTimes(times.map { .milliseconds($0) }).map { .times($0) } ?? .skipped("nothing"))
        facts.isFull = full
        return facts.findings
    }

    private func level(_ findings: [DoctorFinding], _ check: String) -> DoctorFinding.Level? {
        findings.first { $0.check == check }?.level
    }

    @Test("Whoever is told of a fault or a warning is told what to do, and nobody else")
    func advice() {
        for finding in disk("tmpfs", free: 1 << 20, times: [900]) + disk() {
            #expect((finding.next != nil) == (finding.level > .skipped), "\(finding)")
            #expect(!finding.found.hasSuffix("."), "\(finding.found)")
        }
    }

    @Test("A disk in memory, in a container, full, nearly full, or slow to sync is told as that")
    func disks() {
        #expect(disk().allSatisfy { $0.level == .ok })
        #expect(level(disk("tmpfs"), "file-system") == .warning)
        #expect(level(disk("overlay"), "file-system") == .warning)
        // Working copies of a fleet's host may be lost at any time.
        for kind in ["tmpfs", "overlay"] {
            var copies = DiskFacts(fileSystem: kind, sync: .skipped(""))
            copies.isOfCopies = true
            #expect(level(copies.findings, "file-system") == .ok)
        }
        var nfs = DiskFacts(fileSystem: "NFS", sync: .skipped(""))
        nfs.unsupported = "NFS"
        #expect(level(nfs.findings, "file-system") == .fault)
        // The journal has room of its own, until its process says that it has not.
        #expect(level(disk(free: 10 << 20), "space") == .warning)
        var full = DiskFacts(free: 10 << 20, sync: .skipped(""))
        full.refuses = true
        #expect(level(full.findings, "space") == .fault)
        var unmade = DiskFacts(free: 100 << 10, sync: .skipped(""))
        #expect(level(unmade.findings, "space") == .warning)
        unmade.isMade = false
        #expect(level(unmade.findings, "space") == .fault)
        // What a host of a fleet would be refused for at its start.
        full.refuses = false
        full.refusal = "it has no room."
        #expect(level(full.findings, "space") == .fault && full.findings.contains { $0.found == "it has no room" })
        #expect(level(disk(free: 10 << 30, growth: 16 << 30), "space") == .warning)
        #expect(level(disk(free: 17 << 30, growth: 16 << 30), "space") == .ok)
        #expect(level(disk(times: [40, 40, 40]), "sync-time") == .warning)
        #expect(level(disk(times: [1, 1, 1, 1500]), "sync-time") == .warning)
        #expect(level(disk(full: false), "sync-time") == .warning)
        #expect(level(DiskFacts(sync: .failed("No space left on device")).findings, "sync-time") == .fault)
        #expect(SyncTimes([.milliseconds(9), .milliseconds(1), .milliseconds(5)])?.median == .milliseconds(5))
    }

    private func limits(
        window: Int = 2000, stop: String = "60s", wanted: Int = 1000, limit: Int = 65_536, open: Int? = nil,
        retry: Duration = .seconds(300), journal: Int = 16 << 30
    ) -> [DoctorFinding] {
        LimitFacts(
            window: window, routes: [LimitFacts.Route(name: "r", connections: 4, streams: 1000)],
            drainLimit: .seconds(10),
            shutdownLimit: .seconds(10),
            unit: UnitFacts(path: "u", texts: ["[Service]\nTimeoutStopSec=\(stop)\n[Install]\nTimeoutStopSec=1"]),
            descriptorsWanted: wanted, descriptorLimit: (limit, "the unit allows"), descriptorsOpen: open,
            webhooks: [("w", retry)], historyKeep: .seconds(86_400), rememberedIDs: 1_000_000, journalLimit: journal
        ).findings
    }

    @Test("Limits that contradict each other are told")
    func contradictions() {
        #expect(limits().allSatisfy { $0.level == .ok })
        #expect(level(limits(stop: "15"), "stop") == .warning)
        #expect(level(limits(stop: "20s"), "stop") == .warning)
        #expect(level(limits(stop: "infinity"), "stop") == .ok)
        #expect(level(limits(window: 3), "window") == .warning)
        #expect(level(limits(wanted: 70_000), "open-files") == .warning)
        #expect(level(limits(limit: 1024, open: 1000), "open-files") == .fault)
        #expect(level(limits(retry: .seconds(86_400)), "webhook") == .warning)
        // A quarter of the journal holds the remembered ids, or the oldest give way.
        #expect(level(limits(journal: 301 << 20), "ids") == nil)
        #expect(level(limits(journal: 64 << 20), "ids") == .warning)
    }

    @Test("A unit of systemd is read with what is dropped in, and its times as systemd writes them")
    func units() {
        let unit = UnitFacts(
            path: "u",
            texts: [
                "[Unit]\nTimeoutStopSec=3\n[Service]\n# User=root\nUser=holdfast\nLimitNOFILE=1024:65536\n",
                "[Service]\nTimeoutStopSec = 1min 30s\n",
            ])
        #expect(unit.user == "holdfast" && unit.openFiles == 65_536 && unit.stopLimit == .seconds(90))
        for (text, time) in [
            ("60", Duration.seconds(60)), ("500ms", .milliseconds(500)), ("2h 5 min", .seconds(7500)),
            ("3 s", .seconds(3)),
        ] { #expect(UnitFacts.time(text) == time, "\(text)") }
        for text in ["", "soon", "5 fortnights", "99999999999999999999"] {
            #expect(UnitFacts.time(text) == nil, "\(text)")
        }
    }

    @Test("A user or group of the unit that is not there is a fault; one that systemd makes, and a number, is none")
    func accounts() {
        func found(_ lines: String) -> [String] {
            let unit = UnitFacts(path: "u", texts: ["[Service]\n\(lines)\n"])
            #expect(unit.accountFindings.allSatisfy { $0.level == .fault && $0.next != nil })
            return unit.accountFindings.map(\.found)
        }
        let user = found("User=nosuchuser")
        #expect(user.count == 1 && user[0].hasPrefix("User=nosuchuser: ") && user[0].contains("217/USER"), "\(user)")
        let groups = found("User=root\nGroup=nosuch\nSupplementaryGroups=root nosuch2\n")
        #expect(groups.count == 2 && groups.allSatisfy { $0.contains("216/GROUP") }, "\(groups)")
        for lines in [
            "", "User=root\nGroup=root", "User=4711\nGroup=4711", "User=%i",
            "DynamicUser=yes\nUser=nosuchuser\nGroup=nosuch", "User=nosuchuser\nUser=",
            "SupplementaryGroups=nosuch\nSupplementaryGroups=",
        ] { #expect(found(lines) == [], "\(lines)") }
    }

    @Test("A journal's key that is a credential is looked for among those that the unit gives")
    func credentials() throws {
        var configuration = try HoldfastConfiguration(yaml: "")
        configuration.journal.keyFile = "$CREDENTIALS_DIRECTORY/journal.key"
        func level(_ line: String) -> DoctorFinding.Level? {
            FileLook.credential(configuration, UnitFacts(path: "u", texts: ["[Service]\n\(line)\n"]))?.level
        }
        for line in [
            "LoadCredential=journal.key:/etc/holdfast/journal.key", "LoadCredentialEncrypted=journal.key",
            "SetCredential=other:x\nSetCredentialEncrypted=journal.key: AAAA",
        ] { #expect(level(line) == .ok, "\(line)") }
        for line in ["", "LoadCredential=other.key:/x", "LoadCredential=journal.key\nLoadCredential="] {
            #expect(level(line) == .fault, "\(line)")
        }
        #expect(level("ImportCredential=journal.*") == nil)
        #expect(FileLook.credential(configuration, nil) == nil)
        configuration.journal.keyFile = "/etc/holdfast/journal.key"
        #expect(level("") == nil)
    }

    @Test("Sockets that listen on a port are found in the kernel's table, and no others")
    func sockets() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:0895 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0
               1: 0100007F:0895 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0
               2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0
               3: 00000000:8950 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14 1 0 100 0 0 10 0
            """
        #expect(ListenLook.inodes(listeningOn: 0x895, in: table) == ["11"])
        #expect(ListenLook.inodes(listeningOn: 0x50, in: table) == ["13"])
        #expect(ListenLook.inodes(listeningOn: 1, in: "") == [])
    }

    /// The kernel tells a page of its table at a time: 27 sockets.
    @Test("An address is the own one on a machine with many sockets, too, and another's is named")
    func manySockets() async throws {
        var servers: [NoTLSServer] = []
        for _ in 0..<80 { servers.append(try await NoTLSServer("")) }
        let own = Int(ProcessInfo.processInfo.processIdentifier)
        for server in servers {
            let address = ListenAddress(host: "127.0.0.1", port: server.port)
            #expect(ListenLook.look(address, service: own) == .own)
            let taken = ListenLook.look(address, service: nil)
            #expect(taken?.trouble(at: address)?.contains("is taken by process \(own) (") == true, "\(taken as Any)")
        }
        for server in servers { try await server.close() }
    }

    private func certificate(_ days: Double) -> DoctorFinding.Level {
        ListenerFacts(
            name: "http2", listen: "127.0.0.1:2197",
            certificate: .good(until: Self.now.seconds + Int64(days * Double(Self.day)))
        ).finding(at: Self.now).level
    }

    @Test("A listener's certificate is told of thirty days before its end, and is a fault on the last")
    func certificates() {
        #expect(certificate(31) == .ok)
        #expect(certificate(29.5) == .warning)
        #expect(certificate(1.5) == .warning)
        #expect(certificate(0.9) == .fault)
        #expect(certificate(-0.1) == .fault)
    }

    @Test("Of a client certificate the last day is a fault, too") func clientCertificates() {
        func level(_ hours: Int64) -> DoctorFinding.Level? {
            let end = Self.now.seconds + hours * 3600
            let found = route { $0.credentials = .certificate(topics: [], environment: nil, notAfter: end) }
            return self.level(found, "credentials")
        }
        #expect(level(31 * 24) == .ok && level(36) == .warning && level(12) == .fault && level(-1) == .fault)
    }

    @Test("No advice is that it will be tried again, or that somebody must see to it")
    func advised() {
        let errors: [ConnectError] = [
            ConnectError(.temporary, "closed"), ConnectError(.configuration, "no h2"),
            ConnectError(.configuration, "expired", advice: "renew it"),
        ]
        let nexts = errors.map { error in
            route {
                ($0.failure, $0.connectTime) = (error, nil)
            }.first { $0.check == "connection" }?.next ?? ""
        }
        #expect(nexts.last == "renew it" && nexts.first?.contains("endpoint") == true, "\(nexts)")
        let codes: [JournalError.Code] = [
            .wrongKey, .notFound, .inputOutput, .diskFull, .readOnly, .permissionDenied, .damaged, .newerFormat,
        ]
        let remedies = codes.map { code in
            JournalFacts(path: "j", state: .unreadable(JournalError(code, "x"))).findings[0].next ?? ""
        }
        #expect(Set(remedies).count == codes.count && remedies[0].contains("key-file"))
        #expect(!(nexts + remedies).contains { $0.contains("tried again") || $0.contains("what is named\"") })
    }

    @Test("Of a process that does not answer it is said how a stopped one goes on, and that kill alone does not end it")
    func stopped() {
        let owner = "process 7 (holdfast, since 2026-11-29T12:00:00Z), which is stopped (`kill -CONT 7` lets it go on)"
        var facts = JournalFacts(path: "/j", state: .open(JournalFacts.Figures(owner: owner)))
        facts.service = .silent("nobody answers", next: JournalFacts.remedy(ofSilent: owner))
        let next = facts.findings.first { $0.check == "answer" }?.next ?? ""
        #expect(next.contains("`kill -CONT 7`") && next.contains("`kill -9 7`"), "\(next)")
    }

    @Test("Of a file that is not there it is not advised who may read it")
    func missing() {
        let files = [
            FileFacts.File(path: "/a", obstacle: "there is no such file", isMissing: true),
            FileFacts.File(path: "/b", obstacle: "it is root's"),
        ]
        let facts = FileFacts(account: "holdfast", files: files, opened: [])
        let nexts = facts.findings.map { $0.next ?? "" } + facts.hiddenFromService
        #expect(nexts.map { $0.contains("ight to read it") } == [false, true, false, true], "\(nexts)")
        #expect(nexts.map { $0.contains("ut it there") } == [true, false, true, false], "\(nexts)")
    }

    private func route(_ change: (inout RouteFacts) -> Void) -> [DoctorFinding] {
        var facts = RouteFacts(name: "r", endpoint: "https://api.push.apple.com:443")
        facts.credentials = .key(id: "K", team: "T")
        facts.addresses = .found([RouteFacts.Address(text: "192.0.2.1:443", time: .milliseconds(9))])
        (facts.connectTime, facts.topic, facts.isCleartext) = (.milliseconds(30), "com.example.app", true)
        facts.answer = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        change(&facts)
        return facts.findings(at: Self.now)
    }

    @Test("A bad token proves the credentials; refused ones, a wrong topic and a busy service are told apart")
    func probes() {
        #expect(route { _ in }.allSatisfy { $0.level == .ok })
        let answers: [(Int, String, DoctorFinding.Level)] = [
            (403, "InvalidProviderToken", .fault), (403, "BadCertificate", .fault), (400, "TopicDisallowed", .fault),
            (400, "BadDeviceToken", .ok), (410, "Unregistered", .ok), (429, "TooManyRequests", .warning),
            (503, "ServiceUnavailable", .warning), (400, "BadPriority", .warning),
            (429, "TooManyProviderTokenUpdates", .warning),
        ]
        for (status, reason, expected) in answers {
            let findings = route { $0.answer = SendResult(apnsStatus: status, reason: reason) }
            #expect(level(findings, "probe") == expected, "\(reason): \(findings)")
        }
        #expect(level(route { $0.answer = .confirmed }, "probe") == .ok)
        let silent = route {
            $0.answer = nil
            $0.failure = ConnectError(.temporary, "no answer came")
        }
        #expect(level(silent, "probe") == .fault)
    }

    @Test(
        "A clock that is off is told by how much and in which direction; without the service's time by its taking a token"
    )
    func clocks() {
        func clock(_ seconds: Int) -> DoctorFinding? {
            route { $0.clockOffset = .seconds(seconds) }.first { $0.check == "clock" }
        }
        #expect(clock(1)?.level == .ok && clock(-20)?.level == .ok)
        #expect(clock(60)?.level == .warning && clock(60)?.found.contains("60 s behind") == true)
        #expect(clock(-3600)?.level == .fault && clock(-3600)?.found.contains("60 min ahead") == true)
        #expect(clock(-3600)?.found.contains("provider tokens") == true)
        let google = route {
            ($0.clockOffset, $0.isFirebase) = (.seconds(-3600), true)
        }.first { $0.check == "clock" }
        #expect(google?.found.contains("access tokens") == true && google?.found.contains("provider") == false)
        #expect(route { _ in }.first { $0.check == "clock" }?.found.contains("right to the hour") == true)
        #expect(level(route { $0.credentials = RouteFacts.Credentials.none }, "clock") == .skipped)
    }

    @Test(
        "One address of several that can't be reached is a warning, all of them a fault, and so is a name without any")
    func addresses() {
        let good = RouteFacts.Address(text: "a", time: .milliseconds(1))
        let bad = RouteFacts.Address(text: "b", failure: "Connection refused")
        #expect(level(route { $0.addresses = .found([good, bad]) }, "addresses") == .warning)
        #expect(level(route { $0.addresses = .found([bad, bad]) }, "addresses") == .fault)
        #expect(level(route { $0.addresses = .unknown("no such host") }, "name") == .fault)
    }

    @Test("Text is no wider than the terminal, and a report's code is that of the worst")
    func text() {
        let findings = disk("tmpfs") + [.skipped(.limits, "stop", nil, "there is no unit")]
        let text = DoctorText(console: Console(isInteractive: false, usesColor: false), width: 60)
        for line in text.lines(.disk, findings) { #expect(line.count <= 60, "\(line)") }
        #expect(DoctorReport(findings, configuration: nil).status == .notAllConfirmed)
        #expect(DoctorReport(disk(), configuration: nil).status == .ok)
        let fault = DoctorFinding.fault(.disk, "space", nil, "it is full", next: "make room")
        #expect(DoctorReport(findings + [fault], configuration: nil).status == .configuration)
    }
}
