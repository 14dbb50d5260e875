internal import Foundation
package import Holdfast
package import HoldfastJournal
internal import HoldfastPostgres

/// `journal:` — which journal, how much it holds, and what it survives.
package struct JournalSettings: Equatable, Sendable {
    package enum WhenFull: String, CaseIterable { case refuse, wait }

    package enum Durability: String, CaseIterable { case full, process }

    /// As it is given: the journal's directory, or with ``postgres`` that of this host's working copies. `nil` if nothing gives
    /// it.
    package var directory: String?
    /// The database that keeps the journals of many hosts; nil for a journal that a directory has.
    package var postgres: PostgresSettings?

    /// Where tools find the journal; `nil` if a flag gives it, or nothing.
    package var path: String? {
        get { postgres == nil ? directory : HostDirectory.ownJournal(in: copies) }
        set { directory = newValue }
    }

    /// With ``postgres``, the directory of this host's working copies.
    package var copies: String { directory ?? Self.standardCopies }

    /// The file with the keys with which the journal is sealed; nil for one that is not.
    package var keyFile: String?
    /// Bytes in use.
    package var limit: Int
    /// Unconfirmed entries; nil for any number.
    package var entries: Int?
    package var durability: Durability
    /// `nil` for the default of the command.
    package var whenFull: WhenFull?
    /// With ``WhenFull/wait``; nil for as long as deliveries make room.
    package var wait: Duration?
    /// What is kept of ended notifications.
    package var history: HistoryPolicy

    /// How long `send` waits while it is full; nil for as long as that is not in vain.
    package var fullLimit: Duration? { whenFull == .refuse ? .zero : wait }

    package static let section = ConfigSection(
        name: "journal", meaning: "the journal, how much it holds, and what an accepted notification survives",
        keys: [
            ConfigKey(
                "path", .path,
                "the journal's directory, made when there is none; `--journal` goes before it. With `postgres`, the directory of "
                    + "this host's working copies: without it, `copies` in `$STATE_DIRECTORY`, or in /var/lib/holdfast"),
            ConfigKey(
                "postgres", .postgres,
                "the database that keeps the journals of many hosts, as libpq writes it: `host=db1,db2 dbname=push user=holdfast`, "
                    + "or `postgresql://…`. A password is better kept in libpq's password file"),
            ConfigKey(
                "host", .text("a name", 1...48),
                "with `postgres`, this host's name in the fleet, by which its journal is named; without it, the system's"
            ),
            ConfigKey(
                "schema", .text("a name", 1...63), default: "holdfast",
                "with `postgres`, the schema that has everything"),
            ConfigKey(
                "key-file", .credential,
                "the file with the keys with which the journal is sealed, made by `holdfast journal key new`, or "
                    + "`$CREDENTIALS_DIRECTORY/NAME` for a credential of systemd's; without it, the journal is not sealed. A "
                    + "reload reads the file again"),
            ConfigKey(
                "limit", .size(1 << 20...16 << 40), default: "16G",
                "bytes in use beyond which nothing more is taken until deliveries have made room"),
            ConfigKey(
                "entries", .count(10_000...1_000_000_000_000),
                "unconfirmed notifications beyond which nothing more is taken; without it, bytes alone limit. `send` takes up "
                    + "to 8000 in one piece"),
            ConfigKey(
                "durability", .choice(Durability.allCases.map(\.rawValue)), default: "full",
                "what an accepted notification survives: `full` is the loss of power; `process` is the death of the process "
                    + "only, and after the loss of power the journal may be unreadable"),
            ConfigKey(
                "when-full", .choice(WhenFull.allCases.map(\.rawValue)),
                "what becomes of a notification for which there is no room: refused at once, or after waiting. Without it, "
                    + "`send` waits"),
            ConfigKey(
                "wait", .duration(.milliseconds(1)...(.seconds(24 * 3600))),
                "with `when-full: wait`, how long at most; without it, as long as deliveries make room"),
            ConfigKey(
                "history.keep", .durationOrOff(.seconds(60)...(.seconds(100 * 86_400))), default: "1d",
                "how long it can be found how a notification ended, and readers of outcomes can come to it; `off`, or `history: off`, for "
                    + "not at all"),
            ConfigKey(
                "history.limit", .size(1 << 20...16 << 40), default: "1G",
                "the most bytes that ended notifications take, beside `limit`; the oldest go first. One takes about 150, and "
                    + "its context besides"),
            ConfigKey(
                "history.payloads", .flag, default: "false",
                "whether their payloads are kept with them: personal data, which otherwise goes when a notification ends"
            ),
        ],
        check: { items, problems in
            for values in items {
                for key in ["host", "schema"] where values.isGiven(key) && !values.isGiven("postgres") {
                    problems.append(
                        values.problem(key, "is for a journal in PostgreSQL; give `postgres`, or leave this out"))
                }
                if values.isGiven("postgres"), values.text("durability") == Durability.process.rawValue {
                    problems.append(
                        values.problem(
                            "durability",
                            "does not go with `postgres`, whose own settings say what is survived; leave it out"))
                }
                if let schema = values.text("schema"), values.isGiven("schema"),
                    let why = PostgresSettings.fault(schema)
                {
                    problems.append(values.problem("schema", why))
                }
            }
            for values in items where values.isGiven("wait") && !values.isUnknown("when-full") {
                guard values.text("when-full") != WhenFull.wait.rawValue else { continue }
                problems.append(values.problem("wait", "is for `when-full: wait`; add that, or leave this out"))
            }
            for values in items
            where values.duration("history.keep") == .zero && values.flag("history.payloads") == true {
                problems.append(
                    values.problem("history.payloads", "keeps nothing with `keep: off`; leave one of them out"))
            }
        })

    package init(_ values: ConfigValues) {
        directory = values.text("path")
        postgres = values.text("postgres").map { connection in
            PostgresSettings(
                connection: connection, host: values.text("host"), schema: values.text("schema") ?? "holdfast")
        }
        keyFile = values.text("key-file")
        limit = values.count("limit") ?? LMDBJournal.Options().limit
        entries = values.count("entries")
        durability = values.text("durability").flatMap(Durability.init) ?? .full
        whenFull = values.text("when-full").flatMap(WhenFull.init)
        wait = values.duration("wait")
        history = HistoryPolicy()
        if let age = values.duration("history.keep") { (history.isKept, history.age) = (age > .zero, age) }
        if let bytes = values.count("history.limit") { history.limitBytes = bytes }
        history.keepsPayloads = values.flag("history.payloads") ?? false
        if !history.isKept { history = .none }
    }

    private static var standardCopies: String {
        // systemd gives several with colons between them.
        let given = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]?.split(separator: ":").first
        return (given.map(String.init) ?? "/var/lib/holdfast") + "/copies"
    }

    /// The keys as their file has them now; nil for a journal that is not sealed.
    ///
    /// - Throws: ``JournalError`` when the file can't be read.
    package func keys() throws(JournalError) -> JournalKeys? {
        guard let keyFile else { return nil }
        return try JournalKeys(file: keyFile, of: path)
    }

    /// The name of the credential of systemd's that ``keyFile`` is, where this process was not given it: it is the service's
    /// alone. Nil for every other key file, and for none.
    package var withheldCredential: String? {
        guard let keyFile, JournalKeys.isWithheld(keyFile) else { return nil }
        return keyFile.split(separator: "/").dropFirst().joined(separator: "/")
    }

    /// These settings, as far as only another opening of the journal can change them.
    package var forLife: JournalSettings {
        var settings = self
        settings.history = HistoryPolicy()
        return settings
    }

    /// - Throws: ``JournalError`` when the key file can't be read.
    package func options(create: Bool) throws(JournalError) -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.keys = try keys()
        options.create = create
        options.limit = limit
        options.entryLimit = entries
        options.durability =
            switch durability {
            case .full: .full
            case .process: .process
            }
        return options
    }
}
