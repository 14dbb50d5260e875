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
    /// The signed bytes.
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Returns: nil for text that has not the form of a provider token.
    init?(_ text: [UInt8]) {
        guard text.count <= Self.greatestByteCount else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.members(parts[0]), let claims = Self.members(parts[1]),
            case .text("ES256")? = header["alg"], case .text(let keyID)? = header["kid"],
            case .text(let teamID)? = claims["iss"], case .number(let issuedAt)? = claims["iat"],
            // A critical extension (RFC 7515 section 4.1.11), which we do not understand.
            header["crit"] == nil,
            let notBefore = Self.date(claims["nbf"]), let expiresAt = Self.date(claims["exp"]),
            let signature = Self.bytes(parts[2])
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        (self.notBefore, self.expiresAt) = (notBefore.seconds, expiresAt.seconds)
        self.signature = signature
        signed = Array(text[..<parts[1].endIndex])
    }

    func isSigned(by key: ES256PublicKey) -> Bool { key.verify(signature: signature.span, of: signed.span) }

    /// A time that a token need not have.
    private struct Claim {
        let seconds: Int64?
    }

    /// - Returns: nil for a claim that is present and no number.
    private static func date(_ value: Value?) -> Claim? {
        switch value {
        case nil: Claim(seconds: nil)
        case .number(let seconds)?: Claim(seconds: seconds)
        case .text?, .other?: nil
        }
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = Array(digits)
        return Base64URL.decode(digits.span)
    }

    private enum Value {
        case text(String)
        case number(Int64)
        case other
    }

    /// The members of a JSON object, texts and whole numbers; nil where the object is invalid, or one of these names
    /// occurs twice or with an invalid value.
    private static func members(_ part: ArraySlice<UInt8>) -> [String: Value]? {
        guard let json = bytes(part) else { return nil }
        var found: [String: Value] = [:]
        do throws(JSONFault) {
            var members = try JSONMembers(json.span, in: 0..<json.count)
            while let member = try members.next(json.span) {
                let name = try JSONScanner.string(json.span, in: member.name)
                let value: Value
                switch member.value.kind {
                case .string: value = .text(try JSONScanner.string(json.span, in: member.value.range))
                case .number: value = .number(try JSONScanner.integer(json.span, in: member.value.range))
                case .object, .array, .boolean, .null: value = .other
                }
                guard found.updateValue(value, forKey: name) == nil else { return nil }
            }
        } catch {
            return nil
        }
        return found
    }
}
