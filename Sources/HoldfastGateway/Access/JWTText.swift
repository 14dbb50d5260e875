internal import Holdfast
internal import HoldfastOpenSSL

/// A JSON Web Token by its form (RFC 7519, RFC 7515): its texts and whole numbers. Its signature is not verified yet.
struct JWTText {
    enum Value {
        case text(String)
        case number(Int64)
        case other
    }

    let header: [String: Value]
    let claims: [String: Value]
    /// The signed bytes.
    let signed: [UInt8]
    let signature: [UInt8]

    /// - Parameter limit: the most bytes of a token.
    /// - Returns: nil for text that has not the form of a token, and for one with a critical extension (RFC 7515 section
    ///   4.1.11), none of which is understood here.
    init?(_ text: [UInt8], atMost limit: Int) {
        guard text.count <= limit else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.members(parts[0]), let claims = Self.members(parts[1]),
            header["crit"] == nil, let signature = Self.bytes(parts[2])
        else { return nil }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signed = Array(text[..<parts[1].endIndex])
    }

    /// A time that a token need not have.
    struct Claim {
        let seconds: Int64?
    }

    /// - Returns: nil for a claim that is present and no number.
    func date(_ name: String) -> Claim? {
        switch claims[name] {
        case nil: Claim(seconds: nil)
        case .number(let seconds)?: Claim(seconds: seconds)
        case .text?, .other?: nil
        }
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = Array(digits)
        return Base64URL.decode(digits.span)
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
