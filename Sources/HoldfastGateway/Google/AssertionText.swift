internal import Holdfast
internal import HoldfastFCM
internal import HoldfastOpenSSL

/// An assertion by its form: the JWT with which a service account asks for an access token (RFC 7523; developers.google.com:
/// *Using OAuth 2.0 for Server to Server Applications*). Its signature is not verified yet.
struct AssertionText {
    /// The most bytes of an assertion. Real ones have some 900.
    static let greatestByteCount = 8192
    /// The audiences of Google's own token endpoint.
    static let googleAudiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
        "https://www.googleapis.com/oauth2/v4/token",
    ]
    /// The scopes that sending needs, of which one is enough (firebase.google.com: *Method: projects.messages.send*).
    static let scopes: Set<String> = [Assertion.scope, "https://www.googleapis.com/auth/cloud-platform"]
    /// The most seconds that clocks may differ by.
    private static let leeway: Int64 = 60

    /// The account's name: `iss`.
    let issuer: String
    private let audience: String
    /// Unix seconds: `iat` and `exp`.
    private let times: (issued: Int64, expires: Int64)
    private let grantedScopes: Set<String>
    private let token: JWTText

    /// - Returns: nil for text that has not the form of an assertion.
    init?(_ text: [UInt8]) {
        guard let token = JWTText(text, atMost: Self.greatestByteCount), case .text("RS256")? = token.header["alg"],
            case .text(let issuer)? = token.claims["iss"], case .text(let audience)? = token.claims["aud"],
            case .number(let issued)? = token.claims["iat"], case .number(let expires)? = token.claims["exp"]
        else { return nil }
        (self.issuer, self.audience, times, self.token) = (issuer, audience, (issued, expires), token)
        if case .text(let scopes)? = token.claims["scope"] {
            grantedScopes = Set(scopes.split(separator: " ").map(String.init))
        } else {
            grantedScopes = []
        }
    }

    func isSigned(by key: RS256PublicKey) -> Bool { key.verify(signature: token.signature.span, of: token.signed.span) }

    /// - Parameters:
    ///   - own: the audience beside Google's; nil for none.
    ///   - now: Unix seconds.
    func check(audience own: String?, at now: Int64) throws(TokenRefusal) {
        guard audience == own || Self.googleAudiences.contains(audience) else {
            throw .invalidGrant("Invalid JWT: Failed audience check.")
        }
        let (age, isWrong) = times.expires.subtractingReportingOverflow(times.issued)
        guard !isWrong, age <= Assertion.lifetime, times.issued <= now + Self.leeway, times.expires > now - Self.leeway
        else {
            throw .invalidGrant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat "
                    + "and exp values in the JWT claim.")
        }
        guard !grantedScopes.isDisjoint(with: Self.scopes) else {
            throw TokenRefusal(
                error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")
        }
    }
}

/// The refusal of an access token, in the form of RFC 6749 section 5.2.
struct TokenRefusal: Error, Hashable, Sendable {
    var status = 400
    let error: String
    let description: String

    static func invalidGrant(_ description: String) -> TokenRefusal {
        TokenRefusal(error: "invalid_grant", description: description)
    }

    var body: [UInt8] {
        Array(
            #"{"error":"\#(JSONText.escaped(error))","error_description":"\#(JSONText.escaped(description))"}"#.utf8)
    }
}

/// A request for an access token: the fields of an HTML form (RFC 7523 section 2.1).
struct TokenForm {
    let assertion: String

    /// - Throws: the refusal of a form that is for something else, or has no assertion.
    init(_ body: ArraySlice<UInt8>) throws(TokenRefusal) {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.text(parts[0]), let value = Self.text(parts[1]) else { continue }
            fields[name] = value
        }
        let grant = fields["grant_type"] ?? ""
        guard grant == Assertion.grantType else {
            throw TokenRefusal(error: "unsupported_grant_type", description: "Invalid grant_type: \(grant.prefix(128))")
        }
        guard let assertion = fields["assertion"], !assertion.isEmpty else {
            throw TokenRefusal(error: "invalid_request", description: "Missing required parameter: assertion")
        }
        self.assertion = assertion
    }

    /// - Returns: nil for text that is not encoded as forms are.
    private static func text(_ encoded: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var index = encoded.startIndex
        while index < encoded.endIndex {
            switch encoded[index] {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < encoded.endIndex, let high = Hex.value(of: encoded[index + 1]),
                    let low = Hex.value(of: encoded[index + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 2
            case let byte: bytes.append(byte)
            }
            index += 1
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
