internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// A journal, and the process that uses it.
struct JournalFacts: Sendable {
    enum State: Sendable {
        /// There is none yet: it is made by the first start, in this directory.
        case unmade(directory: String)
        /// It can't be read.
        case unreadable(JournalError)
        /// It is sealed, and its key is a credential of systemd's that the service alone has.
        case withheld(Withheld)
        case open(Figures)
    }

    struct Withheld: Sendable {
        /// The process that uses it, for people; nil at rest.
        var owner: String?
        var credential: String
    }

    struct Figures: Sendable {
        /// The process that uses it, for people; nil at rest.
        var owner: String?
        var unconfirmed = 0
        var used = 0
        /// 0 where nobody knows.
        var limit = 0
        /// Of entries; nil for none.
        var entryLimit: Int?
        var quarantined = 0
        var unserved: [UnservedLane] = []
        /// Why it can't be written to; nil where it can.
        var readOnly: SystemProbe.ReadOnly?
        /// Whether it is sealed, and whether the configuration names a key.
        var sealing = JournalSealing.clear
        var hasKey = false
    }

    var path: String
    var state: State
    /// The history: its bytes and limit, for how long it is kept, and since when it has ended notifications.
    var history: History?
    /// What its process says; nil at rest.
    var service: Service?

    struct History: Sendable {
        var bytes: Int
        var limit: Int
        var keep: Duration
        /// The age of the oldest; nil for none.
        var span: Duration?
        var lost: Int
    }

    enum Service: Sendable {
        case answered(DeskStatus, in: Duration)
        /// It says nothing: why, and what to do.
        case silent(String, next: String)
    }
}

extension JournalFacts {
    /// Whether its figures are not known, for want of its key.
    var isWithheld: Bool { if case .withheld = state { true } else { false } }

    var findings: [DoctorFinding] {
        switch state {
        case .unmade(let directory):
            return [.ok(.journal, "journal", path, "it is made by the first start, in \(directory)")]
        case .unreadable(let error):
            return [.fault(.journal, "journal", path, error.message, next: Self.remedy(of: error))]
                + (service.map(serviceFindings) ?? [])
        case .withheld(let journal):
            return [.skipped(.journal, "journal", path, Self.words(journal))] + (service.map(serviceFindings) ?? [])
        case .open(let figures):
            return [ownership(figures), sealing(figures), fullness(figures), health(figures)].compactMap(\.self)
                + unserved(figures)
                + [historyExtent].compactMap(\.self) + (service.map(serviceFindings) ?? [])
        }
    }

    private static func words(_ journal: Withheld) -> String {
        "\(journal.owner.map { "in use by \($0)" } ?? "at rest"); its files were not looked at: their key is systemd's "
            + "credential "
            + "\(journal.credential), which the service alone is given. As root, while the service runs: "
            + "`HOLDFAST_JOURNAL_KEY_FILE=/run/credentials/holdfast.service/\(journal.credential) holdfast doctor`"
    }

    /// What keeps the next process from opening it with the configuration's key; nil where nothing does.
    private func sealing(_ figures: Figures) -> DoctorFinding? {
        if let remedy = figures.sealing.remedy(of: path) {
            return .fault(
                .journal, "sealing", path, "its sealing is half done: \(figures.sealing.words)", next: remedy)
        }
        guard figures.hasKey, figures.sealing == .clear else { return nil }
        return .fault(
            .journal, "sealing", path,
            "it is not sealed, and the configuration names a key: a service that starts now ends with code 78",
            next: CopyPlace.isCopy(path)
                ? "take journal.key-file out: a journal in PostgreSQL is sealed from its beginning or not at all. To have one that is, "
                    + "drain this one, and begin another under another host name (`journal.host`)"
                : "`holdfast journal compact --journal \(ShellText.word(path)) --key-file FILE` seals it, with the service "
                    + "stopped; or take journal.key-file out"
        )
    }

    static func remedy(of error: JournalError) -> String {
        switch error.code {
        case .permissionDenied: "run the doctor as root, or as the service's user"
        case .damaged: "`holdfast journal verify` says what is damaged; with `--salvage NEW` it copies what is sound"
        case .unsupportedFileSystem: "put the journal on a disk of this machine"
        case .newerFormat: "use the newer Holdfast that has written it"
        case .wrongKey:
            "name the file that has the key by journal.key-file or --key-file, with mode 0600 and the service's user as "
                + "its owner; if the file is gone, put its copy back: nothing else opens the journal"
        case .notFound: "see that journal.path names the journal, and that nothing of it was moved away"
        case .readOnly: "mount its file system for writing, or put the journal on another"
        case .diskFull: "make room on its file system; nothing is lost meanwhile"
        case .alreadyExists: "name the journal's own directory by journal.path, or the database by journal.postgres"
        case .ownedByAnotherProcess, .beingRead: "run the doctor again in a moment"
        case .inputOutput: "see to the disk and its file system (`dmesg`, `df`), and to the rights of what is named"
        default: "`holdfast journal verify` says more; the log of the service has what it met"
        }
    }

    private func ownership(_ figures: Figures) -> DoctorFinding {
        let waiting = Format.plural(figures.unconfirmed, "notification") + " waiting"
        switch figures.readOnly {
        case .mount?:
            return .fault(
                .journal, "journal", path, "its file system is mounted for reading only; \(waiting)",
                next: "mount it for writing (`mount -o remount,rw`); `dmesg` says whether errors of the disk caused it")
        case .rights?:
            return .fault(
                .journal, "journal", path, "this user may read it, and not write to it; \(waiting)",
                next: "run the doctor as the service's user; if that may not write either, `chown -R` it")
        case nil: break
        }
        return .ok(.journal, "journal", path, "\(figures.owner.map { "in use by \($0)" } ?? "at rest"); \(waiting)")
    }

    private func fullness(_ figures: Figures) -> DoctorFinding? {
        guard figures.limit > 0 else { return nil }
        let share = Double(figures.used) / Double(figures.limit)
        let words = "\(Format.bytes(figures.used)) of \(Format.bytes(figures.limit))"
        let entries = figures.entryLimit.map { ", \(Format.count(figures.unconfirmed)) of \(Format.count($0)) entries" }
        let text = words + (entries ?? "")
        let entryShare = figures.entryLimit.map { Double(figures.unconfirmed) / Double(max($0, 1)) } ?? 0
        if share >= 1 || entryShare >= 1 {
            return .fault(
                .journal, "room", nil, "it is full: \(text); senders are refused or wait",
                next: "`holdfast status` says what holds deliveries up; else raise journal.limit")
        }
        if max(share, entryShare) >= 0.8 {
            return .warning(
                .journal, "room", nil, "it is nearly full: \(text)",
                next: "see what holds deliveries up, or raise journal.limit")
        }
        return .ok(.journal, "room", nil, text)
    }

    private func health(_ figures: Figures) -> DoctorFinding {
        if figures.quarantined > 0 {
            return .warning(
                .journal, "health", nil,
                "\(Format.plural(figures.quarantined, "entry whose record", "entries whose records")) can't be read",
                next: "`holdfast journal quarantine list` names them, `holdfast journal verify` looks for more")
        }
        if let history, history.lost > 0 {
            return .warning(
                .journal, "health", nil, "\(Format.plural(history.lost, "ended notification")) of the history are lost",
                next: "nothing that waits is affected; readers of outcomes are told of the gap")
        }
        return .ok(
            .journal, "health", nil,
            "it opens, and no entry is in quarantine; `holdfast journal verify` reads all of it")
    }

    private func unserved(_ figures: Figures) -> [DoctorFinding] {
        figures.unserved.map { lane in
            .warning(
                .journal, "lane", lane.lane,
                "\(Format.plural(lane.unconfirmed, "notification")), and no route serves it",
                next: "add the route, or take them back: `holdfast journal drop --lane \(ShellText.word(lane.lane))`")
        }
    }

    /// Ended notifications that go before their time, because there are too many.
    private var historyExtent: DoctorFinding? {
        guard let history, history.keep > .zero, let span = history.span else { return nil }
        let words =
            "ended notifications of \(Format.span(span)), \(Format.bytes(history.bytes)) of \(Format.bytes(history.limit))"
        guard history.bytes > history.limit / 10 * 9, span < history.keep * 3 / 4 else {
            return .ok(.journal, "history", nil, words)
        }
        return .warning(
            .journal, "history", nil,
            "\(words): journal.history.limit lets them go before journal.history.keep does, "
                + "which is \(Format.span(history.keep))",
            next: "raise the limit, or shorten the time")
    }

    // MARK: Its process

    /// The advice about a process that does not answer: a stopped one takes no other signal before it goes on.
    static func remedy(ofSilent owner: String) -> String {
        let process = OwnerName(owner).process.map { "\($0)" } ?? "PID"
        return
            "see its log. `kill -CONT \(process)` lets a stopped process go on, which `kill` alone does not end; "
            + "`kill -9 \(process)` ends one that is stopped or hangs. What was accepted stays in the journal"
    }

    private func serviceFindings(_ service: Service) -> [DoctorFinding] {
        switch service {
        case .silent(let why, let next):
            return [
                .warning(
                    .service, "answer", nil, "the process that uses the journal does not answer: \(why)", next: next)
            ]
        case .answered(let status, let time):
            return [.ok(.service, "answer", nil, "it answered after \(Format.duration(time))")] + standing(status)
        }
    }

    /// What its process says of itself.
    private func standing(_ status: DeskStatus) -> [DoctorFinding] {
        (status.conditions ?? []).filter { $0.severity > .notice }.map { condition in
            let next = condition.next + (condition.command.map { ": `\($0)`" } ?? "")
            let check = condition.kind.rawValue
            let subject = condition.subject.isEmpty ? nil : condition.subject
            let found = condition.what.printable(maximumLength: 1024)
            return condition.severity == .fault
                ? .fault(.service, check, subject, found, next: next)
                : .warning(.service, check, subject, found, next: next)
        }
    }
}
