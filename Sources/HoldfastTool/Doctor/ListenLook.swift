internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPlatform
internal import HoldfastTransport

/// Finds out whether an address can be listened on. Listens on nothing: a socket is bound, and closed.
enum ListenLook {
    enum Standing: Hashable, Sendable {
        case free
        /// The running service listens there.
        case own
        /// Another process does, with its number and name where this user may see them.
        case taken(by: String?)
        /// For another reason, with the system's words.
        case unusable(String)
    }

    /// - Parameter service: the process that uses the journal; nil for none.
    /// - Returns: nil where that can't be said: for a port that the system chooses, and for one that this user may not have.
    static func look(_ address: ListenAddress, service: Int?) -> Standing? {
        guard address.port != 0 else { return nil }
        switch address.bindError {
        case nil: return .free
        case EADDRINUSE?:
            let sockets = sockets(on: address.port)
            if let service, holds(service, sockets) ?? true { return .own }
            return .taken(by: holder(of: sockets))
        case EACCES?: return nil
        case let code?: return .unusable(FileFailure.words(ofSystem: Int(code)))
        }
    }

    /// The sockets that listen on a port, as links of descriptors name them.
    private static func sockets(on port: Int) -> Set<String> {
        let tables = ProcessFiles.sockets.compactMap(ProcessFiles.text)
        return Set(tables.flatMap { inodes(listeningOn: port, in: $0) }.map { "socket:[\($0)]" })
    }

    /// - Returns: whether the process listens on one of the ports; nil where this user may not see its descriptors.
    static func listens(_ process: Int, on ports: [Int]) -> Bool? {
        holds(process, ports.reduce(into: []) { $0.formUnion(sockets(on: $1)) })
    }

    /// - Returns: whether the process has one of them; nil where this user may not see its descriptors.
    private static func holds(_ process: Int, _ sockets: Set<String>) -> Bool? {
        ProcessFiles.openFiles(of: process)?.contains(where: sockets.contains)
    }

    /// - Returns: nil where none listens there, and where this user may not see which one does.
    static func process(listeningOn port: Int) -> Int? { process(with: sockets(on: port)) }

    private static func process(with sockets: Set<String>) -> Int? {
        guard !sockets.isEmpty, let processes = ProcessFiles.processes,
            let names = try? FileManager.default.contentsOfDirectory(atPath: processes)
        else { return nil }
        return names.lazy.compactMap { Int($0) }.first { holds($0, sockets) ?? false }
    }

    private static func holder(of sockets: Set<String>) -> String? {
        process(with: sockets).map { process in
            let name = ProcessFiles.processes.flatMap { ProcessFiles.text("\($0)/\(process)/comm") }
            let word = name?.trimmingCharacters(in: .whitespacesAndNewlines)
            return "process \(process)" + (word.map { " (\($0))" } ?? "")
        }
    }

    /// Lines like `0: 0100007F:0895 00000000:0000 0A … inode …`, where 0A is a socket that listens.
    static func inodes(listeningOn port: Int, in table: String) -> [Substring] {
        let digits = String(port, radix: 16)
        let suffix = ":" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return table.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 9, words[3] == "0A", words[1].lowercased().hasSuffix(suffix) else { return nil }
            return words[9]
        }
    }
}

extension ListenLook.Standing {
    /// Why a service can't listen on an address, for people; nil where it can.
    func trouble(at address: ListenAddress) -> String? {
        switch self {
        case .free, .own: nil
        case .taken(let holder):
            "\(address) is taken by \(holder ?? "another process"), and a service that starts now ends with code 69"
        case .unusable(let words): "\(address) can't be listened on: \(words)"
        }
    }

    func finding(_ name: String, _ address: ListenAddress) -> DoctorFinding {
        switch self {
        case .free: .ok(.listeners, "address", name, "\(address) is free")
        case .own: .ok(.listeners, "address", name, "the running service listens on \(address)")
        case .taken:
            .fault(
                .listeners, "address", name, trouble(at: address) ?? "",
                next: "`ss -ltnp 'sport = :\(address.port)'` names it: end it, or give another address")
        case .unusable:
            .fault(
                .listeners, "address", name, trouble(at: address) ?? "",
                next: "give an address of this machine, or 0.0.0.0 for all of them")
        }
    }
}
