internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastPostgres
internal import HoldfastService
internal import HoldfastTransport

/// Examines a configuration and all that a service with it needs. Looks only: changes nothing, takes no journal over, and
/// sends nothing to a device.
struct DoctorRun: Sendable {
    struct Options: Sendable {
        /// Whether anything is looked up or connected to.
        var usesNetwork = true
        /// Whether push services are asked.
        var probes = true
        /// The unit of systemd; nil for the one that systemd finds.
        var unit: String?
    }

    let configuration: HoldfastConfiguration
    /// What is wrong with the text of the configuration.
    let mistakes: [ConfigProblem]
    /// Where the journal is; nil where nobody says.
    let journal: String?
    let options: Options
    let notes: any RouteLook.ProbeNotes

    /// - Parameters:
    ///   - begins: called before a part that may take a while, with its name.
    ///   - tell: called with what was found in each part, in their order.
    func run(begins: (String) -> Void, tell: (DoctorFinding.Area, [DoctorFinding]) -> Void) async -> [DoctorFinding] {
        var all: [DoctorFinding] = []
        func take(_ area: DoctorFinding.Area, _ findings: [DoctorFinding]) {
            guard !findings.isEmpty else { return }
            tell(area, findings)
            all += findings
        }
        // What waits for others goes on beside what is looked at here.
        let groups = configuration.values.filter { $0.section.name == RouteSettings.section.name }
        let routes = zip(configuration.routes, groups).map { route, group in
            Task { await look(route, at: group.path) }
        }
        let webhooks = configuration.webhooks.map { webhook in Task { await look(webhook) } }
        let database = Task { await lookAtDatabase() }
        take(.configuration, configurationFindings)
        let unit = options.unit.map { UnitFacts(path: $0, files: [$0]) } ?? UnitFacts.find()
        take(
            .files,
            FileLook.look(configuration, user: FileLook.serviceUser(journal: journal, unit)).findings
                + [FileLook.credential(configuration, unit)].compactMap(\.self) + unitFindings(unit))
        begins("the journal")
        let facts = await journalFacts()
        let refusal = copiesRefusal
        take(
            .journal,
            CopiesFacts.findings(of: configuration.journal.copies, refusal)
                + (facts.map { $0.findings.filter { $0.area == .journal } } ?? []))
        begins("the disk")
        take(.disk, disk(facts, refusal))
        take(.service, start + (facts.map { $0.findings.filter { $0.area == .service } } ?? []))
        // Of a configuration that can't be read nothing is known.
        let limits = unread.isEmpty ? limitFacts(unit, facts).findings : []
        take(.descriptors, limits.filter { $0.area == .descriptors })
        take(.limits, limits.filter { $0.area == .limits })
        take(.listeners, listeners + addresses)
        begins("the database")
        take(.database, await database.value)
        for (route, task) in zip(configuration.routes, routes) {
            begins("route \(route.name), \(route.endpoint)")
            take(.routes, await task.value)
        }
        for (webhook, task) in zip(configuration.webhooks, webhooks) {
            begins("webhook \(webhook.name)")
            take(.webhooks, await task.value)
        }
        return all
    }

    // MARK: Here

    private var configurationFindings: [DoctorFinding] {
        guard mistakes.isEmpty else {
            return mistakes.map { mistake -> DoctorFinding in
                .fault(
                    .configuration, "mistake", nil, mistake.description,
                    next: mistake.path.isEmpty
                        ? "mend the file, or name another by --config; if this user may not read it, run the doctor as root"
                        : "mend it; `holdfast config show` prints all keys")
            } + unread
        }
        guard !configuration.isEmpty else {
            return [
                journal == nil
                    ? .fault(
                        .configuration, "file", nil, "there is no configuration",
                        next: "`holdfast init` makes one; or name it by --config")
                    : .skipped(.configuration, "file", nil, "none is named, and a journal by itself is looked at")
            ]
        }
        let name = configuration.file ?? "the environment, without a file"
        let secrets = Set(configuration.openedSecrets)
        let descriptors = DescriptorLimit.current?.raised
        let warnings = configuration.warnings(within: descriptors).filter { words in
            // Those of files, descriptors and credentials are told in their place.
            !secrets.contains(words) && words != configuration.descriptorWarning(within: descriptors)
                && !configuration.routes.contains { $0.credentialsWarning == words }
        }
        let listeners = configuration.gateway.listeners.count
        return [
            .ok(
                .configuration, "file", nil,
                "\(name) is whole: \(Format.plural(configuration.routes.count, "route")), \(Format.plural(listeners, "listener"))"
            )
        ] + warnings.map { .warning(.configuration, "setting", nil, $0, next: "see what is named") }
    }

    /// That there is nothing to look at of a configuration that can't be read.
    private var unread: [DoctorFinding] {
        guard configuration.isEmpty, mistakes.contains(where: \.path.isEmpty) else { return [] }
        let words = "routes, listeners, webhooks and limits were not looked at, since the configuration can't be read"
        return [.skipped(.configuration, "rest", nil, words)]
    }

    /// A unit that was named and can't be read, or that can't start.
    private func unitFindings(_ unit: UnitFacts?) -> [DoctorFinding] {
        if let unit { return unit.accountFindings }
        guard let path = options.unit else { return [] }
        return [
            .warning(
                .files, "unit", path, "it can't be read, so its limits and its user are not known",
                next: "name its file, such as /etc/systemd/system/holdfast.service, and see that this user may read it")
        ]
    }

    private func journalFacts() async -> JournalFacts? {
        guard let journal else { return nil }
        // Of a host of a fleet that has not begun yet there is nothing to see here.
        if configuration.journal.postgres != nil, !FileManager.default.fileExists(atPath: journal) { return nil }
        return await JournalLook.look(journal, configuration)
    }

    private var start: [DoctorFinding] {
        guard configuration.journal.postgres != nil else { return [] }
        return StartFacts.finding(HostDirectory.wait(in: configuration.journal.copies), at: EngineClock.system.wall())
    }

    /// Why a host of a fleet can't have its working copies where they are to lie; nil where it can.
    private var copiesRefusal: JournalError? {
        guard configuration.journal.postgres != nil else { return nil }
        do throws(JournalError) {
            try CopiesCheck.examine(configuration.journal.copies) { ProcessLook.isService($0, of: configuration) }
            return nil
        } catch {
            return error
        }
    }

    /// - Parameter refusal: of the place of working copies.
    private func disk(_ facts: JournalFacts?, _ refusal: JournalError?) -> [DoctorFinding] {
        let place = configuration.journal.postgres == nil ? journal : configuration.journal.copies
        guard let place else { return [] }
        var disk = DiskLook.look(DiskLook.nearest(place))
        disk.isFull = configuration.journal.durability == .full
        disk.isOfCopies = configuration.journal.postgres != nil
        let made = configuration.journal.postgres == nil ? place : HostDirectory.ownJournal(in: place)
        disk.isMade = FileManager.default.fileExists(atPath: made)
        disk.refusal = refusal?.code == .diskFull ? refusal?.message : nil
        if case .answered(let status, _)? = facts?.service {
            disk.refuses = status.conditions?.contains { $0.kind == .diskRefusing } ?? false
        }
        if case .open(let figures)? = facts?.state {
            let history = facts?.history
            disk.growth = max(figures.limit - figures.used, 0) + (history.map { max($0.limit - $0.bytes, 0) } ?? 0)
            if let history, let span = history.span, span > .seconds(3600) {
                disk.historyPerDay = Int(Double(history.bytes) * (.seconds(86_400) / span))
            }
        } else if let facts, !facts.isWithheld {
            disk.growth = configuration.journal.limit + configuration.journal.history.limitBytes
        }
        return disk.findings
    }

    private func limitFacts(_ unit: UnitFacts?, _ facts: JournalFacts?) -> LimitFacts {
        let process = facts?.process.map(ProcessLook.look)
        let own = DescriptorLimit.current.map { ($0.raised, "this shell allows") }
        let units = unit?.openFiles.map { ($0, "the unit allows") }
        let running = process?.limit.map { ($0, "the service's process may have open") }
        return LimitFacts(
            window: configuration.limits.engine.window,
            routes: configuration.routes.map { route in
                LimitFacts.Route(
                    name: route.name, connections: route.connectionLimit ?? 2,
                    streams: route.protocol == .binary ? nil : route.network.streams)
            },
            drainLimit: configuration.gateway.drainLimit, shutdownLimit: configuration.limits.engine.shutdownLimit,
            unit: unit, descriptorsWanted: configuration.descriptorsWanted, descriptorLimit: running ?? units ?? own,
            descriptorsOpen: process?.open,
            webhooks: configuration.webhooks.map { ($0.name, $0.retry.maximum) },
            historyKeep: configuration.journal.history.isKept ? configuration.journal.history.age : .zero,
            rememberedIDs: configuration.limits.engine.remembersIDs ? configuration.limits.engine.identityLimit : 0,
            journalLimit: configuration.journal.limit)
    }

    private var listeners: [DoctorFinding] {
        let now = EngineClock.system.wall()
        return configuration.gateway.listeners.map { name, listener in
            var facts = ListenerFacts(name: name, listen: "\(listener.listen)", certificate: .none)
            if let identity = listener.tls?.identity {
                do throws(TransportConfigurationError) {
                    facts.certificate = .good(until: try identity.load(as: "server certificate").notAfter)
                } catch {
                    facts.certificate = .unusable(error.message)
                }
            }
            return facts.finding(at: now)
        }
    }

    private var addresses: [DoctorFinding] {
        let service = ProcessLook.service(configuration.journal, at: journal)
        return configuration.listenAddresses.compactMap { name, address in
            ListenLook.look(address, service: service)?.finding(name, address)
        }
    }

    // MARK: Elsewhere

    /// - Parameter path: where the configuration has it.
    private func look(_ route: RouteSettings, at path: String) async -> [DoctorFinding] {
        guard options.usesNetwork else {
            return credentialsUnasked(route, at: path)
                + [.skipped(.routes, "network", route.name, "nothing was connected to, as --no-network says")]
        }
        // Where they have a mistake, something else would be looked at than what is meant.
        guard
            ["service", "project", "endpoint", "trust", "proxy", "address", "server-name"].allSatisfy({
                configuration.isSound("\(path).\($0)")
            })
        else {
            let words = "nothing was connected to: its configuration has a mistake, which is told above"
            return credentialsUnasked(route, at: path) + [.skipped(.routes, "network", route.name, words)]
        }
        var look = RouteLook(settings: route, isProbing: options.probes, notes: notes)
        look.knowsCredentials = ["signing-key", "certificate", "service-account", "token-command"].allSatisfy {
            configuration.isSound("\(path).\($0)")
        }
        look.isForGateway = !configuration.gateway.listeners.isEmpty
        let facts = await look.look()
        return facts.findings(at: EngineClock.system.wall())
    }

    /// That a route has no credentials, where Apple's service wants some: no connection is needed to know it.
    private func credentialsUnasked(_ route: RouteSettings, at path: String) -> [DoctorFinding] {
        // Some that have a mistake are told as that.
        let areSound = ["signing-key", "certificate"].allSatisfy { configuration.isSound("\(path).\($0)") }
        guard areSound, route.credentialsWarning != nil else { return [] }
        return [RouteFacts.withoutCredentials(route.name)]
    }

    private func look(_ webhook: WebhookSettings) async -> [DoctorFinding] {
        guard options.usesNetwork else {
            return [.skipped(.webhooks, "network", webhook.name, "nothing was connected to, as --no-network says")]
        }
        return await WebhookLook.look(webhook).findings(at: EngineClock.system.wall())
    }

    private func lookAtDatabase() async -> [DoctorFinding] {
        guard let postgres = configuration.journal.postgres else { return [] }
        guard options.usesNetwork else {
            return [.skipped(.database, "database", nil, "nothing was connected to, as --no-network says")]
        }
        return await DatabaseLook.facts(postgres, copies: configuration.journal.copies).findings
    }
}
