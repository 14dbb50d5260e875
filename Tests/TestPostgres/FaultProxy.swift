internal import Foundation
internal import Synchronization

/// Stands between a client and a server, and fails when it is told to.
package final class FaultProxy: Sendable {
    package enum Fault: Hashable, Sendable {
        /// Cuts both sides in place of passing on bytes that have the text.
        case cutBefore(String)
        /// Passes bytes with the text on, waits for the server's answer, and cuts in place of passing that on.
        case cutAfter(String)
        /// Passes bytes with the text on up to the given number before their end, and cuts.
        case cutShort(String, by: Int)
        /// Passes so many bytes of the answer to bytes with the text on, and cuts.
        case cutAnswer(String, after: Int)
        /// Answers bytes that have the text, in place of passing them on, and cuts.
        case refuse(String, with: [UInt8])
        /// Changes one in so many bytes of the server's, by a seed.
        case garble(oneIn: UInt64, seed: UInt64)
        /// Passes bytes with the text on, and nothing that comes back.
        case silentAfter(String)
        /// Passes bytes with the text on, and nothing after them either way. The server is not told that its client is gone, as behind a
        /// balancer.
        case deafAfter(String)
        /// Passes every byte of the server's on by itself.
        case slow
    }

    private let listener: Socket
    private let fault = Mutex<Fault?>(nil)
    private let passages = Mutex<[Passage]>([])

    package init(to port: Int) throws {
        listener = try Socket(listening: 0)
        Thread.detachNewThread { [self] in
            while let client = listener.accept() {
                guard let server = try? Socket(connectedTo: port) else { continue }
                let passage = Passage(client: client, server: server, proxy: self)
                passages.withLock { $0.append(passage) }
                Thread.detachNewThread { passage.passRequests() }
                Thread.detachNewThread { passage.passAnswers() }
            }
        }
    }

    package var port: Int { listener.port }

    /// Fails at the next bytes that it concerns.
    package func fail(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    /// Cuts all connections now, without a word.
    package func cut() {
        for passage in passages.withLock({ $0 }) { passage.cut() }
    }

    fileprivate var current: Fault? { fault.withLock { $0 } }
}

/// One connection through the proxy.
private final class Passage: Sendable {
    let client: Socket
    let server: Socket
    let proxy: FaultProxy
    private enum Answers: Equatable {
        case pass
        case swallow
        /// After so many more bytes.
        case cutAfter(Int)
    }
    private let answers = Mutex(Answers.pass)
    private let dice = Mutex<UInt64>(0)

    init(client: Socket, server: Socket, proxy: FaultProxy) {
        self.client = client
        self.server = server
        self.proxy = proxy
    }

    func passRequests() {
        while true {
            let bytes = client.read()
            if bytes.isEmpty { break }
            let fault = proxy.current
            if case .cutBefore(let text) = fault, bytes.hold(text) { break }
            if case .refuse(let text, let answer) = fault, bytes.hold(text) {
                client.write(answer)
                break
            }
            if case .cutAfter(let text) = fault, bytes.hold(text) { answers.withLock { $0 = .cutAfter(0) } }
            if case .silentAfter(let text) = fault, bytes.hold(text) { answers.withLock { $0 = .swallow } }
            if case .cutShort(let text, let count) = fault, bytes.hold(text) {
                server.write(Array(bytes.dropLast(count)))
                break
            }
            if case .cutAnswer(let text, let count) = fault, bytes.hold(text) {
                answers.withLock { $0 = .cutAfter(count) }
            }
            if case .deafAfter(let text) = fault, bytes.hold(text) {
                answers.withLock { $0 = .swallow }
                server.write(bytes)
                while !client.read().isEmpty {}
                return
            }
            guard server.write(bytes) else { break }
        }
        cut()
    }

    func passAnswers() {
        while true {
            let bytes = server.read()
            if bytes.isEmpty { break }
            switch answers.withLock({ $0 }) {
            case .cutAfter(let count) where bytes.count >= count:
                client.write(Array(bytes.prefix(count)))
                return cut()
            case .cutAfter(let count): answers.withLock { $0 = .cutAfter(count - bytes.count) }
            case .swallow: continue
            case .pass: break
            }
            guard pass(bytes) else { break }
        }
        if answers.withLock({ $0 == .swallow }) { return }
        cut()
    }

    private func pass(_ bytes: [UInt8]) -> Bool {
        switch proxy.current {
        case .slow:
            for byte in bytes {
                usleep(200)
                client.write([byte])
            }
            return true
        case .garble(let oneIn, let seed):
            return client.write(garbled(bytes, oneIn: oneIn, seed: seed))
        default: return client.write(bytes)
        }
    }

    /// The same for the same bytes at the same place of a connection, and no others.
    private func garbled(_ bytes: [UInt8], oneIn: UInt64, seed: UInt64) -> [UInt8] {
        bytes.map { byte in
            let next = dice.withLock { dice in
                dice = (dice &+ seed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return dice >> 33
            }
            return next % oneIn == 0 ? byte ^ UInt8(truncatingIfNeeded: next >> 8) : byte
        }
    }

    func cut() {
        client.close()
        server.close()
    }
}

/// A server that says the same to everybody, whatever is asked.
package final class ScriptedServer: Sendable {
    private let listener: Socket

    /// - Parameters:
    ///   - bytes: to be sent as soon as a client has sent something.
    ///   - closes: whether the connection is closed after them.
    package init(saying bytes: [UInt8], closes: Bool) throws {
        listener = try Socket(listening: 0)
        Thread.detachNewThread { [listener] in
            while let client = listener.accept() {
                Thread.detachNewThread {
                    _ = client.read()
                    client.write(bytes)
                    if closes { return client.close() }
                    while !client.read().isEmpty {}
                }
            }
        }
    }

    package var port: Int { listener.port }

    deinit { listener.close() }
}

extension [UInt8] {
    fileprivate func hold(_ text: String) -> Bool { contains(Array(text.utf8)) }
}
