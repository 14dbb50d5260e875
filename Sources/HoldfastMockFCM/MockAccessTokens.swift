import Foundation
import HoldfastMocking
import HoldfastOpenSSL

/// The answer of a mock's token endpoint in place of its own.
public struct MockTokenAnswer: Sendable {
    package enum Kind: Sendable {
        case refused(status: Int, error: String, retryAfter: String?)
        case response(status: Int, body: [UInt8])
        case silence
        case useless
    }

    package let kind: Kind

    /// An error of RFC 6749 section 5.2: `invalid_grant` with status 400.
    public static func refused(_ error: String, status: Int = 400, retryAfter: String? = nil) -> MockTokenAnswer {
        MockTokenAnswer(kind: .refused(status: status, error: error, retryAfter: retryAfter))
    }

    /// Any response.
    public static func response(status: Int, body: [UInt8]) -> MockTokenAnswer {
        MockTokenAnswer(kind: .response(status: status, body: body))
    }

    /// No answer.
    public static let silence = MockTokenAnswer(kind: .silence)
    /// A token that the service does not take.
    public static let useless = MockTokenAnswer(kind: .useless)
}

/// The access tokens that a mock has given.
final class MockAccessTokens: Sendable {
    private let state = Locked<[String: Int64]>([:])
    private let answers = Locked<(@Sendable (Int) -> MockTokenAnswer?)?>(nil)
    private let asked = Locked(0)

    func set(_ answer: (@Sendable (Int) -> MockTokenAnswer?)?) {
        answers.withLock { $0 = answer }
        asked.withLock { $0 = 0 }
    }

    /// The departure from normal handling of this request, if any.
    func departure() -> MockTokenAnswer? {
        let number = asked.withLock { asked in
            asked += 1
            return asked
        }
        return answers.withLock { $0 }.flatMap { $0(number) }
    }

    /// - Parameter expiry: Unix milliseconds; nil for a token that is never good.
    func make(expiry: Int64?) -> String {
        var token = "ya29.mock-"
        for _ in 0..<4 { token += String(UInt64.random(in: 0...UInt64.max), radix: 36) }
        if let expiry { state.withLock { $0[token] = expiry } }
        return token
    }

    /// - Parameter authorization: the value of the field.
    func takes(_ authorization: String, at milliseconds: Int64) -> Bool {
        guard authorization.prefix(7).lowercased() == "bearer " else { return false }
        let token = String(authorization.dropFirst(7))
        return state.withLock { $0[token] }.map { $0 > milliseconds } ?? false
    }

    func revokeAll() { state.withLock { $0.removeAll() } }
}
