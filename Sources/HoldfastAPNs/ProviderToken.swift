internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// What provider tokens are signed with: the key from Apple's `.p8` file, and the two names Apple gave.
public struct APNsSigningKey: Sendable {
    let key: ES256PrivateKey
    public let keyID: String
    public let teamID: String

    /// - Parameters:
    ///   - path: a `.p8` file.
    ///   - keyID: ten characters, from the developer account.
    ///   - teamID: ten characters, from the developer account.
    /// - Throws: ``APNsConfigurationError`` that names the file and says what it is.
    public init(file path: String, keyID: String, teamID: String) throws(APNsConfigurationError) {
        let bytes = try readFile(path, as: "signing key")
        do throws(OpenSSLError) {
            key = try ES256PrivateKey(pem: bytes)
        } catch {
            throw APNsConfigurationError("the signing key \(path) can't be used: \(error)")
        }
        self.keyID = try Self.checked(keyID, "key id")
        self.teamID = try Self.checked(teamID, "team id")
    }

    private static func checked(_ text: String, _ name: String) throws(APNsConfigurationError) -> String {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber })
        else {
            throw APNsConfigurationError("the \(name) \(text.prefix(64).debugDescription) is not letters and digits")
        }
        return text
    }
}

/// The one provider token of a signing key: minted once and shared by all connections, since Apple answers many tokens
/// with 429 TooManyProviderTokenUpdates.
///
/// Apple (*Establishing a token-based connection to APNs*): refresh no sooner than 20 and no later than 60 minutes.
final class ProviderTokenSource: Sendable {
    struct Token: Hashable, Sendable {
        /// What `authorization` carries: `bearer …`.
        let authorization: [UInt8]
        let mintedAt: WallTime
        /// It was minted because the service had called the one before expired.
        let isReplacement: Bool
    }

    static let refreshAge = Duration.seconds(50 * 60)

    private let signingKey: APNsSigningKey
    private let clock: @Sendable () -> WallTime
    private let state = Monitor<Token?>(nil)

    init(_ signingKey: APNsSigningKey, clock: @escaping @Sendable () -> WallTime = EngineClock.system.wall) {
        self.signingKey = signingKey
        self.clock = clock
    }

    /// The token to send with now.
    func current() throws(APNsConfigurationError) -> Token {
        let now = clock()
        return try state.withLock { token throws(APNsConfigurationError) in
            if let token, (Duration.zero..<Self.refreshAge).contains(now.since(token.mintedAt)) { return token }
            let fresh = try mint(at: now, isReplacement: false)
            token = fresh
            return fresh
        }
    }

    /// The service called `token` expired.
    ///
    /// - Returns: the one to use instead; nil when a fresh one was called expired too: then the clocks disagree.
    func replace(_ expired: Token) throws(APNsConfigurationError) -> Token? {
        let now = clock()
        return try state.withLock { token throws(APNsConfigurationError) in
            if let token, token != expired { return token }
            guard !expired.isReplacement else { return nil }
            let fresh = try mint(at: now, isReplacement: true)
            token = fresh
            return fresh
        }
    }

    private func mint(at now: WallTime, isReplacement: Bool) throws(APNsConfigurationError) -> Token {
        let header = #"{"alg":"ES256","kid":"\#(signingKey.keyID)"}"#
        // iat is an integer: as a text it is InvalidProviderToken.
        let claims = #"{"iss":"\#(signingKey.teamID)","iat":\#(now.seconds)}"#
        var text = Base64URL.encode(Array(header.utf8).span)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(Array(claims.utf8).span)
        do throws(OpenSSLError) {
            let signature = try signingKey.key.sign(text.span)
            text.append(UInt8(ascii: "."))
            text += Base64URL.encode(signature.span)
        } catch {
            throw APNsConfigurationError("a provider token can't be signed: \(error)")
        }
        return Token(authorization: Array("bearer ".utf8) + text, mintedAt: now, isReplacement: isReplacement)
    }
}

/// The whole of a small file.
///
/// - Throws: an error that names the file and why it can't be read.
func readFile(_ path: String, as what: String) throws(APNsConfigurationError) -> [UInt8] {
    do throws(TransportConfigurationError) {
        return try ConfigurationFile.read(path, as: what)
    } catch {
        throw APNsConfigurationError(error.message)
    }
}
