import Foundation
import HoldfastMocking
import HoldfastOpenSSL

/// A provider token: the JWT that authenticates a sender (RFC 7519, ES256).
struct ProviderToken {
    let keyID: String
    let teamID: String
    /// Unix seconds.
    let issuedAt: Int64
    /// The signed bytes.
    private let signed: [UInt8]
    private let signature: [UInt8]

    private struct Header: Codable {
        let alg: String
        let kid: String
    }

    private struct Claims: Codable {
        let iss: String
        let iat: Int64
    }

    /// The most bytes of a token; Apple's own limit is 4096 bytes for all headers together.
    static let maximumByteCount = 4096

    /// - Returns: nil for text that has not the form of a provider token. The signature is not checked.
    init?(_ text: some Sequence<UInt8>) {
        let text = Array(text.prefix(Self.maximumByteCount + 1))
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= Self.maximumByteCount, parts.count == 3,
            let header = Self.decode(Header.self, parts[0]), header.alg == "ES256",
            let claims = Self.decode(Claims.self, parts[1]),
            let signature = Base64URL.decode(Array(parts[2]).span)
        else { return nil }
        keyID = header.kid
        teamID = claims.iss
        issuedAt = claims.iat
        signed = Array(text[..<parts[1].endIndex])
        self.signature = signature
    }

    private static func decode<Part: Decodable>(_ type: Part.Type, _ part: ArraySlice<UInt8>) -> Part? {
        guard let json = Base64URL.decode(Array(part).span) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(json))
    }

    func isSigned(by key: ES256PublicKey) -> Bool {
        key.verify(signature: signature.span, of: signed.span)
    }

    /// Creates a token, as it stands behind `bearer `.
    static func make(keyID: String, teamID: String, issuedAt: Int64, key: ES256PrivateKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var text = Base64URL.encode([UInt8](try encoder.encode(Header(alg: "ES256", kid: keyID))).span)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode([UInt8](try encoder.encode(Claims(iss: teamID, iat: issuedAt))).span)
        let signature = try key.sign(text.span)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(signature.span)
        return String(decoding: text, as: UTF8.self)
    }
}
