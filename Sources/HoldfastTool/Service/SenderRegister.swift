internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastOpenSSL
internal import HoldfastService
internal import HoldfastTransport

/// The file of the service accounts that a gateway knows, for the commands that change it.
struct SenderRegister {
    let path: String
    private(set) var register: ServiceAccountRegister
    /// Whether there was none.
    let isNew: Bool

    /// - Parameters:
    ///   - path: absolute.
    ///   - makes: whether a register is made where there is none.
    /// - Throws: ``ToolError``.
    init(_ path: String, makes: Bool) throws(ToolError) {
        self.path = path
        isNew = !FileManager.default.fileExists(atPath: self.path)
        do {
            register = isNew && makes ? try ServiceAccountRegister() : try ServiceAccountRegister(.file(self.path))
        } catch let error as TransportConfigurationError {
            throw ToolError(.cannotOpen, error.message)
        } catch {
            throw ToolError(.cannotOpen, "no register can be made: \(error)")
        }
    }

    func accounts(of email: String) -> [ServiceAccountRegister.Account] {
        register.accounts.filter { $0.clientEmail == email }
    }

    mutating func add(_ account: ServiceAccountRegister.Account) { register.accounts.append(account) }

    /// - Returns: how many keys there were.
    mutating func remove(_ email: String) -> Int {
        let count = accounts(of: email).count
        register.accounts.removeAll { $0.clientEmail == email }
        return count
    }

    /// Puts the register on disk. A gateway finds the former or the new one.
    ///
    /// - Parameter group: who may read it beside its owner; nil for nobody.
    func write(group: SystemGroup?) async throws(ToolError) {
        let bytes: [UInt8]
        do { bytes = try register.encoded() } catch { throw ToolError(.usage, "\(error)") }
        try await Self.write(bytes, to: path, rights: group.map { FileRights(groupID: $0.id, mode: 0o640) })
    }

    /// - Parameter rights: nil for this user's alone.
    static func write(_ bytes: [UInt8], to path: String, rights: FileRights?) async throws(ToolError) {
        let file = try PrivateFile(path, replacesExisting: true)
        do throws(ToolError) {
            try file.write(bytes)
            try await file.finish(rights: rights)
        } catch {
            file.discard()
            throw error
        }
    }
}

/// A new service account: the file that its sender gets, in the form of Google's.
struct IssuedAccount {

    let account: ServiceAccountRegister.Account
    /// A secret.
    let file: [UInt8]

    /// - Throws: ``ToolError`` where no key can be made.
    init(email: String, projects: [String], tokenURI: String) throws(ToolError) {
        do {
            let key = try RS256PrivateKey()
            let fingerprint = Hex.string(try key.publicKey.fingerprint())
            account = ServiceAccountRegister.Account(
                clientEmail: email, keyID: String(fingerprint.prefix(40)),
                publicKey: String(decoding: try key.publicKey.pem(), as: UTF8.self), projects: projects,
                tokenURI: tokenURI)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let form = [
                "type": "service_account", "project_id": projects[0], "private_key_id": account.keyID,
                "private_key": String(decoding: try key.pem(), as: UTF8.self), "client_email": email,
                "client_id": String(fingerprint.suffix(20)),
                "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
                "universe_domain": "googleapis.com",
            ]
            file = Array(try encoder.encode(form)) + [UInt8(ascii: "\n")]
        } catch {
            throw ToolError(.usage, "no key can be made: \(error)")
        }
    }

    /// The name of a sender's account.
    static func email(_ sender: String) -> String { "\(sender)@holdfast.invalid" }

    /// The token endpoint of a gateway.
    ///
    /// - Parameter url: `https://HOST[:PORT]`, or `http://` with an address of loopback.
    /// - Throws: ``ToolError`` that says what is wrong.
    static func tokenURI(_ url: String) throws(ToolError) -> String {
        let isCleartext = url.hasPrefix("http://")
        do throws(TransportConfigurationError) {
            guard isCleartext || url.hasPrefix("https://") else {
                throw TransportConfigurationError("is not https://HOST[:PORT]")
            }
            let place = try HostAndPort(url.dropFirst(isCleartext ? 7 : 8), defaultPort: isCleartext ? 80 : 443)
            guard !isCleartext || HostAndPort.isLoopback(place.host) else {
                throw TransportConfigurationError("would have assertions sent in the clear to another machine")
            }
        } catch {
            throw ToolError(.usage, "the URL \(url.printable(maximumLength: 200).debugDescription) \(error.message)")
        }
        return (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/token"
    }
}
