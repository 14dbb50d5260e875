internal import Holdfast
internal import NIOCore

/// The target that a proxy has to connect to.
enum ProxyTarget: Hashable, Sendable {
    /// Resolved by the proxy.
    case name(String, port: Int)
    /// Four bytes or sixteen.
    case address([UInt8], port: Int)
}

/// The client's side of a SOCKS handshake, versions 5 (RFC 1928, RFC 1929), 4 and 4a.
///
/// A pure machine: bytes in, bytes out. It never holds more than the longest answer, of 262 bytes, and the other bytes
/// of the same read.
struct SOCKSHandshake {
    private enum State {
        case method, login, connect4, connect5
        case established
    }

    /// The reason why the proxy refuses.
    struct Refusal: Error, Hashable {
        let kind: ConnectError.Kind
        /// To be put behind the proxy's name: "does not know this user and password".
        let why: String
    }

    private let target: ProxyTarget
    private let user: String?
    private let password: String?
    private var state: State
    private var received: [UInt8] = []
    /// To be sent.
    private var output: [UInt8] = []

    /// - Precondition: ``ProxyServer/objection(to:_:for:)`` has no objection; names have at most 255 bytes.
    init(_ proxy: ProxyServer, target: ProxyTarget) {
        self.target = target
        user = proxy.user
        password = proxy.password
        if proxy.kind == .socks5 {
            state = .method
            output = user == nil ? [5, 1, 0] : [5, 2, 0, 2]
        } else {
            state = .connect4
            output = request4()
        }
    }

    var isEstablished: Bool { if case .established = state { true } else { false } }

    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// The bytes of the service behind the proxy's last answer.
    mutating func takeRest() -> [UInt8] {
        defer { received = [] }
        return received
    }

    /// Takes bytes that arrived, split anywhere.
    mutating func receive(_ bytes: some Collection<UInt8>) throws(Refusal) {
        received += bytes
        while try advance() {}
    }

    /// - Returns: whether there may be more to do.
    private mutating func advance() throws(Refusal) -> Bool {
        switch state {
        case .method: try takeMethod()
        case .login: try takeLogin()
        case .connect4: try takeAnswer4()
        case .connect5: try takeAnswer5()
        case .established: false
        }
    }

    private static let strange = Refusal(kind: .temporary, why: "does not speak SOCKS as it should")

    // MARK: Version 5

    private mutating func takeMethod() throws(Refusal) -> Bool {
        guard let answer = take(2) else { return false }
        guard answer[0] == 5 else { throw Self.strange }
        switch (answer[1], user, password) {
        case (0, _, _):
            request5()
        case (2, let user?, let password?):
            output += [1, UInt8(user.utf8.count)] + user.utf8 + [UInt8(password.utf8.count)] + password.utf8
            state = .login
        case (0xFF, nil, _):
            throw Refusal(kind: .configuration, why: "wants to know who we are, and no user is configured")
        case (0xFF, _, _):
            throw Refusal(kind: .configuration, why: "takes neither user and password nor nothing")
        default:
            throw Self.strange
        }
        return true
    }

    private mutating func takeLogin() throws(Refusal) -> Bool {
        guard let answer = take(2) else { return false }
        guard answer[1] == 0 else {
            throw Refusal(kind: .configuration, why: "does not know this user and password")
        }
        request5()
        return true
    }

    private mutating func request5() {
        output += [5, 1, 0]
        switch target {
        case .name(let name, let port):
            output += [3, UInt8(name.utf8.count)] + name.utf8 + Self.bytes(port)
        case .address(let address, let port):
            output += [address.count == 4 ? 1 : 4] + address + Self.bytes(port)
        }
        state = .connect5
    }

    private mutating func takeAnswer5() throws(Refusal) -> Bool {
        guard received.count >= 2 else { return false }
        guard received[0] == 5 else { throw Self.strange }
        // A proxy that refuses may close behind these two bytes.
        guard received[1] == 0 else { throw Self.refusal5(received[1]) }
        guard received.count >= 5 else { return false }
        let count: Int
        switch received[3] {
        case 1: count = 4
        case 3: count = 1 + Int(received[4])
        case 4: count = 16
        default: throw Self.strange
        }
        guard take(4 + count + 2) != nil else { return false }
        state = .established
        return false
    }

    private static func refusal5(_ code: UInt8) -> Refusal {
        let words: [UInt8: String] = [
            1: "fails", 2: "does not allow it", 3: "cannot reach the network", 4: "cannot reach the host",
            5: "says that the service refused the connection", 6: "ran out of time (TTL)", 7: "does not know CONNECT",
            8: "does not know this kind of address",
        ]
        return Refusal(
            kind: .temporary, why: "does not connect to the service: it \(words[code] ?? "answered with code \(code)")")
    }

    // MARK: Version 4

    private func request4() -> [UInt8] {
        let name = Array((user ?? "").utf8) + [0]
        return switch target {
        case .address(let address, let port): [4, 1] + Self.bytes(port) + address + name
        // 0.0.0.x: the name follows (4a).
        case .name(let host, let port): [4, 1] + Self.bytes(port) + [0, 0, 0, 1] + name + host.utf8 + [0]
        }
    }

    private mutating func takeAnswer4() throws(Refusal) -> Bool {
        guard let answer = take(8) else { return false }
        guard answer[0] == 0 else { throw Self.strange }
        switch answer[1] {
        case 0x5A: state = .established
        case 0x5B: throw Refusal(kind: .temporary, why: "does not connect to the service: it refused, or failed")
        case 0x5C, 0x5D: throw Refusal(kind: .configuration, why: "does not believe that we are who we say")
        default: throw Self.strange
        }
        return false
    }

    // MARK: Bytes

    /// The first `count` bytes received, once there are so many.
    private mutating func take(_ count: Int) -> [UInt8]? {
        guard received.count >= count else { return nil }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private static func bytes(_ port: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: port >> 8), UInt8(port & 0xFF)] }
}
