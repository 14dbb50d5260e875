internal import Holdfast
internal import HoldfastOpenSSL

/// A provider token in form: the JWT that a sender proves itself with (RFC 7519, ES256). Who signed it is not known yet.
struct ProviderTokenText {
    /// Longer ones are not looked at. Real ones have some 200 bytes.
    static let greatestByteCount = 2048

    let keyID: String
    let teamID: String
    /// Unix seconds: `iat`.
    let issuedAt: Int64
    /// Unix seconds, `nbf`: nobody has to believe it before. Nil where it does not say.
    let notBefore: Int64?
    /// Unix seconds, `exp`: nobody may believe it from then on. Nil where it does not say.
    let expiresAt: Int64?
    /// What was signed.
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Returns: nil for what is none.
    init?(_ text: [UInt8]) {
        guard text.count <= Self.greatestByteCount else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.members(parts[0]), let claims = Self.members(parts[1]),
            case .text("ES256")? = header["alg"], case .text(let keyID)? = header["kid"],
            case .text(let teamID)? = claims["iss"], case .number(let issuedAt)? = claims["iat"],
            // What must be understood, and is not.
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

    /// A time that a token need not name.
    private struct Claim {
        let seconds: Int64?
    }

    /// - Returns: nil for what is there and no number.
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

    /// The members of a JSON object, their texts and whole numbers; nil where that, or one of their names, is there twice or wrong.
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
