import Foundation
import HoldfastFCM
import HoldfastOpenSSL
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Senders of Google's interface, and a gateway with a route for their project.
enum Google {
    static let project = "demo-project"

    static let limits = NotificationLimits.service(
        ServiceLimits(kinds: [.firebaseInstallation, .firebaseToken, .firebaseTopic, .firebaseCondition]),
        payload: FCMConnector.payloadLimit, collapseID: 0, topics: [project])

    static func world<R>(
        journal: InMemoryJournal = InMemoryJournal(), delivers: Bool = false,
        answer: @escaping InMemoryConnector.Answer = { _ in .confirmed },
        _ change: Change<HTTP2IngressConfiguration> = Change { _ in },
        engine: Change<EngineConfiguration> = Change { _ in },
        _ body: (HTTP2World) async throws -> R
    ) async throws -> R {
        try await withHTTP2World(
            journal: journal, topics: [[project]], delivers: delivers, limits: limits, answer: answer, change,
            engine: engine, body)
    }

    /// The header fields of a message's request.
    static func request(_ more: [(String, String)] = [], project: String = project) -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "https"), (":path", "/v1/projects/\(project)/messages:send"),
            (":authority", "fcm.googleapis.com"), ("content-type", "application/json"),
        ] + more
    }

    static func message(_ members: String = #""token":"device-1","notification":{"title":"Hi"}"#) -> [UInt8] {
        Array(#"{"message":{\#(members)}}"#.utf8)
    }

    static let name = "projects/\(project)/messages/"
}

/// Google's form of an error.
struct GoogleAnswer: Equatable {
    var code: Int?
    var status: String?
    var message: String?
    var errorCode: String?
    var field: String?

    init(_ answer: ClientAnswer) { self.init(body: answer.body) }

    init(body: String) {
        let error = (Self.object(body)?["error"]) as? [String: Any]
        code = error?["code"] as? Int
        status = error?["status"] as? String
        message = error?["message"] as? String
        for detail in error?["details"] as? [[String: Any]] ?? [] {
            switch detail["@type"] as? String {
            case "type.googleapis.com/google.firebase.fcm.v1.FcmError": errorCode = detail["errorCode"] as? String
            case "type.googleapis.com/google.rpc.BadRequest":
                field = (detail["fieldViolations"] as? [[String: Any]])?.first?["field"] as? String
            default: break
            }
        }
    }

    static func object(_ text: String) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
    }
}

extension ClientAnswer {
    /// The `name` of Google's success.
    var name: String? { GoogleAnswer.object(body)?["name"] as? String }
}

/// A service account of the gateway's own, and assertions made with it.
struct TestSender: Sendable {
    let key: RS256PrivateKey
    let account: ServiceAccountRegister.Account

    init(_ name: String = "newsletter", projects: [String] = [Google.project], tokenURI: String? = nil) throws {
        key = try RS256PrivateKey()
        account = ServiceAccountRegister.Account(
            clientEmail: "\(name)@holdfast.test", keyID: "key-of-\(name)",
            publicKey: String(decoding: try key.publicKey.pem(), as: UTF8.self), projects: projects,
            tokenURI: tokenURI ?? "https://gateway.test/token")
    }

    static func register(_ senders: [TestSender], secret: ServiceAccountRegister? = nil) throws -> [UInt8] {
        var register = try secret ?? ServiceAccountRegister()
        register.accounts = senders.map(\.account)
        return try register.encoded()
    }

    /// The form of a request for an access token.
    ///
    /// - Parameters:
    ///   - claims: in place of the usual ones.
    ///   - signer: whose key signs; nil for the sender's.
    func form(
        _ claims: [String: Any] = [:], algorithm: String = "RS256", signer: RS256PrivateKey? = nil, now: Date = Date()
    ) throws -> [UInt8] {
        let seconds = Int(now.timeIntervalSince1970)
        var all: [String: Any] = [
            "iss": account.clientEmail, "aud": "https://oauth2.googleapis.com/token", "iat": seconds,
            "exp": seconds + 3600, "scope": "openid https://www.googleapis.com/auth/cloud-platform",
        ]
        all.merge(claims) { $1 }
        let parts = [
            #"{"alg":"\#(algorithm)","typ":"JWT","kid":"\#(account.keyID)"}"#,
            String(decoding: try JSONSerialization.data(withJSONObject: all), as: UTF8.self),
        ]
        let signed = parts.map { Self.encoded(Array($0.utf8)) }.joined(separator: ".")
        let signature = try (signer ?? key).sign(Array(signed.utf8).span)
        return Array(
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(signed).\(Self.encoded(signature))"
                .utf8)
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }

    static let tokenRequest = [
        (":method", "POST"), (":scheme", "https"), (":path", "/token"), (":authority", "oauth2.googleapis.com"),
        ("content-type", "application/x-www-form-urlencoded"),
    ]

    /// Fetches an access token.
    func token(_ client: HTTP2Client) async throws -> String {
        let answer = try await client.send(Self.tokenRequest, body: try form())
        return try #require(GoogleAnswer.object(answer.body)?["access_token"] as? String, "\(answer)")
    }
}
