internal import Foundation
internal import HoldfastPlatform
internal import Synchronization

/// The addresses of a name, from the system's resolver, which knows no deadline: it runs on a thread of its own, and whoever
/// waits for it may leave.
///
/// A lookup that nobody waits for any more is found again by the next who asks for its name, so that a resolver that hangs
/// holds one thread for each name.
final class HostLookup: Sendable {
    /// Readable when the lookup has ended.
    private let end: PQInterruption
    private let outcome = Mutex<Result<[String], PQError>?>(nil)

    private static let underWay = Mutex<[String: HostLookup]>([:])

    private init() throws(PQError) { end = try PQInterruption() }

    /// - Returns: at least one address, in the resolver's order.
    ///
    /// - Parameter resolve: blocks for as long as it likes.
    static func addresses(
        of host: String, _ patience: Patience, _ resolve: @escaping Resolver = HostLookup.system
    ) throws(PQError) -> [String] {
        try start(host, resolve).result(host, patience)
    }

    typealias Resolver = @Sendable (String) -> Result<[String], PQError>

    private static func start(_ host: String, _ resolve: @escaping Resolver) throws(PQError) -> HostLookup {
        let new = try HostLookup()
        let (lookup, isNew) = underWay.withLock { lookups in
            if let lookup = lookups[host] { return (lookup, false) }
            lookups[host] = new
            return (new, true)
        }
        guard isNew else { return lookup }
        Thread.detachNewThread {
            let outcome = resolve(host)
            new.outcome.withLock { $0 = outcome }
            _ = underWay.withLock { $0.removeValue(forKey: host) }
            new.end.interrupt()
        }
        return lookup
    }

    private func result(_ host: String, _ patience: Patience) throws(PQError) -> [String] {
        switch patience.wait(end.descriptor, reading: true, writing: false) {
        case .ready: break
        case .deadline:
            throw PQError(.unreachable, "the name \(host) was not resolved in time", cause: .deadline)
        case .interruption: throw .interrupted
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            throw PQError(.unreachable, "the name \(host) was not resolved")
        }
        return try outcome.get()
    }

    /// The system's resolver.
    @Sendable static func system(_ host: String) -> Result<[String], PQError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = SocketKind.stream
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else {
            let words = unsafe String(cString: gai_strerror(code))
            return .failure(PQError(.unreachable, "the name \(host) has no address: \(words)"))
        }
        defer { unsafe freeaddrinfo(first) }
        var found: [String] = []
        var next = unsafe first
        while let info = unsafe next {
            var text = [CChar](repeating: 0, count: 1025)
            let code = unsafe getnameinfo(
                info.pointee.ai_addr, info.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            if code == 0 {
                let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if !found.contains(address) { found.append(address) }
            }
            unsafe next = info.pointee.ai_next
        }
        return found.isEmpty ? .failure(PQError(.unreachable, "the name \(host) has no address")) : .success(found)
    }
}

extension PQError {
    static var interrupted: PQError { PQError(.interrupted, "another thread ended the call", cause: .interruption) }
}
