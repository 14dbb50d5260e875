internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastTransport

/// The operators' token: a client of the admin listener that presents it may read how notifications ended.
///
/// A request presents it as `Authorization: Bearer TOKEN`. It comes from a file, so that it is in no configuration and in no
/// list of processes.
package final class OperatorToken: Sendable {
    /// The reason why a file has no token that can be used. Never says what is in it.
    package struct Fault: Error, Hashable {
        package let message: String
    }

    /// The reason why a request is not served.
    package enum Refusal: Hashable, Sendable {
        /// It presents none, or several.
        case missing
        /// It presents another.
        case wrong

        /// For whoever asked.
        package var message: String {
            switch self {
            case .missing:
                "the request presents no token: send `Authorization: Bearer TOKEN`, once, with what is in the file of "
                    + "admin.token-file"
            case .wrong:
                "the request presents another token than that of admin.token-file: see that it is the present one"
            }
        }
    }

    /// The bytes of a token. Fewer can be guessed.
    package static let lengths = 16...512

    /// The path of the file.
    package let file: String
    private let token: Monitor<(bytes: [UInt8], generation: Int)>

    /// Reads a file.
    package init(file: String) throws(Fault) {
        self.file = file
        token = Monitor((try Self.read(file), 0))
    }

    /// Another one with each other token: what was opened with a former one is over.
    var generation: Int { token.withLock(\.generation) }

    /// The parts of an answer that goes on, for as long as the token is the one that it was begun with: a client that has a former
    /// one is told nothing more.
    ///
    /// - Parameter generation: read before the client's token was judged.
    func whilePresent(
        _ generation: Int, _ next: @escaping AdminPage.Answer.Next
    ) -> AdminPage.Answer.Next {
        { [self] in
            guard self.generation == generation else { return nil }
            let part = try await next()
            return self.generation == generation ? part : nil
        }
    }

    /// Reads the file again. After a fault the former token stays.
    package func reload() throws(Fault) {
        let token = try Self.read(file)
        self.token.withLock { current in
            guard current.bytes != token else { return }
            current = (token, current.generation + 1)
        }
    }

    /// Judges the `Authorization` fields of a request, in a time that says nothing of the token.
    ///
    /// - Returns: nil for a request to serve.
    package func refusal(of authorization: [String]) -> Refusal? {
        guard authorization.count == 1, let field = authorization.first else { return .missing }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .missing }
        let presented = Array(parts[1].utf8.drop { $0 == UInt8(ascii: " ") })
        return Self.isEqual(token.withLock(\.bytes), presented) ? nil : .wrong
    }

    /// Whether a text is the token, in a time that says nothing of it.
    func isEqual(to text: String) -> Bool { Self.isEqual(token.withLock(\.bytes), Array(text.utf8)) }

    /// Takes as long for any two texts of these lengths.
    static func isEqual(_ token: [UInt8], _ presented: [UInt8]) -> Bool {
        guard !token.isEmpty else { return false }
        var difference = token.count ^ presented.count
        for (index, byte) in presented.enumerated() { difference |= Int(token[index % token.count] ^ byte) }
        return difference == 0
    }

    // MARK: The file

    private static func read(_ file: String) throws(Fault) -> [UInt8] {
        try checkMode(of: file)
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw Fault(message: "the file \(file) can't be read: \(FileFailure.words(error))")
        }
        var token = Array(data.prefix(lengths.upperBound + 2))
        if token.last == UInt8(ascii: "\n") { token.removeLast() }
        if token.last == UInt8(ascii: "\r") { token.removeLast() }
        guard lengths.contains(token.count), token.allSatisfy(isTokenByte) else {
            throw Fault(
                message:
                    "the file \(file) has no token: one line of \(lengths.lowerBound) to \(lengths.upperBound) letters, "
                    + "digits and -._~+/=, such as `openssl rand -hex 32` prints")
        }
        return token
    }

    /// What others may read is no secret, and what they may write is not the operator's.
    private static func checkMode(of file: String) throws(Fault) {
        let objection: String?
        do {
            objection = try SecretFile.objection(to: file)
        } catch {
            throw Fault(message: "the file \(file) can't be read: \(FileFailure.words(error))")
        }
        if let objection { throw Fault(message: objection) }
    }

    /// The letters of a bearer token (RFC 6750).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}
