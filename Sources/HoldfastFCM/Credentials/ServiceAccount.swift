public import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastRequests
internal import HoldfastTransport

/// A service account of Google's, which access tokens are fetched for: the file that the Firebase console gives under *Service
/// accounts*, *Generate new private key*.
public struct ServiceAccount: Sendable {
    /// The source of the JSON, for reading it again.
    let source: CredentialSource
    /// The account's name: the issuer of its assertions.
    public let clientEmail: String
    /// The project that the account belongs to.
    public let projectID: String
    /// The identifier of the key, which assertions name. Empty for a file without one.
    public let keyID: String
    /// The endpoint that gives access tokens for assertions.
    let tokenAddress: PostAddress
    /// The endpoint as the file writes it: the audience of assertions.
    let tokenURI: String
    let key: RS256PrivateKey
    /// SHA-256 of the public half of the key, which identifies it.
    let fingerprint: [UInt8]

    /// Reads a service account.
    ///
    /// - Parameter source: the JSON file, or its contents: an object with the strings `type` (`service_account`), `project_id`,
    ///   `client_email`, `private_key` (PKCS#8 PEM of an RSA key of at least 2048 bits), `token_uri` (`https://…`, or
    ///   `http://` with an address of loopback) and, optionally, `private_key_id`. Others are ignored. A connector reads a file
    ///   again when it has changed.
    /// - Throws: ``FCMConfigurationError`` that names the file and each field that is missing or wrong.
    public init(_ source: CredentialSource) throws(FCMConfigurationError) {
        let name = "the \(source.named("service account"))"
        let fields: Fields
        do throws(TransportConfigurationError) {
            fields = try Fields(try source.read(as: "service account"), in: name)
        } catch {
            throw FCMConfigurationError(error.message)
        }
        self.source = source
        clientEmail = try fields.text("client_email")
        projectID = try fields.text("project_id")
        keyID = fields.optional("private_key_id") ?? ""
        tokenURI = try fields.text("token_uri")
        guard Self.isProject(projectID) else {
            throw fields.fault("project_id", "\(projectID.prefix(64).debugDescription) is no project id")
        }
        do throws(TransportConfigurationError) {
            tokenAddress = try PostAddress(
                tokenURI, cargo: "assertions", credentials: "requests carry an assertion, and no other credentials")
        } catch {
            throw fields.fault("token_uri", error.message)
        }
        let pem = try fields.text("private_key")
        do throws(OpenSSLError) {
            key = try RS256PrivateKey(pem: Array(pem.utf8))
            fingerprint = try key.publicKey.fingerprint()
        } catch {
            throw fields.fault("private_key", "can't be used: \(error)")
        }
    }

    /// Reads a service account from a file.
    ///
    /// - Throws: as ``init(_:)``.
    public init(file path: String) throws(FCMConfigurationError) { try self.init(.file(path)) }

    /// The same account, read again from its source.
    func reloaded() throws(FCMConfigurationError) -> ServiceAccount { try ServiceAccount(source) }

    /// The public half of its key: PEM, `PUBLIC KEY`.
    package func publicKeyPEM() throws(FCMConfigurationError) -> [UInt8] {
        do throws(OpenSSLError) {
            return try key.publicKey.pem()
        } catch {
            throw FCMConfigurationError("the public half of the key of \(clientEmail) can't be written: \(error)")
        }
    }

    /// The paths of its files.
    var files: [String] { if case .file(let path) = source { [path] } else { [] } }

    /// Whether the text can be a project's id (cloud.google.com: 6 to 30 lower-case letters, digits and hyphens), with the
    /// dots and colons of old ones that belong to a domain.
    package static func isProject(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || [0x2d, 0x2e, 0x3a].contains(byte)
            }
    }
}

/// The strings of the JSON file.
private struct Fields {
    private let name: String
    private var texts: [String: String] = [:]

    init(_ bytes: [UInt8], in name: String) throws(TransportConfigurationError) {
        self.name = name
        do throws(JSONFault) {
            var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
            while let member = try members.next(bytes.span) {
                guard member.value.kind == .string else { continue }
                let field = try JSONScanner.string(bytes.span, in: member.name)
                texts[field] = try JSONScanner.string(bytes.span, in: member.value.range)
            }
        } catch {
            throw TransportConfigurationError(
                "\(name) is no JSON object (\(error)): it is the file that the Firebase console gives under Service accounts"
            )
        }
        switch texts["type"] {
        case "service_account": break
        case let type:
            let words = type.map { "is of type \($0.prefix(64).debugDescription)" } ?? "has no \u{22}type\u{22}"
            throw TransportConfigurationError(
                "\(name) \(words), and not the key of a service account (service_account)")
        }
    }

    func optional(_ field: String) -> String? { texts[field] }

    func text(_ field: String) throws(FCMConfigurationError) -> String {
        guard let text = texts[field], !text.isEmpty else {
            throw FCMConfigurationError(
                "\(name) has no \u{22}\(field)\u{22}: get a new key file from the Firebase console")
        }
        return text
    }

    /// A fault of a field; its content is never repeated where it may be secret.
    func fault(_ field: String, _ why: String) -> FCMConfigurationError {
        FCMConfigurationError("\(name): \u{22}\(field)\u{22} \(why)")
    }
}
