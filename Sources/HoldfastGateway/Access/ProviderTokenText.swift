internal import Holdfast
internal import HoldfastOpenSSL

/// A provider token by its form: the JWT that authenticates a sender (RFC 7519, ES256). Its signature is not verified
/// yet.
struct ProviderTokenText {
    /// The most bytes of a token. Real ones have some 200.
    static let greatestByteCount = 2048

    let keyID: String
    let teamID: String
    /// Unix seconds: `iat`.
    let issuedAt: Int64
    /// `nbf` in Unix seconds: the token must not be accepted before. Nil where it has none.
    let notBefore: Int64?
    /// `exp` in Unix seconds: the token must not be accepted from then on. Nil where it has none.
    let expiresAt: Int64?
    private let token: JWTText

    /// - Returns: nil for text that has not the form of a provider token.
    init?(_ text: [UInt8]) {
        guard let token = JWTText(text, atMost: Self.greatestByteCount), case .text("ES256")? = token.header["alg"],
            case .text(let keyID)? = token.header["kid"], case .text(let teamID)? = token.claims["iss"],
            case .number(let issuedAt)? = token.claims["iat"], let notBefore = token.date("nbf"),
            let expiresAt = token.date("exp")
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        (self.notBefore, self.expiresAt) = (notBefore.seconds, expiresAt.seconds)
        self.token = token
    }

    func isSigned(by key: ES256PublicKey) -> Bool { key.verify(signature: token.signature.span, of: token.signed.span) }
}
