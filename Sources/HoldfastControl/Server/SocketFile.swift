internal import Foundation
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// The socket's file in a journal's directory, from the moment clients can find it until it is removed.
struct SocketFile: Sendable {
    private let path: ControlPath
    /// Kept open, since the listening socket removes the path that it was bound to when it closes.
    private let directory: OpenDirectory
    private let identity: Identity
    /// The number of the directory's file.
    private let place: UInt64?

    /// The number of a removed file is given to a new one; the time tells them apart.
    private struct Identity: Hashable {
        let number: UInt64
        let made: Date?
    }

    /// Makes the socket. No client finds it before it has mode 0600.
    ///
    /// A socket that a dead owner left is replaced: the caller owns the journal.
    ///
    /// - Parameter bind: makes a socket at the path, which fits into a socket's address.
    /// - Throws: ``ControlError`` with code `cannotListen`.
    static func make<Bound>(
        _ path: ControlPath, bind: (String) async throws -> Bound, close: (Bound) -> Void
    ) async throws -> (Bound, SocketFile) {
        do {
            for name in [path.socket, path.unready] { try removeSocket(name) }
            let directory = try path.open()
            let bound = try await bind(directory.path(of: ControlPath.unreadyName))
            do {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.unready)
                try FileManager.default.moveItem(atPath: path.unready, toPath: path.socket)
                guard let found = try identify(path.socket) else {
                    throw ControlError(.cannotListen, "\(path.socket) went away")
                }
                let place = try identify(path.place)?.identity.number
                return (bound, SocketFile(path: path, directory: directory, identity: found.identity, place: place))
            } catch {
                close(bound)
                throw error
            }
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(.cannotListen, "\(path.socket) can't be made: \(FileFailure.text(error))")
        }
    }

    /// Whether clients can't find it any more: somebody has removed or replaced it.
    ///
    /// A directory that was moved away has taken its socket along. That is the journal's loss, which its owner notices, and what
    /// is in its place now is another's.
    var isLost: Bool {
        do {
            guard try Self.identify(path.place)?.identity.number == place else { return false }
            return try Self.identify(path.socket)?.identity != identity
        } catch {
            // It is not known to be gone.
            return false
        }
    }

    /// Removes it, unless another has taken its place.
    func remove() throws {
        guard try Self.identify(path.socket)?.identity == identity else { return }
        try FileManager.default.removeItem(atPath: path.socket)
    }

    private static func removeSocket(_ name: String) throws {
        guard let found = try identify(name) else { return }
        guard found.isSocket else {
            throw ControlError(.cannotListen, "\(name) is in the way: it is no socket, and not Holdfast's")
        }
        try FileManager.default.removeItem(atPath: name)
    }

    private static func identify(_ name: String) throws -> (isSocket: Bool, identity: Identity)? {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: name)
            let number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
            let identity = Identity(number: number, made: attributes[.modificationDate] as? Date)
            return (attributes[.type] as? FileAttributeType == .typeSocket, identity)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        }
    }
}
