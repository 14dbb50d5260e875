import Foundation
import HoldfastMocking
import HoldfastOpenSSL

/// The service account of a mock: its file, and the key that its assertions are checked with.
struct MockServiceAccount: Sendable {
    static let file = "service-account.json"
    static let publicKeyFile = "service-account.pub.pem"

    let email: String
    let project: String
    let keyID: String
    let key: RS256PrivateKey

    private struct Form: Codable {
        var type = "service_account"
        var projectID: String
        var privateKeyID: String
        var privateKey: String
        var clientEmail: String
        var clientID = "100000000000000000000"
        var authURI = "https://accounts.google.com/o/oauth2/auth"
        var tokenURI: String
        var universeDomain = "googleapis.com"

        enum CodingKeys: String, CodingKey {
            case type
            case projectID = "project_id"
            case privateKeyID = "private_key_id"
            case privateKey = "private_key"
            case clientEmail = "client_email"
            case clientID = "client_id"
            case authURI = "auth_uri"
            case tokenURI = "token_uri"
            case universeDomain = "universe_domain"
        }
    }

    /// Reads the key of the directory, and makes it where there is none.
    init(_ files: MockFiles, project: String) throws {
        self.project = project
        if let bytes = try files.read(Self.file) {
            let form: Form
            do {
                form = try JSONDecoder().decode(Form.self, from: Data(bytes))
            } catch {
                throw MockError(
                    "\(files.path(Self.file)) is no service account; remove it, and the server makes a new one")
            }
            key = try files.naming(Self.file) { try RS256PrivateKey(pem: Array(form.privateKey.utf8)) }
            (email, keyID) = (form.clientEmail, form.privateKeyID)
        } else {
            key = try RS256PrivateKey()
            keyID = try key.publicKey.fingerprint().prefix(20).map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            .joined()
            email = "holdfast-mock@\(project).iam.gserviceaccount.com"
        }
    }

    /// Writes the file, once the token endpoint is known.
    func write(_ files: MockFiles, tokenURI: String) throws {
        let form = Form(
            projectID: project, privateKeyID: keyID, privateKey: String(decoding: try key.pem(), as: UTF8.self),
            clientEmail: email, tokenURI: tokenURI)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try files.write(Array(try encoder.encode(form)) + [UInt8(ascii: "\n")], to: Self.file, isSecret: true)
        try files.write(try key.publicKey.pem(), to: Self.publicKeyFile, isSecret: false)
    }
}

/// A claim set that an access token is asked for with (RFC 7523, Google's *Using OAuth 2.0 for Server to Server Applications*).
struct AssertionCheck {
    private struct Header: Decodable {
        let alg: String
    }

    private struct Claims: Decodable {
        let iss: String
        let scope: String?
        let aud: String
        let iat: Int64
        let exp: Int64
    }

    static let scopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// Seconds that clocks may differ by.
    private static let tolerance: Int64 = 300

    let account: MockServiceAccount
    let tokenURI: String

    /// - Parameter now: Unix seconds.
    /// - Returns: the error and its description, as Google words them; nil for a good assertion.
    func fault(in assertion: String, at now: Int64) -> (error: String, description: String)? {
        let parts = assertion.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            Array($0)
        }
        guard parts.count == 3, let header: Header = Self.decode(parts[0]), let claims: Claims = Self.decode(parts[1]),
            let signature = Self.bytes(parts[2])
        else { return ("invalid_grant", "Bad Request") }
        let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
        guard header.alg == "RS256", account.key.publicKey.verify(signature: signature.span, of: signed.span) else {
            return ("invalid_grant", "Invalid JWT Signature.")
        }
        guard claims.iss == account.email else { return ("invalid_grant", "Invalid grant: account not found") }
        guard claims.aud == tokenURI || claims.aud == "https://oauth2.googleapis.com/token" else {
            return ("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        guard claims.iat <= now + Self.tolerance, claims.exp > now - Self.tolerance, claims.exp - claims.iat <= 3600
        else {
            return (
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and "
                    + "exp values in the JWT claim."
            )
        }
        let scopes = Set((claims.scope ?? "").split(separator: " ").map(String.init))
        guard !scopes.isDisjoint(with: Self.scopes) else {
            return ("invalid_scope", "Invalid OAuth scope or ID token audience.")
        }
        return nil
    }

    private static func bytes(_ part: [UInt8]) -> [UInt8]? { Base64URL.decode(part.span) }

    private static func decode<Part: Decodable>(_ part: [UInt8]) -> Part? {
        guard let json = bytes(part) else { return nil }
        return try? JSONDecoder().decode(Part.self, from: Data(json))
    }
}
