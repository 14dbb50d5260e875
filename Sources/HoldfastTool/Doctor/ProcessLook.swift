internal import Foundation
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPlatform
internal import HoldfastPostgres
internal import HoldfastService

/// What the kernel tells of the service's process.
enum ProcessLook {
    /// - Returns: how many files it may have open, and how many it has; nil where the kernel does not say.
    static func look(_ process: Int) -> (limit: Int?, open: Int?) {
        let limits = ProcessFiles.limits(of: process).flatMap(ProcessFiles.text) ?? ""
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        let words = line?.split(separator: " ").dropFirst(3) ?? []
        return (words.first.flatMap { Int($0) }, ProcessFiles.links(of: process)?.count)
    }
}

extension ProcessLook {
    /// The process that serves a configuration: the one that uses its journal, or that is a host of its fleet, also while it waits
    /// for the database or for room on its disk; nil for none.
    ///
    /// - Parameter journal: of a journal in a directory; nil for the one that the settings name.
    static func service(_ settings: JournalSettings, at journal: String? = nil) -> Int? {
        if settings.postgres != nil {
            let process = HostDirectory.process(in: settings.copies) ?? HostDirectory.wait(in: settings.copies)?.process
            return process.map { Int($0) }
        }
        guard let path = journal ?? settings.path, let owner = try? JournalReader.owner(of: path) else { return nil }
        return OwnerName(owner).process
    }

    /// Whether the process that has the working copies of a configuration serves that configuration, and not another host's: by the
    /// name of its host, or since it listens where the configuration says. A host may have been given another name since.
    static func isService(_ user: HostDirectory.User, of configuration: HoldfastConfiguration) -> Bool {
        if let host = user.host, host == configuration.journal.postgres?.hostName { return true }
        let ports = configuration.listenAddresses.map { $0.address.port }.filter { $0 != 0 }
        let listens = ports.isEmpty ? nil : ListenLook.listens(Int(user.process), on: ports)
        if listens == true { return true }
        guard user.host == nil else { return false }
        // An earlier version says no name. One that is starting listens nowhere.
        return listens == nil || HostDirectory.wait(in: configuration.journal.copies) != nil
    }
}

extension JournalFacts {
    /// The process that uses the journal; nil at rest, and where its name has no number.
    var process: Int? {
        switch state {
        case .open(let figures): figures.owner.flatMap { OwnerName($0).process }
        case .withheld(let journal): journal.owner.flatMap { OwnerName($0).process }
        case .unmade, .unreadable: nil
        }
    }
}
