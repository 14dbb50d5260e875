internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// Which journal, for commands that are about one of this machine or one of the fleet.
struct PlaceOptions: ParsableArguments {
    @OptionGroup var journalOptions: JournalOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A journal of the fleet, by its name in the database of journal.postgres: its owner is asked, whichever host \
            that is. (default: this host's own)
            """, valueName: "name"),
        completion: JournalNameCompletion.kind)
    var journalName: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long the owner of a journal on another host may take to answer (5s, 1m). (default: 30s)",
            valueName: "duration"),
        transform: DurationArgument.parse)
    var timeout: Duration?

    func validate() throws {
        if journalName?.isEmpty == true { throw ValidationError("--journal-name is empty: it names a journal.") }
        guard journalOptions.journal == nil || journalName == nil else {
            throw ValidationError("--journal and --journal-name exclude each other: give one.")
        }
        if let timeout, !(.milliseconds(100)...(.seconds(600))).contains(timeout) {
            throw ValidationError("--timeout must be 100ms to 10m.")
        }
    }

    /// Where the journal's directory is, for commands that work on its files.
    ///
    /// - Throws: as ``JournalOptions/path()``; ``ToolError`` for a journal of the fleet, whose files are elsewhere.
    func path() throws -> String {
        if let journalName { throw try isElsewhere(journalName) }
        return try journalOptions.path()
    }

    /// Where the journal is, for commands that its owner can be asked for.
    ///
    /// - Parameter uids: what the command names, which tells the journal where nothing else does.
    /// - Throws: a `ValidationError` when nothing says it; ``ToolError`` when the configuration is wrong there, or when there is
    ///   no such journal.
    func place(of uids: UIDRanges? = nil) throws -> JournalPlace {
        if let journalName { return .fleet(fleetJournal(journalName, of: try register())) }
        if journalOptions.journal != nil { return .here(try journalOptions.path()) }
        let settings = try settings()
        guard let postgres = settings.postgres else { return .here(try journalOptions.path(settings)) }
        let own = HostDirectory.ownNumber(in: settings.copies)
        if let number = uids?.journalNumber, number != own {
            let register = try Self.register(postgres)
            guard let listed = try register.listNow().first(where: { $0.id == number }) else {
                throw ToolError(
                    .noInput, "the database has no journal with the number \(number), to which the UID belongs")
            }
            return .fleet(fleetJournal(listed.name, of: register))
        }
        guard let own else { throw try noneHere(settings.copies, Self.register(postgres)) }
        return try ownPlace(own, try journalOptions.path(settings), postgres)
    }

    /// The place of this host's own journal, while its process waits before it has one.
    ///
    /// - Returns: nil where none waits, and where a journal is named.
    func placeOfWaiting() throws -> JournalPlace? {
        guard journalName == nil, journalOptions.journal == nil else { return nil }
        let settings = try settings()
        guard settings.postgres != nil, HostDirectory.wait(in: settings.copies) != nil else { return nil }
        return .directory(try journalOptions.path(settings))
    }

    /// This host's own journal: its files while this host has it, and else its owner, if another host has taken it.
    private func ownPlace(_ number: Int32, _ path: String, _ postgres: PostgresSettings) throws -> JournalPlace {
        guard Self.isAtRest(path) else { return .here(path) }
        let why: String
        do throws(JournalError) {
            let register = try Self.register(postgres)
            let listed = try register.listNow().first { $0.id == number }
            if let listed, let host = listed.host, !listed.sighting.isFree, host != postgres.hostName {
                Console.standard.note("journal \(listed.name) is with host \(host) now, which is asked")
                return .fleet(fleetJournal(listed.name, of: register))
            }
            why = "no host has the journal now"
        } catch {
            why = "who has the journal now is not known: \(error.message)"
        }
        Console.standard.note("no service runs on this host, and this is the copy that it has left; \(why)")
        return .directory(path)
    }

    private static func isAtRest(_ path: String) -> Bool {
        do throws(JournalError) {
            let reader = try JournalReader(at: path)
            defer { reader.close() }
            return reader.owner == nil
        } catch {
            // The command says what is wrong with it.
            return false
        }
    }

    /// By which journal the blacklist is looked at and changed. On a fleet it is one for all: where this host has no journal,
    /// any owner is asked.
    ///
    /// - Throws: as ``place(of:)``; ``ToolError`` with status `hostSilent` when no owner answers.
    func blacklistPlace() async throws -> JournalPlace {
        guard journalOptions.journal == nil, journalName == nil else { return try place() }
        let settings = try settings()
        guard let postgres = settings.postgres, HostDirectory.ownNumber(in: settings.copies) == nil else {
            return try place()
        }
        let register = try Self.register(postgres)
        for listed in try await register.list() where !listed.sighting.isFree {
            let journal = fleetJournal(listed.name, of: register)
            do {
                let desk = try await journal.open()
                await desk.close()
                return .fleet(journal)
            } catch let error as ControlError where error.isSilence {
                Console.standard.note("\(error.event ?? error.message); the owner of another journal is asked")
            }
        }
        throw ToolError(.hostSilent, "no owner of a journal of the fleet answers: see `holdfast postgres status`")
    }

    /// The journals of the fleet.
    ///
    /// - Throws: ``ToolError`` when the configuration names no database.
    func register() throws -> FleetRegister {
        guard let postgres = try settings(isJournalNamed: false).postgres else {
            throw ToolError(
                .configuration,
                "journals of a fleet are in a database, and the configuration names none: give journal.postgres, or "
                    + "HOLDFAST_JOURNAL_POSTGRES")
        }
        return try Self.register(postgres)
    }

    private static func register(_ settings: PostgresSettings) throws(JournalError) -> FleetRegister {
        try FleetRegister(settings) { Console.standard.warning(once: $0) }
    }

    func fleetJournal(_ name: String, of register: FleetRegister) -> FleetJournal {
        FleetJournal(register: register, name: name, timeout: timeout ?? .seconds(30))
    }

    private func settings(isJournalNamed: Bool? = nil) throws(ToolError) -> JournalSettings {
        try journalOptions.loadJournal(isJournalNamed: isJournalNamed ?? journalOptions.isNamed)
    }

    /// For commands that work on files.
    private func isElsewhere(_ name: String) throws -> ToolError {
        let journals = try register().listNow()
        guard let listed = journals.first(where: { $0.name == name }) else {
            return ToolError(.noInput, "the database has no journal \(name): \(Self.names(journals))")
        }
        let host = listed.host.map { "host \($0), which \(listed.sighting.isFree ? "had" : "has") \(name)" }
        return ToolError(
            .usage,
            "this command works on the journal's files: run it on \(host ?? "the host that takes \(name)"), with `--journal "
                + "COPIES/\(listed.id).journal`, where COPIES is that host's journal.path")
    }

    private func noneHere(_ copies: String, _ register: FleetRegister) throws -> ToolError {
        ToolError(
            .noInput,
            "no journal of the fleet is at \(copies), or you may not see it: name one by --journal-name, or ask all of them by "
                + "--fleet; the database has \(Self.names(try register.listNow()))")
    }

    private static func names(_ journals: [ListedJournal]) -> String {
        journals.isEmpty ? "none yet" : journals.map(\.name).joined(separator: ", ")
    }
}

extension UIDRanges {
    /// The number of the journal of a fleet that has given out all of these; nil where several have, or none.
    var journalNumber: Int32? {
        guard let first = ranges.first, let last = ranges.last else { return nil }
        let number = ListedJournal.number(of: UID(first.lowerBound))
        return number > 0 && ListedJournal.number(of: UID(last.upperBound)) == number ? number : nil
    }
}
