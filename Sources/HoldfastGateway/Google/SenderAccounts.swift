internal import Holdfast
internal import HoldfastFCM
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// The service accounts that may send: verifies their assertions, and makes and checks the access tokens that they get for
/// them.
///
/// An access token names its account and its end, under a message authentication code. So it is good on every host with the
/// same register and after a restart, and no memory fills with tokens.
struct SenderAccounts: Sendable {
    /// The account that a valid access token is for, and the token's end.
    struct Verdict: Hashable, Sendable {
        let account: ServiceAccountRegister.Account
        /// Unix seconds: the last at which the token is good.
        let lastSecond: Int64
    }

    private struct Known: Sendable {
        let account: ServiceAccountRegister.Account
        let key: RS256PublicKey
        let mark: [UInt8]
    }

    private let register: ServiceAccountRegister
    private let known: [Known]
    private let secret: [UInt8]

    /// Seconds that an access token lasts: as Google's.
    static let lifetime: Int64 = 3599

    /// - Throws: ``GatewayError`` that names the file and the fault.
    init(_ source: CredentialSource) throws(GatewayError) {
        do throws(TransportConfigurationError) {
            register = try ServiceAccountRegister(source)
            var known: [Known] = []
            for account in register.accounts {
                do throws(OpenSSLError) {
                    known.append(
                        Known(
                            account: account, key: try RS256PublicKey(pem: Array(account.publicKey.utf8)),
                            mark: try Self.mark(account)))
                } catch {
                    throw TransportConfigurationError(
                        "the key of \(account.clientEmail.prefix(128)) in \(source) can't be used: \(error)")
                }
            }
            self.known = known
        } catch {
            throw GatewayError(.configuration, error.message)
        }
        secret = register.secretBytes
    }

    func isSame(as other: SenderAccounts) -> Bool { register == other.register }

    func has(_ account: ServiceAccountRegister.Account) -> Bool { register.accounts.contains(account) }

    // MARK: Access tokens

    private static let beginning = "holdfast."
    private static let markCount = 16
    private static let byteCount = 1 + 8 + markCount + 32

    /// Names an account and its key in few bytes.
    private static func mark(_ account: ServiceAccountRegister.Account) throws(OpenSSLError) -> [UInt8] {
        let name = Array("\(account.clientEmail)\u{0}\(account.keyID)\u{0}\(account.publicKey)".utf8)
        return Array(try SHA256.digest(name.span).prefix(markCount))
    }

    /// A token that is good for ``lifetime``.
    private func token(for mark: [UInt8], at now: Int64) throws(OpenSSLError) -> String {
        let last = UInt64(bitPattern: now + Self.lifetime)
        var bytes: [UInt8] = [1]
        for place in (0..<8).reversed() { bytes.append(UInt8(truncatingIfNeeded: last >> (8 * UInt64(place)))) }
        bytes += mark
        bytes += try HMACSHA256.code(bytes.span, key: secret.span)
        return Self.beginning + String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }

    /// - Returns: nil for a token that none of ours is.
    func verdict(on token: String) -> Verdict? {
        guard token.utf8.count < 128, token.hasPrefix(Self.beginning) else { return nil }
        let digits = Array(token.utf8.dropFirst(Self.beginning.utf8.count))
        guard let bytes = Base64URL.decode(digits.span), bytes.count == Self.byteCount, bytes[0] == 1 else {
            return nil
        }
        let (signed, code) = (bytes.span.extracting(first: bytes.count - 32), bytes.span.extracting(last: 32))
        do throws(OpenSSLError) {
            guard try HMACSHA256.isCode(code, of: signed, key: secret.span) else { return nil }
        } catch {
            return nil
        }
        let last = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let mark = bytes[9..<9 + Self.markCount]
        guard let owner = known.first(where: { $0.mark.elementsEqual(mark) }) else { return nil }
        return Verdict(account: owner.account, lastSecond: Int64(bitPattern: last))
    }

    // MARK: Assertions

    /// Verifies an assertion, which takes some 30 µs.
    ///
    /// - Returns: the account, and an access token for it.
    /// - Throws: the refusal in the words of RFC 6749.
    func grant(_ assertion: String, at now: WallTime) throws(TokenRefusal) -> (
        account: ServiceAccountRegister.Account, token: String
    ) {
        guard let text = AssertionText(Array(assertion.utf8)) else {
            throw .invalidGrant("Invalid JWT: it is not signed with RS256, or lacks iss, aud, iat or exp.")
        }
        let candidates = known.filter { $0.account.clientEmail == text.issuer }
        guard !candidates.isEmpty else { throw .invalidGrant("Invalid grant: account not found") }
        guard let owner = candidates.first(where: { text.isSigned(by: $0.key) }) else {
            throw .invalidGrant("Invalid JWT Signature.")
        }
        try text.check(audience: owner.account.tokenURI, at: now.seconds)
        do throws(OpenSSLError) {
            return (owner.account, try token(for: owner.mark, at: now.seconds))
        } catch {
            throw TokenRefusal(status: 503, error: "temporarily_unavailable", description: "No token could be made.")
        }
    }
}
