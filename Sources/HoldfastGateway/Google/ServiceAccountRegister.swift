internal import Foundation
package import Holdfast
internal import HoldfastFCM
internal import HoldfastOpenSSL
package import HoldfastTransport

/// The service accounts that a gateway knows, as a file keeps them: the public half of each key, and the secret that the
/// gateway's access tokens are made with. Hosts with the same file take each other's tokens.
package struct ServiceAccountRegister: Codable, Hashable, Sendable {
    /// One key of one service account.
    package struct Account: Codable, Hashable, Sendable {
        /// The name of the account: the `iss` of its assertions.
        package var clientEmail: String
        /// The key's identifier: the `kid` of its assertions.
        package var keyID: String
        /// The public half of the key: PEM, `PUBLIC KEY`.
        package var publicKey: String
        /// The projects that the account may send to, one or more.
        package var projects: [String]
        /// The `aud` of its assertions, beside Google's own. Nil for an account of Google's.
        package var tokenURI: String?

        package init(
            clientEmail: String, keyID: String, publicKey: String, projects: [String], tokenURI: String? = nil
        ) {
            self.clientEmail = clientEmail
            self.keyID = keyID
            self.publicKey = publicKey
            self.projects = projects
            self.tokenURI = tokenURI
        }

        enum CodingKeys: String, CodingKey {
            case clientEmail = "client_email"
            case keyID = "private_key_id"
            case publicKey = "public_key"
            case projects
            case tokenURI = "token_uri"
        }
    }

    /// 32 random bytes.
    private var secret: Data
    package var accounts: [Account]

    /// The most bytes of such a file.
    static let greatestByteCount = 4 << 20

    /// A register without accounts, with a new secret.
    ///
    /// - Throws: where the system gives no random bytes.
    package init() throws {
        secret = Data(try RandomBytes.make(32))
        accounts = []
    }

    /// Reads a register.
    ///
    /// - Throws: ``TransportConfigurationError`` that names the file and the fault.
    package init(_ source: CredentialSource) throws(TransportConfigurationError) {
        let bytes = try source.read(as: Self.role)
        let name = "the \(source.named(Self.role))"
        if case .file(let path) = source {
            do {
                if let objection = try SecretFile.objection(to: path) { throw TransportConfigurationError(objection) }
            } catch let error as TransportConfigurationError {
                throw error
            } catch {
                throw TransportConfigurationError("\(name) can't be looked at: \(FileFailure.text(error))")
            }
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            throw TransportConfigurationError(
                "\(name) is no register of service accounts: `holdfast gateway account issue` makes one")
        }
        if let why = objection { throw TransportConfigurationError("\(name) \(why)") }
    }

    private static let role = "register of service accounts"

    /// The fault of the contents, as the end of a sentence for people; nil for none.
    private var objection: String? {
        if secret.count < 32 { return "has no secret of 32 bytes: make a new one" }
        for account in accounts {
            if account.clientEmail.isEmpty || account.projects.isEmpty {
                return "has an account without a name or without projects"
            }
            if let wrong = account.projects.first(where: { !ServiceAccount.isProject($0) }) {
                return "has an account for \(wrong.prefix(64).debugDescription), which is no project id"
            }
        }
        return nil
    }

    /// The bytes of the file.
    ///
    /// - Throws: an error of the encoder.
    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }

    var secretBytes: [UInt8] { Array(secret) }
}
